//! Standalone volumes: the `[machine]` and `[volume.NAME]` sections, without an experiment. Placements are checked, and have no
//! effect: the file is also the layout that `--today` names.

use super::document::{line_at, line_of};
use super::error::{Fault, plain_words};
use super::settings::{Machine, Volume};
use super::{SpecError, distribute, given, resolve, rules, wire};

/// Volumes that share a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Volumes {
    /// The machine; one without a kind has no limits.
    pub machine: Machine,
    /// The volumes, by name; at least one.
    pub volumes: Vec<Volume>,
    /// The given keys, dotted.
    pub given: Vec<String>,
}

impl Volumes {
    /// Reads `text` of `file`. Names of disks and machines are not resolved.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Volumes, SpecError> {
        let at = |line, message| SpecError::File {
            file: file.to_owned(),
            line,
            message,
        };
        let asked: wire::Volumes = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            at(line_at(text, start), plain_words(error.message()))
        })?;
        let (machine, volumes) =
            meaning(&asked).map_err(|fault| at(line_of(text, &fault.key), fault.message))?;
        Ok(Volumes {
            machine,
            volumes,
            given: given::given_alone(text),
        })
    }
}

fn meaning(asked: &wire::Volumes) -> Result<(Machine, Vec<Volume>), Fault> {
    if asked.volume.is_empty() {
        return Err(Fault::at(
            &[],
            "there is no volume; add [volume.d] with disk = \"azure.premium.p30\" or another of `dbstow disks`",
        ));
    }
    let volume = |(name, volume): (&String, &wire::Volume)| resolve::volume(name, volume);
    let volumes: Vec<Volume> = asked.volume.iter().map(volume).collect::<Result<_, _>>()?;
    rules::check_disks(&volumes)?;
    let there: Vec<&String> = asked.volume.keys().collect();
    for (name, placement) in &asked.placement {
        distribute::placement(name, placement, &there)?;
    }
    let machine = match &asked.machine {
        Some(machine) => resolve::machine(machine)?,
        None => Machine::default(),
    };
    rules::check_host_cache_is_used([(&machine, volumes.as_slice())].into_iter())?;
    Ok((machine, volumes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = Volumes::parse("v.toml", text).expect_err("it makes no sense");
        error.to_string()
    }

    #[test]
    fn volumes_have_the_keys_of_an_experiment() {
        let text = "[machine]\ntype = \"azure.DS14_v2\"\n[volume.d]\ndisk = \"local\"\n\
                    [volume.f]\ndisk = \"azure.premium.p30\"\ncount = 2\n";
        let read = Volumes::parse("v.toml", text).expect("it makes sense");
        let named: Vec<_> = read
            .volumes
            .iter()
            .map(|volume| (&*volume.name, volume.count))
            .collect();
        assert_eq!(named, [("d", 1), ("f", 2)]);
        assert_eq!(read.machine.kind.as_deref(), Some("azure.DS14_v2"));
    }

    #[test]
    fn a_layout_of_today_is_read_and_its_placement_is_checked() {
        let today = |log: &str| {
            format!(
                "[volume.d]\ndisk = \"azure.premium.p30\"\n[placement.today]\ndata = {{ volumes = \"d\" }}\n\
                 temp = {{ volumes = \"d\" }}\nlog = {{ volumes = \"{log}\" }}\n"
            )
        };
        let read = Volumes::parse("v.toml", &today("d")).expect("it makes sense");
        assert_eq!(read.volumes.len(), 1);
        assert!(
            read.given
                .contains(&"placement.today.log.volumes".to_owned())
        );
        let error = refused(&today("e"));
        assert!(
            error.starts_with("v.toml:6: ") && error.contains("\"e\", which is not defined"),
            "{error}"
        );
    }

    #[test]
    fn a_mistake_has_its_line_and_a_remedy() {
        assert_eq!(
            refused("[volume.d]\ndisk = \"local\"\ncuont = 2"),
            "v.toml:3: there is no key \"cuont\"; did you mean \"count\"?"
        );
        let error = refused("[volume.d]\ndisk = \"local\"\ncount = 0");
        assert!(
            error.starts_with("v.toml:3: volume.d.count is zero"),
            "{error}"
        );
        assert!(refused("").contains("there is no volume"));
        assert!(refused("[volume.\"a b\"]\ndisk = \"local\"").contains("is not a name"));
        assert!(refused("[machine]\n[volume.d]\ndisk = \"local\"").contains("not known"));
    }
}
