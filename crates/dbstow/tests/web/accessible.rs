//! The rules of axe-core, which `scripts/check-web` has from npm: on the page, and on the answer.

use std::fs;

use super::browser::Page;
use super::file;

/// Fails with each rule that what is shown breaks, and where.
fn assert_accessible(page: &Page, what: &str) {
    let script = std::env::var("DBSTOW_AXE").expect("run scripts/check-web: it has the rules");
    page.ask(&fs::read_to_string(script).unwrap());
    // Frames are checked as pages of their own.
    let broken = "axe.run(document, { iframes: false }).then(({ violations }) => violations.map(({ id, nodes }) =>
        id + ': ' + nodes.map(({ target, failureSummary }) => target.join(' ') + ' ' + failureSummary).join('; ')).join('\\n'))";
    let broken = page.ask(broken);
    let broken = broken.as_str().expect("a list of rules");
    assert_eq!(broken, "", "{what}");
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn no_rule_of_axe_is_broken_in_light_or_dark() {
    let page = Page::open();
    page.choose(&[&file("crates/import/tests/files/perfmon/relog.csv")]);
    page.wait_for_text("unread");
    page.ask("document.querySelectorAll('details').forEach(part => { part.open = true; })");
    for dark in [false, true] {
        page.picture(dark);
        assert_accessible(&page, "what is left open");
    }
    page.click(".example");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    let profile = page.ask("document.getElementById('profile').srcdoc");
    page.click("[name=quick]");
    page.click("#search");
    page.wait_for_answer();
    for dark in [false, true] {
        page.picture(dark);
        assert_accessible(&page, "an answer");
    }
    let advice = page.ask("document.getElementById('advice').srcdoc");
    for (name, html) in [("advice.html", advice), ("profile.html", profile)] {
        page.folder.write(name, html.as_str().unwrap());
        page.show(&page.folder.path(name));
        for dark in [false, true] {
            page.picture(dark);
            assert_accessible(&page, name);
        }
    }
}
