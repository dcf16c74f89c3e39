//! `RESTORE`: what is in a backup, and a database from it.
//!
//! It was written from Microsoft's grammar and the columns that it lists, of which the double has the first ones that say what a
//! backup is: <https://learn.microsoft.com/sql/t-sql/statements/restore-statements-transact-sql>, `.. headeronly ..` and
//! `.. filelistonly ..` beside it, read 2026-11-29.

use super::error;
use super::state::{Backup, Database, File};
use super::text::{PAGE, Token, tokens};
use super::{MANAGED_INSTANCE, SqlServer};
use crate::model::Session;
use crate::reply::{Message, Reply, Rows};
use crate::value::{Kind, Value};

/// A `RESTORE`.
#[derive(Debug, PartialEq, Eq)]
enum Restore {
    Headers(String),
    Files(String, u64),
    Database {
        name: String,
        from: String,
        position: u64,
        moves: Vec<(String, String)>,
    },
}

/// The reply to a `RESTORE`, or `None` where the text is none that is known.
pub(super) fn answer(server: &mut SqlServer, session: &Session, text: &str) -> Option<Reply> {
    let restore = parse(&tokens(text)?)?;
    if server.edition.engine == MANAGED_INSTANCE || server.babelfish.is_some() {
        return Some(Reply::error(error::not_supported()));
    }
    if !server.may(&session.login, "CREATE ANY DATABASE") {
        let denied = error::permission_in_database("CREATE DATABASE", "master");
        return Some(Reply::error(denied));
    }
    let done = match restore {
        Restore::Headers(from) => headers(server, &from),
        Restore::Files(from, position) => files(server, &from, position),
        Restore::Database {
            name,
            from,
            position,
            moves,
        } => database(server, (session, &name), (&from, position), &moves),
    };
    Some(done.unwrap_or_else(Reply::error))
}

fn parse(tokens: &[Token]) -> Option<Restore> {
    let word = |text: &str| Token::Word(text.to_owned());
    let is = |place: usize, text: &str| tokens.get(place) == Some(&word(text));
    let tokens = tokens.strip_suffix(&[Token::Sign(';')]).unwrap_or(tokens);
    match tokens {
        [_, _, rest @ ..] if is(0, "RESTORE") && is(1, "HEADERONLY") => {
            let (from, rest) = device(rest)?;
            rest.is_empty().then_some(Restore::Headers(from))
        }
        [_, _, rest @ ..] if is(0, "RESTORE") && is(1, "FILELISTONLY") => {
            let (from, rest) = device(rest)?;
            let (position, rest) = position(rest)?;
            rest.is_empty().then_some(Restore::Files(from, position))
        }
        [_, _, Token::Name(name), rest @ ..] if is(0, "RESTORE") && is(1, "DATABASE") => {
            let (from, rest) = device(rest)?;
            let (position, mut rest) = position(rest)?;
            let mut moves = Vec::new();
            while let [
                Token::Sign(','),
                moving,
                Token::Text(file),
                to,
                Token::Text(path),
                others @ ..,
            ] = rest
            {
                if (moving, to) != (&word("MOVE"), &word("TO")) {
                    return None;
                }
                moves.push((file.clone(), path.clone()));
                rest = others;
            }
            rest.is_empty().then(|| Restore::Database {
                name: name.clone(),
                from,
                position,
                moves,
            })
        }
        _ => None,
    }
}

/// `FROM DISK = '..'`.
fn device(tokens: &[Token]) -> Option<(String, &[Token])> {
    match tokens {
        [
            Token::Word(from),
            Token::Word(kind),
            Token::Sign('='),
            Token::Text(path),
            rest @ ..,
        ] if from == "FROM" && kind == "DISK" => Some((path.clone(), rest)),
        _ => None,
    }
}

/// `WITH FILE = n`.
fn position(tokens: &[Token]) -> Option<(u64, &[Token])> {
    match tokens {
        [
            Token::Word(with),
            Token::Word(file),
            Token::Sign('='),
            Token::Number(position),
            rest @ ..,
        ] if with == "WITH" && file == "FILE" => Some((*position, rest)),
        _ => None,
    }
}

fn backup(server: &SqlServer, from: &str) -> Result<Backup, Message> {
    server
        .backups
        .get(from)
        .cloned()
        .ok_or_else(|| error::cannot_open_backup(server.is_windows(), from))
}

fn headers(server: &SqlServer, from: &str) -> Result<Reply, Message> {
    let backup = backup(server, from)?;
    let columns = [
        ("BackupName", Kind::Text(128)),
        ("BackupType", Kind::SmallInt),
        ("Position", Kind::SmallInt),
        ("DatabaseName", Kind::Text(128)),
        ("BackupSize", Kind::BigInt),
        ("SoftwareVersionMajor", Kind::Int),
        ("SoftwareVersionMinor", Kind::Int),
        ("SoftwareVersionBuild", Kind::Int),
    ];
    let pages: u64 = backup.files.iter().map(|(_, _, pages)| pages).sum();
    let size = i64::try_from(pages * PAGE).expect("a size");
    // A log of the same file comes after it.
    let row = |kind: i64, position: i64| {
        [
            Value::Null,
            kind.into(),
            position.into(),
            backup.database.as_str().into(),
            size.into(),
            backup.major.into(),
            Value::from(0),
            Value::from(4085),
        ]
    };
    let rows = Rows::new(columns).row(row(1, 1)).row(row(2, 2));
    Ok(Reply::new().rows(rows))
}

fn files(server: &SqlServer, from: &str, position: u64) -> Result<Reply, Message> {
    let backup = backup(server, from)?;
    if position != 1 {
        return Err(error::no_backup_at(from, position));
    }
    let columns = [
        ("LogicalName", Kind::Text(128)),
        ("PhysicalName", Kind::Text(260)),
        ("Type", Kind::Text(1)),
        ("FileGroupName", Kind::Text(128)),
        ("Size", Kind::BigInt),
    ];
    let rows = backup
        .files
        .iter()
        .fold(Rows::new(columns), |rows, (name, kind, pages)| {
            let size = i64::try_from(pages * PAGE).expect("a size");
            rows.row([
                name.as_str().into(),
                format!("E:\\old\\{name}").into(),
                kind.to_string().into(),
                Value::Null,
                size.into(),
            ])
        });
    Ok(Reply::new().rows(rows))
}

fn database(
    server: &mut SqlServer,
    (session, name): (&Session, &str),
    (from, position): (&str, u64),
    moves: &[(String, String)],
) -> Result<Reply, Message> {
    let backup = backup(server, from)?;
    if position != 1 {
        return Err(error::no_backup_at(from, position));
    }
    if backup.major > i64::from(server.major()) {
        return Err(error::later_backup(backup.major, server.major()));
    }
    // There is no REPLACE in the grammar here.
    if server.database(name).is_some() {
        return Err(error::database_exists(name));
    }
    let mut restored = Database {
        name: name.to_owned(),
        owner: session.login.clone(),
        recovery: "FULL".to_owned(),
        ..Database::empty()
    };
    for (number, (file, kind, pages)) in (1..).zip(&backup.files) {
        let mut moved = moves.iter();
        let to = moved.find(|(moved, _)| moved.eq_ignore_ascii_case(file));
        let path = to.map_or_else(|| format!("E:\\old\\{file}"), |(_, path)| path.clone());
        server.check_new(&path, *pages)?;
        restored
            .files
            .insert(number, File::new(*kind == 'L', file, &path, *pages));
    }
    let id = server
        .databases
        .keys()
        .last()
        .map_or(5, |last| (last + 1).max(5));
    server.databases.insert(id, restored);
    Ok(Reply::new().done())
}

/// Whether a text is a `RESTORE` that is known.
#[cfg(test)]
pub(super) fn is_one(text: &str) -> bool {
    tokens(text).is_some_and(|tokens| parse(&tokens).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_overwrite_or_is_not_known_word_for_word_is_no_restore() {
        let whole =
            "RESTORE DATABASE [a] FROM DISK = N'x' WITH FILE = 1, MOVE N'a' TO N'D:\\a.mdf';";
        assert!(is_one(whole));
        for text in [
            "RESTORE DATABASE [a] FROM DISK = N'x' WITH FILE = 1, REPLACE;",
            "RESTORE DATABASE [a] FROM TAPE = N'x' WITH FILE = 1;",
            "RESTORE DATABASE [a] FROM DISK = N'x' WITH FILE = 1, MOVE N'a' TO [b];",
            "RESTORE HEADERONLY FROM DISK = x;",
            "RESTORE LOG [a] FROM DISK = N'x' WITH FILE = 1;",
        ] {
            assert!(!is_one(text), "{text}");
        }
    }
}
