//! The command line that repeats an answer.

use experiment::shell;

use crate::form::{AdviceForm, ImportOptions};
use crate::today::PROFILE;

/// The experiment of the finalists, as the program names it in the folder beside the profile.
pub(crate) const FINALISTS: &str = "profile-advice/finalists.toml";

/// Words of a command line.
struct Words(Vec<String>);

impl Words {
    fn of(words: &[&str]) -> Words {
        Words(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// An option with its value, where it has one.
    fn add(&mut self, option: &str, value: Option<String>) {
        if let Some(value) = value {
            self.0.extend([format!("--{option}"), value]);
        }
    }

    /// An option without a value, where it is given.
    fn flag(&mut self, option: &str, is_given: bool) {
        self.0.extend(is_given.then(|| format!("--{option}")));
    }

    fn line(self) -> String {
        let words: Vec<String> = self.0.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }
}

/// The command that asks the same of the files that the page offers.
pub(crate) fn repeating(form: &AdviceForm) -> String {
    let default = AdviceForm::default();
    let changed = |value: f64, default: f64| (value != default).then(|| value.to_string());
    let counted = |value: u32| (value > 0).then(|| value.to_string());
    let percent = |value: f64| format!("{value}%");
    let mut words = Words::of(&["dbstow", "advise", PROFILE, "--today", "today.toml"]);
    words.add("cloud", form.cloud.clone());
    words.add("region", form.region.clone());
    words.add("machine", form.machine.clone());
    words.flag("keep-machine", form.keep_machine);
    words.flag("arm", form.arm);
    words.flag("any-generation", form.any_generation);
    for disk in &form.disks {
        words.add("disk", Some(disk.clone()));
    }
    words.add("disks-max", form.disks_max.map(|most| most.to_string()));
    words.add("temp", form.temp_on.clone());
    let slower = (form.not_slower != default.not_slower).then_some(form.not_slower);
    words.add("not-slower", slower.map(percent));
    words.add("budget", form.budget.map(|usd| usd.to_string()));
    words.add("growth", changed(form.growth, default.growth));
    for (role, size) in &form.capacity {
        words.add("capacity", Some(format!("{role}={size}")));
    }
    words.add("edition", form.edition.clone());
    words.add("licence", form.licence.clone());
    let price = form.licence_price.map(|usd| usd.to_string());
    words.add("licence-price", price);
    words.flag("passive-secondary", form.passive_secondary);
    words.add("replicas", counted(form.replicas));
    words.add("term", form.term.clone());
    words.add("backup-days", counted(form.backup_days));
    words.add("discount", form.discount.map(percent));
    let prices = form.prices.as_ref();
    words.add("prices", prices.map(|prices| prices.name.clone()));
    if let Some(system) = &form.system {
        words.flag(system, true);
    }
    words.flag("quick", form.quick);
    words.flag("nominal", form.nominal);
    words.flag("untested", form.untested);
    words.line()
}

/// The command that imports the same files.
pub(crate) fn importing(files: &[String], given: &ImportOptions) -> String {
    let mut words = Words::of(&["dbstow", "import"]);
    words.0.extend_from_slice(files);
    for device in &given.devices {
        words.add("device", Some(device.clone()));
    }
    for instance in &given.instances {
        words.add("instance", Some(instance.clone()));
    }
    words.add("format", given.format.clone());
    words.add("start", given.start.clone());
    words.add("interval", given.interval.clone());
    words.add("utc-offset", given.utc_offset.clone());
    words.add("dates", given.dates.clone());
    words.add("machine", given.machine.clone());
    words.add("out", Some(PROFILE.to_owned()));
    words.line()
}

/// `text` as one word. Double quotes are those that shells of Windows know too; where they do not keep it as it is in a POSIX
/// shell, it has single ones.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=._-+:/%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let is_special = text.contains(['"', '$', '`', '!']);
    match is_special || text.ends_with('\\') || text.contains("\\\\") {
        true => shell::line([text]),
        false => format!("\"{text}\""),
    }
}
