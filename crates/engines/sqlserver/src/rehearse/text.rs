//! What the words of a statement say of it.

use super::tokens::{Kind, Token, tokens};
use engine::logged::LeftOut;

/// The text without its constants: numbers and quoted texts are `?`, comments and blanks are one blank.
pub(crate) fn form(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    let mut end = 0;
    for token in tokens(text) {
        if token.start > end && !form.is_empty() {
            form.push(' ');
        }
        end = token.end();
        match token.kind {
            Kind::Text | Kind::Number => {
                // The sign of a constant belongs to it.
                let signs = [" -", "(-", ",-", "=-"];
                if token.kind == Kind::Number && signs.iter().any(|sign| form.ends_with(sign)) {
                    form.pop();
                }
                form.push('?');
            }
            Kind::Word | Kind::Quoted | Kind::Sign => form.push_str(token.text),
        }
    }
    form
}

/// What a text does to its session's transaction, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// One more is open.
    Begins,
    /// One less is open.
    Commits,
    /// None is open; with a name, which may be that of a savepoint.
    RollsBack { to_name: bool },
    /// It has a savepoint.
    Saves,
    /// Whether statements open transactions by themselves.
    Implicit(bool),
}

/// What a text does to its session's transaction.
///
/// Source: <https://learn.microsoft.com/sql/t-sql/language-elements/begin-transaction-transact-sql> and those beside it, read 2026-11-29.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let all: Vec<Token<'_>> = tokens(text).collect();
    let is = |place: usize, words: &[&str]| all.get(place).is_some_and(|token| token.is_one(words));
    let transaction = ["tran", "transaction"];
    let mut steps = Vec::new();
    for place in 0..all.len() {
        if is(place, &["begin"]) {
            let next = place + 1 + usize::from(is(place + 1, &["distributed"]));
            if is(next, &transaction) {
                steps.push(Step::Begins);
            }
        } else if is(place, &["commit"]) {
            steps.push(Step::Commits);
        } else if is(place, &["rollback"]) {
            let named = all.get(place + 2).filter(|_| is(place + 1, &transaction));
            let to_name = named.is_some_and(|token| {
                token.kind == Kind::Quoted || token.kind == Kind::Word && !is_first_word(token)
            });
            steps.push(Step::RollsBack { to_name });
        } else if is(place, &["save"]) && is(place + 1, &transaction) {
            steps.push(Step::Saves);
        } else if is(place, &["implicit_transactions"]) && place > 0 && is(place - 1, &["set"]) {
            steps.push(Step::Implicit(is(place + 1, &["on"])));
        }
    }
    steps
}

/// Whether a word begins a statement or ends a block, and is not a name.
fn is_first_word(token: &Token<'_>) -> bool {
    token.is_one(&[
        "select",
        "insert",
        "update",
        "delete",
        "merge",
        "exec",
        "execute",
        "set",
        "if",
        "else",
        "begin",
        "end",
        "declare",
        "return",
        "throw",
        "raiserror",
        "print",
        "with",
        "while",
        "commit",
        "rollback",
        "drop",
        "create",
        "alter",
        "truncate",
        "goto",
        "use",
    ])
}

/// Whether a text only ends a transaction.
pub(crate) fn only_ends(text: &str) -> bool {
    let first = tokens(text).next();
    first.is_some_and(|token| token.is_one(&["commit", "rollback"]))
}

/// Whether a text opens a transaction where statements do that by themselves.
///
/// Source: <https://learn.microsoft.com/sql/t-sql/statements/set-implicit-transactions-transact-sql>, read 2026-11-29.
pub(crate) fn opens_implicitly(text: &str) -> bool {
    tokens(text).any(|token| {
        token.is_one(&[
            "select", "insert", "update", "delete", "merge", "create", "alter", "drop", "truncate",
            "fetch", "open", "exec", "execute",
        ])
    })
}

/// Keywords of statements about the server, its accounts and its other databases. They are reserved: no name is one without quotes.
const OF_SERVER: [&str; 11] = [
    "kill",
    "shutdown",
    "reconfigure",
    "backup",
    "restore",
    "grant",
    "deny",
    "revoke",
    "setuser",
    "revert",
    "dbcc",
];

/// What of `DBCC` only reads.
const READING_DBCC: [&str; 10] = [
    "checkdb",
    "checktable",
    "checkalloc",
    "checkcatalog",
    "checkfilegroup",
    "checkconstraints",
    "checkident",
    "show_statistics",
    "opentran",
    "useroptions",
];

/// Objects of the server, or of its accounts: what is created, altered or dropped with these.
const ITS_OBJECTS: [&str; 20] = [
    "application",
    "asymmetric",
    "authorization",
    "availability",
    "certificate",
    "credential",
    "cryptographic",
    "database",
    "endpoint",
    "event",
    "external",
    "login",
    "master",
    "resource",
    "role",
    "route",
    "server",
    "symmetric",
    "user",
    "workload",
];

/// Keywords that use a file of the server's machine, or another server. They are reserved, too.
const CALLS_OUT: [&str; 4] = ["bulk", "opendatasource", "openquery", "openrowset"];

/// Beginnings of procedures that change the server, its accounts or jobs, and of some that change another database.
const PROCEDURES_OF_SERVER: [&str; 22] = [
    "sp_add",
    "sp_attach",
    "sp_change",
    "sp_configure",
    "sp_create_plan_guide",
    "sp_cycle",
    "sp_dboption",
    "sp_default",
    "sp_delete",
    "sp_denylogin",
    "sp_detach",
    "sp_drop",
    "sp_grant",
    "sp_link",
    "sp_password",
    "sp_procoption",
    "sp_remove",
    "sp_revoke",
    "sp_serveroption",
    "sp_set",
    "sp_trace",
    "sp_update_job",
];

/// Beginnings of procedures that start a program, or call another machine.
const PROCEDURES_CALLING_OUT: [&str; 6] = [
    "xp_",
    "sp_oa",
    "sp_execute_external",
    "sp_invoke_external",
    "sp_send",
    "sp_start_job",
];

/// Why a text cannot be replayed, by words outside of its comments and quoted texts.
pub(crate) fn left_out(text: &str) -> Option<LeftOut> {
    let mut before: Option<Token<'_>> = None;
    let mut all = tokens(text).peekable();
    while let Some(token) = all.next() {
        let next = all.peek();
        let next_is = |words: &[&str]| next.is_some_and(|next| next.is_one(words));
        let after = before.replace(token);
        let after_is = |words: &[&str]| after.is_some_and(|after| after.is_one(words));
        if token.is("insert") && next_is(&["bulk"]) {
            return Some(LeftOut::CopyFromClient);
        }
        let changes = token.is_one(&["create", "alter", "drop"]) && next_is(&ITS_OBJECTS);
        let is_as = token.is("as") && after_is(&["exec", "execute"]) && next_is(&["user", "login"]);
        let is_of_server = token.is_one(&OF_SERVER)
            && !(token.is("dbcc") && next_is(&READING_DBCC))
            || changes
            || is_as;
        if is_of_server {
            return Some(LeftOut::OfServer);
        }
        // `FROM OPENROWSET(BULK ..)`, `BULK INSERT`.
        if token.is_one(&CALLS_OUT) || token.is("assembly") && after_is(&["create", "alter"]) {
            return Some(LeftOut::CallsOut);
        }
        if let Some(why) = token.name().and_then(|name| of_procedure(&name)) {
            return Some(why);
        }
    }
    None
}

fn of_procedure(name: &str) -> Option<LeftOut> {
    let begins = |all: &[&str]| {
        all.iter().any(|start| {
            let own = name.get(..start.len());
            own.is_some_and(|own| own.eq_ignore_ascii_case(start))
        })
    };
    match () {
        () if begins(&PROCEDURES_CALLING_OUT) => Some(LeftOut::CallsOut),
        () if begins(&PROCEDURES_OF_SERVER) => Some(LeftOut::OfServer),
        () => None,
    }
}

/// Whether a statement only reads, as far as its words say.
pub(crate) fn reads(text: &str) -> bool {
    let first = tokens(text).next();
    let reading = ["select", "with", "set", "begin", "commit", "rollback", "if"];
    let writing = [
        "insert", "update", "delete", "merge", "into", "exec", "execute", "truncate", "create",
        "alter", "drop", "updlock", "xlock", "tablockx", "next",
    ];
    first.is_some_and(|token| token.is_one(&reading))
        && !tokens(text).any(|token| token.is_one(&writing))
}

/// Whether the rows that a text returns are those that its event counts: those of one `SELECT`.
pub(crate) fn has_counted_rows(text: &str) -> bool {
    let mut all = tokens(text).peekable();
    let begins = all
        .next()
        .is_some_and(|token| token.is_one(&["select", "with"]));
    let assigns = all.peek().is_some_and(|next| next.text.starts_with('@'));
    let other = [
        "insert", "update", "delete", "merge", "into", "exec", "execute", "set", "declare", "if",
        "while", "union", "print", "begin", "go",
    ];
    // What follows a semicolon is another statement.
    let is_one = |token: Token<'_>, next: Option<&Token<'_>>| {
        !token.is_one(&other) && (!token.is_sign(";") || next.is_none())
    };
    let mut one = true;
    while let Some(token) = all.next() {
        one &= is_one(token, all.peek());
    }
    begins && !assigns && one
}

/// The database that a statement enters, and nothing else.
pub(crate) fn used(text: &str) -> Option<String> {
    let mut all = tokens(text);
    let (first, second) = (all.next()?, all.next()?);
    let is_over = all.all(|token| token.is_sign(";"));
    second.name().filter(|_| first.is("use") && is_over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_a_kind_have_one_form() {
        assert_eq!(
            form(
                "/* 7 */ SELECT [a 1], @p1\n FROM t1 WHERE b = -37 AND c IN (1.5,N'it''s', 0x1F) -- 9"
            ),
            "SELECT [a 1], @p1 FROM t1 WHERE b = ? AND c IN (?,?, ?)"
        );
    }

    #[test]
    fn words_open_and_end_transactions() {
        use Step::{Begins, Commits, Implicit, RollsBack, Saves};
        let all = RollsBack { to_name: false };
        for (text, expected) in [
            ("begin transaction", vec![Begins]),
            ("BEGIN DISTRIBUTED TRAN x", vec![Begins]),
            (
                "BEGIN TRY BEGIN TRAN; COMMIT END TRY",
                vec![Begins, Commits],
            ),
            ("IF @@TRANCOUNT > 0 COMMIT TRAN", vec![Commits]),
            ("ROLLBACK TRAN; SELECT 1", vec![all]),
            ("ROLLBACK TRAN SELECT 1", vec![all]),
            (
                "SAVE TRAN a ROLLBACK TRANSACTION a",
                vec![Saves, RollsBack { to_name: true }],
            ),
            ("set implicit_transactions on", vec![Implicit(true)]),
            ("SET IMPLICIT_TRANSACTIONS OFF", vec![Implicit(false)]),
            ("SELECT 'BEGIN TRAN' -- COMMIT", vec![]),
            ("BEGIN SELECT 1 END", vec![]),
        ] {
            assert_eq!(steps(text), expected, "{text}");
        }
    }

    #[test]
    fn what_changes_the_server_or_uses_its_files_is_left_out() {
        use LeftOut::{CallsOut, CopyFromClient, OfServer};
        for (text, why) in [
            ("insert bulk dbo.t (a int)", Some(CopyFromClient)),
            ("BULK INSERT t FROM 'x'", Some(CallsOut)),
            (
                "SELECT * FROM OPENROWSET(BULK 'x', SINGLE_CLOB) a",
                Some(CallsOut),
            ),
            ("EXEC master..xp_cmdshell 'dir'", Some(CallsOut)),
            ("EXEC [sp_OACreate] 'x'", Some(CallsOut)),
            ("CREATE ASSEMBLY a FROM 0x4D5A", Some(CallsOut)),
            ("select 1; kill 53", Some(OfServer)),
            ("BACKUP DATABASE shop TO DISK = 'x'", Some(OfServer)),
            ("DBCC DROPCLEANBUFFERS", Some(OfServer)),
            ("ALTER DATABASE shop SET RECOVERY SIMPLE", Some(OfServer)),
            ("ALTER SERVER CONFIGURATION SET x", Some(OfServer)),
            ("CREATE LOGIN a WITH PASSWORD = 'x'", Some(OfServer)),
            ("EXEC sp_configure 'x', 1", Some(OfServer)),
            ("EXECUTE AS USER = 'x'", Some(OfServer)),
            ("sp_addlinkedserver 'x'", Some(OfServer)),
            ("DBCC CHECKDB", None),
            ("CREATE TABLE [user] (a int)", None),
            ("SELECT [kill], 'SHUTDOWN' FROM t -- RESTORE", None),
            ("EXEC dbo.ship @id = 1", None),
            ("SET NOCOUNT ON", None),
            ("", None),
        ] {
            assert_eq!(left_out(text), why, "{text}");
        }
    }

    #[test]
    fn rows_are_counted_of_one_select() {
        for text in ["SELECT a FROM t;", "with x as (select 1 a) select a from x"] {
            assert!(has_counted_rows(text), "{text}");
        }
        for text in [
            "SELECT @a = 1",
            "SELECT a INTO #t FROM t",
            "SELECT 1; SELECT 2",
            "SELECT 1 UPDATE t SET a = 1",
            "EXEC p",
        ] {
            assert!(!has_counted_rows(text), "{text}");
        }
        assert!(reads("SELECT a FROM t") && !reads("SELECT a INTO t FROM u"));
        assert!(!reads("EXEC p") && !reads("SELECT a FROM t WITH (UPDLOCK)"));
        assert_eq!(used("USE [a]]b];").as_deref(), Some("a]b"));
        assert_eq!(used("USE shop SELECT 1"), None);
    }
}
