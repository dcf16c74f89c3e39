//! The product of a capture, for commands that do not know it.

use rules::capture::CaptureError;
use rules::{Captured, CapturedProduct, RuleInfo};

use super::Capture;
use crate::lint::listed;

/// Captures of MariaDB and MySQL.
pub struct Captures;

impl CapturedProduct for Captures {
    fn title(&self) -> &'static str {
        "MariaDB"
    }

    fn engine(&self) -> &'static str {
        "mariadb"
    }

    fn load(&self, file: &str, text: &str) -> Result<Box<dyn Captured>, CaptureError> {
        Ok(Box::new(Capture::from_json(file, text)?))
    }

    fn rules(&self) -> Vec<RuleInfo> {
        listed()
    }
}
