//! What a statement's first words say of it. Its text is not parsed: the server does that.

use engine::log_text::{self, Syntax, has_word, is};
use engine::logged::{Boundary, LeftOut};

/// What a statement does to its session's transaction.
pub(crate) fn boundary(text: &str) -> Boundary {
    let words = words(text);
    match words.as_slice() {
        [first, ..] if is(first, "begin") => match ends_too(text) {
            true => Boundary::Within,
            false => Boundary::Begins,
        },
        [first, second, ..] if is(first, "start") && is(second, "transaction") => Boundary::Begins,
        [first, second, third, ..] if is(first, "rollback") && is_to(second, third) => {
            Boundary::Within
        }
        [first, second] if is(first, "rollback") && is(second, "to") => Boundary::Within,
        [first, second, ..] if is(first, "commit") && is(second, "prepared") => Boundary::Within,
        [first, second, ..] if is(first, "rollback") && is(second, "prepared") => Boundary::Within,
        [first, second, ..] if is(first, "prepare") && is(second, "transaction") => Boundary::Ends,
        [first, ..]
            if ["commit", "end", "rollback", "abort"]
                .iter()
                .any(|end| is(first, end)) =>
        {
            Boundary::Ends
        }
        _ => Boundary::Within,
    }
}

/// `ROLLBACK TO` and `ROLLBACK WORK TO` leave the transaction open.
fn is_to(second: &str, third: &str) -> bool {
    is(second, "to") || (is(second, "work") || is(second, "transaction")) && is(third, "to")
}

/// Whether a text of several statements that begins a transaction also ends it.
fn ends_too(text: &str) -> bool {
    let last = text.trim_end().trim_end_matches(';').rsplit(';').next();
    let last = last.filter(|last| last.len() < text.trim_end().trim_end_matches(';').len());
    last.is_some_and(|last| boundary(last) == Boundary::Ends)
}

/// Why a statement cannot be replayed, or one of those in a text of several.
pub(crate) fn left_out(text: &str) -> Option<LeftOut> {
    text.split(';').find_map(one_left_out)
}

fn one_left_out(text: &str) -> Option<LeftOut> {
    let words = words(text);
    let first = words.first()?;
    let has = |word: &str| {
        let mut all = text.split(|c: char| !c.is_ascii_alphanumeric());
        all.any(|part| is(part, word))
    };
    if is(first, "copy") {
        // A program or a file; to or from the client otherwise.
        return match (has("program"), has("stdin"), has("stdout")) {
            (true, _, _) => Some(LeftOut::CallsOut),
            (_, true, _) => Some(LeftOut::CopyFromClient),
            (_, _, true) => None,
            _ => Some(LeftOut::CallsOut),
        };
    }
    let second = words.get(1).copied().unwrap_or_default();
    let is_system = is(first, "alter") && is(second, "system");
    (is(first, "load") || is_system).then_some(LeftOut::CallsOut)
}

/// Whether a statement only reads, as far as its words say, or each of those in a text of several.
pub(crate) fn reads(text: &str) -> bool {
    log_text::each(text, Syntax::default(), one_reads)
}

fn one_reads(text: &str) -> bool {
    if boundary(text) != Boundary::Within {
        return true;
    }
    let words = words(text);
    let reading = [
        "select", "with", "values", "table", "show", "set", "declare", "fetch", "move", "close",
    ];
    let is_reading = |first: &&str| reading.iter().any(|word| is(first, word));
    let writing = [
        "insert", "update", "delete", "merge", "nextval", "into", "share",
    ];
    words.first().is_none_or(is_reading) && !has_word(text, &writing)
}

/// Whether a statement may make its session forget what it has prepared.
pub(crate) fn forgets_prepared(text: &str) -> bool {
    let is_one = |first: &&str| is(first, "discard") || is(first, "deallocate");
    words(text).first().is_some_and(is_one)
}

/// The text without its constants.
pub(crate) fn form(text: &str) -> String {
    log_text::form(text, Syntax::default())
}

fn words(text: &str) -> Vec<&str> {
    log_text::words(text, Syntax::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_open_and_end_transactions() {
        for text in [
            "BEGIN",
            "begin;",
            "/* app */ BEGIN ISOLATION LEVEL SERIALIZABLE",
            "START TRANSACTION",
        ] {
            assert_eq!(boundary(text), Boundary::Begins, "{text}");
        }
        for text in [
            "COMMIT",
            "END;",
            "ROLLBACK",
            "-- why\nABORT",
            "PREPARE TRANSACTION 'x'",
        ] {
            assert_eq!(boundary(text), Boundary::Ends, "{text}");
        }
        for text in [
            "ROLLBACK TO SAVEPOINT a",
            "ROLLBACK TO a",
            "ROLLBACK WORK TO a",
            "COMMIT PREPARED 'x'",
            "BEGIN; UPDATE t SET a = 1; COMMIT;",
            "SELECT 'BEGIN'",
            "",
        ] {
            assert_eq!(boundary(text), Boundary::Within, "{text}");
        }
    }

    #[test]
    fn what_needs_a_client_a_program_or_a_file_is_left_out() {
        for (text, why) in [
            ("COPY t FROM STDIN", Some(LeftOut::CopyFromClient)),
            ("copy t from '/etc/passwd'", Some(LeftOut::CallsOut)),
            ("COPY t TO PROGRAM 'sh'", Some(LeftOut::CallsOut)),
            ("COPY t TO STDOUT", None),
            (
                "SELECT 1; COPY t FROM STDIN;",
                Some(LeftOut::CopyFromClient),
            ),
            ("BEGIN; COPY t FROM PROGRAM 'sh'", Some(LeftOut::CallsOut)),
            ("LOAD 'x'", Some(LeftOut::CallsOut)),
            ("ALTER SYSTEM SET fsync = off", Some(LeftOut::CallsOut)),
            ("SELECT 1", None),
            ("", None),
        ] {
            assert_eq!(left_out(text), why, "{text}");
        }
    }

    #[test]
    fn a_read_is_no_lock_and_no_write() {
        assert!(reads("SELECT a FROM t WHERE b = 1"));
        assert!(reads("BEGIN"));
        assert!(!reads(
            "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x"
        ));
        assert!(!reads("SELECT a FROM t FOR UPDATE"));
        assert!(reads(
            "DECLARE c CURSOR FOR SELECT a FROM t; FETCH 1 FROM c;"
        ));
        assert!(reads("SELECT 'a; DROP'; SELECT 2"));
        assert!(!reads("SELECT 1; DROP TABLE t"));
        assert!(!reads("UPDATE t SET a = 1"));
        assert!(forgets_prepared("DISCARD ALL") && !forgets_prepared("SELECT 1"));
    }
}
