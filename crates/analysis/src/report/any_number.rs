//! Extreme numbers in records that pass all checks: every report must render them.

use serde_json::{Value, json};

use super::page::{self, Parts};
use super::{Extent, csv, json as json_report, markdown, run, terminal};
use crate::findings::{self, ArmQuestion, Question};
use experiment::examples;
use experiment::plan::Plan;
use experiment::record::Record;
use experiment::record::check::check;
use experiment::spec::{Spec, Variant};
use table::Width;

fn plan() -> Plan {
    let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
    Plan::new(&spec.expect("it is built in"), false)
}

/// Every place that holds a number in `value`.
fn numbers_in(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            for (at, item) in items.iter().take(3).enumerate() {
                numbers_in(item, &format!("{path}/{at}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                numbers_in(entry, &format!("{path}/{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn question(plan: &Plan) -> Question {
    let of = examples::question();
    let names = plan.arms.iter().map(|arm| arm.name.clone());
    let arms = names.zip(&of.arms).map(|(name, arm)| ArmQuestion {
        name,
        ..arm.clone()
    });
    Question {
        arms: arms.collect(),
        experiment: plan.experiment.clone(),
        ..of
    }
}

#[test]
fn whatever_number_a_record_holds_it_is_refused_or_every_report_is_made() {
    let plan = plan();
    let whole = serde_json::to_value(examples::of_plan(&plan)).expect("a record is JSON");
    let mut places = Vec::new();
    numbers_in(&whole, "", &mut places);
    assert!(places.len() > 40, "{places:?}");
    let (mut refused, mut shown) = (0, 0);
    for place in places {
        for number in [
            json!(0),
            json!(1),
            json!(u64::MAX),
            json!(1e308),
            json!(5e-324),
        ] {
            let mut value = whole.clone();
            *value.pointer_mut(&place).expect("it was found there") = number;
            let record = serde_json::from_value::<Record>(value);
            match record.map(|record| (check(&record, &plan), record)) {
                Ok((Ok(()), record)) => {
                    // Twice, so that sums over records are made.
                    let mut other = record.clone();
                    other.block += 1;
                    every_report(&plan, &[record, other]);
                    shown += 1;
                }
                Ok((Err(_), _)) | Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 20 && shown > 20, "{refused} {shown}");
}

fn every_report(plan: &Plan, records: &[Record]) {
    let question = question(plan);
    let findings = findings::make(&question, records);
    let curves = findings::curves(&question, records, &findings);
    let report = run::report(&findings);
    let screen = terminal::render(&report, Width::default(), Extent::Screen).to_string();
    assert!(screen.lines().count() < 40, "{screen}");
    let texts = [
        terminal::render(&report, Width::default(), Extent::Full).to_string(),
        csv::render(&findings),
        json_report::render(&findings),
        markdown::render(&report),
        page::render(Parts {
            findings: &findings,
            curves: &curves,
            plan,
            when: None,
        }),
    ];
    assert!(texts.iter().all(|text| text.contains(&plan.arms[0].name)));
}
