//! The command line that repeats an answer.

use experiment::shell;

use crate::asked::{Asked, Given};
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
pub(crate) fn repeating(asked: &Asked) -> String {
    let default = Asked::default();
    let changed = |value: f64, default: f64| (value != default).then(|| value.to_string());
    let counted = |value: u32| (value > 0).then(|| value.to_string());
    let percent = |value: f64| format!("{value}%");
    let mut words = Words::of(&["dbstow", "advise", PROFILE, "--today", "today.toml"]);
    words.add("cloud", asked.cloud.clone());
    words.add("region", asked.region.clone());
    words.add("machine", asked.machine.clone());
    words.flag("keep-machine", asked.keep_machine);
    words.flag("arm", asked.arm);
    words.flag("any-generation", asked.any_generation);
    for disk in &asked.disks {
        words.add("disk", Some(disk.clone()));
    }
    words.add("disks-max", asked.disks_max.map(|most| most.to_string()));
    words.add("temp", asked.temp_on.clone());
    let slower = (asked.not_slower != default.not_slower).then_some(asked.not_slower);
    words.add("not-slower", slower.map(percent));
    words.add("budget", asked.budget.map(|usd| usd.to_string()));
    words.add("growth", changed(asked.growth, default.growth));
    for (role, size) in &asked.capacity {
        words.add("capacity", Some(format!("{role}={size}")));
    }
    words.add("edition", asked.edition.clone());
    words.add("licence", asked.licence.clone());
    let price = asked.licence_price.map(|usd| usd.to_string());
    words.add("licence-price", price);
    words.flag("passive-secondary", asked.passive_secondary);
    words.add("replicas", counted(asked.replicas));
    words.add("term", asked.term.clone());
    words.add("backup-days", counted(asked.backup_days));
    words.add("discount", asked.discount.map(percent));
    let prices = asked.prices.as_ref();
    words.add("prices", prices.map(|prices| prices.name.clone()));
    if let Some(system) = &asked.system {
        words.flag(system, true);
    }
    words.flag("quick", asked.quick);
    words.flag("nominal", asked.nominal);
    words.flag("untested", asked.untested);
    words.line()
}

/// The command that imports the same files.
pub(crate) fn importing(files: &[String], given: &Given) -> String {
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
