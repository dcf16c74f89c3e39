//! Serves one client from its first packet to its end: after the login, its requests in turn and their replies.

use crate::connection::{Connection, End};
use crate::encode::{self, Encoder};
use crate::handshake;
use crate::model::{Form, Question, Session};
use crate::packet::{self, ATTENTION, BATCH, REPLY, RPC, Reset, TRANSACTION};
use crate::procedures::Prepared;
use crate::reply::{Item, Message, Reply, Transaction};
use crate::request::{self, Headers, Manage};
use crate::shared::Shared;
use crate::transport::Transport;
use crate::value::Parameter;
use crate::wire::Violation;

/// Serves a client until it disconnects. Its protocol errors are recorded.
pub(crate) fn serve(shared: &Shared, transport: Transport) {
    let mut connection = Connection::new(shared, transport);
    let end = handshake::enter(&mut connection).and_then(|session| match session {
        Some(session) => Served::new(&mut connection, session).serve(),
        None => Ok(()),
    });
    match end {
        Ok(()) | Err(End::Closed | End::Broken) => {}
        Err(End::Violation(violation)) => {
            shared.journal().violations.push(violation.to_string());
        }
    }
    connection.transport.cut();
}

/// A logged-in client.
struct Served<'c, 'a> {
    connection: &'c mut Connection<'a>,
    session: Session,
    prepared: Prepared,
}

impl<'c, 'a> Served<'c, 'a> {
    fn new(connection: &'c mut Connection<'a>, session: Session) -> Served<'c, 'a> {
        Served {
            connection,
            session,
            prepared: Prepared::default(),
        }
    }

    fn serve(mut self) -> Result<(), End> {
        let end = self.requests();
        self.connection.shared.model().closed(&self.session);
        if let Err(End::Violation(violation)) = &end {
            // SQL Server's reply before it closes such a connection.
            let text = format!(
                "The incoming TDS protocol stream is incorrect. The stream ended unexpectedly: {violation}"
            );
            let reply = Reply::error(Message::error(4002, text));
            let _ = self.reply(None, |encoder| encoder.batch(&reply));
        }
        end
    }

    fn requests(&mut self) -> Result<(), End> {
        loop {
            let message = self.connection.message()?;
            if message.kind == ATTENTION {
                // It crossed the end of its reply.
                self.connection.shared.journal().attentions += 1;
                let bytes = packet::packet(REPLY, 1, true, &encode::attention());
                self.connection.transport.send(&bytes)?;
                continue;
            }
            if let Some(reset) = message.reset {
                self.reset(reset);
            }
            match message.kind {
                BATCH => {
                    let (headers, text) = request::batch(&message.body)?;
                    let reply = match self.check(message.reset, &headers) {
                        Ok(()) => self.ask(text, Vec::new(), Form::Batch),
                        Err(reply) => reply,
                    };
                    self.reply(message.reset, |encoder| encoder.batch(&reply))?;
                }
                RPC => {
                    let (headers, calls) = request::calls(&message.body)?;
                    self.calls(message.reset, &headers, calls)?;
                }
                TRANSACTION => {
                    let (headers, manage) = request::transaction(&message.body)?;
                    let reply = match self.check(message.reset, &headers) {
                        Ok(()) => self.manage(&manage),
                        Err(reply) => reply,
                    };
                    self.reply(message.reset, |encoder| encoder.batch(&reply))?;
                }
                other => {
                    return Err(Violation::new(format!(
                        "a message of type {other} after the login"
                    ))
                    .into());
                }
            }
        }
    }

    fn calls(
        &mut self,
        reset: Option<Reset>,
        headers: &Headers,
        calls: Vec<request::Call>,
    ) -> Result<(), End> {
        let mut answers = Vec::new();
        for call in calls {
            answers.push(match self.check(reset, headers) {
                Ok(()) => {
                    let mut prepared = std::mem::take(&mut self.prepared);
                    let answer = prepared.answer(&call, |text, parameters, form| {
                        self.ask(text, parameters, form)
                    });
                    self.prepared = prepared;
                    answer?
                }
                Err(reply) => (reply, Vec::new()),
            });
        }
        let last = answers.len() - 1;
        self.reply(reset, |encoder| {
            for (place, (reply, returned)) in answers.iter().enumerate() {
                encoder.call(reply, returned, place < last);
            }
        })
    }

    fn reply(
        &mut self,
        reset: Option<Reset>,
        fill: impl FnOnce(&mut Encoder<'_>),
    ) -> Result<(), End> {
        let transactions = &self.connection.shared.transactions;
        let mut encoder = Encoder::new(&self.connection.identity, &mut self.session, transactions);
        if reset.is_some() {
            encoder.reset();
        }
        fill(&mut encoder);
        let encoded = encoder.finish();
        let sent = self.connection.send(encoded);
        self.connection.shared.model().answered(&self.session);
        sent
    }

    /// The model's reply, or error 50001.
    fn ask(&mut self, text: String, parameters: Vec<Parameter>, form: Form) -> Reply {
        let shared = self.connection.shared;
        if form != Form::Procedure {
            shared.journal().hear(&text);
        }
        let question = Question {
            text,
            parameters,
            form,
        };
        let reply = shared.model().answer(&mut self.session, &question);
        reply.unwrap_or_else(|| {
            let text = question.text;
            let reply = Reply::error(Message::error(
                50001,
                format!("the double has no answer to: {text}"),
            ));
            shared.journal().unscripted.push(text);
            reply
        })
    }

    /// A request must name the transaction that its session is in. One that resets the session may still name the
    /// transaction that ends with it.
    fn check(&self, reset: Option<Reset>, headers: &Headers) -> Result<(), Reply> {
        if reset.is_some() {
            return Ok(());
        }
        let (said, real) = (headers.transaction, self.session.transaction.unwrap_or(0));
        if said == real {
            return Ok(());
        }
        let text = format!("The server failed to resume the transaction. Desc:{said:x}.");
        self.connection
            .shared
            .journal()
            .violations
            .push(format!("transaction {said}, the session is in {real}"));
        Err(Reply::error(Message::error(3971, text)))
    }

    fn manage(&mut self, manage: &Manage) -> Reply {
        let open = self.session.transaction.is_some();
        let (ended, begin) = match manage {
            Manage::Begin => (None, true),
            Manage::Commit { begin } => (Some((Transaction::Commit, 3902, "COMMIT")), *begin),
            Manage::Rollback { begin } => (Some((Transaction::Rollback, 3903, "ROLLBACK")), *begin),
        };
        let mut reply = Reply::new();
        match ended {
            Some((_, number, name)) if !open => {
                let text = format!(
                    "The {name} TRANSACTION request has no corresponding BEGIN TRANSACTION."
                );
                return Reply::error(Message::error(number, text));
            }
            Some((ended, _, _)) => reply = reply.with(Item::Transaction(ended)),
            None => {}
        }
        if begin {
            reply = reply.with(Item::Transaction(Transaction::Begin));
        }
        reply.done()
    }

    /// Resets handles, database and, mostly, the transaction to those of a new session.
    fn reset(&mut self, reset: Reset) {
        self.prepared = Prepared::default();
        self.session.database = self.session.database_first.clone();
        if reset == Reset::All {
            self.session.transaction = None;
        }
        self.connection.shared.model().reset(&self.session);
    }
}
