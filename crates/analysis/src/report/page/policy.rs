//! Restricts what a browser may run and load on a page to what was put into it here.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::super::{advice, profile};

/// The page's `Content-Security-Policy`: only these `styles` and `scripts`, whatever a name in the page might inject.
///
/// Widths of bars are attributes, which have no hash and are allowed by the template; an attribute can only set colour
/// and position, and cannot load anything.
pub(in crate::report) fn of(styles: &[&str], scripts: &[&str]) -> String {
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src {}; script-src {}",
        sources(styles),
        sources(scripts)
    )
}

/// The policy of a page with these `styles` and `scripts` that computes with WebAssembly in a worker, and shows profiles and advice
/// in frames: their pages inherit it, beside their own. Like theirs, it allows no request.
pub fn of_application(styles: &[&str], scripts: &[&str]) -> String {
    let styles = [styles, &profile::STYLES, &advice::STYLES].concat();
    let scripts = [scripts, &profile::SCRIPTS, &advice::SCRIPTS].concat();
    format!(
        "{} 'wasm-unsafe-eval'; worker-src blob:",
        of(&distinct(styles), &distinct(scripts))
    )
}

fn distinct(mut texts: Vec<&str>) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(*text));
    texts
}

fn sources(texts: &[&str]) -> String {
    if texts.is_empty() {
        return "'none'".to_owned();
    }
    let hash = |text: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let hashes: Vec<String> = texts.iter().map(hash).collect();
    hashes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{CHARTS, SCRIPT, STYLE, UPLOT, UPLOT_STYLE};
    use super::*;

    #[test]
    fn what_runs_in_a_frame_is_in_the_policy_around_it() {
        let policy = of_application(&["p { margin: 0 }"], &["start();"]);
        let all = [
            profile::STYLES.as_slice(),
            &profile::SCRIPTS,
            &advice::STYLES,
            &advice::SCRIPTS,
        ]
        .concat();
        for text in all.into_iter().chain(["p { margin: 0 }", "start();"]) {
            assert!(policy.contains(&sources(&[text])));
        }
        assert!(!policy.contains("connect-src") && policy.starts_with("default-src 'none'"));
    }

    #[test]
    fn a_hash_is_that_of_the_specification() {
        // Content Security Policy Level 3, W3C, "Usage of hashes": `alert('Hello, world.');`
        let hash = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='";
        assert_eq!(sources(&["alert('Hello, world.');"]), hash);
    }

    #[test]
    fn what_is_embedded_arrives_as_it_is() {
        for text in [
            UPLOT_STYLE,
            STYLE,
            UPLOT,
            CHARTS,
            SCRIPT,
            advice::SCRIPTS[2],
            profile::SCRIPTS[2],
        ] {
            // A browser changes these before it hashes, or they close the element.
            assert!(!text.contains(['\r', '\0']));
            let lower = text.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("</style"));
            assert!(!lower.contains("<!--"));
        }
    }
}
