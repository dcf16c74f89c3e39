//! What is not read, or not answered, is said in a sentence, and the page goes on.

use std::fs;

use super::browser::Page;
use super::file;

/// What the page says of a file with these bytes.
fn refused(page: &Page, name: &str, bytes: &[u8]) -> String {
    let path = page.folder.path(name);
    fs::write(&path, bytes).unwrap();
    page.choose(&[&path]);
    page.wait_for(&format!(
        "document.getElementById('unread').textContent.includes('{name}')"
    ));
    page.text("unread")
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn files_of_no_tool_are_refused_with_the_remedy() {
    let page = Page::open();
    let cases: [(&str, &[u8], &str); 4] = [
        ("letter.txt", b"Dear Sir or Madam,\n", "known tool"),
        ("empty.csv", b"", "empty"),
        (
            "counters.blg",
            b"\x02\x24\x00\x00\xff\xfe\x00\x01",
            "relog -f csv",
        ),
        (
            "counters.zip",
            b"PK\x03\x04\x14\x00\x00\x00\x08\x00\x00",
            "unpack it",
        ),
    ];
    for (name, bytes, remedy) in cases {
        let said = refused(&page, name, bytes);
        assert!(said.contains(remedy), "{said}");
        assert!(!page.is_shown("profile"));
    }
    // A file of another tool beside it is refused with both names.
    let shop = file("examples/shop.toml");
    page.choose(&[&shop, &page.folder.path("letter.txt")]);
    page.wait_for("document.getElementById('unread').textContent.includes('shop.toml')");

    // The next one is read.
    page.choose(&[&shop]);
    assert_eq!(page.wait_for_text("reading"), "Read: a profile.");
    assert_eq!(page.text("unread"), "");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn mistakes_in_the_layout_and_the_question_are_said_by_the_library() {
    let page = Page::open();
    page.click("#search");
    assert_eq!(page.wait_for_text("refused"), "Give a recording first.");
    page.choose(&[&file("examples/shop.toml")]);
    page.wait_for_text("reading");
    page.click("#search");
    assert_eq!(
        page.wait_for_text("refused"),
        "Say first what the server runs on."
    );
    page.fill("#machine", "azure.E2bds_v55");
    page.fill("#disk-data", "azure.premium.p30");
    let said = page.wait_for_text("misfit");
    assert!(
        said.contains("azure.E2bds_v55") && said.contains("azure.E2bds_v5"),
        "{said}"
    );
    page.fill("#machine", "azure.E2bds_v5");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    page.fill("[name=data]", "much");
    page.click("#search");
    let said = page.wait_for_text("refused");
    assert!(said.contains("capacity of data, much"), "{said}");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn a_search_can_be_cancelled_and_begun_again() {
    let page = Page::open();
    page.click(".example:nth-of-type(2)");
    page.wait_for("document.getElementById('reading').textContent === 'Read: a profile.'");
    page.click("#search");
    page.wait_for("/Simulated layouts/.test(document.getElementById('progress').textContent)");
    assert!(page.is_shown("cancel") && page.is_shown("bar"));
    page.click("#cancel");
    assert_eq!(page.wait_for_text("refused"), "Cancelled.");
    assert!(!page.is_shown("cancel") && !page.is_shown("bar") && !page.is_shown("answered"));
    assert_eq!(page.text("progress"), "");
    assert_eq!(page.ask("document.activeElement.id"), "search");

    page.click("[name=quick]");
    page.click("#search");
    page.wait_for_answer();
    assert_eq!(page.complaints(), [""; 0]);
}
