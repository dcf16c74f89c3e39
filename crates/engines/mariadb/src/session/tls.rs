//! Encrypted connections: `ssl-mode` and `ssl-ca` of a server's URL, with the names of MySQL's clients.
//!
//! Source: <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#encrypted-connection-options>, read 2026-11-25.
//! `PREFERRED` is not supported: a man in the middle could downgrade it to plain text. Client certificates and revocation lists
//! are not supported. The authorities of this machine are trusted in addition to those of `ssl-ca`: the client library has no way
//! to exclude them.

use std::path::PathBuf;
use std::str::FromStr;

use native_tls::TlsConnector;

use engine::certificates::{self, Refusal};

/// Requirements on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Disabled,
    Required,
    VerifyCa,
    VerifyIdentity,
}

const MODES: [Mode; 4] = [
    Mode::Disabled,
    Mode::Required,
    Mode::VerifyCa,
    Mode::VerifyIdentity,
];

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Disabled => "DISABLED",
            Mode::Required => "REQUIRED",
            Mode::VerifyCa => "VERIFY_CA",
            Mode::VerifyIdentity => "VERIFY_IDENTITY",
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        let known = MODES
            .into_iter()
            .find(|mode| mode.name().eq_ignore_ascii_case(text));
        // Not repeated: it may be a part of a password.
        known.ok_or_else(|| {
            let known = MODES.map(Mode::name).join(", ");
            format!("its ssl-mode is unknown (known: {known})")
        })
    }
}

/// How connections to a server are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encryption {
    mode: Mode,
    authorities: Option<PathBuf>,
}

impl Encryption {
    /// No encryption, which suffices if packets do not leave this machine.
    pub(crate) fn off() -> Encryption {
        Encryption {
            mode: Mode::Disabled,
            authorities: None,
        }
    }

    /// As in the URL; by default encrypted if packets leave this machine, and verified if the URL names authorities.
    ///
    /// # Errors
    /// As text, conflicting options or a file without a certificate.
    pub(crate) fn of(
        is_here: bool,
        mode: Option<Mode>,
        authorities: Option<PathBuf>,
    ) -> Result<Encryption, String> {
        let mode = mode.unwrap_or(match (&authorities, is_here) {
            (Some(_), _) => Mode::VerifyIdentity,
            (None, true) => Mode::Disabled,
            (None, false) => Mode::Required,
        });
        match (mode, &authorities) {
            (Mode::Disabled | Mode::Required, Some(_)) => {
                return Err(format!(
                    "ssl-ca has no effect with ssl-mode={}; give ssl-mode=VERIFY_IDENTITY",
                    mode.name()
                ));
            }
            (Mode::VerifyCa, None) => {
                return Err(
                    "ssl-mode=VERIFY_CA requires the certificate of the server's authority; give ssl-ca=FILE, or \
                     ssl-mode=VERIFY_IDENTITY to trust this machine's authorities"
                        .to_owned(),
                );
            }
            (Mode::Disabled | Mode::Required | Mode::VerifyIdentity, None) => {}
            (Mode::VerifyCa | Mode::VerifyIdentity, Some(file)) => {
                certificates::in_file("ssl-ca", file)?;
            }
        }
        Ok(Encryption { mode, authorities })
    }

    /// Whether the user disabled encryption.
    pub(crate) fn is_off(&self) -> bool {
        self.mode == Mode::Disabled
    }

    /// Whether the server's certificate is verified.
    fn verifies(&self) -> bool {
        match self.mode {
            Mode::Disabled | Mode::Required => false,
            Mode::VerifyCa | Mode::VerifyIdentity => true,
        }
    }

    /// The TLS connector; `None` if encryption is off.
    ///
    /// # Errors
    /// As text, when a certificate cannot be used.
    pub(crate) fn connector(&self) -> Result<Option<TlsConnector>, String> {
        if self.is_off() {
            return Ok(None);
        }
        let mut builder = TlsConnector::builder();
        if let Some(file) = &self.authorities {
            for certificate in certificates::in_file("ssl-ca", file)? {
                builder.add_root_certificate(certificate);
            }
        }
        builder.danger_accept_invalid_certs(!self.verifies());
        builder.danger_accept_invalid_hostnames(self.mode != Mode::VerifyIdentity);
        let connector = builder.build();
        connector
            .map(Some)
            .map_err(|error| format!("TLS cannot be set up: {error}"))
    }

    /// Why the server `host` without TLS is rejected, with the remedy.
    pub(crate) fn not_offered(&self) -> String {
        format!(
            "the server does not offer TLS, which ssl-mode={} requires; turn it on there (ssl_cert and ssl_key in its \
             my.cnf), connect through its socket, or allow an unencrypted connection with ssl-mode=DISABLED",
            self.mode.name()
        )
    }

    /// Why the handshake with `host` failed, with the remedy; `text` is the library's.
    pub(crate) fn refused(host: &str, text: String) -> String {
        match Refusal::of(text) {
            Refusal::OtherName(why) => format!(
                "the server's certificate is not for {host}: {why}; connect by the name that it is for, or accept any \
                 name of a trusted authority with ssl-mode=VERIFY_CA"
            ),
            Refusal::Expired(why) => format!(
                "the server's certificate is not valid now: {why}; renew it on the server, or correct this machine's clock"
            ),
            Refusal::Untrusted(why) => format!(
                "the server's certificate is not trusted: {why}; give the certificate of its authority with ssl-ca=FILE"
            ),
            Refusal::Handshake(text) => {
                format!(
                    "the TLS handshake failed: {text}; check that a MariaDB or MySQL answers at that address"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_leave_this_machine_are_encrypted_unless_that_is_disabled() {
        for (is_here, mode, encrypted) in [
            (true, None, false),
            (false, None, true),
            (true, Some(Mode::Required), true),
            (false, Some(Mode::Disabled), false),
        ] {
            let encryption = Encryption::of(is_here, mode, None).expect("it goes together");
            assert_eq!(!encryption.is_off(), encrypted, "{is_here} {mode:?}");
        }
    }

    #[test]
    fn a_certificate_is_verified_where_authorities_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("ca.pem");
        let error = Encryption::of(false, None, Some(file.clone())).expect_err("no file");
        assert!(error.contains("ca.pem"), "{error}");
        std::fs::write(&file, "no certificate").expect("a file");
        let error = Encryption::of(false, None, Some(file.clone())).expect_err("no certificate");
        assert!(error.contains("holds no certificate"), "{error}");
        for mode in [Mode::Disabled, Mode::Required] {
            let error =
                Encryption::of(false, Some(mode), Some(file.clone())).expect_err("of no use");
            assert!(error.contains("no effect"), "{error}");
        }
        let error = Encryption::of(false, Some(Mode::VerifyCa), None).expect_err("of whom");
        assert!(error.contains("ssl-ca=FILE"), "{error}");
        let verified = Encryption::of(false, Some(Mode::VerifyIdentity), None).expect("system's");
        assert!(verified.verifies());
        assert!(verified.connector().expect("the system's").is_some());
    }

    #[test]
    fn modes_have_mysqls_names() {
        assert_eq!("verify_ca".parse(), Ok(Mode::VerifyCa));
        for unknown in ["PREFERRED", "require", ""] {
            let error = unknown.parse::<Mode>().expect_err(unknown);
            assert!(error.contains("VERIFY_IDENTITY"), "{error}");
        }
    }
}
