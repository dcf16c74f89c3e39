//! LOGIN7: the login, its database and packet size.
//!
//! Layout: [MS-TDS 2.2.6.4](https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/773a62b6-ee89-4c02-9e5e-344882630aac).

use crate::wire::{Cursor, Violation};

/// The version that the double speaks, as in LOGIN7 and LOGINACK.
pub(crate) const TDS_7_4: u32 = 0x7400_0004;

/// Feature of an extended login: a token instead of a password.
pub(crate) const FEDERATED: u8 = 2;
const FEATURE_END: u8 = 0xFF;
/// Library of a federated login that sends its token at once.
const SECURITY_TOKEN: u8 = 1;

/// A client's login request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Its proof of identity.
    pub proof: Proof,
    /// Empty: the login's own default database.
    pub database: String,
    /// The client's name for itself.
    pub application: String,
    /// The client's machine.
    pub host: String,
    pub(crate) packet_size: u32,
}

/// A client's proof of identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A login of SQL Server.
    Password {
        /// Name of the login.
        user: String,
        /// In clear text: the protocol only obfuscates it.
        password: String,
    },
    /// An access token of Microsoft Entra.
    Token(String),
    /// Windows or Kerberos, which the double always refuses.
    Integrated,
}

impl Login {
    pub(crate) fn read(body: &[u8]) -> Result<Login, Violation> {
        let mut cursor = Cursor::new(body);
        let length = cursor.u32()? as usize;
        if length != body.len() {
            let text = format!("a login of {} bytes that says {length}", body.len());
            return Err(Violation::new(text));
        }
        let version = cursor.u32()?;
        if version != TDS_7_4 {
            let text = format!("TDS {version:#010x}; the double speaks 7.4 alone");
            return Err(Violation::new(text));
        }
        let packet_size = cursor.u32()?;
        cursor.take(12)?; // the client's version, process and connection
        let flags = [cursor.u8()?, cursor.u8()?, cursor.u8()?, cursor.u8()?];
        let (integrated, extended) = (flags[1] & 0x80 != 0, flags[3] & 0x10 != 0);
        cursor.take(8)?; // time zone and locale
        let host = field(body, &mut cursor)?;
        let user = field(body, &mut cursor)?;
        let password = secret(body, &mut cursor)?;
        let application = field(body, &mut cursor)?;
        field(body, &mut cursor)?; // the server's name
        let (offset, size) = (cursor.u16()?, cursor.u16()?);
        let token = match (extended, size) {
            (false, _) => None,
            (true, 4) => {
                let mut at = Cursor::new(body);
                at.take(offset.into())?;
                let features = at.u32()? as usize;
                token(body.get(features..).unwrap_or_default())?
            }
            (true, size) => {
                return Err(Violation::new(format!(
                    "an offset of features of {size} bytes"
                )));
            }
        };
        field(body, &mut cursor)?; // the library's name
        field(body, &mut cursor)?; // language
        let database = field(body, &mut cursor)?;
        let proof = match token {
            Some(token) => Proof::Token(token),
            None if integrated => Proof::Integrated,
            None => Proof::Password { user, password },
        };
        Ok(Login {
            proof,
            database,
            application,
            host,
            packet_size,
        })
    }
}

fn at<'a>(body: &'a [u8], cursor: &mut Cursor<'_>) -> Result<(Cursor<'a>, usize), Violation> {
    let (offset, count) = (cursor.u16()?, cursor.u16()?);
    let mut at = Cursor::new(body);
    // For empty fields, clients differ in the offset they give.
    if count > 0 {
        at.take(offset.into())?;
    }
    Ok((at, usize::from(count) * 2))
}

fn field(body: &[u8], cursor: &mut Cursor<'_>) -> Result<String, Violation> {
    let (mut at, bytes) = at(body, cursor)?;
    at.chars_of(bytes)
}

/// Each byte of a password has its halves swapped and is then XORed with 0xA5.
fn secret(body: &[u8], cursor: &mut Cursor<'_>) -> Result<String, Violation> {
    let (mut at, bytes) = at(body, cursor)?;
    let clear: Vec<u8> = at
        .take(bytes)?
        .iter()
        .map(|byte| (byte ^ 0xA5).rotate_left(4))
        .collect();
    Cursor::new(&clear).chars_of(clear.len())
}

/// The token among the features, if the client sends one. Other features are not acknowledged, so that the client does
/// not use them.
fn token(features: &[u8]) -> Result<Option<String>, Violation> {
    let mut cursor = Cursor::new(features);
    let mut token = None;
    loop {
        let feature = cursor.u8()?;
        if feature == FEATURE_END {
            return Ok(token);
        }
        let length = cursor.u32()? as usize;
        let mut content = Cursor::new(cursor.take(length)?);
        if feature == FEDERATED {
            let library = content.u8()? >> 1;
            if library != SECURITY_TOKEN {
                let text = format!(
                    "a federated login by library {library}; the double takes a token alone (1)"
                );
                return Err(Violation::new(text));
            }
            let length = content.u32()? as usize;
            token = Some(content.chars_of(length)?);
        }
    }
}
