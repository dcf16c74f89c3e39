//! Rules over a capture: each checks a server as a value and reports findings, what is fine, what is exempt and by which
//! exception, and what is unknown and how to find out. Nothing is silently skipped.
//!
//! A rule is data and a small function; each file is a family of rules. Published thresholds have their source, our own are
//! marked as such.
//!
//! ```
//! use dbstow_sqlserver::capture::Capture;
//! use dbstow_sqlserver::lint::{self, LintRequest, Outcome};
//!
//! let mut capture = Capture::default();
//! capture.identity.engine_edition = 3;
//! capture.identity.version = "16.0.1000.6".into();
//! capture.machine.platform = "Windows".into();
//! let judged = lint::judge(&capture, &LintRequest::default());
//! // An empty capture: most rules cannot be judged, and each outcome says how to find out.
//! assert!(judged.iter().flat_map(|rule| &rule.outcomes).any(|outcome| {
//!     matches!(outcome, Outcome::CannotTell { how, .. } if !how.is_empty())
//! }));
//! ```

mod applies;
mod azure;
mod azure_database;
mod files;
mod latency;
mod locations;
mod managed_instance;
mod profile;
mod rule;
mod server;
mod settings;
mod sources;
mod tempdb;
mod tempdb_sizes;
mod volumes;
mod waits;

use std::collections::BTreeSet;

use ::rules::Selection;

pub use ::rules::{Change, Finding, Location, Outcome, Severity, Source};
pub use applies::Applies;
pub use profile::Profile;
pub use rule::Rule;
pub use server::listed;
pub use tempdb::tempdb_files_advised;

use crate::capture::{Capture, Product};
use crate::tsql::question;

/// A rule for SQL Server and its outcomes.
pub type Judged = ::rules::Judged<Capture, Applies>;

/// All rules, family by family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let families = [
        tempdb::RULES,
        tempdb_sizes::RULES,
        volumes::RULES,
        files::RULES,
        settings::RULES,
        waits::RULES,
        azure::RULES,
        managed_instance::RULES,
        azure_database::RULES,
        latency::RULES,
    ];
    families.into_iter().flatten()
}

/// The rule called `id`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Selection of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintRequest {
    /// By id.
    pub selection: Selection,
    /// Selected ladders of latency.
    pub profiles: BTreeSet<Profile>,
}

/// Checks a server with all selected rules, in the order of [`rules()`]. Ladders of latency apply only if selected, by profile or
/// by id.
pub fn judge(capture: &Capture, asked: &LintRequest) -> Vec<Judged> {
    let wanted = |rule: &&Rule| {
        let awake = rule.applies.profile.is_none_or(|profile| {
            asked.profiles.contains(&profile) || asked.selection.only.contains(rule.id)
        });
        awake && asked.selection.has(rule.id)
    };
    ::rules::judge(rules().filter(wanted), capture, |applies| {
        held_back(capture, applies)
    })
}

/// The outcome if a rule does not apply to this server, or if that is unknown.
fn held_back(capture: &Capture, applies: &Applies) -> Option<Outcome> {
    let product = capture.identity.product();
    let not = |why: String| Some(Outcome::NotApplicable { why });
    if !applies.products.contains(&product) {
        let products: Vec<&str> = applies.products.iter().map(|p| product_name(*p)).collect();
        return not(format!(
            "for {}, and this is {}",
            products.join(" and "),
            product_name(product)
        ));
    }
    let major = capture.identity.major();
    let too_old = applies.since > 0 && major < applies.since;
    let too_new = applies.until > 0 && major > applies.until;
    if too_old || too_new {
        return not(format!(
            "for other versions than {}",
            capture.identity.version
        ));
    }
    if applies.windows && locations::is_linux(capture) {
        return not("for Windows, and this is Linux".to_owned());
    }
    if applies.windows && !locations::is_windows(capture) {
        return Some(locations::missing(
            capture,
            &question::HOST,
            "whether the server runs on Windows",
            "capture again as a login that may read sys.dm_os_host_info (VIEW SERVER STATE)",
        ));
    }
    match (applies.azure, locations::is_azure(capture)) {
        (true, Some(false)) => not("for virtual machines of Azure, and this is none".to_owned()),
        (true, None) => Some(Outcome::cannot_tell(
            "whether this is a virtual machine of Azure",
            "--host FILE with azure = true or azure = false",
        )),
        (true, Some(true)) | (false, _) => None,
    }
}

fn product_name(product: Product) -> &'static str {
    match product {
        Product::Boxed => "SQL Server",
        Product::AzureDatabase => "Azure SQL Database",
        Product::ManagedInstance => "Azure SQL Managed Instance",
        Product::Babelfish => "Babelfish",
        Product::Other => "an edition that dbstow does not know",
    }
}
