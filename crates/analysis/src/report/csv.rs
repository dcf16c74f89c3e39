//! Findings as CSV: one row an arm and metric, for spreadsheets and plotting.

use std::borrow::Cow;

use crate::findings::{Arm, Findings, Metric, Published};

/// The columns; those with a number are in the unit of the row, but `deviation` is a share.
const COLUMNS: [&str; 13] = [
    "experiment",
    "mode",
    "arm",
    "trials",
    "metric",
    "mean",
    "low",
    "high",
    "unit",
    "published",
    "deviation",
    "fitted",
    "engine",
];

/// The rows under a header. A metric that was published but not found has empty `mean`, `low` and
/// `high`; `published` may be words, such as `<1`. The engine's own counters follow the metrics, each as
/// `counter.<name>`.
pub fn render(findings: &Findings) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |row: &[String]| {
        let cells = row.iter().map(|cell| cell_for_spreadsheets(cell));
        writer
            .write_record(cells.map(Cow::into_owned))
            .expect("writing to memory");
    };
    write(&COLUMNS.map(String::from));
    for arm in &findings.arms {
        for row in rows(findings, arm) {
            write(&row);
        }
    }
    let bytes = writer.into_inner().expect("writing to memory");
    String::from_utf8(bytes).expect("every cell was text")
}

/// A cell that a spreadsheet would take for a formula, and that is no number, begins with `'`.
///
/// Source: OWASP, "CSV Injection", <https://owasp.org/www-community/attacks/CSV_Injection>, read 2026-11-21.
fn cell_for_spreadsheets(cell: &str) -> Cow<'_, str> {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let number = cell.parse().is_ok_and(f64::is_finite);
    match formula && !number {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

fn rows(findings: &Findings, arm: &Arm) -> Vec<[String; 13]> {
    let only_published = arm
        .published
        .keys()
        .filter(|name| !arm.metrics.contains_key(*name));
    let names = arm.metrics.keys().chain(only_published);
    let metrics = names.map(|name| row(findings, arm, name, arm.metrics.get(name)));
    let counters = arm.counters.iter().map(|(name, counter)| {
        let name = format!("counter.{name}");
        row(findings, arm, &name, Some(counter))
    });
    metrics.chain(counters).collect()
}

fn row(findings: &Findings, arm: &Arm, name: &str, metric: Option<&Metric>) -> [String; 13] {
    let published = arm.published.get(name);
    let deviation = metric.and_then(|metric| published?.deviation(metric.mean));
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    [
        findings.experiment.clone(),
        findings.mode.clone(),
        arm.name.clone(),
        arm.trials.to_string(),
        name.into(),
        number(metric.map(|metric| metric.mean)),
        number(metric.map(|metric| metric.low)),
        number(metric.map(|metric| metric.high)),
        metric.map_or_else(String::new, |metric| metric.unit.clone()),
        published.map_or_else(String::new, |published| match published {
            Published::Number(number) => number.to_string(),
            Published::Words(words) => words.clone(),
        }),
        number(deviation),
        arm.fitted.to_string(),
        findings.engine.as_ref().map_or_else(String::new, |engine| {
            format!("{} {}", engine.name, engine.version)
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::make;
    use experiment::examples;

    #[test]
    fn counters_and_the_engine_are_there_in_real_time() {
        let (question, records) = examples::in_mode("emulate", examples::emulated);

        let text = render(&make(&question, &records));

        let row = "emulate,p30,3,counter.temp_bytes,2500000000,2500000000,2500000000,,,,false,postgres 17.2";
        assert!(text.contains(row), "{text}");
    }

    #[test]
    fn a_cell_is_a_formula_for_no_spreadsheet_and_numbers_stay_numbers() {
        for formula in [
            "=cmd|' /C calc'!A0",
            "+1+1",
            "-1+1",
            "-",
            "-inf",
            "@SUM(1)",
            "\t=1",
            "\r=1",
            "＝1",
        ] {
            assert_eq!(cell_for_spreadsheets(formula), format!("'{formula}"));
        }
        for plain in ["-1.5", "-1e-7", "+3", "a=b", "local-ssd", "<1", ""] {
            assert_eq!(cell_for_spreadsheets(plain), plain);
        }
    }

    #[test]
    fn names_and_published_words_are_no_formulas() {
        let mut question = examples::question();
        question.experiment = "=1+1".into();
        let words = Published::Words("@SUM(A1)".into());
        question.arms[1]
            .published
            .insert("read_latency_ms".into(), words);

        let text = render(&make(&question, &examples::records()));

        assert!(text.contains("\n'=1+1,"), "{text}");
        assert!(text.contains(",'@SUM(A1),"), "{text}");
    }

    #[test]
    fn every_metric_of_every_arm_has_a_row() {
        let mut question = examples::question();
        let words = Published::Words("over a minute, \"hot\"".into());
        question.arms[1]
            .published
            .insert("read_latency_ms".into(), words);

        let text = render(&make(&question, &examples::records()[2..4]));

        insta::assert_snapshot!(text, @r#"
        experiment,mode,arm,trials,metric,mean,low,high,unit,published,deviation,fitted,engine
        tempdb-ssd-vs-premium,simulate,local-ssd,1,elapsed_s,157.2,157.2,157.2,s,157,0.001273885350318471,true,
        tempdb-ssd-vs-premium,simulate,local-ssd,1,mb_per_s,52.79898218829517,52.79898218829517,52.79898218829517,MB/s,,,true,
        tempdb-ssd-vs-premium,simulate,local-ssd,1,physical_reads,67000,67000,67000,,,,true,
        tempdb-ssd-vs-premium,simulate,p30,1,elapsed_s,163.1,163.1,163.1,s,164,-0.005487804878048785,false,
        tempdb-ssd-vs-premium,simulate,p30,1,mb_per_s,50.88902513795218,50.88902513795218,50.88902513795218,MB/s,,,false,
        tempdb-ssd-vs-premium,simulate,p30,1,physical_reads,67000,67000,67000,,,,false,
        tempdb-ssd-vs-premium,simulate,p30,1,read_latency_ms,,,,,"over a minute, ""hot""",,false,
        "#);
    }
}
