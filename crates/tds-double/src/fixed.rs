//! The fixed script for testing foreign clients: a text for each thing a client must handle.
//!
//! The texts are T-SQL, and the replies are those that SQL Server is documented to give, in everything visible to a
//! client.

use std::time::Duration;

use crate::model::{Question, Session};
use crate::reply::{Column, Item, Message, Reply, Rows, Transaction};
use crate::script::{Credentials, Script};
use crate::value::{Kind, Value};

/// Every type, a row of values and a row of NULLs.
pub const TYPES: &str = "SELECT * FROM dbo.every_type ORDER BY id";
/// Two result sets, a message between them, and a count at the end.
pub const SETS: &str = "SELECT 1 AS a; PRINT N'between'; SELECT N'x' AS b, CAST(NULL AS bigint) AS c; UPDATE dbo.t SET a = 1";
/// A count alone.
pub const COUNT: &str = "UPDATE dbo.t SET a = 1";
/// 5,000 rows, a few packets long.
pub const ROWS: &str = "SELECT number, name FROM dbo.numbers ORDER BY number";
/// 20,000 result sets in one batch.
pub const MANY_SETS: &str =
    "DECLARE @i int = 0; WHILE @i < 20000 BEGIN SELECT @i AS i; SET @i += 1 END";
/// An error alone.
pub const ERROR: &str = "RAISERROR(N'told to fail', 16, 3)";
/// An error between two result sets.
pub const ERROR_BETWEEN: &str = "SELECT 1 AS a; RAISERROR(N'told to fail', 16, 3); SELECT 2 AS b";
/// Some rows, then the statement fails.
pub const ERROR_AFTER_ROWS: &str =
    "SELECT 10 / number AS tenth FROM dbo.numbers ORDER BY number DESC";
/// No reply for a minute, unless it is cancelled.
pub const WAIT: &str = "WAITFOR DELAY '00:01:00'";
/// A row immediately, the others after a minute.
pub const WAIT_WITHIN: &str = "SELECT number FROM dbo.slow ORDER BY number";
/// Returns its one parameter unchanged; clients name it in these ways.
pub const ECHO: [&str; 2] = ["SELECT @P1 AS echo", "SELECT @P0 AS echo"];
/// The connection ends within the reply.
pub const CUT: &str = "SELECT N'cut' AS a";
/// The reply contains bytes that are not a token.
pub const GARBAGE: &str = "SELECT N'garbage' AS a";

/// Texts by which clients set up a session; each only ends.
const SETTINGS: &[&str] = &[
    " SET TRANSACTION ISOLATION LEVEL READ COMMITTED ", // mssql-python, before a pooled connection is reused
];

/// A text of many packets without effect.
pub fn long() -> String {
    format!("-- {}", "x".repeat(40_000))
}

/// The fixed script.
pub fn script(credentials: Credentials) -> Script {
    let script = Script::new(credentials)
        .on(
            "SELECT 1 AS one",
            Reply::new()
                .rows(Rows::of(vec![Column::new("one", Kind::Int).not_null()]).row([1.into()])),
        )
        .on(TYPES, Reply::new().rows(types()))
        .on(SETS, sets())
        .on(COUNT, Reply::new().affected(3))
        .on(ROWS, Reply::new().rows(rows()))
        .on_each(MANY_SETS, |_, _| many_sets())
        .on(ERROR, Reply::error(told_to_fail()))
        .on(
            ERROR_BETWEEN,
            Reply::new()
                .rows(one("a", 1))
                .with(Item::Error(told_to_fail()))
                .rows(one("b", 2)),
        )
        .on(ERROR_AFTER_ROWS, Reply::new().rows(error_after_rows()))
        .on(WAIT, Reply::new().delay(Duration::from_secs(60)).done())
        .on(WAIT_WITHIN, wait_within())
        .on_each(ECHO[0], echo)
        .on_each(ECHO[1], echo)
        .on(&long(), Reply::new())
        .on(CUT, Reply::new().rows(rows()).with(Item::Cut))
        .on(
            GARBAGE,
            Reply::new()
                .rows(one("a", 1))
                .with(Item::Garbage(vec![0x11; 64])),
        )
        .on(
            "USE tempdb",
            Reply::new()
                .with(Item::Database("tempdb".to_owned()))
                .done(),
        )
        .on(
            "BEGIN TRANSACTION",
            Reply::new()
                .with(Item::Transaction(Transaction::Begin))
                .done(),
        )
        .on(
            "COMMIT",
            Reply::new()
                .with(Item::Transaction(Transaction::Commit))
                .done(),
        )
        .on("SET NOCOUNT ON", Reply::new().done());
    SETTINGS
        .iter()
        .fold(script, |script, text| script.on(text, Reply::new().done()))
}

fn one(name: &str, value: i32) -> Rows {
    Rows::new([(name, Kind::Int)]).row([value.into()])
}

fn told_to_fail() -> Message {
    Message::error(50000, "told to fail").state(3)
}

fn types() -> Rows {
    let columns = [
        ("id", Kind::Int),
        ("b", Kind::Bit),
        ("t", Kind::TinyInt),
        ("s", Kind::SmallInt),
        ("i", Kind::Int),
        ("l", Kind::BigInt),
        ("f", Kind::Float),
        ("n", Kind::Text(20)),
        ("m", Kind::TextMax),
        ("v", Kind::Bytes(4)),
    ];
    let columns = columns.map(|(name, kind)| match name {
        "id" => Column::new(name, kind).not_null(),
        _ => Column::new(name, kind),
    });
    let mut nulls = vec![Value::Null; 10];
    nulls[0] = 2.into();
    Rows::of(columns.to_vec())
        .row([
            1.into(),
            true.into(),
            255.into(),
            (-32_768).into(),
            i32::MIN.into(),
            i64::MAX.into(),
            0.1.into(),
            "Größe € 😀".into(),
            "long ".repeat(10_000).into(),
            Value::Bytes(vec![0, 1, 254, 255]),
        ])
        .row(nulls)
}

fn sets() -> Reply {
    let second =
        Rows::new([("b", Kind::Text(1)), ("c", Kind::BigInt)]).row(["x".into(), Value::Null]);
    Reply::new()
        .rows(one("a", 1))
        .info(Message::info(0, "between"))
        .rows(second)
        .affected(3)
}

fn rows() -> Rows {
    let mut rows = Rows::of(vec![
        Column::new("number", Kind::Int).not_null(),
        Column::new("name", Kind::Text(40)),
    ]);
    rows.rows = (0..5000)
        .map(|number| vec![number.into(), format!("number {number}").into()])
        .collect();
    rows
}

/// DECLARE and SET end too: in a batch each statement does.
fn many_sets() -> Reply {
    let sets = (0..20_000).flat_map(|number| [Item::Rows(one("i", number)), Item::Affected(None)]);
    Reply {
        items: std::iter::once(Item::Affected(None)).chain(sets).collect(),
        ..Reply::new()
    }
}

fn error_after_rows() -> Rows {
    let mut rows = Rows::new([("tenth", Kind::Int)]);
    rows.rows = (1..=3).map(|number| vec![(10 / number).into()]).collect();
    rows.then(Message::error(8134, "Divide by zero error encountered."))
}

fn wait_within() -> Reply {
    Reply::new()
        .rows(one("number", 1))
        .delay(Duration::from_secs(60))
        .rows(one("number", 2))
}

fn echo(_: &Session, question: &Question) -> Reply {
    match &question.parameters[..] {
        [parameter] => {
            Reply::new().rows(Rows::new([("echo", parameter.kind)]).row([parameter.value.clone()]))
        }
        _ => {
            Reply::error(Message::error(137, "Must declare the scalar variable \"@P1\".").class(15))
        }
    }
}
