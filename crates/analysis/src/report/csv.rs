//! Findings as CSV: one row per arm and metric, for spreadsheets and plotting.

use std::borrow::Cow;

use super::arms;
use crate::findings::Findings;
use table::Column;

/// The rows under a header. A metric that was published but not found has empty `mean`, `low` and `high`; `published` may
/// be text, such as `<1`. The engine's own counters follow the metrics, each as `counter.<name>`. Numbers are in the unit
/// of their row, but `deviation` is a share.
pub fn render(findings: &Findings) -> String {
    table(&arms::figure_rows(findings), arms::columns(findings))
}

/// The rows under a header, restricted to the columns of CSV.
pub(super) fn table<R>(rows: &[R], columns: Vec<Column<R>>) -> String {
    let columns = columns.iter();
    let columns: Vec<_> = columns
        .filter_map(|column| Some((column.csv?, &column.cell)))
        .collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = columns.iter().map(|(name, _)| *name);
    writer.write_record(names).expect("writing to memory");
    for row in rows {
        let cells = columns.iter().map(|(_, cell)| cell(row).raw());
        let cells = cells.map(|cell| cell_for_spreadsheets(&cell).into_owned());
        writer.write_record(cells).expect("writing to memory");
    }
    let bytes = writer.into_inner().expect("writing to memory");
    String::from_utf8(bytes).expect("every cell was text")
}

/// Prefixes `'` to a cell that is not a number but that a spreadsheet would parse as a formula.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Published, make};
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
