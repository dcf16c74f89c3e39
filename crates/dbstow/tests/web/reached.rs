//! Whom the page reaches: any window, a keyboard, a screen reader, and no network.

use std::path::Path;

use super::browser::Page;

#[test]
#[ignore = "scripts/check-web builds the page"]
fn nothing_on_the_page_can_send_anything() {
    let page = Page::open();
    let policy = page.ask("document.querySelector('meta[http-equiv]').content");
    let policy = policy.as_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    for way in [
        "fetch('https://example.com/')",
        "new Promise((done, fail) => { const i = new Image(); i.onload = done; i.onerror = () => fail(1); i.src = 'https://example.com/a.png'; })",
        "new Promise((done, fail) => { const s = new WebSocket('wss://example.com/'); s.onopen = done; s.onerror = () => fail(1); })",
    ] {
        let refused = format!("{way}.then(() => 'sent', () => 'refused')");
        assert_eq!(page.ask(&refused), "refused", "{way}");
    }
    // A script that was injected does not run.
    page.ask("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.injected = 1' }))");
    assert_eq!(page.ask("window.injected ?? 0"), 0);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn no_window_scrolls_sideways() {
    let page = Page::open();
    page.click(".example");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    page.click("[name=quick]");
    page.click("#search");
    page.wait_for_answer();
    page.ask("document.querySelectorAll('details').forEach(part => { part.open = true; })");
    for width in [360, 768, 1280, 2560] {
        page.resize(width, 900);
        let wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth].join(' > ')";
        let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(page.ask(fits), true, "{}", page.ask(wide));
    }
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn a_keyboard_and_a_screen_reader_reach_everything() {
    let page = Page::open();
    page.drop(
        "counters.csv",
        &std::fs::read_to_string(super::perfmon("relog.csv")).unwrap(),
    );
    page.wait_for_text("unread");
    page.ask("document.querySelectorAll('details').forEach(part => { part.open = true; })");
    // Every control has a name, every frame a title, every status a role.
    let unnamed = "[...document.querySelectorAll('input, select, textarea, button, progress')].filter(control =>
        ![...(control.labels ?? [])].some(label => label.textContent.trim())
            && !control.getAttribute('aria-label') && !control.textContent.trim()
        ).map(control => control.outerHTML).join(' ')";
    assert_eq!(page.ask(unnamed), "");
    let frames = "[...document.querySelectorAll('iframe')].every(frame => frame.title)";
    assert_eq!(page.ask(frames), true);
    let spoken = "['reading', 'fit', 'progress'].every(id => document.getElementById(id).role === 'status')
        && ['unread', 'misfit', 'refused'].every(id => document.getElementById(id).role === 'alert')";
    assert_eq!(page.ask(spoken), true);
    let twice = "[...document.querySelectorAll('[id]')].map(one => one.id).filter((id, at, all) => all.indexOf(id) !== at).join(' ')";
    assert_eq!(page.ask(twice), "");
    let headings = "[...document.querySelectorAll('h1, h2')].map(one => one.tagName).join(' ')";
    assert_eq!(page.ask(headings), "H1 H2 H2 H2 H2");

    // Tab goes from the first to the last in the order of the document, and nothing takes it out of order.
    assert_eq!(
        page.ask("document.querySelectorAll('[tabindex]:not([tabindex=\"-1\"])').length"),
        0
    );
    let order = "[...document.querySelectorAll('input, select, textarea, button, summary')].filter(one => one.checkVisibility())";
    let expected = page.ask(&format!("{order}.length"));
    page.ask("document.body.focus()");
    let mut seen = Vec::new();
    for _ in 0..expected.as_u64().unwrap() {
        page.press("Tab");
        let at = page.ask(&format!("{order}.indexOf(document.activeElement)"));
        seen.push(at.as_u64().expect("a control has the focus"));
    }
    let all: Vec<u64> = (0..expected.as_u64().unwrap()).collect();
    assert_eq!(seen, all);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn a_picture_of_the_answer_is_taken() {
    let page = Page::open();
    page.click(".example");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    page.click("#search");
    page.wait_for_answer();
    for (name, width, dark) in [
        ("web-360.png", 360, false),
        ("web.png", 1280, false),
        ("web-dark.png", 1280, true),
    ] {
        page.resize(width, 900);
        // The whole page is in view, with frames as they are in a window.
        page.ask("document.querySelectorAll('iframe').forEach(frame => { frame.style.height = '720px'; })");
        let height = page.ask("document.documentElement.scrollHeight");
        page.resize(width, u32::try_from(height.as_u64().unwrap()).unwrap());
        let picture = page.picture(dark);
        assert!(picture.starts_with(b"\x89PNG"));
        if let Ok(folder) = std::env::var("DBSTOW_PICTURES") {
            std::fs::write(Path::new(&folder).join(name), picture).unwrap();
        }
    }
}
