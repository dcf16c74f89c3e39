//! The first exchange: versions, and whether to encrypt.
//!
//! Layout: [MS-TDS 2.2.6.5](https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/60f56408-0188-4cd5-8b90-25c6f2423868).

use crate::model::Identity;
use crate::wire::{Cursor, Violation};

const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const MARS: u8 = 4;
const FEDERATED: u8 = 6;
const END: u8 = 0xFF;

const ENCRYPT_NOT_SUPPORTED: u8 = 2;
const ENCRYPT_REQUIRED: u8 = 3;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreLogin {
    encryption: u8,
    federated: Option<u8>,
}

/// The result of the negotiation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Agreed {
    Plain,
    Encrypted,
}

impl PreLogin {
    pub(crate) fn read(body: &[u8]) -> Result<PreLogin, Violation> {
        let mut cursor = Cursor::new(body);
        let (mut encryption, mut federated, mut version) = (None, None, false);
        loop {
            let option = cursor.u8()?;
            if option == END {
                break;
            }
            let (offset, length) = (cursor.u16()?.swap_bytes(), cursor.u16()?.swap_bytes());
            let mut content = Cursor::new(body);
            content.take(offset.into())?;
            let content = content.take(length.into())?;
            match (option, content) {
                (VERSION, [_, _, _, _, _, _]) => version = true,
                (ENCRYPTION, [value]) => encryption = Some(*value),
                (FEDERATED, [value]) => federated = Some(*value),
                (VERSION | ENCRYPTION | FEDERATED, content) => {
                    let text = format!("PreLogin option {option} of {} bytes", content.len());
                    return Err(Violation::new(text));
                }
                (_, _) => {}
            }
        }
        match (version, encryption) {
            (true, Some(encryption)) => Ok(PreLogin {
                encryption,
                federated,
            }),
            (_, _) => Err(Violation::new("a PreLogin without version or encryption")),
        }
    }

    /// A server with encryption requires it; one without refuses clients that require it.
    pub(crate) fn agree(&self, encrypts: bool) -> Agreed {
        if encrypts {
            Agreed::Encrypted
        } else {
            Agreed::Plain
        }
    }

    pub(crate) fn reply(&self, encrypts: bool, identity: &Identity) -> Vec<u8> {
        let encryption = if encrypts {
            ENCRYPT_REQUIRED
        } else {
            ENCRYPT_NOT_SUPPORTED
        };
        let [high, low] = identity.build.to_be_bytes();
        let version = [identity.major, identity.minor, high, low, 0, 0];
        let mut options: Vec<(u8, Vec<u8>)> = vec![
            (VERSION, version.to_vec()),
            (ENCRYPTION, vec![encryption]),
            (INSTANCE, vec![0]),
            (THREAD, Vec::new()),
            (MARS, vec![0]),
        ];
        // Answered only on request; 1: the server prefers a token, and accepts nothing else.
        if let Some(asked) = self.federated {
            options.push((FEDERATED, vec![asked]));
        }
        let mut offset = options.len() * 5 + 1;
        let (mut head, mut contents) = (Vec::new(), Vec::new());
        for (option, content) in options {
            head.push(option);
            head.extend((offset as u16).to_be_bytes());
            head.extend((content.len() as u16).to_be_bytes());
            offset += content.len();
            contents.extend(content);
        }
        head.push(END);
        head.extend(contents);
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_reads_as_a_prelogin_of_its_own() {
        let asked = PreLogin {
            encryption: 0,
            federated: Some(1),
        };
        let reply = PreLogin::read(&asked.reply(true, &Identity::default())).expect("valid");
        let expected = PreLogin {
            encryption: ENCRYPT_REQUIRED,
            federated: Some(1),
        };
        assert_eq!(reply, expected);
    }

    #[test]
    fn an_option_that_points_past_the_end_is_refused() {
        let error = PreLogin::read(&[VERSION, 0, 6, 0, 6, END, 0]).expect_err("short");
        assert!(error.to_string().contains("6 bytes wanted"), "{error}");
    }
}
