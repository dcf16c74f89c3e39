//! The document of a rehearsal, from the outcomes of its trials.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use analysis::report::rehearsal::document::{
    Backup, Differing, Durations, Layout, Log, Object, Rehearsal, SCHEMA, Statement,
};
use engine::rehearsed::BackupFacts;
use experiment::plan::digest_of;
use reading::object::Used;

use super::outcome::Outcome;
use super::request::ResolvedRehearsal;
use super::schedule::Schedule;

/// Kinds of statements in the document, apart from those that became slower.
const STATEMENTS_MAX: usize = 20;

/// Kinds of statements that ended otherwise, in the document.
const DIFFERING_MAX: usize = 10;

/// Tables and indexes in the document.
const OBJECTS_MAX: usize = 10;

impl ResolvedRehearsal {
    /// How the server logs statements, as a sentence.
    fn logging(&self) -> Option<String> {
        let settings = self.log.logging.iter();
        let settings: Vec<String> = settings
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        (!settings.is_empty()).then(|| {
            format!(
                "statements are logged as by the server of the log, and what is logged is discarded ({}); --no-statement-log leaves that out",
                settings.join("; ")
            )
        })
    }

    pub(crate) fn document(
        &self,
        outcomes: &BTreeMap<&str, Outcome<String>>,
        facts: &BackupFacts,
    ) -> Rehearsal {
        let request = &self.request;
        let schedule = &self.schedule;
        let arms = || self.prepared.plan().arms.iter();
        let none = Outcome::default();
        let of = |name: &str| outcomes.get(name).unwrap_or(&none);
        let forms_shown = match request.with_text {
            true => forms_by_hash(schedule),
            false => BTreeMap::new(),
        };
        let shown = |hash: &str| forms_shown.get(hash).map(|form| (*form).to_owned());
        let layouts: Vec<Layout> = arms()
            .map(|arm| layout(&arm.name, of(&arm.name), self))
            .collect();
        let mut forms: BTreeMap<&str, Vec<Durations>> = BTreeMap::new();
        for (place, arm) in arms().enumerate() {
            for (form, took_us) in &of(&arm.name).took_us {
                let all = forms
                    .entry(form)
                    .or_insert_with(|| vec![Durations::default(); layouts.len()]);
                all[place] = Durations::of(took_us.clone());
            }
        }
        let mut statements: Vec<(f64, Statement)> = forms
            .into_iter()
            .map(|(form, layouts)| {
                let totals = || layouts.iter().map(|durations| durations.total_ms);
                let spread = totals().fold(0.0, f64::max) - totals().fold(f64::MAX, f64::min);
                // Of one layout, those that take most.
                let weight = match layouts.len() {
                    1 => layouts[0].total_ms,
                    _ => spread,
                };
                let statement = Statement {
                    id: form.to_owned(),
                    form: shown(form),
                    layouts,
                };
                (weight, statement)
            })
            .collect();
        statements.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total_ms = layouts.first().map_or(0.0, |first| first.total_ms);
        let mut place = 0;
        statements.retain(|(_, statement)| {
            place += 1;
            let mut others = 1..layouts.len();
            place <= STATEMENTS_MAX || others.any(|other| statement.is_slower(other, total_ms))
        });
        let mut differing: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
        for arm in arms() {
            for (form, found) in &of(&arm.name).differing {
                let entry = differing.entry(form).or_insert((0, &found.first));
                entry.0 += found.count;
            }
        }
        let mut differing: Vec<Differing> = differing
            .into_iter()
            .map(|(form, (count, first))| Differing {
                id: form.to_owned(),
                form: shown(form),
                count,
                first: first.to_owned(),
            })
            .collect();
        differing.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.id.cmp(&b.id)));
        differing.truncate(DIFFERING_MAX);
        let missing = arms().filter_map(|arm| of(&arm.name).objects_missing.as_ref());
        let missing = missing
            .take(1)
            .map(|why| format!("reads by table and index are not known: {why}"));
        let left_out = self.log.left_out.iter();
        Rehearsal {
            schema: SCHEMA.to_owned(),
            backup: Backup {
                server: format!("{} {}", self.product.name(), facts.version),
                kind: facts.kind.clone(),
                bytes: facts.size.0,
                settings: facts.settings.clone(),
                changed: facts
                    .changed
                    .iter()
                    .cloned()
                    .chain(self.logging())
                    .collect(),
            },
            log: Log {
                form: self.log.form.clone(),
                statements: schedule.statements,
                transactions: u64::from(schedule.transactions),
                sessions: self.sessions,
                sessions_at_a_time: schedule.sessions(),
                lasted_s: (schedule.until_us - schedule.from_us) as f64 / 1e6,
                pace: request.pace.to_string(),
                left_out: left_out
                    .map(|(why, count)| (why.reason().to_owned(), *count))
                    .collect(),
                began_before: self.log.began_before,
                half_line: self.log.half_line,
                has_durations: self.log.has_durations,
                has_errors: self.log.has_errors,
            },
            fidelity_min: request.fidelity,
            assumed: facts
                .assumed
                .iter()
                .chain(&self.assumed)
                .cloned()
                .chain(missing)
                .collect(),
            layouts,
            statements: statements
                .into_iter()
                .map(|(_, statement)| statement)
                .collect(),
            differing,
            objects: objects(arms().map(|arm| of(&arm.name)).collect()),
        }
    }
}

/// Forms of statements, by their hash.
fn forms_by_hash(schedule: &Schedule) -> BTreeMap<String, &str> {
    let sessions = schedule.lanes.iter().flatten();
    let forms: BTreeSet<&str> = sessions
        .flat_map(|session| &session.statements)
        .map(|statement| &*statement.logged.form)
        .collect();
    let forms = forms.into_iter();
    forms
        .map(|form| (digest_of(form.as_bytes()), form))
        .collect()
}

/// The objects that were read most on any layout.
fn objects(layouts: Vec<&Outcome<String>>) -> Vec<Object> {
    let mut objects: BTreeMap<&str, Object> = BTreeMap::new();
    for (place, outcome) in layouts.iter().enumerate() {
        for (name, (kind, used)) in &outcome.objects {
            let object = objects.entry(name).or_insert_with(|| Object {
                name: name.clone(),
                kind: *kind,
                layouts: vec![Used::default(); layouts.len()],
            });
            object.layouts[place] = *used;
        }
    }
    let most = |of: fn(&Used) -> u64, object: &Object| object.layouts.iter().map(of).max();
    let mut objects: Vec<Object> = objects.into_values().collect();
    objects.sort_by_cached_key(|object| {
        let read = most(|used| used.read_bytes, object);
        let buffered = most(|used| used.buffered_bytes.unwrap_or(0), object);
        Reverse((read, buffered))
    });
    objects.truncate(OBJECTS_MAX);
    objects
}

fn layout(name: &str, outcome: &Outcome<String>, of: &ResolvedRehearsal) -> Layout {
    let mean = |us: u64| us as f64 / 1e3 / (outcome.played as f64).max(1.0);
    let server = match of.request.pace {
        super::Pace::Closed => None,
        super::Pace::Original(_) => Some(outcome.server_late_us),
    };
    Layout {
        name: name.to_owned(),
        played: outcome.played,
        not_played: outcome.not_played,
        fidelity: outcome.fidelity(),
        total_ms: outcome.total_us() as f64 / 1e3,
        order_ms: outcome.order_us as f64 / 1e3,
        pauses_ms: outcome.pauses_us as f64 / 1e3,
        player_late_ms: mean(outcome.player_late_us.sum),
        player_late_max_ms: outcome.player_late_us.max as f64 / 1e3,
        server_late_ms: server.map(|late| mean(late.sum)),
        server_late_max_ms: server.map(|late| late.max as f64 / 1e3),
    }
}
