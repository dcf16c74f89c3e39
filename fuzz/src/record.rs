//! Records: what `dbstow report` does with a results folder that contains a foreign one.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use analysis::findings::{self, Question};
use analysis::report::{Extent, csv, json, markdown, page, run, terminal};
use experiment::plan::Plan;
use experiment::record::Record;
use experiment::results::Results;
use experiment::spec::{Spec, Variant};
use lab::inventory::{EMBEDDED, Inventory};
use table::Width;
use tempfile::TempDir;

/// The experiment whose records the corpus holds.
const EXPERIMENT: &str = "tempdb-spill";
/// Placeholder in the corpus for the plan's digest, which changes with every version of the program.
const DIGEST: &str = "PLAN-DIGEST";

thread_local! {
    static FOLDER: RefCell<Folder> = RefCell::new(Folder::new());
}

/// A results folder with room for one record.
struct Folder {
    results: Results,
    record: PathBuf,
    _removed_with_this: TempDir,
}

impl Folder {
    fn new() -> Folder {
        let spec = Spec::builtin(EXPERIMENT, &[], Variant::QUICK).expect("it is built in");
        let spec = spec
            .check(&Inventory::with_engines(EMBEDDED))
            .expect("it is checked");
        let plan = Plan::new(&spec, false);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("results");
        let question = Question::of(&plan);
        let results = Results::create(&path, question, plan, false).expect("a results folder");
        Folder {
            record: path.join("records/000-fuzz.json"),
            results,
            _removed_with_this: folder,
        }
    }
}

/// Puts the record into a results folder, reads that, and renders the full report.
pub(crate) fn read(text: &str) -> Result<(), String> {
    FOLDER.with_borrow(|folder| {
        let text = text.replace(DIGEST, folder.results.plan.digest());
        fs::write(&folder.record, text).expect("the folder can be written");
        let (records, warnings) = folder.results.records();
        render(&folder.results, &records);
        match (records.as_slice(), warnings.as_slice()) {
            ([record], _) => {
                written_again(record);
                Ok(())
            }
            ([], [warning, ..]) => Err(warning.text.clone()),
            ([] | [_, ..], _) => panic!("{} records of one file", records.len()),
        }
    })
}

fn written_again(record: &Record) {
    let text = serde_json::to_string(record).expect("a record's keys are texts");
    let read: Record = serde_json::from_str(&text).expect("a record that was written is one");
    assert_eq!(read, *record, "a record reads back as it was written");
}

fn render(results: &Results, records: &[Record]) {
    let findings = findings::make(&results.question, records);
    let curves = findings::curves(&results.question, records, &findings);
    let page = page::render(page::Parts {
        findings: &findings,
        curves: &curves,
        plan: &results.plan,
        when: None,
    });
    let report = run::report(&findings);
    let text = |extent| terminal::render(&report, Width::default(), extent).to_string();
    let texts = [
        page,
        text(Extent::Screen),
        text(Extent::Full),
        json::render(&findings),
        csv::render(&findings),
        markdown::render(&report),
    ];
    assert!(texts.iter().all(|text| !text.is_empty()));
}
