//! A profile as one self-contained HTML file.

use askama::Template;

use super::series::Series;
use super::view::report;
use crate::report::page::{CHARTS, STYLE, UPLOT, UPLOT_STYLE, embedded, policy};
use crate::report::section::Report;
use profile::Profile;

const SCRIPT: &str = include_str!("../../../templates/profile.js");

/// All styles of the page, and all scripts.
pub(in crate::report) const STYLES: [&str; 2] = [UPLOT_STYLE, STYLE];
pub(in crate::report) const SCRIPTS: [&str; 3] = [UPLOT, CHARTS, SCRIPT];

#[derive(Template)]
#[template(path = "profile.html")]
struct Page {
    report: Report,
    has_charts: bool,
    /// Whether role names are shown for clicking.
    has_legend: bool,
    is_thinned: bool,
    data: String,
    policy: String,
}

/// The whole page.
pub fn page(profile: &Profile) -> String {
    let series = Series::of(profile);
    let data = serde_json::to_value(&series).expect("lists, texts and numbers are JSON");
    let page = Page {
        report: report(profile),
        has_charts: !series.charts.is_empty(),
        has_legend: series.groups.len() > 1,
        is_thinned: Series::is_thinned(profile),
        data: embedded(&data),
        policy: policy::of(&STYLES, &SCRIPTS),
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}
