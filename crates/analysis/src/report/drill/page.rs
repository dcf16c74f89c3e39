//! A drill as one self-contained HTML file.

use askama::Template;

use super::document::Drill;
use super::view::{FATES, View};
use crate::report::page::{STYLE, policy};

#[derive(Template)]
#[template(path = "drill.html")]
struct Page {
    title: String,
    version: &'static str,
    shown: View,
    fates: [(&'static str, &'static str, &'static str); 5],
    policy: String,
    style: &'static str,
}

/// The whole page.
pub fn page(drill: &Drill) -> String {
    let page = Page {
        title: format!("What {} survives", drill.experiment),
        version: env!("CARGO_PKG_VERSION"),
        shown: View::of(drill),
        fates: FATES,
        policy: policy::of(&[STYLE], &[]),
        style: STYLE,
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}
