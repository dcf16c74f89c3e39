//! Findings as one JSON document: `schema/findings.schema.json`.

use crate::findings::Findings;

/// The document, indented, ending in a line feed.
pub fn render(findings: &Findings) -> String {
    let mut text = serde_json::to_string_pretty(findings)
        .expect("findings have text keys, and what is not a number becomes null");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::findings::{Fitted, Published, Question, make, twin_of};
    use experiment::examples;
    use experiment::record::{Outcome, Record};

    const FINDINGS: &str = include_str!("../../../../schema/findings.schema.json");
    const RECORD: &str = include_str!("../../../../schema/record.schema.json");

    /// Violations of `schema` in `document`.
    fn broken(schema: &str, document: &Value) -> Vec<String> {
        let schema = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors = validator.iter_errors(document);
        errors
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    /// A question that fills every optional part.
    fn full_question() -> Question {
        let mut question = examples::question();
        question.aa = true;
        question.fitted = vec![Fitted {
            parameter: "engine.cpu_scale".into(),
            value: "1.3".into(),
            to: vec!["local-ssd".into()],
        }];
        question.arms[1].usd_per_month = Some(135.17);
        question.arms[1].price_lists = vec!["Azure eastus, 2026".into()];
        let words = Published::Words("<1".into());
        question.arms[1]
            .published
            .insert("read_latency_ms".into(), words);
        question
    }

    fn full_records() -> Vec<Record> {
        let mut records = examples::records();
        records.extend((0..3).map(|block| examples::trial(&twin_of("local-ssd"), block, 157.5)));
        records[5].outcome = Outcome::Failed {
            error: "disk is full".into(),
        };
        records[0]
            .series
            .values
            .insert("temp.1.reads".into(), vec![1, 2, 3]);
        records[0].volumes[0].disks[0].cache_hits = 67;
        records[0].operations = records[0].volumes[0].disks[0].read_latency.clone();
        records
    }

    #[test]
    fn findings_fit_their_schema() {
        let results = [
            (full_question(), full_records()),
            (full_question(), Vec::new()),
            examples::in_mode("emulate", examples::emulated),
            examples::in_mode("measure", examples::measured),
        ];
        for (question, records) in results {
            let text = render(&make(&question, &records));

            let errors = broken(FINDINGS, &serde_json::from_str(&text).unwrap());

            assert!(errors.is_empty(), "{errors:#?}");
        }
    }

    #[test]
    fn findings_are_read_back_as_they_were() {
        let findings = make(&full_question(), &full_records());

        assert_eq!(
            serde_json::from_str::<Findings>(&render(&findings)).unwrap(),
            findings
        );
    }

    #[test]
    fn records_fit_their_schema() {
        for record in full_records() {
            let errors = broken(RECORD, &serde_json::to_value(&record).unwrap());

            assert!(errors.is_empty(), "{errors:#?}");
        }
    }

    #[test]
    fn the_schemas_refuse_what_they_do_not_know() {
        let mut findings = serde_json::to_value(make(&full_question(), &[])).unwrap();
        findings["surprise"] = Value::Bool(true);
        let mut record = serde_json::to_value(&full_records()[0]).unwrap();
        record["outcome"]["status"] = "perhaps".into();

        assert_eq!(broken(FINDINGS, &findings).len(), 1);
        assert_eq!(broken(RECORD, &record).len(), 1);
    }
}
