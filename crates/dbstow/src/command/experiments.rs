//! `dbstow experiments`: lists the built-in experiments, or shows one as a file to start from.

use anyhow::Result;
use experiment::spec::{Spec, SpecError, Variant, builtin_names, builtin_text};
use serde_json::json;

use super::UsageError;
use super::listing::ListFormat;

/// Lists the built-in experiments, or prints one
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The experiment to print, as the file it is
    #[cfg_attr(feature = "shell", arg(add = super::names::of_experiments()))]
    pub name: Option<String>,
    /// How to print the list
    #[arg(long, value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Prints the list, or the file.
///
/// # Errors
/// When no experiment has that name, or its file is asked for as JSON.
pub fn run(args: &Args) -> Result<()> {
    match (&args.name, args.format) {
        (Some(name), ListFormat::Text) => super::print(builtin_text(name)?)?,
        (Some(name), ListFormat::Json) => {
            builtin_text(name)?;
            let message = format!(
                "--format json: an experiment is printed as the TOML file it is; leave it out, or see `dbstow plan {name} --json`"
            );
            return Err(UsageError(message).into());
        }
        (None, ListFormat::Text) => super::print(&lines(&list()?))?,
        (None, ListFormat::Json) => {
            let all = list()?.into_iter();
            let all = all.map(|(name, question)| json!({ "name": name, "question": question }));
            super::print_json(&format!("{:#}\n", serde_json::Value::Array(all.collect())))?;
        }
    }
    Ok(())
}

/// The name and the question of each.
fn list() -> Result<Vec<(&'static str, String)>, SpecError> {
    let names = builtin_names().into_iter();
    let question = |name| Ok((name, Spec::builtin(name, &[], Variant::default())?.question));
    names.map(question).collect()
}

/// One line for each.
fn lines(experiments: &[(&str, String)]) -> String {
    let width = experiments.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let line = |(name, question): &(&str, String)| format!("{name:<width$}  {question}\n");
    experiments.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_line_for_every_experiment() {
        let list = lines(&list().expect("all are right"));
        assert_eq!(list.lines().count(), builtin_names().len());
        assert!(list.starts_with("files-times-disks"));
    }
}
