//! A reply as wire tokens, without sockets.
//!
//! Layouts: [MS-TDS 2.2.7](https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/67b6113c-d722-42d1-902c-3f6e8de09173).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::login::{FEDERATED, TDS_7_4};
use crate::model::{Form, Identity, Session};
use crate::reply::{Column, Item, Message, Reply, Rows, Transaction};
use crate::value::{COLLATION, Parameter, Value};
use crate::wire::{put_name, put_sized, put_text};

const COLUMNS: u8 = 0x81;
const ERROR: u8 = 0xAA;
const INFO: u8 = 0xAB;
const LOGIN_ACK: u8 = 0xAD;
const FEATURE_ACK: u8 = 0xAE;
const ROW: u8 = 0xD1;
const ROW_WITH_NULLS: u8 = 0xD2;
const ENVIRONMENT: u8 = 0xE3;
const RETURN_STATUS: u8 = 0x79;
const DONE: u8 = 0xFD;
const DONE_PROCEDURE: u8 = 0xFE;
const DONE_IN_PROCEDURE: u8 = 0xFF;

const MORE: u16 = 0x01;
const FAILED: u16 = 0x02;
const IN_TRANSACTION: u16 = 0x04;
const COUNT: u16 = 0x10;
const ATTENTION: u16 = 0x20;

/// The kind of statement, in a DONE. The double reports 0 for those without a count.
const SELECT: u16 = 0xC1;
/// Also used for INSERT, DELETE and MERGE, which have codes of their own.
const UPDATE: u16 = 0xC5;
const EXECUTE: u16 = 0xE0;

/// Longest text of a message, as for RAISERROR.
const TEXT_MAX: usize = 2047;

/// Consecutive tokens, and events between them.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) marks: Vec<Mark>,
}

/// A position between tokens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: usize,
    pub(crate) event: Event,
}

/// The event there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A token ended: the reply may be cancelled here.
    Boundary,
    Delay(Duration),
    Cut,
}

impl Encoded {
    /// One token.
    fn token(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.bytes);
        self.mark(Event::Boundary);
    }

    fn mark(&mut self, event: Event) {
        let at = self.bytes.len();
        self.marks.push(Mark { at, event });
    }
}

/// Encodes one reply, or those of several calls, as tokens.
pub(crate) struct Encoder<'a> {
    identity: &'a Identity,
    session: &'a mut Session,
    transactions: &'a AtomicU64,
    out: Encoded,
    /// The end of a statement is held back until it is known whether something follows.
    pending: Option<Done>,
    /// The current statement has failed.
    failed: bool,
    /// Something in the reply has failed.
    failed_ever: bool,
}

/// The end of a statement.
struct Done {
    count: Option<u64>,
    command: u16,
    failed: bool,
}

impl<'a> Encoder<'a> {
    /// `transactions` is the server's counter, from which it assigns numbers.
    pub(crate) fn new(
        identity: &'a Identity,
        session: &'a mut Session,
        transactions: &'a AtomicU64,
    ) -> Encoder<'a> {
        Encoder {
            identity,
            session,
            transactions,
            out: Encoded::default(),
            pending: None,
            failed: false,
            failed_ever: false,
        }
    }

    pub(crate) fn finish(self) -> Encoded {
        self.out
    }

    /// The connection was reset before the request.
    pub(crate) fn reset(&mut self) {
        self.out
            .token(|out| put_sized(ENVIRONMENT, out, |out| out.extend([18, 0, 0])));
    }

    /// A reply to a batch.
    pub(crate) fn batch(&mut self, reply: &Reply) {
        for item in &reply.items {
            self.item(item, Form::Batch, reply.no_count);
        }
        self.end_failed(Form::Batch);
        let done = self.pending.take().unwrap_or(Done {
            count: None,
            command: 0,
            failed: false,
        });
        self.done(DONE, &done, 0);
    }

    /// A reply to a call with its output parameters; `more`: another call follows.
    pub(crate) fn call(&mut self, reply: &Reply, returned: &[Parameter], more: bool) {
        self.failed_ever = false;
        for item in &reply.items {
            self.item(item, Form::Statement, reply.no_count);
        }
        self.end_failed(Form::Statement);
        self.flush(Form::Statement);
        let status = reply.status;
        self.out.token(|out| {
            out.push(RETURN_STATUS);
            out.extend(status.to_le_bytes());
        });
        for (place, parameter) in returned.iter().enumerate() {
            self.out
                .token(|out| parameter.put_return(place as u16, out));
        }
        let done = Done {
            count: None,
            command: EXECUTE,
            failed: self.failed_ever,
        };
        self.done(DONE_PROCEDURE, &done, if more { MORE } else { 0 });
    }

    fn item(&mut self, item: &Item, form: Form, no_count: bool) {
        match item {
            Item::Rows(rows) => {
                self.end_failed(form);
                self.flush(form);
                self.rows(rows, no_count);
                if rows.error.is_some() {
                    self.end_failed(form);
                }
            }
            Item::Affected(count) => {
                self.end_failed(form);
                self.flush(form);
                // In a procedure, NOCOUNT omits only the ends of statements without rows.
                if form == Form::Batch || !no_count {
                    self.pending = Some(Done {
                        count: count.filter(|_| !no_count),
                        command: if count.is_some() { UPDATE } else { 0 },
                        failed: false,
                    });
                }
            }
            Item::Info(message) | Item::Error(message) => {
                self.flush(form);
                self.message(message);
            }
            Item::ReturnValue(parameter) => {
                self.end_failed(form);
                self.flush(form);
                self.out.token(|out| parameter.put_return(0, out));
            }
            Item::Database(name) => {
                self.end_failed(form);
                self.flush(form);
                self.database(name);
            }
            Item::Transaction(transaction) => {
                self.flush(form);
                self.transaction(*transaction);
            }
            Item::Delay(delay) => {
                self.flush(form);
                self.out.mark(Event::Delay(*delay));
            }
            Item::Cut => {
                self.pending = None;
                self.out.mark(Event::Cut);
            }
            Item::Garbage(bytes) => {
                self.flush(form);
                self.out.token(|out| out.extend(bytes));
            }
        }
    }

    fn rows(&mut self, rows: &Rows, no_count: bool) {
        self.out.token(|out| put_columns(&rows.columns, out));
        for row in &rows.rows {
            self.out.token(|out| put_row(&rows.columns, row, out));
        }
        match &rows.error {
            Some(error) => self.message(error),
            None => {
                let count = (!no_count).then_some(rows.rows.len() as u64);
                self.pending = Some(Done {
                    count,
                    command: SELECT,
                    failed: false,
                });
            }
        }
    }

    /// An ERROR or INFO token.
    pub(crate) fn message(&mut self, message: &Message) {
        self.failed |= message.is_error();
        self.failed_ever |= message.is_error();
        let server = &self.identity.name;
        self.out.token(|out| put_message(message, server, out));
    }

    /// Ends the statement that failed, if there is one.
    fn end_failed(&mut self, form: Form) {
        if std::mem::take(&mut self.failed) {
            self.flush(form);
            self.pending = Some(Done {
                count: None,
                command: 0,
                failed: true,
            });
        }
    }

    /// Sends the end that was held back, as something follows it.
    fn flush(&mut self, form: Form) {
        if let Some(done) = self.pending.take() {
            let token = if form == Form::Batch {
                DONE
            } else {
                DONE_IN_PROCEDURE
            };
            self.done(token, &done, MORE);
        }
    }

    fn done(&mut self, token: u8, done: &Done, more: u16) {
        let mut status = more;
        status |= if done.failed { FAILED } else { 0 };
        status |= if done.count.is_some() { COUNT } else { 0 };
        status |= if self.session.transaction.is_some() {
            IN_TRANSACTION
        } else {
            0
        };
        self.out
            .token(|out| put_done(token, status, done.command, done.count, out));
    }

    /// ENVCHANGE and info 5701, as for USE.
    fn database(&mut self, name: &str) {
        let old = std::mem::replace(&mut self.session.database, name.to_owned());
        self.out.token(|out| put_environment(1, name, &old, out));
        self.message(&changed_database(name));
    }

    /// ENVCHANGE of a transaction, whose number both sides use from here on.
    pub(crate) fn transaction(&mut self, transaction: Transaction) {
        let (kind, new, old) = match transaction {
            Transaction::Begin => {
                let number = self.transactions.fetch_add(1, Ordering::Relaxed) + 1;
                self.session.transaction = Some(number);
                (8, self.session.transaction, None)
            }
            Transaction::Commit => (9, None, self.session.transaction.take()),
            Transaction::Rollback => (10, None, self.session.transaction.take()),
        };
        self.out.token(|out| {
            put_sized(ENVIRONMENT, out, |out| {
                out.push(kind);
                for number in [new, old] {
                    let bytes = number.map(u64::to_le_bytes);
                    out.push(bytes.map_or(0, |bytes| bytes.len() as u8));
                    out.extend(bytes.into_iter().flatten());
                }
            });
        });
    }

    /// Everything that follows a successful login. `size`: of packets from here on.
    pub(crate) fn logged_in(&mut self, size: (usize, usize), federated: bool) {
        let database = self.session.database.clone();
        self.out
            .token(|out| put_environment(1, &database, "master", out));
        self.message(&changed_database(&database));
        self.out.token(|out| {
            put_sized(ENVIRONMENT, out, |out| {
                out.extend([7, COLLATION.len() as u8]);
                out.extend(COLLATION);
                out.push(0);
            });
        });
        self.out
            .token(|out| put_environment(2, "us_english", "", out));
        self.message(&Message::info(
            5703,
            "Changed language setting to us_english.",
        ));
        let identity = self.identity;
        self.out.token(|out| {
            put_sized(LOGIN_ACK, out, |out| {
                out.push(1); // T-SQL
                out.extend(TDS_7_4.to_be_bytes());
                put_name("Microsoft SQL Server", out);
                out.extend([identity.major, identity.minor]);
                out.extend(identity.build.to_be_bytes());
            });
        });
        let (new, old) = (size.0.to_string(), size.1.to_string());
        self.out.token(|out| put_environment(4, &new, &old, out));
        if federated {
            // No signature: the client sent no nonce for the server.
            self.out
                .token(|out| out.extend([FEATURE_ACK, FEDERATED, 0, 0, 0, 0, 0xFF]));
        }
        self.batch(&Reply::new());
    }
}

/// The end of a cancelled request.
pub(crate) fn attention() -> Vec<u8> {
    let mut out = Vec::new();
    put_done(DONE, ATTENTION, 0, None, &mut out);
    out
}

fn changed_database(name: &str) -> Message {
    Message::info(5701, format!("Changed database context to '{name}'.")).state(2)
}

fn put_columns(columns: &[Column], out: &mut Vec<u8>) {
    out.push(COLUMNS);
    out.extend((columns.len() as u16).to_le_bytes());
    for column in columns {
        out.extend(0_u32.to_le_bytes()); // no user type
        out.extend(u16::from(column.nullable).to_le_bytes());
        column.kind.put(column.nullable, out);
        put_name(&column.name, out);
    }
}

/// A row with a NULL may be sent with a bitmap of its NULLs or without. SQL Server chooses between this form and the
/// plain one; the double always uses the bitmap, so that clients meet both.
fn put_row(columns: &[Column], row: &[Value], out: &mut Vec<u8>) {
    assert_eq!(row.len(), columns.len(), "values {row:?}");
    let null = |value: &Value| *value == Value::Null;
    if !row.iter().any(null) {
        out.push(ROW);
        for (column, value) in columns.iter().zip(row) {
            column.kind.put_value(value, column.nullable, out);
        }
        return;
    }
    out.push(ROW_WITH_NULLS);
    for values in row.chunks(8) {
        let bits = values.iter().enumerate();
        out.push(
            bits.map(|(place, value)| u8::from(null(value)) << place)
                .sum(),
        );
    }
    for (column, value) in columns.iter().zip(row).filter(|(_, value)| !null(value)) {
        column.kind.put_value(value, column.nullable, out);
    }
}

fn put_message(message: &Message, server: &str, out: &mut Vec<u8>) {
    let token = if message.is_error() { ERROR } else { INFO };
    let text: String = message.text.chars().take(TEXT_MAX).collect();
    put_sized(token, out, |out| {
        out.extend(message.number.to_le_bytes());
        out.extend([message.state, message.class]);
        put_text(&text, out);
        put_name(server, out);
        put_name("", out); // procedure
        out.extend(message.line.to_le_bytes());
    });
}

fn put_environment(kind: u8, new: &str, old: &str, out: &mut Vec<u8>) {
    put_sized(ENVIRONMENT, out, |out| {
        out.push(kind);
        put_name(new, out);
        put_name(old, out);
    });
}

fn put_done(token: u8, status: u16, command: u16, count: Option<u64>, out: &mut Vec<u8>) {
    out.push(token);
    out.extend(status.to_le_bytes());
    out.extend(command.to_le_bytes());
    out.extend(count.unwrap_or(0).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Kind;

    fn session() -> Session {
        Session {
            id: 51,
            login: "sa".to_owned(),
            database_first: "master".to_owned(),
            database: "master".to_owned(),
            application: String::new(),
            transaction: None,
        }
    }

    /// Status of each DONE in turn, with the token that carries it.
    fn ends(encoded: &Encoded) -> Vec<(u8, u16, u64)> {
        let mut start = 0;
        let mut ends = Vec::new();
        for mark in encoded
            .marks
            .iter()
            .filter(|mark| mark.event == Event::Boundary)
        {
            let token = &encoded.bytes[start..mark.at];
            start = mark.at;
            if matches!(token[0], DONE | DONE_PROCEDURE | DONE_IN_PROCEDURE) {
                let status = u16::from_le_bytes([token[1], token[2]]);
                ends.push((token[0], status, token[5].into()));
            }
        }
        ends
    }

    fn encode(run: impl FnOnce(&mut Encoder<'_>)) -> Encoded {
        let (mut session, transactions) = (session(), AtomicU64::new(0));
        let identity = Identity::default();
        let mut encoder = Encoder::new(&identity, &mut session, &transactions);
        run(&mut encoder);
        encoder.finish()
    }

    fn one() -> Rows {
        Rows::new([("a", Kind::Int)]).row([Value::Int(1)])
    }

    #[test]
    fn only_the_last_end_says_that_nothing_follows() {
        let reply = Reply::new().rows(one()).done().affected(3);
        let encoded = encode(|encoder| encoder.batch(&reply));
        assert_eq!(
            ends(&encoded),
            [(DONE, MORE | COUNT, 1), (DONE, MORE, 0), (DONE, COUNT, 3)]
        );
    }

    #[test]
    fn a_failed_statement_has_an_end_of_its_own_and_the_batch_goes_on() {
        let errors = [5123, 1802].map(|number| Item::Error(Message::error(number, "no")));
        let [first, second] = errors;
        let reply = Reply::new()
            .rows(one())
            .with(first)
            .with(second)
            .rows(one());
        let encoded = encode(|encoder| encoder.batch(&reply));
        assert_eq!(
            ends(&encoded),
            [
                (DONE, MORE | COUNT, 1),
                (DONE, MORE | FAILED, 0),
                (DONE, COUNT, 1)
            ]
        );
    }

    #[test]
    fn an_error_after_some_rows_is_the_end_of_that_result_set() {
        let reply = Reply::new()
            .rows(one().then(Message::error(8134, "Divide by zero error encountered.")));
        let encoded = encode(|encoder| encoder.batch(&reply));
        assert_eq!(ends(&encoded), [(DONE, FAILED, 0)]);
    }

    #[test]
    fn no_count_keeps_the_ends_of_a_batch_and_drops_those_of_a_procedure() {
        let mut reply = Reply::new().affected(3).rows(one()).done();
        reply.no_count = true;
        let batch = encode(|encoder| encoder.batch(&reply));
        assert_eq!(
            ends(&batch),
            [(DONE, MORE, 0), (DONE, MORE, 0), (DONE, 0, 0)]
        );
        let call = encode(|encoder| encoder.call(&reply, &[], false));
        assert_eq!(
            ends(&call),
            [(DONE_IN_PROCEDURE, MORE, 0), (DONE_PROCEDURE, 0, 0)]
        );
    }

    #[test]
    fn a_message_after_the_last_statement_is_followed_by_the_end_of_the_batch() {
        let reply = Reply::new().affected(1).info(Message::info(0, "after"));
        let encoded = encode(|encoder| encoder.batch(&reply));
        assert_eq!(ends(&encoded), [(DONE, MORE | COUNT, 1), (DONE, 0, 0)]);
    }

    #[test]
    fn nulls_travel_in_the_rows_map_alone() {
        let columns: Vec<Column> = (0..9).map(|_| Column::new("", Kind::Int)).collect();
        let mut row = vec![Value::Null; 9];
        row[1] = Value::Int(5);
        let mut out = Vec::new();
        put_row(&columns, &row, &mut out);
        assert_eq!(out, [ROW_WITH_NULLS, 0b1111_1101, 1, 4, 5, 0, 0, 0]);
    }
}
