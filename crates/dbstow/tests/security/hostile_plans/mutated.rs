//! Plans with their values replaced, removed and doubled, behind the digest.

use std::iter;
use std::path::{Path, PathBuf};

use experiment::plan::{Estimate, Plan};
use experiment::spec::Role;
use files::PlainName;
use lab::Prepared;
use lab::plan_file::PlanFile;
use lab::trial::Stage;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Scene, forged, renamed};

/// What becomes of a text that claims to be a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// It is not even a document of that shape.
    NoPlan,
    /// Its digest or its trials are wrong: too many of them to make them right.
    AtTheDoor,
    /// It got past the digest and the trials, and was refused by a rule.
    Refused,
    /// It can be run.
    Staged,
}

/// Does with `text` what the program does before anything is made.
fn fate(text: &str) -> Fate {
    let Some(forged) = forged(text) else {
        return Fate::NoPlan;
    };
    let refused = |why: String| {
        assert!(!why.is_empty(), "refused without a word");
        let is_at_the_door = ["its digest is", "its trials are"]
            .iter()
            .any(|word| why.contains(word));
        match is_at_the_door {
            true => Fate::AtTheDoor,
            false => Fate::Refused,
        }
    };
    let file = match PlanFile::from_json(&forged) {
        Ok(file) => file,
        Err(error) => return refused(error.to_string()),
    };
    let inventory = match file.inventory(dbstow::engines::ENGINES) {
        Ok(inventory) => inventory,
        Err(error) => return refused(error.to_string()),
    };
    let plan = &file.plan;
    let prepared = match Prepared::new(plan, &inventory, &Default::default()) {
        Ok(prepared) => prepared,
        Err(error) => return refused(error.to_string()),
    };
    assert!(!plan.describe().is_empty() && !plan.command().is_empty());
    assert!(
        !Estimate::of(plan, plan.trials(), &Default::default())
            .to_string()
            .is_empty()
    );
    assert_eq!(prepared.question().experiment, plan.experiment);
    assert_eq!(
        Plan::from_json(&plan.to_json()).expect("it was read"),
        *plan
    );
    stays_inside(plan);
    for arm in plan.all_arms() {
        let stage = Stage::new(&arm.settings, &inventory.catalogue).expect("it was prepared");
        for role in Role::ALL {
            stage.places(arm.settings.placement.files(role));
        }
        stage.build(1);
    }
    Fate::Staged
}

/// No name of a plan that can be run leads out of the directory that it is joined to.
fn stays_inside(plan: &Plan) {
    let volumes = plan.all_arms().flat_map(|arm| &arm.settings.volumes);
    let names = volumes.map(|volume| volume.name.as_str());
    for name in names.chain(iter::once(plan.experiment.as_str())) {
        assert!(PlainName::new(name).is_ok(), "{name:?}");
        assert_eq!(
            Path::new("w").join(name).parent(),
            Some(Path::new("w")),
            "{name:?}"
        );
    }
}

/// Where each value of a document is, in JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(entries) => {
            for (key, entry) in entries {
                places(
                    entry,
                    &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{place}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A value from another author's plan, of the same kind as `value` where there is one, or any.
fn strangers(value: &Value) -> Vec<Value> {
    let texts = [
        "",
        "e",
        "two",
        "..",
        "/opt/x",
        "x/../y",
        "C:\\x",
        "\u{1b}[2J",
        "simulate",
        "emulate",
        "raw",
        "postgres",
        "local",
        "unlimited",
        "azure.premium.p30",
        "read-only",
        "0",
        "18446744073709551615 TiB",
    ];
    let numbers = [
        json!(0),
        json!(1),
        json!(3),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(65_537),
        json!(4_294_967_295_u64),
        json!(1_u64 << 50),
        json!(u64::MAX),
        json!(i64::MIN),
    ];
    let texts = texts.map(Value::from).to_vec();
    let others = vec![json!(null), json!([]), json!({})];
    let flags = vec![json!(true), json!(false)];
    match value {
        Value::String(_) => texts,
        Value::Number(_) => numbers.to_vec(),
        Value::Bool(_) => flags,
        Value::Array(_) | Value::Object(_) => others,
        Value::Null => [texts, numbers.to_vec(), flags, others].concat(),
    }
}

#[derive(Clone, Debug)]
enum Edit {
    /// Another value.
    Set(Value),
    /// The value is not there.
    Remove,
    /// An entry of a list is duplicated.
    Twice,
}

fn edited(document: &Value, place: &str, edit: &Edit) -> Value {
    let mut document = document.clone();
    let (above, key) = place.rsplit_once('/').unwrap_or(("", ""));
    match (edit, document.pointer_mut(above)) {
        (Edit::Set(value), _) => {
            if let Some(found) = document.pointer_mut(place) {
                found.clone_from(value);
            }
        }
        (Edit::Remove, Some(Value::Object(entries))) => {
            entries.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        (Edit::Remove, Some(Value::Array(items))) => {
            let at = key.parse::<usize>().ok().filter(|at| *at < items.len());
            at.map(|at| items.remove(at));
        }
        (Edit::Twice, Some(Value::Array(items))) => {
            let item = key
                .parse()
                .ok()
                .and_then(|at: usize| items.get(at).cloned());
            items.extend(item);
        }
        (Edit::Remove | Edit::Twice, _) => {}
    }
    document
}

/// Plans of both kinds of modes, with all that a plan can have: a twin, variations, several volumes, a burst.
fn seeds() -> Vec<Value> {
    let scene = Scene::new();
    let emulated = ["--mode", "emulate", "--engine", "sqlite"];
    let swept = [
        "--set",
        "volume.d.override.iops_limit=400,500",
        "--blocks",
        "1",
    ];
    let innodb = [
        "--set",
        "engine.like=innodb",
        "--set",
        "engine.mariadb.log_file_size=8 MiB",
    ];
    let seeds: [&[&str]; 4] = [&["--aa"], &emulated, &swept, &innodb];
    seeds.into_iter().map(|more| scene.plan(more)).collect()
}

/// Every value of a plan is replaced, removed and doubled in turn, with the digest and the trials made right behind it.
#[test]
#[ignore = "long: changes each value of a plan in every way; drawn changes are tested always"]
fn a_plan_with_any_of_its_values_changed_is_refused_or_can_be_staged() {
    let plan = &seeds()[0];
    let mut all = Vec::new();
    places(plan, "", &mut all);
    let mut fates = Vec::new();
    // The trials are made again from the rest.
    for place in all.iter().filter(|place| !place.starts_with("/trials")) {
        let value = plan.pointer(place).expect("it was found there");
        let strangers = strangers(value).into_iter().map(Edit::Set);
        for edit in strangers.chain([Edit::Set(json!(null)), Edit::Remove, Edit::Twice]) {
            let edited = edited(plan, place, &edit);
            if edited != *plan {
                fates.push(fate(&edited.to_string()));
            }
        }
    }
    let count = |fate: Fate| fates.iter().filter(|found| **found == fate).count();
    let [no_plan, at_the_door, refused, staged] =
        [Fate::NoPlan, Fate::AtTheDoor, Fate::Refused, Fate::Staged].map(count);
    let past = refused + staged;
    let shown =
        format!("{no_plan} no plan, {at_the_door} at the door, {refused} refused, {staged} staged");
    // A negative size, or a text in the place of a number, is none of its shape. Of those that are, next to none stops at
    // the digest.
    assert!(past > 2_000 && past > 100 * at_the_door, "{shown}");
    assert!(refused > 1_000 && staged > 200, "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Several changes at once, of drawn values, in plans of each kind.
    #[test]
    fn a_plan_with_drawn_changes_is_refused_or_can_be_staged(
        seed in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), edit()), 1..4),
    ) {
        thread_local! {
            static SEEDS: Vec<Value> = seeds();
        }
        let mut plan = SEEDS.with(|seeds| seed.get(seeds).clone());
        for (place, edit) in &edits {
            let mut all = Vec::new();
            places(&plan, "", &mut all);
            let place: &String = place.get(&all);
            plan = edited(&plan, place, edit);
        }
        fate(&plan.to_string());
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let number = prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..2_000).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0.0..2.0_f64).prop_map(Value::from),
    ];
    let text = prop_oneof!["[a-z]{0,3}", "\\PC{0,12}", "[./\\\\a]{1,6}"];
    prop_oneof![
        3 => number.prop_map(Edit::Set),
        3 => text.prop_map(|text| Edit::Set(text.into())),
        2 => prop::sample::select(strangers(&Value::Null)).prop_map(Edit::Set),
        1 => Just(Edit::Remove),
        1 => Just(Edit::Twice),
    ]
}

/// What the drawn changes rest on: plans as they are can be staged, and a path as a name cannot.
#[test]
fn plans_as_they_were_made_are_staged_behind_the_digest() {
    for plan in seeds() {
        assert_eq!(fate(&plan.to_string()), Fate::Staged);
        let mut hostile = plan.clone();
        renamed(&mut hostile, &PathBuf::from("/opt/x").display().to_string());
        assert_eq!(fate(&hostile.to_string()), Fate::Refused);
    }
}
