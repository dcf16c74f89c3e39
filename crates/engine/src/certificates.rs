//! Certificates of servers: reading them from files, and the TLS library's reasons for refusing one.

use std::path::Path;

use files::input;
use native_tls::Certificate;

/// The certificates in the file given by the URL parameter `option`.
///
/// # Errors
/// When it cannot be read or contains none, as text.
pub fn in_file(option: &str, file: &Path) -> Result<Vec<Certificate>, String> {
    let shown = file.display();
    let text = input::named(file).map_err(|error| format!("{option} {shown}: {error}"))?;
    match Certificate::stack_from_pem(text.as_bytes()) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) | Err(_) => Err(format!(
            "{option} {shown} holds no certificate; give a file in PEM format (-----BEGIN CERTIFICATE-----)"
        )),
    }
}

/// Why a handshake failed, classified by remedy; each with the library's message.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The certificate is for another host.
    OtherName(String),
    /// It is expired or not valid yet.
    Expired(String),
    /// It is not signed by a trusted authority.
    Untrusted(String),
    /// Anything else.
    Handshake(String),
}

impl Refusal {
    /// Parsed from the library's text: OpenSSL's is
    /// `error:..:certificate verify failed:../ssl/statem/statem_clnt.c:2090: (certificate has expired)`.
    pub fn of(text: String) -> Refusal {
        let why = text
            .strip_suffix(')')
            .filter(|text| text.contains("certificate verify failed"))
            .and_then(|text| text.rsplit_once(" ("));
        match why {
            Some((_, why)) if why.contains("mismatch") => Refusal::OtherName(why.to_owned()),
            Some((_, why)) if why.contains("expired") || why.contains("not yet valid") => {
                Refusal::Expired(why.to_owned())
            }
            Some((_, why)) => Refusal::Untrusted(why.to_owned()),
            None => Refusal::Handshake(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_library_says_is_sorted_by_the_remedy() {
        let said = |why: &str| {
            format!(
                "error:0A000086:SSL routines:tls_post_process_server_certificate:certificate verify \
                 failed:../ssl/statem/statem_clnt.c:2090: ({why})"
            )
        };
        for (why, refusal) in [
            ("hostname mismatch", Refusal::OtherName as fn(String) -> _),
            ("IP address mismatch", Refusal::OtherName),
            ("certificate has expired", Refusal::Expired),
            ("self-signed certificate", Refusal::Untrusted),
        ] {
            assert_eq!(Refusal::of(said(why)), refusal(why.to_owned()));
        }
        let other = "unexpected EOF".to_owned();
        assert_eq!(Refusal::of(other.clone()), Refusal::Handshake(other));
    }
}
