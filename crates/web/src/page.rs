//! The page itself, as one file: the module, the scripts around it, and what it begins with.

use analysis::report::page::application::Application;
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use import::Format;
use serde::Serialize;

use crate::Refused;
use crate::known::known;

const OWN_STYLE: &str = include_str!("../templates/web.css");
const SCRIPT: &str = include_str!("../templates/web.js");
const WORKER: &str = include_str!("../templates/worker.js");

/// The fields of disks: role, name, and what stands in an empty one.
const DISKS: [(&str, &str, &str); 3] = [
    ("data", "Disk of data", "azure.premium.p30"),
    ("log", "Disk of the log", "with the data"),
    ("temp", "Disk of temporary files", "with the data"),
];

/// A recording to try the page with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example<'a> {
    /// What it is, on a button.
    pub title: &'a str,
    /// The name of the profile's file.
    pub name: &'a str,
    /// The profile.
    pub profile: &'a str,
    /// Its server's layout.
    pub today: &'a str,
    /// What is asked, by the names of the form's fields.
    pub asked: Vec<(&'a str, &'a str)>,
}

/// What a page is made of.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The module, compressed by gzip.
    pub module: &'a [u8],
    /// What wasm-bindgen writes beside it, for pages without modules.
    pub bindings: &'a str,
    /// In the order of their buttons.
    pub examples: &'a [Example<'a>],
}

#[derive(Template)]
#[template(path = "web.html")]
struct Content<'a> {
    version: &'static str,
    script: &'static str,
    /// In base64.
    module: String,
    bindings: &'a str,
    worker: &'static str,
    titles: Vec<&'a str>,
    /// Role, what its field is called, and what stands in it.
    disks: [(&'static str, &'static str, &'static str); 3],
    /// Names of formats that are imported.
    formats: [&'static str; 12],
    /// JSON of examples, and of what there is to pick from.
    data: String,
}

/// The whole page.
///
/// # Errors
/// When the bindings would end the element that they are in.
pub fn page(parts: &Parts<'_>) -> Result<String, Refused> {
    let lower = parts.bindings.to_lowercase();
    if lower.contains("</script") || lower.contains("<!--") {
        let message = "the bindings have what ends a script in a page; take wasm-bindgen's own, of version 0.2.130";
        return Err(Refused(message.to_owned()));
    }
    let data = serde_json::json!({ "examples": parts.examples, "known": known() });
    let content = Content {
        version: env!("CARGO_PKG_VERSION"),
        script: SCRIPT,
        module: STANDARD.encode(parts.module),
        bindings: parts.bindings,
        worker: WORKER,
        formats: Format::names(),
        disks: DISKS,
        titles: parts.examples.iter().map(|example| example.title).collect(),
        // As in other pages, so that data cannot end its element.
        data: data.to_string().replace('<', "\\u003c"),
    };
    let content = content.render();
    let page = Application {
        title: "dbstow: which disks, which machine",
        style: OWN_STYLE,
        scripts: &[SCRIPT],
        content: &content.expect("the template asks for nothing that can fail"),
    };
    Ok(page.page())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(bindings: &'a str, examples: &'a [Example<'a>]) -> Parts<'a> {
        Parts {
            module: b"\0asm",
            bindings,
            examples,
        }
    }

    #[test]
    fn a_page_has_its_parts_and_a_policy_that_allows_no_request() {
        let example = Example {
            title: "A shop",
            name: "shop.toml",
            profile: "</script>",
            today: "",
            asked: vec![("cloud", "azure")],
        };
        let page = page(&parts("let wasm_bindgen;", &[example])).expect("plain bindings");
        assert!(page.contains("AGFzbQ==") && page.contains("let wasm_bindgen;"));
        assert!(page.contains(r#""profile":"\u003c/script>""#));
        let policy = page.split("Content-Security-Policy\" content=\"").nth(1);
        let policy = policy.and_then(|rest| rest.split('"').next());
        let policy = policy.expect("it has a policy");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("connect-src"), "{policy}");
    }

    #[test]
    fn bindings_cannot_end_their_element() {
        assert!(page(&parts("a('</SCRIPT>')", &[])).is_err());
        for text in [OWN_STYLE, SCRIPT, WORKER] {
            let lower = text.to_lowercase();
            assert!(!lower.contains("</") && !lower.contains("<!--") && !lower.contains('\r'));
        }
    }
}
