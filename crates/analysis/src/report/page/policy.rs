//! Restricts what a browser may run and load on a page to what was put into it here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

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

pub(super) fn sources(texts: &[&str]) -> String {
    if texts.is_empty() {
        return "'none'".to_owned();
    }
    let hash = |text: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let hashes: Vec<String> = texts.iter().map(hash).collect();
    hashes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::super::{advice, profile};
    use super::super::{CHARTS, SCRIPT, STYLE, UPLOT, UPLOT_STYLE};
    use super::*;

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
