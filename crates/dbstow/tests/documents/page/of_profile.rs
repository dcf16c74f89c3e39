//! The page of a profile.

use super::*;

/// A profile of two hours in intervals of 10 s with every column, with 20 minutes missing.
fn profile() -> String {
    let numbers: Vec<u32> = (0..720)
        .filter(|number| !(300..420).contains(number))
        .collect();
    let column = |of: &dyn Fn(f64) -> f64| {
        let values: Vec<String> = numbers
            .iter()
            .map(|number| format!("{:.3}", of(f64::from(*number))))
            .collect();
        format!("[{}]", values.join(", "))
    };
    let wave = |mean: f64| move |number: f64| mean * (1.5 + (number / 40.0).sin());
    let mut text = format!(
        "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\nassumptions = [\"{HOSTILE}\"]\n\
         [origin]\ntool = \"dbstow record\"\nproduct = \"PostgreSQL\"\nversion = \"17.2 {HOSTILE}\"\n\
         [machine]\nprocessors = 16\nmemory = \"64 GiB\"\n\
         [[volume]]\nroles = [\"data\", \"temp\"]\n[[volume]]\nroles = [\"log\"]\n\
         [[interruption]]\nat_s = 3000.0\ncause = \"restart\"\n\
         [intervals]\nat_s = {}\nlength_s = {}\n",
        column(&|number| number * 10.0),
        column(&|_| 10.0)
    );
    let mut columns = |table: &str, names: &[(&str, f64)]| {
        text.push_str(table);
        for (name, mean) in names {
            writeln!(text, "{name} = {}", column(&wave(*mean))).unwrap();
        }
    };
    columns(
        "",
        &[
            ("operations", 8e3),
            ("commits", 5e3),
            ("processor_s", 60.0),
            ("sessions", 40.0),
            ("running", 14.0),
        ],
    );
    columns(
        "[intervals.waiting]\n",
        &[
            ("data_read", 4.0),
            ("data_write", 0.5),
            ("log", 3.0),
            ("temp", 1.0),
            ("lock", 0.7),
            ("other", 0.2),
        ],
    );
    for (role, scale) in [("data", 1.0), ("temp", 0.3), ("log", 0.6)] {
        let figures = [
            ("reads", 2e4),
            ("read_bytes", 1.6e8),
            ("read_wait_s", 40.0),
            ("writes", 1e4),
            ("write_bytes", 8e7),
            ("write_wait_s", 8.0),
            ("flushes", 2e3),
            ("flush_wait_s", 3.0),
        ];
        let scaled = figures.map(|(name, mean)| (name, mean * scale));
        columns(&format!("[intervals.{role}]\n"), &scaled);
    }
    text
}

/// The page of a profile.
fn page_of_profile(folder: &Folder, text: &str) -> PathBuf {
    folder.write("shop.toml", text);
    folder.stdout(&["profile", "shop.toml", "--html", "shop.html"]);
    folder.path("shop.html")
}

#[test]
fn the_page_of_a_profile_draws_every_figure_over_time_and_nothing_is_injected() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    let page = page_of_profile(&folder, &profile());
    let shown = Shown::new(browser, &page);

    assert_eq!(shown.complaints(), [""; 0]);
    assert_eq!(
        shown.count("performance.getEntriesByType('resource').length"),
        0
    );
    let title = shown.ask("document.title");
    assert!(
        title
            .as_str()
            .unwrap()
            .starts_with("What PostgreSQL 17.2 </script>"),
        "{title}"
    );
    for section in [
        "requests",
        "sessions",
        "series",
        "answers",
        "interruptions",
        "assumptions",
    ] {
        let words = format!("document.getElementById('{section}').textContent.trim().length");
        assert!(shown.count(&words) > 20, "{section}");
    }
    let titles = shown.ask(
        "[...document.querySelectorAll('.u-title')].map(title => title.textContent).join('; ')",
    );
    let expected = "Requests, 1/s; Throughput, MB/s; Latency, mean, ms; Operations, 1/s; Sessions; Processors in use";
    assert_eq!(titles, expected);
    let drawn = "[...document.querySelectorAll('canvas')].filter(canvas => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size > 20;
    }).length";
    assert_eq!(shown.count(drawn), 6);
    let untold = "[...document.querySelectorAll('.chart')].filter(chart => !chart.querySelector('[role=img][aria-label]')).length";
    assert_eq!(shown.count(untold), 0);
    // Of 120 minutes those from 50 to 70 are missing.
    let gap = "(() => {
        const { unit_s, x, charts } = JSON.parse(document.getElementById('data').textContent);
        const at = charts[0].lines[0].values.indexOf(null);
        return [x[at], x[at + 1]].map(value => value * unit_s / 60).join(' ');
    })()";
    assert_eq!(shown.ask(gap), "50 70");

    // A click on a role hides its lines in all charts.
    let before = shown.pixels_of_arm(0);
    shown.ask("document.querySelector('.legend button').click()");
    shown.settle();
    assert!(before > 100 && shown.pixels_of_arm(0) == 0, "{before}");
    let wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    assert_eq!(shown.ask(wide), true);
    assert!(fs::metadata(&page).unwrap().len() < 500_000);
}

#[test]
fn the_page_of_a_profile_prints_and_has_no_chart_of_what_was_not_recorded() {
    let Some(OwnBrowser { browser, .. }) = &browser() else {
        return;
    };
    let folder = Folder::new();
    let text = "format = \"dbstow.profile/1\"\nstart = \"2026-11-22T10:00:00Z\"\n[origin]\ntool = \"iostat\"\n\
                [intervals]\nat_s = [0.0, 10.0, 40.0]\nlength_s = [10.0, 10.0, 10.0]\n\
                [intervals.data]\nreads = [10.0, 20.0, 30.0]\nwrites = [1.0, 2.0, 3.0]\n";
    let page = page_of_profile(&folder, text);
    let shown = Shown::new(browser, &page);
    let titles = shown.ask(
        "[...document.querySelectorAll('.u-title')].map(title => title.textContent).join('; ')",
    );
    assert_eq!(titles, "Requests, 1/s");
    assert_eq!(
        shown.count("document.querySelectorAll('#sessions, #assumptions').length"),
        0
    );

    let page = page_of_profile(&folder, &profile());
    let shown = Shown::new(browser, &page);
    let print = SetEmulatedMedia {
        media: Some("print".into()),
        features: None,
    };
    shown.tab.call_method(print).unwrap();
    shown.ask("dispatchEvent(new Event('beforeprint'))");
    shown.ask(&format!("document.body.style.width = '{A4_WIDTH}px'"));
    let cut = format!(
        "[...document.querySelectorAll('.chart, .uplot, table')].filter(part =>
            part.getBoundingClientRect().right > document.body.getBoundingClientRect().left + {A4_WIDTH} + 1
        ).map(part => part.className + ' ' + part.textContent.slice(0, 40)).join('; ')"
    );
    assert_eq!(shown.ask(&cut), "");
    assert_eq!(shown.ask(PALE), "");
    assert_eq!(shown.complaints(), [""; 0]);
}
