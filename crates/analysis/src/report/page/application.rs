//! A page of one's own that shows reports in frames.

use std::collections::BTreeSet;

use askama::Template;

use super::super::{advice, profile};
use super::{STYLE, policy};

/// A page of one's own.
#[derive(Clone, Debug)]
pub struct Application<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its style, beside that of all pages.
    pub style: &'a str,
    /// The scripts that run in it.
    pub scripts: &'a [&'a str],
    /// What its body has, as HTML.
    pub content: &'a str,
}

#[derive(Template)]
#[template(path = "application.html")]
struct Page<'a> {
    policy: String,
    title: &'a str,
    style: &'a str,
    content: &'a str,
}

impl Application<'_> {
    /// The page, with a policy for its styles and scripts: it computes with WebAssembly in a worker, and sends nothing.
    pub fn page(&self) -> String {
        let page = Page {
            policy: policy(&[STYLE, self.style], self.scripts),
            title: self.title,
            style: self.style,
            content: self.content,
        };
        page.render()
            .expect("the template asks for nothing that can fail")
    }
}

/// The policy of a page with these `styles` and `scripts` that computes with WebAssembly in a worker, and shows profiles and advice
/// in frames: their pages inherit it, beside their own. Like theirs, it allows no request.
fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let styles = [styles, &profile::STYLES, &advice::STYLES].concat();
    let scripts = [scripts, &profile::SCRIPTS, &advice::SCRIPTS].concat();
    format!(
        "{} 'wasm-unsafe-eval'; worker-src blob:",
        policy::of(&distinct(styles), &distinct(scripts))
    )
}

fn distinct(mut texts: Vec<&str>) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(*text));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_in_a_frame_is_in_the_policy_around_it() {
        let policy = super::policy(&["p { margin: 0 }"], &["start();"]);
        let all = [
            profile::STYLES.as_slice(),
            &profile::SCRIPTS,
            &advice::STYLES,
            &advice::SCRIPTS,
        ]
        .concat();
        for text in all.into_iter().chain(["p { margin: 0 }", "start();"]) {
            assert!(policy.contains(&policy::sources(&[text])));
        }
        assert!(!policy.contains("connect-src") && policy.starts_with("default-src 'none'"));
    }
}
