//! The address of a server, in SQL Server's notation or as a URL.

use std::fmt;

use percent_encoding::percent_decode_str;

/// A server's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// In the notation of Microsoft's drivers: `tcp:host,1433`, `host\instance`, `host`.
    address: String,
    /// The login named in a URL.
    user: Option<String>,
    /// The database named in a URL.
    database: Option<String>,
}

/// Why a text is not a server. The text is not repeated: any part of it may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// It contains a password.
    #[error(
        "the server's URL holds a password, which everybody on this machine can read in the list of processes; leave it out, and put it in the environment (SQLCMDPASSWORD)"
    )]
    Password,
    /// It is a URL of something else.
    #[error(
        "--server is not the address of a SQL Server; write sqlserver://USER@HOST:PORT/DATABASE, HOST, HOST,PORT or HOST\\INSTANCE"
    )]
    Scheme,
    /// It has no host.
    #[error(
        "--server has no host; write sqlserver://USER@HOST:PORT/DATABASE, HOST, HOST,PORT or HOST\\INSTANCE"
    )]
    Host,
    /// The port is not a port.
    #[error("the port in --server is not a number from 1 to 65535")]
    Port,
}

impl Server {
    /// Parses `sqlserver://[USER@]HOST[:PORT][/DATABASE][?instance=NAME]`, or the format of `sqlcmd -S`: `HOST`,
    /// `HOST,PORT`, `HOST\INSTANCE`, each with or without `tcp:`.
    ///
    /// # Errors
    /// When it is none of these, or contains a password.
    pub fn parse(text: &str) -> Result<Server, ServerError> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        if lower.contains("password=") || lower.contains("pwd=") {
            return Err(ServerError::Password);
        }
        match text.split_once("://") {
            Some(("sqlserver" | "mssql", rest)) => from_url(rest),
            Some(_) => Err(ServerError::Scheme),
            None => from_address(text),
        }
    }

    /// The address, in the notation of Microsoft's drivers.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The login in a URL.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The database in a URL.
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

fn from_address(text: &str) -> Result<Server, ServerError> {
    let bare = text.strip_prefix("tcp:").unwrap_or(text);
    let (host, port) = match bare.split_once(',') {
        Some((host, port)) => (host, Some(port)),
        None => (bare, None),
    };
    if host.is_empty() || host.starts_with('\\') || host.contains(['@', '/', ' ', ';', '=']) {
        return Err(ServerError::Host);
    }
    if let Some(port) = port {
        check_port(port)?;
    }
    Ok(Server {
        address: text.to_owned(),
        user: None,
        database: None,
    })
}

fn from_url(rest: &str) -> Result<Server, ServerError> {
    // An `@` after the host means that a password contains a `/` or `?`.
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if rest[end..].contains('@') {
        return Err(ServerError::Password);
    }
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let password = query.split('&').any(|pair| {
        let key = pair
            .split('=')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        key == "password" || key == "pwd"
    });
    if password || user.is_some_and(|user| user.contains(':')) {
        return Err(ServerError::Password);
    }
    let instance = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("instance="));
    // The colons of an IPv6 address are inside of brackets.
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        Some(_) | None => (host, None),
    };
    let host = host.trim_matches(['[', ']']);
    if host.is_empty() {
        return Err(ServerError::Host);
    }
    let mut address = format!("tcp:{}", decoded(host));
    if let Some(instance) = instance {
        address = format!("{}\\{}", decoded(host), decoded(instance));
    }
    if let Some(port) = port {
        check_port(port)?;
        address.push_str(&format!(",{port}"));
    }
    let some = |text: &str| (!text.is_empty()).then(|| decoded(text));
    Ok(Server {
        address,
        user: user.and_then(some),
        database: some(database),
    })
}

fn check_port(port: &str) -> Result<(), ServerError> {
    match port.parse::<u16>() {
        Ok(1..) => Ok(()),
        Ok(0) | Err(_) => Err(ServerError::Port),
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_sqlcmd_takes_is_taken() {
        for text in [
            "db1",
            "db1,1435",
            "tcp:db1,1433",
            r"db1\SQL2022",
            "10.0.0.5",
        ] {
            assert_eq!(
                Server::parse(text).map(|server| server.address),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn a_url_names_login_and_database_too() {
        let server = Server::parse("sqlserver://DOM%5Cme@db1:1435/sales%20db").expect("a URL");
        assert_eq!(server.address(), "tcp:db1,1435");
        assert_eq!(
            (server.user(), server.database()),
            (Some(r"DOM\me"), Some("sales db"))
        );
        let named = Server::parse("sqlserver://db1?instance=SQL2022").expect("a URL");
        assert_eq!(named.address(), r"db1\SQL2022");
        let six = Server::parse("sqlserver://[::1]:1433").expect("a URL");
        assert_eq!(six.address(), "tcp:::1,1433");
    }

    #[test]
    fn a_password_is_refused_wherever_it_stands() {
        for text in [
            "sqlserver://sa:pw@db1",
            "sqlserver://db1?password=pw",
            "sqlserver://db1/x?a=b&PWD=pw",
        ] {
            assert_eq!(Server::parse(text), Err(ServerError::Password), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_message_and_no_name_of_a_server_repeats_a_password(
            password in r#"[A-Za-z0-9@:/?#&=%+ .,;'"\\\[\]-]{6,20}"#,
            form in prop_oneof![
                Just("sqlserver://sa:{}@db1"),
                Just("sqlserver://sa:{}@db1:99999/sales"),
                Just("sqlserver://sa:{}@db1:port/sales?instance=x"),
                Just("sqlserver://sa@db1/sales?password={}"),
                Just("mssql://sa:{}@db1"),
                Just("mysql://sa:{}@db1"),
                Just("sa:{}@db1"),
                Just("sqlserver:sa:{}@db1,1433"),
                Just("Server=db1;User Id=sa;Password={}"),
                Just("Server=db1;PWD={}"),
            ],
        ) {
            let text = form.replace("{}", &password);
            let shown = match Server::parse(&text) {
                Ok(server) => format!("{server} {server:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shown.contains(&password), "{text}: {shown}");
            for part in password.split(['@', ':', '/', '?', '#', '&', '=', ',']).filter(|part| part.len() > 5) {
                prop_assert!(!shown.contains(part), "{text}: {shown}");
            }
        }
    }

    #[test]
    fn what_is_no_server_says_what_one_looks_like() {
        for text in [
            "",
            "postgresql://db1",
            "sqlserver://",
            "sqlserver://me@",
            "db1,99999",
            "Server=db1;Password=x",
        ] {
            assert!(Server::parse(text).is_err(), "{text:?}");
        }
    }
}
