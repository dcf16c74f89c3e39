//! A drill as one self-contained HTML file.

use askama::Template;

use super::document::Drill;
use super::placement::FATES;
use super::view::{Diagram, all_diagrams, report};
use crate::report::page::{STYLE, policy};
use crate::report::section::Report;

#[derive(Template)]
#[template(path = "drill.html")]
struct Page {
    report: Report,
    diagrams: Vec<Diagram>,
    fates: [(&'static str, &'static str, &'static str); 5],
    policy: String,
}

/// The whole page.
pub fn page(drill: &Drill) -> String {
    let page = Page {
        report: report(drill),
        diagrams: all_diagrams(drill),
        fates: FATES,
        policy: policy::of(&[STYLE], &[]),
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}
