//! The page in a real browser, as seen by a recipient.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

mod of_profile;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headless_chrome::protocol::cdp::Emulation::{MediaFeature, SetEmulatedMedia};
use headless_chrome::protocol::cdp::Page::AddScriptToEvaluateOnNewDocument;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::types::PrintToPdfOptions;
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::Value;
use testing::folder::Folder;

/// Width of what is printed on A4 between its margins, in CSS pixels.
const A4_WIDTH: u32 = 688;

/// A browser, and its temporary folder.
struct OwnBrowser {
    browser: Browser,
    _temporary: Folder,
}

/// A browser, or the reason for a skip; in `make test` that is a failure.
fn browser() -> Option<OwnBrowser> {
    let program = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let Some(program) = program
        .into_iter()
        .find(|program| Path::new(program).exists())
    else {
        testing::skip("no Chromium");
        return None;
    };
    let temporary = Folder::new();
    let inside = temporary.root().display().to_string();
    let options = LaunchOptions::default_builder()
        .process_envs(Some(HashMap::from([("TMPDIR".to_owned(), inside)])))
        .path(Some(PathBuf::from(program)))
        // It runs as the tests' user, root included, and opens only our own file.
        .sandbox(false)
        .idle_browser_timeout(Duration::from_secs(120))
        .window_size(Some((1200, 900)))
        .build();
    Some(OwnBrowser {
        browser: Browser::new(options.unwrap()).expect("a browser"),
        _temporary: temporary,
    })
}

/// The page written by a run with `arguments`.
fn page(folder: &Folder, arguments: &[&str]) -> PathBuf {
    folder.stdout(&[arguments, &["--out", "r"]].concat());
    folder.path("r/report.html")
}

/// A tab that shows `page`, and its errors.
struct Shown {
    tab: Arc<Tab>,
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Shown {
    fn new(browser: &Browser, page: &Path) -> Shown {
        let tab = browser.new_tab().unwrap();
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&complaints);
        tab.enable_log().unwrap();
        tab.enable_runtime().unwrap();
        tab.add_event_listener(Arc::new(move |event: &Event| {
            let said = match event {
                Event::LogEntryAdded(entry) => entry.params.entry.text.clone(),
                Event::RuntimeExceptionThrown(thrown) => format!("{:?}", thrown.params),
                Event::RuntimeConsoleAPICalled(call) => format!("{:?}", call.params),
                _ => return,
            };
            kept.lock().unwrap().push(said);
        }))
        .unwrap();
        let url = format!("file://{}", page.display());
        tab.navigate_to(&url)
            .unwrap()
            .wait_until_navigated()
            .unwrap();
        Shown { tab, complaints }
    }

    fn ask(&self, script: &str) -> Value {
        let answer = self.tab.evaluate(script, false).expect(script);
        answer.value.unwrap_or(Value::Null)
    }

    /// Waits until a script's changes are drawn.
    fn settle(&self) {
        let frames =
            "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))";
        self.tab.evaluate(frames, true).expect(frames);
    }

    fn count(&self, script: &str) -> u64 {
        let answer = self.ask(script);
        answer
            .as_u64()
            .unwrap_or_else(|| panic!("{script}: {answer}"))
    }

    /// Pixels of each chart in the colour of the nth arm in its legend.
    fn pixels_of_arm(&self, arm: usize) -> u64 {
        let script = format!(
            r#"(() => {{
                const sign = document.querySelectorAll('.legend button i')[{arm}];
                const [r, g, b] = sign.style.background.match(/\d+/g).map(Number);
                let found = 0;
                for (const canvas of document.querySelectorAll('#series canvas')) {{
                    const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                    for (let at = 0; at < data.length; at += 4)
                        if (data[at] === r && data[at + 1] === g && data[at + 2] === b) found += 1;
                }}
                return found;
            }})()"#
        );
        self.count(&script)
    }

    fn complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap().clone()
    }
}

#[test]
fn a_page_loads_nothing_complains_of_nothing_and_draws_every_chart() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    let page = page(&folder, &["run", "tempdb-scale-out", "--quick"]);
    let shown = Shown::new(browser, &page);

    assert_eq!(shown.complaints(), [""; 0]);
    assert_eq!(
        shown.count("performance.getEntriesByType('resource').length"),
        0
    );
    for section in [
        "answer",
        "placements",
        "time",
        "layout",
        "series",
        "distributions",
        "tables",
        "warnings",
        "repeat",
    ] {
        let words = format!("document.getElementById('{section}').textContent.trim().length");
        assert!(shown.count(&words) > 20, "{section}");
    }
    let charts = shown.count("document.querySelectorAll('canvas').length");
    // operations, four series of disks, three distributions, all trials
    assert_eq!(charts, 9);
    let drawn = "[...document.querySelectorAll('canvas')].filter(canvas => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size > 20;
    }).length";
    assert_eq!(shown.count(drawn), charts);
    // Each chart has a table with its title, for readers who cannot see it.
    let untold = "[...document.querySelectorAll('.chart')].filter(chart => !chart.querySelector('[role=img][aria-label]')).length";
    assert_eq!(shown.count(untold), 0);
    assert_eq!(
        shown.count("document.querySelectorAll('#tables h3').length"),
        charts
    );
    assert!(fs::metadata(&page).unwrap().len() < 1_500_000);
}

#[test]
fn ticks_of_every_trial_can_be_told_apart() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    let page = page(&folder, &["run", "tempdb-scale-out", "--quick"]);
    let shown = Shown::new(browser, &page);
    // Axis labels are drawn on a canvas: they are intercepted.
    let noting = "const fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
            (this.canvas.texts ??= []).push(text);
            return fill.call(this, text, ...more);
        };";
    shown
        .tab
        .call_method(AddScriptToEvaluateOnNewDocument {
            source: noting.into(),
            world_name: None,
            include_command_line_api: None,
            run_immediately: None,
        })
        .unwrap();
    let url = format!("file://{}", page.display());
    let again = shown.tab.navigate_to(&url).unwrap();
    again.wait_until_navigated().unwrap();
    shown.settle();

    let drawn = shown.ask(
        "document.querySelector('[data-of=trials] canvas').texts.filter(text => /^[0-9.,]+$/.test(text)).join(' ')",
    );
    // Drawn from the lowest to the highest, perhaps several times.
    let ticks: Vec<&str> = drawn.as_str().unwrap().split(' ').collect();
    assert!(ticks.len() > 2, "{ticks:?}");
    let alike = ticks.windows(2).find(|two| two[0] == two[1]);
    assert_eq!(alike, None, "{ticks:?}");
}

#[test]
fn a_click_on_the_legend_hides_an_arm_and_a_second_one_shows_it() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    let page = page(&folder, &["run", "tempdb-scale-out", "--quick"]);
    let shown = Shown::new(browser, &page);
    let (first, second) = (shown.pixels_of_arm(0), shown.pixels_of_arm(1));
    assert!(first > 100 && second > 100, "{first} {second}");

    let click = "document.querySelector('.legend button').click()";
    shown.ask(click);
    shown.settle();
    assert_eq!(shown.pixels_of_arm(0), 0);
    assert!(shown.pixels_of_arm(1) > 100);
    let pressed =
        shown.ask("document.querySelector('.legend button').getAttribute('aria-pressed')");
    assert_eq!(pressed, "false");

    shown.ask(click);
    shown.settle();
    assert!(shown.pixels_of_arm(0) > 100);
}

#[test]
fn nothing_is_cut_on_paper() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    // The one with the most columns.
    let page = page(&folder, &["run", "tempdb-scale-out", "--quick"]);
    let shown = Shown::new(browser, &page);
    shown
        .tab
        .call_method(SetEmulatedMedia {
            media: Some("print".into()),
            features: None,
        })
        .unwrap();
    shown.ask("dispatchEvent(new Event('beforeprint'))");
    shown.ask(&format!("document.body.style.width = '{A4_WIDTH}px'"));

    let cut = format!(
        "[...document.querySelectorAll('.chart, .uplot, .bar, .volume, table')].filter(part =>
            part.getBoundingClientRect().right > document.body.getBoundingClientRect().left + {A4_WIDTH} + 1
        ).map(part => part.className + ' ' + part.textContent.slice(0, 40)).join('; ')"
    );
    assert_eq!(shown.ask(&cut), "");
    // A broken word is on two lines; one may end at a hyphen.
    let broken = "[...document.querySelectorAll('table *')].flatMap(part => [...part.childNodes])
        .filter(node => node.nodeType === 3).flatMap(node => [...node.textContent.matchAll(/[^\\s-]+/g)].filter(word => {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            return new Set([...range.getClientRects()].map(line => line.top)).size > 1;
        }).map(word => word[0])).join(' ')";
    assert_eq!(shown.ask(broken), "");
    let pdf = shown
        .tab
        .print_to_pdf(Some(PrintToPdfOptions::default()))
        .unwrap();
    assert!(
        pdf.starts_with(b"%PDF") && pdf.len() > 50_000,
        "{}",
        pdf.len()
    );
    assert_eq!(shown.complaints(), [""; 0]);
}

/// Texts whose contrast with their background is below 4.5 to 1, the minimum of WCAG 2.2 (1.4.3, level AA);
/// struck-through text and the charts' library are exempt.
const PALE: &str = r"(() => {
    const parts = colour => colour.match(/[\d.]+/g).map(Number);
    const light = colour => {
        const [r, g, b] = parts(colour).slice(0, 3).map(part => {
            const share = part / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if ((parts(colour)[3] ?? 1) > 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const pale = new Set();
    for (const element of document.querySelectorAll('body *:not(.uplot *):not(script)')) {
        const text = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (!text) continue;
        const [low, high] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => a - b);
        if ((high + 0.05) / (low + 0.05) < 4.5) pale.add(element.className + ': ' + element.textContent.slice(0, 30));
    }
    return [...pale].join('; ');
})()";

#[test]
fn every_text_can_be_read_by_day_and_by_night() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    let page = page(&folder, &["run", "tempdb-mixes", "--quick"]);
    let shown = Shown::new(browser, &page);
    for scheme in ["light", "dark"] {
        let feature = MediaFeature {
            name: "prefers-color-scheme".into(),
            value: scheme.into(),
        };
        shown
            .tab
            .call_method(SetEmulatedMedia {
                media: None,
                features: Some(vec![feature]),
            })
            .unwrap();
        let dark = shown.ask("matchMedia('(prefers-color-scheme: dark)').matches");
        assert_eq!(dark, scheme == "dark");
        assert_eq!(shown.ask(PALE), "", "{scheme}");
    }
}

/// An experiment of many arms that runs in a moment.
fn many(arms: usize, blocks: usize) -> String {
    let arm = |arm| {
        format!(
            "[placement.arm-{arm}]\ndata = {{ volumes = \"d\" }}\ntemp = {{ volumes = \"d\" }}\n\
             log = {{ volumes = \"d\" }}\n"
        )
    };
    let placements: String = (0..arms).map(arm).collect();
    format!(
        "name = \"many\"\nquestion = \"<img src=x onerror=document.title='taken'> or not?\"\n\
         [machine]\ncores = 4\nmemory = \"8 GiB\"\n[volume.d]\ndisk = \"azure.premium.p30\"\n{placements}\
         [workload]\nname = \"read-only\"\noperations = 5\n[workload.parameters]\nrows = 500\n\
         [engine]\nmemory = \"1 MiB\"\n[protocol]\nblocks = {blocks}\nmetric = \"elapsed_s\"\n"
    )
}

/// Replaces a number of an arm's published figures by other text, as an attacker could. An arm itself cannot have such a
/// name: the folder would be refused.
fn publish(folder: &Path, arm: &str, words: &str) {
    let file = folder.join("dbstow.json");
    let mut head: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for part in ["question", "plan"] {
        let arms = head[part]["arms"].as_array_mut().unwrap();
        let asked = arms.iter_mut().find(|asked| asked["name"] == arm);
        asked.unwrap()["published"]["elapsed_s"] = words.into();
    }
    fs::write(file, head.to_string()).unwrap();
}

#[test]
fn a_script_that_was_not_put_there_by_dbstow_does_not_run() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    folder.write("many.toml", many(2, 2));
    let page = page(&folder, &["run", "many.toml"]);
    let whole = fs::read_to_string(&page).unwrap();
    let injected = [
        "<script>document.title='taken'</script>",
        "<img src='data:,' onerror=\"document.title='taken'\">",
        "<script src=\"data:text/javascript,document.title='taken'\"></script>",
        "<iframe srcdoc=\"<script>parent.document.title='taken'</script>\"></iframe>",
        "<style>body { display: none }</style>",
    ];
    for injected in injected {
        let spoilt = folder.path("spoilt.html");
        fs::write(
            &spoilt,
            whole.replace("</main>", &format!("{injected}</main>")),
        )
        .unwrap();
        let shown = Shown::new(browser, &spoilt);

        // It precedes our own scripts: when those have drawn, it had its chance.
        assert!(shown.count("document.querySelectorAll('canvas').length") > 2);
        shown.settle();
        let title = shown.ask("document.title");
        assert_ne!(title, "taken", "{injected}");
        let display = shown.ask("getComputedStyle(document.body).display");
        assert_eq!(display, "block", "{injected}");
        let complaints = shown.complaints().join("\n");
        assert!(
            complaints.contains("Content Security Policy"),
            "{injected}: {complaints}"
        );
    }
}

#[test]
fn forty_arms_with_a_hostile_figure_and_two_hundred_trials_are_shown_and_nothing_is_injected() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    folder.write("many.toml", many(40, 5));
    let page = page(&folder, &["run", "many.toml"]);
    let name = "</script><script>document.title='taken'</script><b onclick=\"x\">&\\\"'{{1}}";
    publish(&folder.path("r"), "arm-7", name);
    folder.stdout(&["report", "r"]);
    assert!(fs::metadata(&page).unwrap().len() < 1_500_000);
    let shown = Shown::new(browser, &page);

    assert_eq!(shown.complaints(), [""; 0]);
    let title = shown.ask("document.title");
    assert!(title.as_str().unwrap().starts_with("<img src=x"), "{title}");
    assert_eq!(shown.count("document.querySelectorAll('img').length"), 0);
    let rows = |of: &str| shown.count(&format!("document.querySelectorAll('{of}').length"));
    assert_eq!(rows("#placements tbody tr"), 40);
    // The six best and the two worst; the others behind a fold.
    assert_eq!(rows("#placements details tbody tr"), 32);
    assert_eq!(rows("#time details.fold .split"), 32);
    let rows = shown.ask("[...document.querySelectorAll('#placements tbody tr')].map(row => row.textContent).join('\\n')");
    assert!(rows.as_str().unwrap().contains(name), "{rows}");
    assert!(shown.count("document.querySelectorAll('canvas').length") > 2);
}

#[test]
fn one_arm_alone_and_damaged_and_newer_records_are_told_in_the_page() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    folder.write("one.toml", many(1, 4));
    let page = page(&folder, &["run", "one.toml"]);
    let records = folder.path("r/records");
    let mut files: Vec<PathBuf> = fs::read_dir(&records)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    let text = fs::read_to_string(&files[1]).unwrap();
    fs::write(&files[0], &text[..text.len() / 2]).unwrap();
    fs::write(
        &files[1],
        text.replace("dbstow.record/1", "dbstow.record/9"),
    )
    .unwrap();
    folder.stdout(&["report", "r"]);
    let shown = Shown::new(browser, &page);

    let answer = shown.ask("document.getElementById('answer').textContent");
    assert!(
        answer.as_str().unwrap().contains("One placement alone"),
        "{answer}"
    );
    let warnings = shown.ask("document.getElementById('warnings').textContent");
    let warnings = warnings.as_str().unwrap();
    for part in ["it is damaged", "dbstow.record/9"] {
        assert!(warnings.contains(part), "{warnings}");
    }
    assert_eq!(shown.complaints(), [""; 0]);
}

/// A text that ends up as a script, if it is not escaped.
const HOSTILE: &str = "</script><script>document.title='taken'</script><b onclick='x'>&{{1}}";
