//! The header of an archive of `pg_dump`: of which server and database it is.
//!
//! Source: `ReadHead` in `src/bin/pg_dump/pg_backup_archiver.c` of PostgreSQL, read 2026-11-28.

/// What an archive begins with.
const MAGIC: &[u8] = b"PGDMP";

/// The oldest archive that has a version of the server: that of PostgreSQL 7.4 and later.
const OLDEST: (u8, u8) = (1, 10);

/// The first archive that names its compression by a byte.
const COMPRESSION_BYTE: (u8, u8) = (1, 15);

/// Numbers of its time.
const TIME: usize = 7;

/// Longest name or version.
const TEXT_MAX: usize = 1 << 10;

/// The header of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Version of the archive.
    pub(crate) archive: (u8, u8),
    /// The database.
    pub(crate) database: String,
    /// Version of its server.
    pub(crate) server: String,
    /// Version of `pg_dump`.
    pub(crate) program: String,
}

impl Header {
    /// The header at the beginning of `bytes`.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Header, &'static str> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err("it is not an archive of pg_dump");
        };
        Header::after_magic(rest).ok_or("its header is damaged; make the dump again")
    }

    fn after_magic(rest: &[u8]) -> Option<Header> {
        let [major, minor, _, width, _, _, rest @ ..] = rest else {
            return None;
        };
        let archive = (*major, *minor);
        let width = usize::from(*width);
        if archive < OLDEST || !(4..=8).contains(&width) {
            return None;
        }
        let mut fields = Fields { rest, width };
        match archive < COMPRESSION_BYTE {
            true => fields.number().map(|_| ()),
            false => fields.take(1).map(|_| ()),
        }?;
        for _ in 0..TIME {
            fields.number()?;
        }
        Some(Header {
            archive,
            database: fields.text()?,
            server: fields.text()?,
            program: fields.text()?,
        })
    }
}

struct Fields<'a> {
    rest: &'a [u8],
    /// Bytes of a number, besides its sign.
    width: usize,
}

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<i64> {
        let sign = self.take(1)?[0];
        let bytes = self.take(self.width)?;
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        let number = i64::try_from(u64::from_le_bytes(whole)).ok()?;
        Some(if sign == 0 { number } else { -number })
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        if length > TEXT_MAX {
            return None;
        }
        let text = std::str::from_utf8(self.take(length)?).ok()?;
        (!text.is_empty() && !text.contains('\0')).then(|| text.to_owned())
    }
}

#[cfg(test)]
impl Header {
    /// The bytes of a header, as a server and a program of one version write it.
    pub(crate) fn example(database: &str, archive: (u8, u8), version: &str) -> Vec<u8> {
        let number = |value: u32| [&[0], &value.to_le_bytes()[..]].concat();
        let mut bytes = MAGIC.to_vec();
        // Bytes of a number and of an offset, and the format, which is that of tar.
        bytes.extend([archive.0, archive.1, 0, 4, 8, 3]);
        match archive < COMPRESSION_BYTE {
            // -1: the default.
            true => bytes.extend([1, 1, 0, 0, 0]),
            false => bytes.push(1),
        }
        for part in [11, 12, 23, 28, 10, 126, 0] {
            bytes.extend(number(part));
        }
        for text in [database, version, version] {
            bytes.extend(number(text.len() as u32));
            bytes.extend(text.as_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What pg_dump 15.20 wrote of a database `shop`, byte for byte.
    const REAL: &[u8] = b"PGDMP\x01\x0e\x00\x04\x08\x03\x01\x01\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x0c\x00\x00\x00\x00\x17\x00\x00\x00\
        \x00\x1c\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x7e\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00shop\
        \x00\x1e\x00\x00\x0015.20 (Debian 15.20-0+deb12u1)\x00\x1e\x00\x00\x0015.20 (Debian 15.20-0+deb12u1)\x00\x21\x00";

    #[test]
    fn the_header_that_pg_dump_writes_is_read_and_no_part_of_it() {
        let version = "15.20 (Debian 15.20-0+deb12u1)".to_owned();
        let header = Header {
            archive: (1, 14),
            database: "shop".to_owned(),
            server: version.clone(),
            program: version,
        };
        assert_eq!(Header::parse(REAL), Ok(header));
        let whole = REAL.len() - 3;
        assert!(Header::parse(&REAL[..whole]).is_ok());
        for end in 0..whole {
            assert!(Header::parse(&REAL[..end]).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200), archive in 9_u8..18) {
            let mut whole = MAGIC.to_vec();
            whole.extend([1, archive]);
            whole.extend(bytes);
            if let Ok(header) = Header::parse(&whole) {
                prop_assert!(!header.database.is_empty());
            }
        }
    }
}
