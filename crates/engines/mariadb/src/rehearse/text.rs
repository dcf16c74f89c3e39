//! What a statement's first words say of it. Its text is not parsed: the server does that.

use engine::log_text::{self, Syntax, has_word, is};
use engine::logged::{Boundary, LeftOut};

/// Constants and comments, as without `ANSI_QUOTES` and `NO_BACKSLASH_ESCAPES`.
const SYNTAX: Syntax = Syntax {
    backslashes: true,
    double_quotes: true,
    hash_comments: true,
};

/// The text without its constants.
pub(crate) fn form(text: &str) -> String {
    log_text::form(text, SYNTAX)
}

fn words(text: &str) -> [&str; 3] {
    let mut words = log_text::words(text, SYNTAX).into_iter();
    [(); 3].map(|()| words.next().unwrap_or_default())
}

fn is_one(word: &str, of: &[&str]) -> bool {
    of.iter().any(|other| is(word, other))
}

/// What a statement does to its session's transaction.
pub(crate) fn boundary(text: &str) -> Boundary {
    let [first, second, third] = words(text);
    if is(first, "begin") && !is_one(second, &["not"])
        || is(first, "start") && is(second, "transaction")
    {
        // A text of several statements may be a transaction.
        let last = text.trim_end().trim_end_matches(';').rsplit_once(';');
        let ends_too = last.is_some_and(|(_, last)| boundary(last) == Boundary::Ends);
        return match ends_too {
            true => Boundary::Within,
            false => Boundary::Begins,
        };
    }
    if is(first, "xa") {
        return match second {
            _ if is_one(second, &["start", "begin"]) => Boundary::Begins,
            _ if is_one(second, &["commit", "rollback"]) => Boundary::Ends,
            _ => Boundary::Within,
        };
    }
    let leaves_open = is(second, "to") || is(second, "work") && is(third, "to");
    match is(first, "commit") || is(first, "rollback") && !leaves_open {
        true => Boundary::Ends,
        false => Boundary::Within,
    }
}

/// What a statement says of whether each statement is committed on its own; `None`: nothing.
pub(crate) fn autocommit(text: &str) -> Option<bool> {
    let [first, ..] = words(text);
    if !is(first, "set") {
        return None;
    }
    let text = text.to_ascii_lowercase();
    let (_, after) = text.split_once("autocommit")?;
    let value = after.trim_start().trim_start_matches(':');
    let value = value.strip_prefix('=')?.trim_start();
    let end = value.find(|c: char| !c.is_ascii_alphanumeric());
    match &value[..end.unwrap_or(value.len())] {
        "0" | "off" | "false" => Some(false),
        "1" | "on" | "true" => Some(true),
        _ => None,
    }
}

/// The database that a statement makes the session's own.
pub(crate) fn used(text: &str) -> Option<String> {
    let [first, ..] = words(text);
    if !is(first, "use") {
        return None;
    }
    let place = text.to_ascii_lowercase().find("use")?;
    let name = text[place + 3..].trim().trim_end_matches(';').trim_end();
    let quoted = name
        .strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'));
    Some(match quoted {
        Some(name) => name.replace("``", "`"),
        None => name.to_owned(),
    })
}

/// The statement that makes a database the session's own.
pub(crate) fn use_of(database: &str) -> String {
    format!("USE `{}`", database.replace('`', "``"))
}

/// Whether a statement executes one that was prepared by SQL: the log has that one, too.
pub(crate) fn executes(text: &str) -> bool {
    is(words(text)[0], "execute")
}

/// Why a statement cannot be replayed, or one of those in a text of several.
pub(crate) fn left_out(text: &str) -> Option<LeftOut> {
    text.split(';').find_map(one_left_out)
}

/// First words of statements about the server, and not about its data.
const OF_SERVER: [&str; 10] = [
    "kill",
    "shutdown",
    "install",
    "uninstall",
    "grant",
    "revoke",
    "reset",
    "change",
    "backup",
    "binlog",
];

/// Objects of the server: what is created, altered or dropped with these.
const ITS_OBJECTS: [&str; 4] = ["user", "role", "server", "event"];

fn one_left_out(text: &str) -> Option<LeftOut> {
    let [first, second, third] = words(text);
    if is(first, "load") {
        return Some(match has_word(text, &["local"]) {
            true => LeftOut::CopyFromClient,
            false => LeftOut::CallsOut,
        });
    }
    if has_word(text, &["outfile", "dumpfile"]) && !is(first, "set")
        || is(first, "create") && has_word(text, &["soname"])
    {
        return Some(LeftOut::CallsOut);
    }
    let changes_object = is_one(first, &["create", "alter", "drop", "rename"])
        && (is_one(second, &ITS_OBJECTS)
            || is(second, "or") && has_word(text, &["user", "role", "server"]));
    let starts_other = is_one(first, &["start", "stop"]) && !is(second, "transaction");
    let sets_other = is(first, "set")
        && (is_one(second, &["global", "password", "default"])
            || is(third, "default")
            || text.to_ascii_lowercase().contains("@@global"));
    let is_of_server = is_one(first, &OF_SERVER) || changes_object || starts_other || sets_other;
    is_of_server.then_some(LeftOut::OfServer)
}

/// Whether a statement only reads, as far as its words say, or each of those in a text of several.
pub(crate) fn reads(text: &str) -> bool {
    log_text::each(text, SYNTAX, one_reads)
}

fn one_reads(text: &str) -> bool {
    if boundary(text) != Boundary::Within {
        return true;
    }
    let [first, ..] = words(text);
    let reading = [
        "select", "with", "values", "table", "show", "set", "use", "explain", "describe", "desc",
        "do", "help",
    ];
    let writing = [
        "insert", "update", "delete", "replace", "nextval", "setval", "into", "share", "get_lock",
    ];
    (first.is_empty() || is_one(first, &reading)) && !has_word(text, &writing)
}

/// Whether the rows that a statement returns are those that a slow log counts.
pub(crate) fn has_counted_rows(text: &str) -> bool {
    let [first, ..] = words(text);
    is_one(first, &["select", "with"]) && !has_word(text, &["into"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_open_and_end_transactions() {
        for text in [
            "BEGIN",
            "begin work;",
            "/* app */ START TRANSACTION READ ONLY",
            "XA START 'x'",
        ] {
            assert_eq!(boundary(text), Boundary::Begins, "{text}");
        }
        for text in [
            "COMMIT",
            "rollback;",
            "COMMIT AND CHAIN",
            "# why\nROLLBACK WORK",
            "XA COMMIT 'x'",
        ] {
            assert_eq!(boundary(text), Boundary::Ends, "{text}");
        }
        for text in [
            "ROLLBACK TO SAVEPOINT a",
            "ROLLBACK WORK TO a",
            "XA END 'x'",
            "BEGIN; UPDATE t SET a = 1; COMMIT;",
            "SELECT 'BEGIN'",
            "",
        ] {
            assert_eq!(boundary(text), Boundary::Within, "{text}");
        }
    }

    #[test]
    fn what_changes_the_server_or_uses_its_files_is_left_out() {
        for (text, why) in [
            (
                "LOAD DATA LOCAL INFILE '/tmp/x' INTO TABLE t",
                Some(LeftOut::CopyFromClient),
            ),
            (
                "LOAD DATA INFILE '/tmp/x' INTO TABLE t",
                Some(LeftOut::CallsOut),
            ),
            (
                "SELECT a INTO OUTFILE '/tmp/x' FROM t",
                Some(LeftOut::CallsOut),
            ),
            (
                "CREATE FUNCTION f RETURNS INT SONAME 'x.so'",
                Some(LeftOut::CallsOut),
            ),
            (
                "SELECT 1; SET GLOBAL general_log = 1",
                Some(LeftOut::OfServer),
            ),
            ("set @@global.general_log = 1", Some(LeftOut::OfServer)),
            ("SET PASSWORD = 'x'", Some(LeftOut::OfServer)),
            ("CREATE USER u", Some(LeftOut::OfServer)),
            ("CREATE OR REPLACE USER u", Some(LeftOut::OfServer)),
            ("INSTALL SONAME 'x'", Some(LeftOut::OfServer)),
            ("START SLAVE", Some(LeftOut::OfServer)),
            ("KILL 7", Some(LeftOut::OfServer)),
            ("START TRANSACTION", None),
            ("CREATE TABLE user (a INT)", None),
            ("SET NAMES utf8mb4", None),
            ("SELECT 1", None),
            ("", None),
        ] {
            assert_eq!(left_out(text), why, "{text}");
        }
    }

    #[test]
    fn settings_of_a_session_are_read_from_its_statements() {
        assert_eq!(autocommit("SET autocommit=0"), Some(false));
        assert_eq!(
            autocommit("set @@session.autocommit = ON, sql_mode = ''"),
            Some(true)
        );
        assert_eq!(autocommit("SET NAMES utf8"), None);
        assert_eq!(autocommit("SELECT 'autocommit=0'"), None);
        assert_eq!(used("use `a``b`;").as_deref(), Some("a`b"));
        assert_eq!(used("USE shop").as_deref(), Some("shop"));
        assert_eq!(used("SELECT 1"), None);
        assert_eq!(use_of("a`b"), "USE `a``b`");
    }

    #[test]
    fn a_read_is_no_lock_and_no_write() {
        assert!(reads("SELECT a FROM t WHERE b = 1"));
        assert!(reads("BEGIN"));
        assert!(!reads("SELECT a FROM t FOR UPDATE"));
        assert!(!reads("SELECT a INTO @x FROM t"));
        assert!(!reads("SELECT 1; TRUNCATE t"));
        assert!(!reads("UPDATE t SET a = 1"));
    }
}
