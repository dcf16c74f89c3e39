//! Credentials, and protection of the connection.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// How to log in to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Credentials.
    pub credentials: Credentials,
    /// How the connection is protected.
    pub encryption: Encryption,
    /// Whether to accept an untrusted certificate.
    pub trust_certificate: bool,
}

/// Who logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// A login of SQL Server.
    Password {
        /// Its name.
        user: String,
        /// Its password.
        password: Secret,
    },
    /// A token of Microsoft Entra ID, as from `az account get-access-token`.
    Token(Secret),
    /// The user running this program: Kerberos, or NTLM on Windows.
    Integrated,
}

/// How a connection is protected, in the terms of Microsoft's drivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// TLS only as required by the server, but at least for the login. The login is not sent to a server without TLS.
    Optional,
    /// As [`Encryption::Optional`], but a server without TLS gets the login in clear text.
    OffInsecure,
    /// TLS after the first message (TDS 7.4).
    #[default]
    Mandatory,
    /// TLS before anything else (TDS 8.0; SQL Server 2022 and later).
    Strict,
}

/// A password or token. It is never displayed, and wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(Zeroizing::new(text.into()))
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// What is missing for a login.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// A variable is not set.
    #[error("the environment has no {0}; {1}")]
    Variable(String, &'static str),
    /// A file cannot be read.
    #[error("{}: {why}; give a file that holds the token and nothing else", .file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A file or variable is empty.
    #[error(
        "{0} holds no token; `az account get-access-token --resource https://database.windows.net/ --query accessToken --output tsv` gives one"
    )]
    Empty(String),
}

/// Name of the variable with the password, and of the one with the user: those of `sqlcmd`.
const PASSWORD: &str = "SQLCMDPASSWORD";
const USER: &str = "SQLCMDUSER";

/// Far more than any token has.
const TOKEN_BYTES_MAX: u64 = 1 << 20;

impl Credentials {
    /// A user's password from the environment, as in `sqlcmd`; without a user, the user running the program.
    ///
    /// # Errors
    /// When there is a user but no password.
    pub fn from_environment(
        user: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Credentials, LoginError> {
        let user = user.map(str::to_owned).or_else(|| variable(USER));
        let Some(user) = user else {
            return Ok(Credentials::Integrated);
        };
        let password = variable(PASSWORD).ok_or_else(|| {
            LoginError::Variable(
                PASSWORD.to_owned(),
                "put the login's password there; it never goes on a command line",
            )
        })?;
        Ok(Credentials::Password {
            user,
            password: Secret::new(password),
        })
    }

    /// A token from a variable of the environment.
    ///
    /// # Errors
    /// When it is not set or empty.
    pub fn token_of_variable(
        name: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Credentials, LoginError> {
        let token = variable(name).ok_or_else(|| {
            LoginError::Variable(
                name.to_owned(),
                "put an access token there, or leave --access-token-env out",
            )
        })?;
        token_of(token, name)
    }

    /// A token from a file.
    ///
    /// # Errors
    /// When it cannot be read or is empty.
    pub fn token_of_file(file: &Path) -> Result<Credentials, LoginError> {
        let text = start_of(file).map_err(|error| LoginError::File {
            file: file.to_owned(),
            why: error.to_string(),
        })?;
        token_of(text, &file.display().to_string())
    }
}

/// Reads a limited prefix, as the file may be endless.
fn start_of(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = std::fs::File::open(file)?;
    file.take(TOKEN_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn token_of(text: String, place: &str) -> Result<Credentials, LoginError> {
    let text = Zeroizing::new(text);
    match text.trim() {
        "" => Err(LoginError::Empty(place.to_owned())),
        token => Ok(Credentials::Token(Secret::new(token))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_user_it_is_whoever_runs_the_program() {
        let none = |_: &str| None;
        assert_eq!(
            Credentials::from_environment(None, none),
            Ok(Credentials::Integrated)
        );
        let error = Credentials::from_environment(Some("sa"), none).expect_err("no password");
        assert!(error.to_string().contains("SQLCMDPASSWORD"), "{error}");
    }

    #[test]
    fn a_secret_is_never_shown() {
        let set = |name: &str| (name == "SQLCMDPASSWORD").then(|| "hunter2".to_owned());
        let credentials = Credentials::from_environment(Some("sa"), set).expect("a password");
        assert!(!format!("{credentials:?}").contains("hunter2"));
    }

    #[test]
    fn an_empty_token_is_refused() {
        let blank = |_: &str| Some(" \n".to_owned());
        assert_eq!(
            Credentials::token_of_variable("TOKEN", blank),
            Err(LoginError::Empty("TOKEN".to_owned()))
        );
    }
}
