//! A model's answer, independent of the wire format: items in the order in which a client sees them.

use std::time::Duration;

use crate::value::{Kind, Parameter, Value};

/// The answer to one text: its items in order, ended by the connection as the kind of request requires.
///
/// ```
/// use tds_double::{Kind, Message, Reply, Rows};
///
/// let rows = Rows::new([("a", Kind::Int)]).row([1.into()]).row([None::<i32>.into()]);
/// let reply = Reply::new().rows(rows).info(Message::info(0, "between")).affected(3);
/// assert_eq!(reply.items.len(), 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// In the order of the statements they come from.
    pub items: Vec<Item>,
    /// `SET NOCOUNT ON` holds: no counts, and within a procedure no end of a statement that has no rows.
    pub no_count: bool,
    /// Return value of a procedure; 0 means success. Not sent in reply to a plain batch.
    pub status: i32,
}

/// A part of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A result set.
    Rows(Rows),
    /// A statement without rows ended, with the number of rows it changed where it counts them.
    Affected(Option<u64>),
    /// PRINT, a notice, STATISTICS IO: class 10 at most.
    Info(Message),
    /// A statement failed: class 11 at least. The items after it belong to the statements after it.
    Error(Message),
    /// An output parameter.
    ReturnValue(Parameter),
    /// The session changes to another database, which the client learns from info 5701.
    Database(String),
    /// A transaction began or ended by a statement.
    Transaction(Transaction),
    /// Pauses for this long. Everything before it is sent first, as with `RAISERROR .. WITH NOWAIT`.
    Delay(Duration),
    /// The connection ends here, before the end of the preceding statement: rows, and no DONE.
    Cut,
    /// Bytes that are not a token.
    Garbage(Vec<u8>),
}

/// Begin and end of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// BEGIN TRANSACTION
    Begin,
    /// COMMIT
    Commit,
    /// ROLLBACK, including one caused by an error
    Rollback,
}

/// A result set.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Names and types.
    pub columns: Vec<Column>,
    /// As many values per row as there are columns.
    pub rows: Vec<Vec<Value>>,
    /// The statement failed after these rows.
    pub error: Option<Message>,
}

impl Rows {
    /// Empty, with nullable columns.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Kind)>) -> Rows {
        let column = |(name, kind)| Column::new(name, kind);
        Rows {
            columns: columns.into_iter().map(column).collect(),
            rows: Vec::new(),
            error: None,
        }
    }

    /// Empty, with these columns.
    pub fn of(columns: Vec<Column>) -> Rows {
        Rows {
            columns,
            rows: Vec::new(),
            error: None,
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When the number of values differs from the number of columns.
    #[must_use]
    pub fn row(mut self, values: impl IntoIterator<Item = Value>) -> Rows {
        let values: Vec<Value> = values.into_iter().collect();
        assert_eq!(values.len(), self.columns.len(), "values {values:?}");
        self.rows.push(values);
        self
    }

    /// Sets the error that ends the rows.
    #[must_use]
    pub fn then(mut self, error: Message) -> Rows {
        self.error = Some(error);
        self
    }
}

/// A column of a result set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Empty for an expression without a name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Whether it is nullable. SQL Server uses another wire format for numbers that are not.
    pub nullable: bool,
}

impl Column {
    /// A nullable column.
    pub fn new(name: &str, kind: Kind) -> Column {
        Column {
            name: name.to_owned(),
            kind,
            nullable: true,
        }
    }

    /// The same, never NULL.
    #[must_use]
    pub fn not_null(mut self) -> Column {
        self.nullable = false;
        self
    }
}

/// An error or an information message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// As in `sys.messages`; 0 for PRINT.
    pub number: u32,
    /// Severity: information to 10, errors of a statement from 11, fatal from 20.
    pub class: u8,
    /// Where in the server's code it was raised.
    pub state: u8,
    /// Line within the batch.
    pub line: u32,
    /// The human-readable text.
    pub text: String,
}

impl Message {
    /// An information message of class 0.
    pub fn info(number: u32, text: impl Into<String>) -> Message {
        Message {
            number,
            class: 0,
            state: 1,
            line: 1,
            text: text.into(),
        }
    }

    /// An error of class 16: the user's mistake.
    pub fn error(number: u32, text: impl Into<String>) -> Message {
        Message {
            class: 16,
            ..Message::info(number, text)
        }
    }

    /// The same with another class.
    #[must_use]
    pub fn class(mut self, class: u8) -> Message {
        self.class = class;
        self
    }

    /// The same with another state.
    #[must_use]
    pub fn state(mut self, state: u8) -> Message {
        self.state = state;
        self
    }

    /// Whether clients treat it as an error.
    pub fn is_error(&self) -> bool {
        self.class > 10
    }
}

impl Reply {
    /// The reply to a text without effect: one end of a batch.
    pub fn new() -> Reply {
        Reply::default()
    }

    /// A reply with only an error.
    pub fn error(error: Message) -> Reply {
        Reply::new().with(Item::Error(error))
    }

    /// Adds an item.
    #[must_use]
    pub fn with(mut self, item: Item) -> Reply {
        self.items.push(item);
        self
    }

    /// Adds a result set.
    #[must_use]
    pub fn rows(self, rows: Rows) -> Reply {
        self.with(Item::Rows(rows))
    }

    /// Adds a statement that changed this many rows.
    #[must_use]
    pub fn affected(self, count: u64) -> Reply {
        self.with(Item::Affected(Some(count)))
    }

    /// Adds a statement without a count, such as SET.
    #[must_use]
    pub fn done(self) -> Reply {
        self.with(Item::Affected(None))
    }

    /// Adds a message.
    #[must_use]
    pub fn info(self, message: Message) -> Reply {
        self.with(Item::Info(message))
    }

    /// Adds a pause of this length.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Reply {
        self.with(Item::Delay(delay))
    }
}
