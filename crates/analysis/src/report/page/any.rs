//! Any report as one self-contained HTML file, section by section, for what needs no page of its own making.

use askama::Template;

use super::{STYLE, TURNED, policy};
use crate::report::section::{Body, Extent, Report};

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    /// What it reports on, in a word.
    kind: &'static str,
    report: &'a Report,
    policy: String,
}

/// The whole page of a report on a `kind`: a rehearsal, say.
pub fn page(kind: &'static str, report: &Report) -> String {
    let page = Page {
        kind,
        report,
        policy: policy::of(&[STYLE], &[]),
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}
