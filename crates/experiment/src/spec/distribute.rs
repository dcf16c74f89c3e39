//! Resolves a placement as written: distributes its files over volumes.

use model::Bytes;

use super::error::{Fault, counted, listed};
use super::placement::{File, Placement, Role};
use super::rules::{file_count, file_size, undefined};
use super::wire;

/// Resolves a placement as written, given the existing volumes.
pub(crate) fn placement(
    name: &str,
    asked: &wire::Placement,
    there: &[&String],
) -> Result<Placement, Fault> {
    let files = |role: Role| {
        let files = asked_of(asked, role);
        files.map(|files| distributed(name, role, files, there))
    };
    let needed = |role: Role| {
        files(role).unwrap_or_else(|| {
            Err(Fault::at(
                &["placement", name, role.name()],
                format!(
                    "placement \"{name}\" does not say where {role} lives; \
                     add {role} = {{ volumes = \"...\" }} (defined: {})",
                    listed(there)
                ),
            ))
        })
    };
    let optional = |role: Role| {
        files(role)
            .transpose()?
            .map(|files| only(name, role, files))
            .transpose()
    };
    Ok(Placement {
        name: name.to_owned(),
        log: only(name, Role::Log, needed(Role::Log)?)?,
        data: needed(Role::Data)?,
        temp: needed(Role::Temp)?,
        binlog: optional(Role::Binlog)?,
        undo: optional(Role::Undo)?,
        doublewrite: optional(Role::Doublewrite)?,
    })
}

/// The request for the files of a role.
fn asked_of(asked: &wire::Placement, role: Role) -> Option<&wire::Files> {
    let files = match role {
        Role::Binlog => &asked.binlog,
        Role::Data => &asked.data,
        Role::Doublewrite => &asked.doublewrite,
        Role::Log => &asked.log,
        Role::Temp => &asked.temp,
        Role::Undo => &asked.undo,
    };
    files.as_ref()
}

/// The file of a role that has exactly one.
fn only(name: &str, role: Role, files: Vec<File>) -> Result<File, Fault> {
    let why = match role {
        Role::Binlog | Role::Log => "it is written in one file at a time",
        Role::Undo | Role::Doublewrite | Role::Data | Role::Temp => {
            "an engine has one directory for them"
        }
    };
    match <[File; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) => Err(Fault::at(
            &["placement", name, role.name()],
            format!(
                "placement \"{name}\" gives {role} {} files, but {why}; give it one, and to spread it, give its volume \
                 several disks (count)",
                files.len()
            ),
        )),
    }
}

/// The files of one role, distributed to its volumes in turn.
fn distributed(
    name: &str,
    role: Role,
    asked: &wire::Files,
    there: &[&String],
) -> Result<Vec<File>, Fault> {
    let fault = |message: String| {
        let message = format!("placement \"{name}\" {message}");
        Fault::at(&["placement", name, role.name()], message)
    };
    let volumes = asked.volumes.as_slice();
    if volumes.is_empty() {
        return Err(fault(format!("names no volume for {role}")));
    }
    if let Some(unknown) = volumes.iter().find(|volume| !there.contains(volume)) {
        return Err(fault(undefined(role, unknown, there)));
    }
    let count = asked
        .files
        .unwrap_or(u32::try_from(volumes.len()).unwrap_or(u32::MAX));
    file_count(role, count).map_err(fault)?;
    let count = count as usize;
    if count < volumes.len() {
        return Err(fault(format!(
            "gives {role} {} for {} volumes, so that some would stay empty; \
             name fewer volumes, or ask for more files",
            counted(count, "file"),
            volumes.len()
        )));
    }
    let sizes = sizes(asked, count).map_err(|message| fault(format!("{message} for {role}")))?;
    Ok(volumes
        .iter()
        .cycle()
        .zip(sizes)
        .map(|(volume, size)| File {
            volume: volume.clone(),
            size,
        })
        .collect())
}

/// One size for each of `count` files.
fn sizes(asked: &wire::Files, count: usize) -> Result<Vec<Option<Bytes>>, String> {
    let Some(given) = &asked.file_size else {
        return Ok(vec![None; count]);
    };
    given.as_slice().iter().copied().try_for_each(file_size)?;
    match given {
        super::amount::OneOrMany::One(size) => Ok(vec![Some(*size); count]),
        super::amount::OneOrMany::Many(list) if list.len() == count => {
            Ok(list.iter().copied().map(Some).collect())
        }
        super::amount::OneOrMany::Many(list) => Err(format!(
            "lists {} for {}; give one size each, or one for all,",
            counted(list.len(), "size"),
            counted(count, "file")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str) -> Result<Placement, String> {
        let asked: wire::Placement = toml::from_str(text).map_err(|error| error.to_string())?;
        let defined = ["d".to_owned(), "e".to_owned()];
        let defined: Vec<&String> = defined.iter().collect();
        super::placement("p", &asked, &defined).map_err(|fault| fault.message)
    }

    fn with_temp(temp: &str) -> Result<Placement, String> {
        placed(&format!(
            "data = {{ volumes = \"d\" }}\nlog = {{ volumes = \"d\" }}\ntemp = {temp}"
        ))
    }

    #[test]
    fn files_are_dealt_to_volumes_in_turn() {
        let placement = with_temp("{ volumes = [\"d\", \"e\"], files = 3, file_size = \"1 GiB\" }")
            .expect("a placement");
        let volumes: Vec<&str> = placement.temp.iter().map(|f| f.volume.as_str()).collect();
        assert_eq!(volumes, ["d", "e", "d"]);
        assert_eq!(placement.size_on("d"), Bytes::gib(2));
        assert_eq!(placement.volumes().len(), 2);
    }

    #[test]
    fn files_may_be_of_unequal_size() {
        let placement =
            with_temp("{ volumes = \"d\", files = 2, file_size = [\"1 GiB\", \"2 GiB\"] }")
                .expect("a placement");
        assert_eq!(placement.size_on("d"), Bytes::gib(3));
        let error = with_temp("{ volumes = \"d\", files = 3, file_size = [\"1 GiB\", \"2 GiB\"] }");
        assert!(error.expect_err("two of three").contains("lists 2 sizes"));
    }

    #[test]
    fn a_role_without_a_home_is_refused() {
        let error = placed("data = { volumes = \"d\" }\nlog = { volumes = \"d\" }");
        assert!(
            error
                .expect_err("no temp")
                .contains("does not say where temp lives")
        );
    }

    #[test]
    fn impossible_files_are_refused() {
        for (temp, expected) in [
            ("{ volumes = [] }", "names no volume"),
            ("{ volumes = \"f\" }", "which is not defined"),
            ("{ volumes = \"d\", files = 0 }", "0 files"),
            ("{ volumes = \"d\", files = 40000 }", "40000 files"),
            ("{ volumes = [\"d\", \"e\"], files = 1 }", "for 2 volumes"),
            ("{ volumes = \"d\", file_size = 0 }", "file_size of zero"),
        ] {
            let error = with_temp(temp).expect_err(temp);
            assert!(error.contains(expected), "{temp}: {error}");
        }
    }

    const COMMON: &str =
        "data = { volumes = \"d\" }\ntemp = { volumes = \"d\" }\nlog = { volumes = \"d\" }\n";

    #[test]
    fn roles_that_few_engines_have_are_placed_only_where_they_are_asked_for() {
        let plain = placed(COMMON).expect("a placement");
        let written = serde_json::to_string(&plain).expect("it is plain data");
        for role in [Role::Binlog, Role::Undo, Role::Doublewrite] {
            assert_eq!(plain.files(role), []);
            assert!(!written.contains(role.name()), "{written}");

            let placed = placed(&format!("{COMMON}{role} = {{ volumes = \"e\" }}"));
            let placed = placed.expect("a placement");
            assert_eq!(placed.files(role).len(), 1);
            assert_eq!(placed.volumes(), ["d", "e"].into());
            let written = serde_json::to_string(&placed).expect("it is plain data");
            assert_eq!(serde_json::from_str(&written).ok(), Some(placed));
        }
    }

    #[test]
    fn several_files_of_a_role_that_has_one_are_refused() {
        let log = COMMON.replace(
            "log = { volumes = \"d\" }",
            "log = { volumes = \"d\", files = 2 }",
        );
        let binlog = format!("{COMMON}binlog = {{ volumes = [\"d\", \"e\"] }}");
        for (text, expected) in [
            (
                log.as_str(),
                "gives log 2 files, but it is written in one file at a time",
            ),
            (
                &binlog,
                "gives binlog 2 files, but it is written in one file at a time",
            ),
            (
                &format!("{COMMON}undo = {{ volumes = \"d\", files = 3 }}"),
                "gives undo 3 files, but an engine has one directory for them",
            ),
            (
                &format!("{COMMON}doublewrite = {{ volumes = \"f\" }}"),
                "puts doublewrite on volume \"f\", which is not defined",
            ),
        ] {
            let error = placed(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
