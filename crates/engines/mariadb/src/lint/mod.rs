//! Rules over a capture of MariaDB or MySQL: each checks the server as a value and reports findings, what is fine, what is exempt
//! and by which exception, and what is unknown and how to find out. Nothing is silently skipped.
//!
//! Each file is a family of rules. Published thresholds have their source, our own are marked as such.

mod binlog;
mod commits;
mod doublewrite;
mod flushing;
mod known;
mod memory;
mod redo;
mod rule;
mod server;
mod sources;
mod temp;
mod undo;
mod volumes;

use rules::{Outcome, Selection};

pub use rule::{Applies, Rule};
pub use server::listed;

use crate::capture::Capture;

/// A rule for MariaDB and MySQL, and its outcomes.
pub type Judged = rules::Judged<Capture, Applies>;

/// All rules, family by family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let families = [
        volumes::RULES,
        commits::RULES,
        binlog::RULES,
        redo::RULES,
        doublewrite::RULES,
        undo::RULES,
        temp::RULES,
        flushing::RULES,
        memory::RULES,
    ];
    families.into_iter().flatten()
}

/// The rule called `id`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Checks a server with all selected rules, in the order of [`rules()`].
pub fn judge(capture: &Capture, selection: &Selection) -> Vec<Judged> {
    let wanted = rules().filter(|rule| selection.has(rule.id));
    let product = capture.product;
    ::rules::judge(wanted, capture, |applies| {
        let products: Vec<&str> = applies.products.iter().map(|p| p.name()).collect();
        (!applies.products.contains(&product)).then(|| Outcome::NotApplicable {
            why: format!(
                "for {}, and this is {}",
                products.join(" and "),
                product.name()
            ),
        })
    })
}
