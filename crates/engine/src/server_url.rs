//! Parses the URL of an existing server, as far as products agree.
//!
//! No message repeats a part of it, since that may be part of a password.

use std::path::Path;

use files::input;
use nix::unistd::{User, geteuid};
use percent_encoding::percent_decode_str;

/// `scheme://user:password@host:port/path?name=value&..`, decoded; empty parts are `None`.
#[derive(Default)]
pub struct Pieces {
    /// Before the host.
    pub user: Option<String>,
    /// After the user.
    pub password: Option<String>,
    /// Name or address, an IPv6 one without its brackets.
    pub host: Option<String>,
    /// After the host.
    pub port: Option<u16>,
    /// The part between the host and a question mark, usually a database.
    pub path: Option<String>,
    /// The part after a question mark, in order.
    pub parameters: Vec<(String, Option<String>)>,
}

impl Pieces {
    /// Parses the part after `scheme://`.
    ///
    /// # Errors
    /// What is wrong with it, as text.
    pub fn of(rest: &str) -> Result<Pieces, String> {
        // Otherwise the part of a password after a `/` or `?` would be taken for a database.
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        if rest[end..].contains(['@', '#']) {
            return Err(
                "it has an `@` or `#` after the host; percent-encode `/`, `?`, `#`, `@` and `%` in a \
                 password as %2F, %3F, %23, %40 and %25"
                    .to_owned(),
            );
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        // The last `@`: a password may contain one that was not encoded.
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (login, None),
        };
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (place, ""),
        };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Ok(Pieces {
            user: decoded(user)?,
            password: password.map(decoded).transpose()?.flatten(),
            host: decoded(host.trim_start_matches('[').trim_end_matches(']'))?,
            port: number(port)?,
            path: decoded(path)?,
            parameters: pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    Ok((name.to_owned(), decoded(value)?))
                })
                .collect::<Result<_, String>>()?,
        })
    }
}

fn decoded(text: &str) -> Result<Option<String>, String> {
    let text = percent_decode_str(text)
        .decode_utf8()
        .map_err(|_| "a part of it is not text".to_owned())?;
    Ok(Some(text.into_owned()).filter(|text| !text.is_empty()))
}

/// A port; `None` if the text is empty.
///
/// # Errors
/// When it is not a port, as text.
pub fn number(text: &str) -> Result<Option<u16>, String> {
    match text {
        "" => Ok(None),
        _ => text
            .parse()
            .map(Some)
            .map_err(|_| "its port is not a number from 0 to 65535".to_owned()),
    }
}

/// The user that dbstow runs as, which servers assume if no user is given; `otherwise` if the machine does not know the
/// name.
pub fn own_name(otherwise: &str) -> String {
    let user = User::from_uid(geteuid()).ok().flatten();
    user.map_or_else(|| otherwise.to_owned(), |user| user.name)
}

/// The password that `find` finds in a file; `None` if the file does not exist, or does not contain it.
///
/// # Errors
/// When it has one, and others can read it; as text.
pub fn secret_in(
    file: &Path,
    find: impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, String> {
    if !input::named(file).is_ok_and(|text| find(&text).is_some()) {
        return Ok(None);
    }
    let text = input::secret(file)
        .map_err(|error| format!("{} holds a password: {error}", file.display()))?;
    Ok(find(&text))
}

/// A password; it has no text form, so that it cannot leak into a message.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// A password of this text.
    pub fn new(text: impl Into<String>) -> Password {
        Password(text.into())
    }

    /// For the server only.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

/// Shared by tests of products' URLs.
#[cfg(any(test, feature = "examples"))]
pub mod examples {
    use proptest::prelude::*;

    /// Anything that a user could type or paste as a password.
    pub fn passwords() -> impl Strategy<Value = String> {
        r#"[A-Za-z0-9@:/?#&=%+ .,;'"\\\[\]-]{6,20}"#
    }

    /// Whether `shown` contains the password, or the rest of it if it was split in the wrong place.
    pub fn shows(shown: &str, password: &str) -> bool {
        let parts = password.split(['@', ':', '/', '?', '#', '&', '=']);
        let mut parts = parts.filter(|part| part.len() > 5);
        shown.contains(password) || parts.any(|part| shown.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_password_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("passwords");
        let find = |text: &str| text.strip_prefix("password=").map(str::to_owned);
        assert_eq!(secret_in(&file, find), Ok(None));
        for (text, mode, expected) in [
            ("user=ann", 0o644, Ok(None)),
            ("password=x", 0o600, Ok(Some("x".to_owned()))),
            ("password=x", 0o644, Err("chmod 0600")),
        ] {
            fs::write(&file, text).expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("it is ours");
            match (secret_in(&file, find), expected) {
                (Err(error), Err(said)) => assert!(error.contains(said), "{error}"),
                (read, expected) => assert_eq!(read, expected.map_err(str::to_owned)),
            }
        }
    }
}
