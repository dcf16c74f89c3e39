//! Names of the server's service.

use crate::capture::Capture;

use layout::{LayoutError, Platform};

/// Names of a service and of its dependents. They contain no character that ends a quoted text in any shell of Windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    /// The service: `MSSQLSERVER`, `MSSQL$NAME`, `mssql-server`.
    pub(super) name: String,
    /// The Agent's, which depends on it; Windows only.
    agent: Option<String>,
    /// The command that runs a script on the server's machine, without the script.
    pub(super) sqlcmd: String,
}

impl Service {
    /// The given name, the captured one, or the default.
    pub(super) fn new(
        given: Option<&str>,
        on: Platform,
        capture: Option<&Capture>,
    ) -> Result<Service, LayoutError> {
        let name = match (given, on) {
            (Some(given), _) => given.to_owned(),
            (None, Platform::Linux) => "mssql-server".to_owned(),
            (None, Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase) => {
                let instance = capture.and_then(instance);
                instance.map_or("MSSQLSERVER".to_owned(), |name| service_of(&name))
            }
        };
        let allowed = |letter: char| letter.is_alphanumeric() || "$_-.#@".contains(letter);
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(LayoutError::Impossible(format!(
                "\"{name}\" is not a service's name: those have letters, digits and $ _ - . # @ only; give --service \
                 MSSQLSERVER, or MSSQL$NAME for a named instance"
            )));
        }
        let (agent, server) = match (on, name.split_once('$')) {
            (Platform::Linux, _) => (None, "localhost".to_owned()),
            (_, Some((_, instance))) => (
                Some(format!("SQLAgent${instance}")),
                format!(".\\{instance}"),
            ),
            (_, None) => (Some("SQLSERVERAGENT".to_owned()), ".".to_owned()),
        };
        let sqlcmd = sqlcmd(on, &server);
        Ok(Service {
            name,
            agent,
            sqlcmd,
        })
    }

    /// The Agent's name; nothing on Linux, where it is part of the service.
    pub(super) fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or_default()
    }
}

/// `-x`: `$(..)` in a name is not a variable; `-b`: stop at an error; `-C`: trust the machine's own certificate;
/// `-f 65001`: the scripts are UTF-8.
fn sqlcmd(on: Platform, server: &str) -> String {
    match on {
        Platform::Linux => format!("sqlcmd -S {server} -U sa -C -b -x"),
        Platform::Windows | Platform::ManagedInstance | Platform::AzureSqlDatabase => {
            format!("sqlcmd -S {server} -E -C -b -x -f 65001")
        }
    }
}

/// The instance, as `sys.dm_server_services` shows it: `SQL Server (NAME)`.
///
/// Source: <https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-server-services-transact-sql>,
/// read 2026-11.
fn instance(capture: &Capture) -> Option<String> {
    let names = capture.services.iter().map(|service| service.name.as_str());
    let mut instances = names.filter_map(|name| {
        name.strip_prefix("SQL Server (")?
            .strip_suffix(')')
            .map(str::to_owned)
    });
    instances.next()
}

fn service_of(instance: &str) -> String {
    match instance {
        "MSSQLSERVER" => instance.to_owned(),
        named => format!("MSSQL${named}"),
    }
}
