//! `dbstow experiments`: lists the built-in experiments, or shows one as a file to start from.

use anyhow::Result;

use experiment::spec::{Spec, Variant, builtin_names, builtin_text};

/// Lists the built-in experiments, or prints one
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The experiment to print, as the file it is
    #[cfg_attr(feature = "shell", arg(add = super::names::of_experiments()))]
    pub name: Option<String>,
}

/// Prints the list, or the file.
///
/// # Errors
/// When no experiment has that name.
pub fn run(args: &Args) -> Result<()> {
    match &args.name {
        Some(name) => super::print(builtin_text(name)?)?,
        None => super::print(&list()?)?,
    }
    Ok(())
}

/// One line for each: its name and its question.
fn list() -> Result<String> {
    let names = builtin_names();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    names
        .into_iter()
        .map(|name| {
            let spec = Spec::builtin(name, &[], Variant::default())?;
            Ok(format!("{name:<width$}  {}\n", spec.question))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_line_for_every_experiment() {
        let list = list().expect("all are right");
        assert_eq!(list.lines().count(), builtin_names().len());
        assert!(list.starts_with("files-times-disks"));
    }
}
