//! Advice as one self-contained HTML file.

use askama::Template;
use serde::Serialize;

use super::cards::{Card, cards};
use super::document::{Advice, BackTest, Layout};
use super::points::{Point, points};
use super::view::report;
use crate::report::page::{CHARTS, STYLE, UPLOT, UPLOT_STYLE, embedded, policy};
use crate::report::section::{Kind, Report};
use table::quantity::percent;
use table::{Cell, Table};

const SCRIPT: &str = include_str!("../../../templates/advice.js");

/// All styles of the page, and all scripts.
pub(in crate::report) const STYLES: [&str; 4] = [UPLOT_STYLE, SORT_STYLE, CARD_STYLE, STYLE];
pub(in crate::report) const SCRIPTS: [&str; 3] = [UPLOT, CHARTS, SCRIPT];

/// Style of the cards, of the buttons that choose them, and of the figures of an answer that is untested.
const CARD_STYLE: &str = r#".cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: .75rem; margin: 1rem 0; }
.card { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--panel); break-inside: avoid; }
.card.chosen { border: 2px solid var(--accent); }
.card h3 { margin: 0 0 .35rem; }
.card p { margin: .25rem 0; font-size: .92rem; }
.card .price { font-size: 1.35rem; font-weight: 600; }
.card h4 { margin-top: .75rem; }
.card table { width: 100%; }
.card .wide tbody th, .card .wide thead tr > :first-child { position: static; background: none; }
.card[hidden] { display: none; }
.picks { display: flex; flex-wrap: wrap; gap: .3rem; margin: .5rem 0; }
.picks button { padding: .15rem .6rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--panel); color: var(--text); font: inherit; font-size: .85rem; cursor: pointer; }
.picks button[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
@media print { .picks { display: none; } }
.card ul { margin: .25rem 0; padding-left: 1.1rem; font-size: .92rem; }
.trust { color: var(--soft); }
body.doubtful #answer { border-left-color: var(--throttle); }
body.doubtful .answer, body.doubtful .trust, body.doubtful .price, body.doubtful #layouts td, body.doubtful #changes td { color: var(--throttle); }
"#;

/// Style of the buttons in a table's head that sort its rows.
const SORT_STYLE: &str = r#"thead th button { padding: 0; border: 0; background: none; color: inherit; font: inherit; text-align: inherit; cursor: pointer; }
th[aria-sort] button::before { content: "▲ "; }
th[aria-sort="descending"] button::before { content: "▼ "; }
"#;

#[derive(Template)]
#[template(path = "advice.html")]
struct Page<'a> {
    report: Report,
    cards: Vec<Card>,
    points: Vec<Point>,
    /// Next steps: purpose and command.
    next: Vec<(&'a str, String)>,
    /// How well the model fits; a sentence.
    fit: String,
    has_chart: bool,
    data: String,
    policy: String,
}

/// The script's data for drawing and sorting.
#[derive(Debug, Serialize)]
struct Data {
    chart: Chart,
    /// The sort values of each row of the frontier's table.
    keys: Vec<Vec<String>>,
}

/// Layouts by price.
#[derive(Debug, Default, Serialize)]
struct Chart {
    /// The unit of prices, such as `$/month`.
    unit: String,
    /// The groups: on the frontier, today's layout, or an answer. Only layouts with a known price.
    groups: Vec<&'static str>,
    /// Prices a month, ascending.
    x: Vec<f64>,
    /// One per group, with as many values as there are prices.
    lines: Vec<Line>,
}

/// Layouts of a group; `None` at the prices of others.
#[derive(Clone, Debug, Default, Serialize)]
struct Line {
    /// Time of operations, in percent of today's.
    values: Vec<Option<f64>>,
    machines: Vec<Option<String>>,
    /// Which of the layouts in full it is.
    points: Vec<Option<usize>>,
}

/// A layout in the chart.
#[derive(Debug)]
struct Drawn {
    group: &'static str,
    usd: f64,
    time: f64,
    machine: Option<String>,
    /// Which of the layouts in full it is.
    point: Option<usize>,
}

/// The whole page.
pub fn page(advice: &Advice) -> String {
    let report = report(advice, false);
    let frontier = report.table("frontier");
    let data = Data {
        chart: Chart::of(advice),
        keys: frontier.map(keys).unwrap_or_default(),
    };
    let values = serde_json::to_value(&data).expect("lists, texts and numbers are JSON");
    let next = advice.next.iter();
    let page = Page {
        cards: cards(advice),
        points: points(advice),
        next: next
            .map(|next| (&*next.what, without_folders(&next.command)))
            .collect(),
        report,
        fit: fit(&advice.backtest),
        has_chart: !data.chart.x.is_empty(),
        data: embedded(&values),
        policy: policy::of(&STYLES, &SCRIPTS),
    };
    page.render()
        .expect("the template asks for nothing that can fail")
}

impl Chart {
    fn of(advice: &Advice) -> Chart {
        let frontier = advice.frontier.iter().map(|layout| ("frontier", layout));
        // The runner-up is in the table: marking a layout that is best at nothing would only cover others.
        let answers = advice.answers().into_iter();
        let answers =
            answers.filter(|(name, layout)| *name != "runner-up" && !layout.time_is_least);
        let in_full = advice.every_layout();
        let known = |(group, layout): (&'static str, &'_ Layout)| {
            let drawn = Drawn {
                group,
                usd: layout.usd_per_month?,
                time: layout.time,
                machine: layout.machine.clone(),
                point: in_full.iter().position(|(_, one)| one.is_same_as(layout)),
            };
            Some(drawn).filter(|drawn| drawn.usd.is_finite() && drawn.time.is_finite())
        };
        let mut points: Vec<Drawn> = frontier.chain(answers).filter_map(known).collect();

        let currency = &advice.asked.currency;
        let mut chart = Chart {
            unit: currency.per_month(),
            ..Chart::default()
        };
        for point in &points {
            if !chart.groups.contains(&point.group) {
                chart.groups.push(point.group);
                chart.lines.push(Line::default());
            }
        }
        points.sort_by(|one, other| one.usd.total_cmp(&other.usd));
        for point in points {
            chart.add(point, currency.per_usd);
        }
        chart
    }

    /// Adds a layout that is not cheaper than those before. Layouts of several groups at one price are shown together.
    fn add(&mut self, drawn: Drawn, per_usd: f64) {
        let line = self.groups.iter().position(|known| *known == drawn.group);
        let line = line.expect("groups are those of the layouts");
        let usd = drawn.usd * per_usd;
        let is_taken = matches!(self.lines[line].values.last(), Some(Some(_)));
        if is_taken || self.x.last() != Some(&usd) {
            self.x.push(usd);
            for line in &mut self.lines {
                line.values.push(None);
                line.machines.push(None);
                line.points.push(None);
            }
        }
        let at = self.x.len() - 1;
        let line = &mut self.lines[line];
        line.values[at] = Some(drawn.time * 100.0);
        line.machines[at] = drawn.machine;
        line.points[at] = drawn.point;
    }
}

/// A command without the folders of its files: a page is forwarded, and says nothing of the machine that it was made on.
fn without_folders(command: &str) -> String {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in command.chars() {
        quoted ^= character == '\'';
        match character {
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    let bare = |word: &String| match word.rsplit_once('/') {
        Some((folder, name)) if folder.starts_with('\'') => format!("'{name}"),
        Some((_, name)) => name.to_owned(),
        None => word.clone(),
    };
    words.iter().map(bare).collect::<Vec<_>>().join(" ")
}

/// The sort values of `table`'s rows.
fn keys(table: &Table) -> Vec<Vec<String>> {
    let rows = table.rows.iter();
    rows.map(|row| row.iter().map(Cell::raw).collect())
        .collect()
}

fn fit(backtest: &BackTest) -> String {
    let off_max = percent(backtest.off_max);
    match (backtest.fits, &backtest.caveat) {
        (true, None) => format!(
            "The model fits today's layout: figures that sessions wait for may be off by at most {off_max}."
        ),
        (true, Some(caveat)) => format!(
            "The rate and the time of an operation fit today's layout within {off_max}, and a detail does not: {caveat}. Times in \
             brackets say what that means for the other layouts."
        ),
        (false, _) => format!(
            "The model does not fit today's layout: the rate and the time of an operation may be off by at most {off_max}. \
             Find out why before relying on this advice."
        ),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use reading::Role;

    use super::super::decision::{Decision, Kind, Level, Trust};
    use super::super::document::{
        Capacity, Change, Conditions, Counts, Figure, Line, Next, Part, SCHEMA, Used, Volume,
    };
    use super::super::money::Currency;
    use super::*;

    const GIB: u64 = 1 << 30;

    fn layout(machine: &str, usd: Option<f64>, time: f64) -> Layout {
        Layout {
            machine: Some(machine.to_owned()),
            switched_on: None,
            processors_used: None,
            machine_usd_per_month: usd,
            volumes: vec![Volume {
                name: "<i>data</i>".to_owned(),
                roles: Role::COMMON.to_vec(),
                disk: "a<b".to_owned(),
                count: 2,
                size: Some(64 * GIB),
                iops: Some(3000),
                throughput: None,
                usd_per_month: usd,
                requests_usd_per_month: None,
                forgets: false,
            }],
            usd_per_month: usd,
            bill: vec![Line {
                what: "machine".to_owned(),
                detail: machine.to_owned(),
                usd_per_month: usd,
                included_in: None,
            }],
            time,
            time_half: 0.0,
            time_range: None,
            time_mostly: None,
            time_is_least: false,
            data_reads: None,
            operation_ms: 2.5,
            parts_ms: BTreeMap::new(),
            used: vec![Used {
                limit: "IOPS of <i>data</i>".to_owned(),
                share: 0.9,
            }],
            spent: BTreeMap::from([("<i>reads</i>".to_owned(), 0.8)]),
            headroom: None,
            headroom_is_least: false,
            differences: Vec::new(),
            survived: None,
        }
    }

    pub(in super::super) fn advice() -> Advice {
        let small = layout("</script><b>small</b>", Some(100.0), 1.5);
        let large = layout("large", Some(300.0), 0.5);
        Advice {
            schema: SCHEMA.into(),
            answer: "Buy <b>large</b>".to_owned(),
            decision: Decision {
                kind: Kind::Move,
                layout: Some("cheapest".into()),
                differences: vec!["<u>all</u>".to_owned()],
                saves_usd_per_month: None,
                worth_usd_per_month: 10.0,
                model_error: 0.2,
            },
            trust: Trust {
                level: Level::High,
                because: vec!["<u>why</u>".to_owned()],
            },
            server: Some("<script>alert(1)</script>".to_owned()),
            sessions_assumed: None,
            asked: Conditions {
                profile: "\"><img src=\"x\">".to_owned(),
                cloud: None,
                slower_max: 0.1,
                budget_usd_per_month: None,
                quick: false,
                growth: 1.0,
                currency: Currency::default(),
                system: "Linux".into(),
                licence: None,
                replicas: 0,
                commitment_years: None,
                backup_days: 0,
                capacity: vec![Capacity {
                    roles: Role::COMMON.to_vec(),
                    bytes: 50 * GIB,
                }],
                memory: 8 * GIB,
            },
            backtest: BackTest {
                fits: true,
                outcome: "rate-fits".into(),
                caveat: Some("log write ms is <40> % off".to_owned()),
                notices: vec!["processors <were> busy".to_owned()],
                off_max: 0.2,
                figures: vec![Figure {
                    role: Some(Role::Data),
                    figure: "reads <per> second".to_owned(),
                    recorded: 100.0,
                    simulated: 110.0,
                    off: 0.1,
                    decides: true,
                    waited: Some(1.0),
                }],
                parts: vec![Part {
                    part: "log".into(),
                    recorded_s: 0.002,
                    simulated_s: 0.001,
                }],
            },
            today: layout("today's", None, 1.0),
            cheapest: Some(large.clone()),
            runner_up: None,
            fastest: Some(large.clone()),
            best_value: None,
            above_budget: None,
            changes: vec![Change {
                what: "<u>one</u>".to_owned(),
                usd_more_per_month: -5.0,
                layout: small.clone(),
            }],
            frontier: vec![small, large],
            counts: Counts {
                machines: 2,
                machines_unpriced: 0,
                considered: 4,
                beaten: 2,
                bounded: 0,
                simulated: 2,
                bounds_simulated: 3,
                simulated_to_usd_per_month: 120.0,
                considered_to_usd_per_month: None,
                complete: true,
            },
            price_lists: vec!["list <of> prices".to_owned()],
            notes: vec!["<i>Beside</i> the answer.".to_owned()],
            assumptions: vec!["<img src=\"y\">".to_owned()],
            next: vec![Next {
                what: "Print <it>".to_owned(),
                command: "dbstow advise 'a<b' && true".to_owned(),
                arm: None,
            }],
        }
    }

    #[test]
    fn a_page_needs_no_other_file() {
        let page = page(&advice());

        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
        assert!(page.contains("default-src 'none'"));
        for outside in ["src=\"", "href=\"", "<link", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn names_cannot_become_elements_or_end_the_data() {
        let page = page(&advice());

        for element in [
            "<script>alert",
            "</script><b>",
            "<b>",
            "<i>",
            "<img",
            "<of>",
            "<it>",
            "<u>",
            "a<b",
        ] {
            assert!(!page.contains(element), "{element}");
        }
        assert!(page.contains("&#60;script&#62;alert(1)&#60;/script&#62;"));
        // The data, uPlot, the code shared by charts, and the page's own.
        assert_eq!(page.matches("</script>").count(), 4);
    }

    #[test]
    fn a_page_names_files_without_their_folders() {
        let mut advice = advice();
        advice.asked.profile = "/home/ann/shop.toml".to_owned();
        advice.next[0].command =
            "dbstow run '/home/ann/my files/finalists.toml' --catalogue ../own.toml".to_owned();

        let page = page(&advice);

        assert!(
            !page.contains("/home/ann") && !page.contains("my files") && !page.contains("../own")
        );
        let own = "dbstow run &#39;finalists.toml&#39; --catalogue own.toml";
        assert!(page.contains(own) && page.contains("<dd>shop.toml</dd>"));
    }

    #[test]
    fn what_is_untested_is_marked_on_the_page() {
        let tested = page(&advice());
        assert!(!tested.contains("UNTESTED") && !tested.contains("class=\"doubtful\""));

        let mut advice = advice();
        advice.backtest.fits = false;
        let untested = page(&advice);
        assert!(untested.contains("UNTESTED") && untested.contains("<body class=\"doubtful\">"));
    }

    #[test]
    fn cards_are_what_can_be_done_each_with_its_whole_price() {
        let cards = cards(&advice());

        // The large one is cheapest and fastest.
        let titles: Vec<&str> = cards.iter().map(|card| card.title.as_str()).collect();
        assert_eq!(titles, ["Stay", "Cheapest, fastest"]);
        assert_eq!(cards[1].price, "$300 a month");
        assert!(cards[1].is_answer && !cards[0].is_answer);
    }

    #[test]
    fn every_price_is_in_the_currency_that_was_asked_for() {
        let mut advice = advice();
        advice.asked.currency = Currency::parse("EUR=0.5").expect("it is a rate");

        let cards = cards(&advice);
        let page = page(&advice);

        assert_eq!(cards[1].price, "EUR 150 a month");
        assert!(page.contains("1 USD = 0.5 EUR, as given") && page.contains("EUR/month"));
        assert!(!page.contains("$/month") && !page.contains("$300"));
        assert_eq!(Chart::of(&advice).x, [50.0, 150.0]);
    }

    #[test]
    fn layouts_of_one_price_share_a_place_and_those_of_unknown_price_have_none() {
        let chart = Chart::of(&advice());

        // Today's price is not known; the large one is cheapest and fastest.
        assert_eq!(chart.groups, ["frontier", "cheapest", "fastest"]);
        assert_eq!(chart.x, [100.0, 300.0]);
        let values: Vec<_> = chart.lines.iter().map(|line| line.values.clone()).collect();
        let large = vec![None, Some(50.0)];
        assert_eq!(
            values,
            [vec![Some(150.0), Some(50.0)], large.clone(), large]
        );
    }
}
