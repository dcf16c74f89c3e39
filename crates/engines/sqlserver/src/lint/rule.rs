//! A rule for SQL Server, and the servers that it applies to.

use super::applies::Applies;
use crate::capture::Capture;

/// A rule for SQL Server.
pub type Rule = ::rules::Rule<Capture, Applies>;
