//! The last rendered metrics.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::metrics::TextFormat;

/// The last rendered text.
#[derive(Default)]
pub(super) struct Page {
    pub(super) openmetrics: String,
    pub(super) prometheus: String,
}

impl Page {
    pub(super) fn text(&self, format: TextFormat) -> &str {
        match format {
            TextFormat::OpenMetrics => &self.openmetrics,
            TextFormat::Prometheus => &self.prometheus,
        }
    }
}

/// The last page, for the threads that serve it.
pub(super) type Shared = Arc<Mutex<Arc<Page>>>;
