//! Options specific to SQL Server.

use engine::{OptionKind, OptionSpec};

/// Shell command that restarts the server; without it the user is asked to.
pub(crate) const RESTART_COMMAND: &str = "restart-command";

/// Time limit of a restart; by default derived from the bytes that the server must zero (`restart`).
pub(crate) const RESTART_LIMIT: &str = "restart-limit";

/// Leaves `max server memory` unchanged.
pub(crate) const LEAVE_MEMORY: &str = "leave-memory";

/// Where the statements are driven from. The two differ by an order of magnitude: a round trip takes longer than most of them.
pub(crate) const DRIVEN: &str = "driven";

/// The value of [`DRIVEN`] for a loop on the server.
pub(crate) const ON_SERVER: &str = "server";

/// Environment variable with an access token.
pub(crate) const TOKEN_ENV: &str = "access-token-env";

/// File with an access token.
pub(crate) const TOKEN_FILE: &str = "access-token-file";

/// How a connection is protected, in the terms of `sqlcmd -N`.
pub(crate) const ENCRYPT: &str = "encrypt";

/// Accepts an untrusted certificate.
pub(crate) const TRUST: &str = "trust-server-certificate";

/// All of them.
pub(crate) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        help: "SQL Server: command to restart it, such as 'systemctl restart mssql-server', when tempdb has to move; without \
               it, dbstow asks you to restart it",
        in_rehearsal: true,
        ..of_run(RESTART_COMMAND, OptionKind::Text("COMMAND"))
    },
    OptionSpec {
        help: "SQL Server: longest that a restart may take, until tempdb can be used again, such as '20 min' [default: 5 \
               min, and 40 s for every GB that the server has to zero: logs, and data files without instant file \
               initialization]",
        in_rehearsal: true,
        ..of_run(RESTART_LIMIT, OptionKind::Time)
    },
    OptionSpec {
        help: "SQL Server: keep its max server memory instead of the experiment's",
        ..of_run(LEAVE_MEMORY, OptionKind::Flag)
    },
    OptionSpec {
        help: "SQL Server: where statements are issued; a loop on the server is many times faster [default: client]",
        is_fact: true,
        ..of_run(
            DRIVEN,
            OptionKind::Word(&[
                ("client", "dbstow, one statement a round trip"),
                (
                    ON_SERVER,
                    "A loop on the server, as in the articles: many operations a round trip",
                ),
            ]),
        )
    },
    OptionSpec {
        help: "Log in with the access token in this environment variable",
        excludes: Some(TOKEN_FILE),
        ..of_login(TOKEN_ENV, OptionKind::Text("NAME"))
    },
    OptionSpec {
        help: "Log in with the access token in this file",
        ..of_login(TOKEN_FILE, OptionKind::Path("FILE"))
    },
    OptionSpec {
        help: "How the connection is protected [default: mandatory]",
        ..of_login(
            ENCRYPT,
            OptionKind::Word(&[
                (
                    "optional",
                    "TLS for the login, and for the rest if the server requires it; a server without TLS is refused",
                ),
                ("mandatory", "TLS (the default)"),
                (
                    "strict",
                    "TLS before anything else; SQL Server 2022 and later",
                ),
                (
                    "off-insecure",
                    "As optional, but a server without TLS gets the password in clear text",
                ),
            ]),
        )
    },
    OptionSpec {
        help: "Accept a certificate that is not trusted, such as that of a new server",
        ..of_login(TRUST, OptionKind::Flag)
    },
];

/// An option of a run, with defaults.
const fn of_run(name: &'static str, kind: OptionKind) -> OptionSpec {
    OptionSpec {
        name,
        kind,
        help: "",
        is_fact: false,
        excludes: None,
        in_drill: false,
        in_rehearsal: false,
        login: None,
    }
}

/// An option of a login, with defaults.
const fn of_login(name: &'static str, kind: OptionKind) -> OptionSpec {
    OptionSpec {
        login: Some("SQL Server: login (a password comes from SQLCMDPASSWORD)"),
        ..of_run(name, kind)
    }
}
