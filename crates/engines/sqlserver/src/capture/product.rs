//! The product of a capture, for commands that do not know it.

use rules::capture::CaptureError;
use rules::{Captured, CapturedProduct, RuleInfo};

use super::Capture;
use crate::lint::{Profile, listed};

/// Captures of SQL Server.
pub struct Captures;

impl CapturedProduct for Captures {
    fn title(&self) -> &'static str {
        "SQL Server"
    }

    fn engine(&self) -> &'static str {
        "sqlserver"
    }

    fn load(&self, file: &str, text: &str) -> Result<Box<dyn Captured>, CaptureError> {
        Ok(Box::new(Capture::from_json(file, text)?))
    }

    fn rules(&self) -> Vec<RuleInfo> {
        listed()
    }

    fn profiles(&self) -> Vec<(&'static str, &'static str)> {
        let all = Profile::ALL.into_iter();
        all.map(|profile| (profile.name(), profile.about()))
            .collect()
    }
}
