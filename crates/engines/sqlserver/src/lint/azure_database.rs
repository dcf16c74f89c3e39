//! Azure SQL Database: no files to place, which the reader should know.

use crate::capture::{Capture, Product};

use super::sources::FILE_STATS;
use super::{Applies, Rule};
use rules::{Outcome, Severity};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "azure-database-placement",
    title: "nothing can be placed in Azure SQL Database",
    severity: Severity::Note,
    why: "note: there is nothing to put right",
    says: "Files, volumes and tempdb of Azure SQL Database are the service's own. Its tier and size are what one chooses; governed-io says \
           whether they hold requests back.",
    sources: &[FILE_STATS],
    applies: Applies {
        products: &[Product::AzureDatabase],
        ..Applies::BOXED
    },
    judge: placement,
}];

fn placement(_: &Capture) -> Vec<Outcome> {
    let why =
        "Azure SQL Database places its files itself; compare service objectives instead of layouts";
    vec![Outcome::exempt("azure-sql-database", why)]
}
