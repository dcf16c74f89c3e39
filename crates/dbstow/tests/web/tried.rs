//! What is tried with an answer: layouts in full, two side by side, and sliders.

use std::fs;

use super::browser::Page;

/// The page with the answer for the first example.
fn answered() -> Page {
    let page = Page::open();
    page.click(".example");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    page.click("#search");
    page.wait_for_answer();
    page
}

/// The layouts that are shown in full.
const SHOWN: &str =
    "[...document.querySelectorAll('#points .card')].filter(card => card.checkVisibility())";

#[test]
#[ignore = "scripts/check-web builds the page"]
fn points_of_the_chart_are_shown_in_full_two_side_by_side_by_mouse_and_keyboard() {
    let page = answered();
    let html = page.download("to-html");
    fs::write(page.folder.path("shown.html"), html).unwrap();
    page.show(&page.folder.path("shown.html"));

    // The answer at first.
    assert_eq!(page.ask(&format!("{SHOWN}.length")), 1);
    let text = page.ask(&format!("{SHOWN}[0].textContent"));
    let text = text.as_str().unwrap().to_owned();
    for part in [
        "the answer",
        "Bill",
        "in all",
        "Most used",
        "What it takes, from today",
        "machine azure.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    // A click on another point of the chart shows that beside it.
    let click = "(() => {
        const over = document.querySelector('.u-over');
        const box = over.getBoundingClientRect();
        for (let y = 0; y < box.height; y += 10) for (let x = 0; x < box.width; x += 10) {
            const before = document.querySelectorAll('#points .card:not([hidden])').length;
            const at = { bubbles: true, clientX: box.left + x, clientY: box.top + y };
            // As a mouse does it: to the chart, a click alone is the end of a drag.
            for (const kind of ['mousemove', 'mousedown', 'mouseup', 'click']) over.dispatchEvent(new MouseEvent(kind, at));
            if (document.querySelectorAll('#points .card:not([hidden])').length > before) return true;
        }
        return false;
    })()";
    assert_eq!(page.ask(click), true);
    assert_eq!(page.ask(&format!("{SHOWN}.length")), 2);
    let side_by_side = format!(
        "(([one, other]) => one.getBoundingClientRect().top === other.getBoundingClientRect().top)({SHOWN})"
    );
    assert_eq!(page.ask(&side_by_side), true);

    // By keyboard: a third takes the place of the first, and the same key takes it away.
    let pressed = "document.querySelectorAll('.picks [aria-pressed=true]').length";
    assert_eq!(page.ask(pressed), 2);
    page.ask("document.querySelector('.picks [aria-pressed=false]').focus()");
    page.press("Enter");
    assert_eq!(page.ask(pressed), 2);
    assert_eq!(
        page.ask("document.activeElement.getAttribute('aria-pressed')"),
        "true"
    );
    page.press("Enter");
    assert_eq!(page.ask(pressed), 1);
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn sliders_simulate_the_layout_again_and_the_last_value_wins() {
    let page = answered();
    let whole =
        "document.getElementById('simulated-part').textContent.includes('From a whole simulation')";
    page.wait_for(whole);
    let before = page.text("simulated");
    assert!(before.starts_with("$93.29 a month; 61."), "{before}");

    let slide = |name: &str, share: f64| {
        page.ask(&format!(
            "(() => {{
                const slider = document.querySelector('#sliders input[name=\"{name}\"]');
                slider.value = Number(slider.min) + {share} * (slider.max - slider.min);
                slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
            }})()"
        ));
    };
    let told = |what: &str| {
        let ms = page.ask(&format!(
            "document.getElementById('what-if').dataset.{what}"
        ));
        println!("{what}: {ms}");
    };
    told("ms");
    slide("0.iops", 0.3);
    page.wait_for(&format!(
        "{whole} && document.getElementById('simulated').textContent !== {before:?}"
    ));
    told("wholeMs");
    let more = page.text("simulated");
    assert_ne!(more, before);

    // Of many values the last one is shown.
    for share in [0.1, 0.9, 0.4, 0.2, 0.3] {
        slide("0.iops", share);
    }
    page.wait_for(&format!(
        "{whole} && document.getElementById('simulated').textContent === {more:?}"
    ));

    // More load needs more space, and what is not sold is said by the library.
    slide("growth", 1.0);
    page.wait_for("document.getElementById('lacking').textContent.includes('its files take')");
    page.ask("document.querySelector('#what-if [type=reset]').click()");
    page.wait_for(&format!(
        "{whole} && document.getElementById('simulated').textContent === {before:?}"
    ));
    assert_eq!(page.text("lacking"), "");

    // Of another layout, too.
    let last = "(of => of.options.length > 1 && of.selectedIndex === of.options.length - 1)(document.getElementById('of'))";
    page.ask(
        "(of => {
            of.value = of.options.length - 1;
            of.dispatchEvent(new Event('change'));
            document.querySelector('#what-if [type=reset]').click();
        })(document.getElementById('of'))",
    );
    page.wait_for(&format!("{whole} && {last}"));
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
#[ignore = "scripts/check-web builds the page"]
fn a_layout_that_was_edited_stays_when_a_field_changes() {
    let page = Page::open();
    page.click(".example");
    page.wait_for("document.getElementById('fit').textContent.includes('fits')");
    let layout = "document.getElementById('layout').value";
    page.fill("#machine", "azure.E8bds_v5");
    page.fill("#disk-data", "azure.premium.p40");
    page.wait_for(&format!("{layout}.includes('p40')"));
    let edited = page.ask(layout).as_str().unwrap().replace("p40", "p50");
    page.fill("#layout", &edited);
    page.fill("#disk-data", "azure.premium.p30");
    page.wait_for("document.getElementById('misfit').textContent.includes('was edited')");
    assert_eq!(page.ask(layout), edited);
    page.fill("#layout", "");
    page.fill("#disk-data", "azure.premium.p20");
    page.wait_for(&format!("{layout}.includes('p20')"));
    assert_eq!(page.complaints(), [""; 0]);
}
