//! What a user may say of a run in real time, and which of it goes together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::engine::sqlserver::{LoginOptions, RunOptions};
use experiment::spec::{Arm, EngineKind, Mode, Role, Variant};

/// Where a run in real time has its files, and on what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Measure: the real directory of each volume.
    pub volumes: BTreeMap<String, PathBuf>,
    /// Emulate: where the bytes of modelled volumes are; `None`: in the temporary directory.
    pub backing: Option<PathBuf>,
    /// Emulate: what programs see of modelled volumes; `None`: what suits the engine.
    pub front: Option<FrontKind>,
    /// Emulate: how requests reach the emulator; `None`: as the kernel allows.
    pub transport: Option<TransportKind>,
    /// An existing server, without its password where it can be shown.
    pub server: Option<String>,
    /// Where PostgreSQL's programs are; `None`: where they are found.
    pub postgres_bin: Option<PathBuf>,
    /// How to log in to a SQL Server.
    pub login: LoginOptions,
    /// What a run may do on a SQL Server.
    pub sqlserver: RunOptions,
}

/// What programs see of an emulated volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontKind {
    /// A real filesystem on a modelled disk: page cache and journal are real; needs root
    Block,
    /// Files whose every request is one of the modelled disk
    File,
}

/// How requests reach the emulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// io_uring where the kernel allows it
    Auto,
    /// Reads and writes of /dev/fuse
    Fuser,
    /// FUSE over io_uring
    IoUring,
}

impl FrontKind {
    /// The word in records and options.
    pub fn name(self) -> &'static str {
        match self {
            FrontKind::Block => "block",
            FrontKind::File => "file",
        }
    }
}

impl TransportKind {
    /// The word in records and options.
    pub fn name(self) -> &'static str {
        match self {
            TransportKind::Auto => "auto",
            TransportKind::Fuser => "fuser",
            TransportKind::IoUring => "io_uring",
        }
    }
}

/// Options that do not go together, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionsError(String);

impl Options {
    /// Refuses what makes no sense for this mode and engine, and volumes that are missing or that no arm
    /// has.
    ///
    /// # Errors
    /// The first mistake, with the remedy.
    pub fn check(&self, variant: Variant, arms: &[Arm]) -> Result<(), OptionsError> {
        let result = self
            .check_engine(variant)
            .and_then(|()| self.check_mode(variant));
        result.map_err(OptionsError)?;
        match variant.mode {
            Mode::Measure => self
                .check_volumes(variant.engine, arms)
                .map_err(OptionsError),
            Mode::Simulate | Mode::Emulate => Ok(()),
        }
    }

    /// What of it decides the outcome of a trial, for the plan; passwords are not among it.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let path = |path: &PathBuf| path.display().to_string();
        let volumes = self.volumes.iter();
        let volumes = volumes.map(|(name, directory)| (format!("volume {name}"), path(directory)));
        let others = [
            ("backing", self.backing.as_ref().map(path)),
            ("front", self.front.map(|front| front.name().to_owned())),
            (
                "transport",
                self.transport.map(|transport| transport.name().to_owned()),
            ),
            ("server", self.server.as_deref().map(without_password)),
            ("postgres-bin", self.postgres_bin.as_ref().map(path)),
            (
                "driven",
                self.sqlserver.driven.map(|driven| driven.name().to_owned()),
            ),
        ];
        let others = others
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        volumes.chain(others).collect()
    }

    fn check_engine(&self, variant: Variant) -> Result<(), String> {
        let engine = variant.engine;
        let postgres = [EngineKind::Postgres].as_slice();
        let sqlserver = [EngineKind::SqlServer].as_slice();
        let servers = [EngineKind::Postgres, EngineKind::SqlServer].as_slice();
        let given = [
            ("--server", self.server.is_some(), servers),
            ("--postgres-bin", self.postgres_bin.is_some(), postgres),
            (
                "--restart-command",
                self.sqlserver.restart_command.is_some(),
                sqlserver,
            ),
            ("--leave-memory", self.sqlserver.leave_memory, sqlserver),
            ("--driven", self.sqlserver.driven.is_some(), sqlserver),
            (
                "--access-token-env",
                self.login.token_env.is_some(),
                sqlserver,
            ),
            (
                "--access-token-file",
                self.login.token_file.is_some(),
                sqlserver,
            ),
            ("--encrypt", self.login.encrypt.is_some(), sqlserver),
            (
                "--trust-server-certificate",
                self.login.trust_certificate,
                sqlserver,
            ),
        ];
        for (option, given, engines) in given {
            if given && !engines.contains(&engine) {
                let engines: Vec<String> = engines
                    .iter()
                    .map(|engine| format!("--engine {engine}"))
                    .collect();
                return Err(format!(
                    "{option} is about a server, and the engine is {engine}; add {}, or leave {option} out",
                    engines.join(" or ")
                ));
            }
        }
        if engine == EngineKind::SqlServer && self.server.is_none() {
            return Err(
                "--engine sqlserver needs a server that is there: add --server HOST, HOST,PORT, HOST\\INSTANCE or \
                 sqlserver://USER@HOST (password in SQLCMDPASSWORD); `dbstow doctor` says what works there"
                    .to_owned(),
            );
        }
        if self.server.as_deref().is_some_and(holds_password) {
            return Err(
                "--server holds a password, which everybody on this machine can read in the list of \
                 processes; leave it out, and give it in the environment (PGPASSWORD, or SQLCMDPASSWORD for \
                 SQL Server) or, for PostgreSQL, in a password file (~/.pgpass)"
                    .to_owned(),
            );
        }
        if self.server.is_some() && self.postgres_bin.is_some() {
            return Err(
                "--server uses a server that runs already, so --postgres-bin is of no use; leave \
                 one of them out"
                    .to_owned(),
            );
        }
        if variant.mode == Mode::Simulate && servers.contains(&engine) {
            return Err(
                "simulate carries SQL out itself, in virtual time; for a server add --mode \
                 emulate (modelled disks) or --mode measure (real ones), otherwise leave --engine \
                 out"
                .to_owned(),
            );
        }
        Ok(())
    }

    fn check_mode(&self, variant: Variant) -> Result<(), String> {
        let (mode, engine) = (variant.mode, variant.engine);
        let emulating = [
            ("--backing", self.backing.is_some()),
            ("--front", self.front.is_some()),
            ("--transport", self.transport.is_some()),
        ];
        if !self.volumes.is_empty() && mode != Mode::Measure {
            return Err(format!(
                "--volume gives real directories to measure, and the mode is {mode}; add --mode \
                 measure, or leave --volume out"
            ));
        }
        for (option, given) in emulating {
            if given && mode != Mode::Emulate {
                return Err(format!(
                    "{option} is about modelled disks under real files, and the mode is {mode}; add \
                     --mode emulate, or leave {option} out"
                ));
            }
            if given && option != "--backing" && engine == EngineKind::Sqlite {
                return Err(format!(
                    "{option} is about FUSE, which SQLite does without: dbstow paces its requests \
                     itself; leave {option} out, or take another --engine"
                ));
            }
        }
        if mode == Mode::Emulate && engine != EngineKind::Sqlite && cfg!(not(target_os = "linux")) {
            return Err(format!(
                "modelled disks under {engine} need Linux (FUSE); take --engine sqlite, or --mode \
                 measure"
            ));
        }
        Ok(())
    }

    /// Measure: every volume that an arm uses has a directory. SQL Server's temporary space stays where it is
    /// unless arms differ in it, and a managed instance places all files itself.
    fn check_volumes(&self, engine: EngineKind, arms: &[Arm]) -> Result<(), String> {
        let server = engine == EngineKind::SqlServer;
        if server && self.volumes.is_empty() {
            return Ok(());
        }
        let stays = server && !experiment::spec::differ_in(arms, Role::Temp);
        let roles = Role::ALL
            .into_iter()
            .filter(|role| !(stays && *role == Role::Temp));
        let placements = arms.iter().map(|arm| &arm.settings.placement);
        let files = roles.flat_map(|role| {
            placements
                .clone()
                .flat_map(move |placement| placement.files(role))
        });
        let used: BTreeSet<&str> = files.map(|file| file.volume.as_str()).collect();
        let listed: Vec<&str> = used.iter().copied().collect();
        let unknown = self
            .volumes
            .keys()
            .find(|name| !used.contains(name.as_str()));
        if let Some(unknown) = unknown {
            return Err(format!(
                "--volume {unknown}=..: no arm has a volume \"{unknown}\" (they have: {})",
                listed.join(", ")
            ));
        }
        let missing = used
            .iter()
            .filter(|name| !self.volumes.contains_key(**name));
        let missing: Vec<&str> = missing.copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let example: Vec<String> = missing
            .iter()
            .map(|name| format!("--volume {name}=/mnt/{name}"))
            .collect();
        Err(format!(
            "measure needs a real directory for every volume, and has none for {}; add {}",
            missing.join(", "),
            example.join(" ")
        ))
    }
}

/// The word for a choice on the command line.
fn holds_password(url: &str) -> bool {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let place = place.split_once("://").map_or(place, |(_, place)| place);
    let login = place.rsplit_once('@').map_or("", |(login, _)| login);
    login.contains(':') || query.split('&').any(|pair| pair.starts_with("password="))
}

/// `postgresql://user:secret@host/database` as `postgresql://user@host/database`, and without what stands
/// behind a question mark.
fn without_password(url: &str) -> String {
    let unclear = || "a server".to_owned();
    let Some((scheme, rest)) = url.split_once("://") else {
        return unclear();
    };
    // Behind the host there is none, unless the password holds a sign that should have been encoded.
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if rest[end..].contains('@') {
        return unclear();
    }
    let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
    // A password may hold an @ of its own; the host cannot.
    match rest.rsplit_once('@') {
        None => format!("{scheme}://{rest}"),
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::spec::Spec;

    fn variant(mode: Mode, engine: EngineKind) -> Variant {
        Variant {
            mode,
            engine,
            quick: false,
        }
    }

    fn arms() -> Vec<Arm> {
        let spec = Spec::builtin("tempdb-ssd-vs-premium", &[], Variant::default());
        spec.expect("it is built in").arms
    }

    fn refused(options: &Options, mode: Mode, engine: EngineKind) -> String {
        let error = options.check(variant(mode, engine), &arms());
        error.expect_err("it makes no sense").to_string()
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_remedy() {
        let server = Options {
            server: Some("postgresql://localhost".to_owned()),
            ..Options::default()
        };
        let password = Options {
            server: Some("postgresql://me:s3cr3t@localhost".to_owned()),
            ..Options::default()
        };
        let front = Options {
            front: Some(FrontKind::File),
            ..Options::default()
        };
        let volume = Options {
            volumes: BTreeMap::from([("d".to_owned(), PathBuf::from("/mnt"))]),
            ..Options::default()
        };
        let none = Options::default();
        for (options, mode, engine, parts) in [
            (
                &none,
                Mode::Simulate,
                EngineKind::Postgres,
                ["--engine", "--mode emulate"],
            ),
            (
                &server,
                Mode::Measure,
                EngineKind::Sqlite,
                ["--server", "--engine postgres"],
            ),
            (
                &password,
                Mode::Measure,
                EngineKind::Postgres,
                ["--server holds a password", "PGPASSWORD"],
            ),
            (
                &front,
                Mode::Measure,
                EngineKind::Postgres,
                ["--front", "--mode emulate"],
            ),
            (
                &front,
                Mode::Emulate,
                EngineKind::Sqlite,
                ["--front", "leave"],
            ),
            (
                &volume,
                Mode::Emulate,
                EngineKind::Sqlite,
                ["--volume", "--mode measure"],
            ),
            (
                &volume,
                Mode::Measure,
                EngineKind::Sqlite,
                ["f", "--volume f=/mnt/f"],
            ),
        ] {
            let error = refused(options, mode, engine);
            for part in parts {
                assert!(error.contains(part), "no {part:?} in: {error}");
            }
            assert!(!error.contains("s3cr3t"), "{error}");
        }
        assert_eq!(none.check(Variant::default(), &arms()), Ok(()));
    }

    #[test]
    fn a_volume_that_no_arm_has_is_refused() {
        let names = ["d", "f", "g"].map(|name| (name.to_owned(), PathBuf::from("/mnt")));
        let options = Options {
            volumes: names.into(),
            ..Options::default()
        };
        let error = refused(&options, Mode::Measure, EngineKind::Sqlite);
        assert!(error.contains("\"g\"") && error.contains("d, f"), "{error}");
    }

    #[test]
    fn a_password_is_found_wherever_a_url_may_hold_it() {
        for url in [
            "postgresql://me:pw@host/db",
            "postgresql://me:p@w@host/db",
            "postgresql://host/db?sslmode=disable&password=pw",
        ] {
            assert!(holds_password(url), "{url}");
        }
        for url in [
            "postgresql://me@host:5432/db",
            "postgresql://[::1]:5432/db",
            "postgresql:///db?host=/run/x:y",
        ] {
            assert!(!holds_password(url), "{url}");
        }
    }

    #[test]
    fn facts_hold_no_password() {
        let url = "postgresql://me:s3cr3t@w0rd@db.example/x?password=s3cr3t";
        let options = Options {
            server: Some(url.to_owned()),
            ..Options::default()
        };
        assert_eq!(options.facts()["server"], "postgresql://me@db.example/x");
        for url in [
            "postgresql://me:12?s3cr3t@db/x",
            "postgresql://me:12/s3cr3t@db/x",
            "postgresql://me@db/x?password=s3@cr3t",
            "me:s3cr3t@db/x",
        ] {
            let options = Options {
                server: Some(url.to_owned()),
                ..Options::default()
            };
            assert_eq!(options.facts()["server"], "a server", "{url}");
        }
    }
}
