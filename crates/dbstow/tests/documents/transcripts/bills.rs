//! The questions that docs/advise.md answers, each with its bill: every line by hand, from the vendors' price lists.

use serde_json::Value;

use super::RAN;

/// Hours a month, as the vendors count them.
const HOURS: f64 = 730.0;

/// A question of the page: what is asked, of which example, and the bill of the answer: what, and dollars a month.
struct Question {
    example: &'static str,
    asked: &'static str,
    bill: &'static [(&'static str, f64)],
}

const SHOP: &str =
    "examples/shop.toml --today examples/today.toml --capacity data=60GiB --capacity log=20GiB";
const ORDERS: &str = "examples/orders.toml --today examples/orders-today.toml --capacity data=600GiB --capacity log=100GiB \
                      --capacity temp=60GiB";

/// The six, in the order of the page.
const QUESTIONS: &[Question] = &[
    Question {
        example: SHOP,
        asked: "--cloud azure --budget 300 --full --out cheaper",
        bill: &[
            ("machine", 0.119 * HOURS),
            ("data-temp-log", 2.0 * 40.0 * 0.0803),
        ],
    },
    Question {
        example: SHOP,
        asked: "--replicas 1 --backup-days 7 --term 1y --full --out standby",
        bill: &[
            // 59 % of the list price.
            ("machine", 0.59 * 0.167 * HOURS),
            ("data", 80.0 * 0.0803),
            ("replicas", 0.59 * 0.167 * HOURS + 80.0 * 0.0803),
            // A copy, six days of changes (615 GiB are written a day: all of it), and the log of seven.
            ("backups", (7.0 * 60.0 + 7.0 * 815.951_919) * 0.05),
        ],
    },
    Question {
        example: SHOP,
        asked: "--cloud aws --full --out aws",
        bill: &[
            // The generation before costs 98.38 dollars in all, 8.7 % less.
            ("machine", 0.13892 * HOURS),
            ("data-temp-log", 80.0 * 0.08),
        ],
    },
    Question {
        example: ORDERS,
        asked: "--full --out enterprise",
        bill: &[
            ("machine", 0.477 * HOURS),
            // For all processors of the size that it is made of, and for four.
            ("Windows", 8.0 * 0.046 * HOURS),
            ("licence", 4.0 * 0.375 * HOURS),
            ("data-temp-log", 760.0 * 0.0803 + 1_800.0 * 0.005_11),
        ],
    },
    Question {
        example: ORDERS,
        asked: "--licence own --licence-price 3400 --replicas 1 --passive-secondary --full --out own",
        bill: &[
            ("machine", 0.477 * HOURS),
            ("Windows", 8.0 * 0.046 * HOURS),
            ("licence", 4.0 * 3_400.0 / 12.0),
            ("data-temp-log", 760.0 * 0.0803 + 1_800.0 * 0.005_11),
            // Without a licence.
            (
                "replicas",
                (0.477 + 8.0 * 0.046) * HOURS + 760.0 * 0.0803 + 1_800.0 * 0.005_11,
            ),
        ],
    },
    Question {
        example: ORDERS,
        asked: "--cloud aws --machine r8a.2xlarge --full --out fewer",
        bill: &[
            ("machine", 0.639_04 * HOURS),
            // With Windows in it.
            ("licence", 4.0 * 0.421 * HOURS),
            ("data-temp-log", 760.0 * 0.08 + 2_100.0 * 0.005),
        ],
    },
];

/// The bill of the chosen layout.
fn bill(advice: &Value) -> Vec<(String, f64)> {
    let chosen = advice["decision"]["layout"].as_str().expect("there is one");
    let lines = advice[chosen]["bill"].as_array().expect("a list").iter();
    let priced = lines.filter(|line| line["included_in"].is_null());
    let line = |line: &Value| {
        let what = line["what"].as_str().expect("a text").to_owned();
        let usd = line["usd_per_month"].as_f64();
        (what, usd.expect("every price is known"))
    };
    priced.map(line).collect()
}

#[test]
#[ignore = "long: needs the answers of the documents"]
fn the_bill_of_every_answer_of_the_page_is_that_of_the_price_lists() {
    for Question {
        example,
        asked,
        bill: expected,
    } in QUESTIONS
    {
        let command = format!("advise {example} {asked}");
        let ran = RAN.get(&command);
        let ran = ran.unwrap_or_else(|| panic!("docs/advise.md has no transcript of {command}"));
        let advice = ran.advice.as_ref().expect("it is written");
        let found = bill(&serde_json::from_str(advice).expect("JSON"));
        let names = |lines: &[(String, f64)]| -> Vec<String> {
            lines.iter().map(|(what, _)| what.clone()).collect()
        };
        let wanted: Vec<(String, f64)> = expected
            .iter()
            .map(|(what, usd)| ((*what).to_owned(), *usd))
            .collect();
        assert_eq!(names(&found), names(&wanted), "{command}: {found:?}");
        for ((what, usd), (_, wanted)) in found.iter().zip(&wanted) {
            assert!(
                (usd - wanted).abs() < 0.01,
                "{command}: {what} {usd}, and not {wanted}"
            );
        }
    }
}
