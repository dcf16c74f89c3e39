//! What a user may say of a run in real time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::Duration;

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
    /// Longest that it may take for an answer to a question of dbstow's own; `None`: the default. It decides nothing of what a
    /// trial measures.
    pub timeout: Option<Duration>,
    /// What only PostgreSQL takes.
    pub postgres: PostgresOptions,
    /// What only SQL Server takes.
    pub sqlserver: SqlServerOptions,
    /// What only MariaDB takes.
    pub mariadb: MariadbOptions,
}

/// What only MariaDB takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariadbOptions {
    /// Where its server's program is; `None`: where it is found.
    pub bin: Option<PathBuf>,
}

/// What only PostgreSQL takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Where its programs are; `None`: where they are found.
    pub bin: Option<PathBuf>,
}

/// What only SQL Server takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlServerOptions {
    /// How to log in.
    pub login: LoginOptions,
    /// What restarts the server, for the shell; without it the user is asked to.
    pub restart_command: Option<String>,
    /// Longest that a restart may take; `None`: by what the server has to zero (`restart`).
    pub restart_limit: Option<Duration>,
    /// Whether `max server memory` is left as it is.
    pub leave_memory: bool,
    /// Who drives the statements.
    pub driven: Option<DrivenKind>,
}

/// What a user says of a login to SQL Server, without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginOptions {
    /// Variable of the environment that holds an access token.
    pub token_env: Option<String>,
    /// File that holds an access token.
    pub token_file: Option<PathBuf>,
    /// How the connection is protected.
    pub encrypt: Option<EncryptKind>,
    /// Whether a certificate is accepted that is not trusted.
    pub trust_certificate: bool,
}

/// How a connection is protected: the words of `sqlcmd -N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncryptKind {
    /// TLS for the login, and for the rest if the server requires it; refused without TLS
    Optional,
    /// The same, but a server without TLS gets the login in clear text
    OffInsecure,
    /// TLS (the default)
    Mandatory,
    /// TLS before anything else; SQL Server 2022 and later
    Strict,
}

/// Who drives the statements of a workload. The two differ by an order of magnitude: a round trip takes longer
/// than most of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrivenKind {
    /// dbstow, one statement a round trip
    Client,
    /// A loop on the server, as in the articles: many operations a round trip
    Server,
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
    /// Reads and writes of /dev/fuse
    Fuser,
    /// FUSE over io_uring
    IoUring,
}

impl DrivenKind {
    /// The word in records and options.
    pub fn name(self) -> &'static str {
        match self {
            DrivenKind::Client => "client",
            DrivenKind::Server => "server",
        }
    }
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
            TransportKind::Fuser => "fuser",
            TransportKind::IoUring => "io_uring",
        }
    }
}

impl Options {
    /// Options that were given and are for one engine alone, as the command line spells them: each with the name of
    /// that engine, whether this build has it or not.
    pub fn of_one_engine(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (postgres, sqlserver) = (&self.postgres, &self.sqlserver);
        let login = &sqlserver.login;
        let all = [
            ("--postgres-bin", "postgres", postgres.bin.is_some()),
            ("--mariadb-bin", "mariadb", self.mariadb.bin.is_some()),
            (
                "--restart-command",
                "sqlserver",
                sqlserver.restart_command.is_some(),
            ),
            (
                "--restart-limit",
                "sqlserver",
                sqlserver.restart_limit.is_some(),
            ),
            ("--leave-memory", "sqlserver", sqlserver.leave_memory),
            ("--driven", "sqlserver", sqlserver.driven.is_some()),
            ("--access-token-env", "sqlserver", login.token_env.is_some()),
            (
                "--access-token-file",
                "sqlserver",
                login.token_file.is_some(),
            ),
            ("--encrypt", "sqlserver", login.encrypt.is_some()),
            (
                "--trust-server-certificate",
                "sqlserver",
                login.trust_certificate,
            ),
        ];
        let given = all.into_iter().filter(|(_, _, given)| *given);
        given.map(|(option, engine, _)| (option, engine))
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
            ("postgres-bin", self.postgres.bin.as_ref().map(path)),
            ("mariadb-bin", self.mariadb.bin.as_ref().map(path)),
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
