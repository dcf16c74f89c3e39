//! One client, from its first packet to its end.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::double::Shared;
use crate::encode::{self, Encoded, Encoder, Event};
use crate::login::{Login, Proof};
use crate::model::{Form, Identity, Question, Refusal, Session};
use crate::packet::{
    self, ATTENTION, BATCH, HEADER, Inbox, LOGIN, PRELOGIN, REPLY, RPC, Reset, SIZE_FIRST,
    TRANSACTION,
};
use crate::prelogin::{Agreed, PreLogin};
use crate::procedures::Prepared;
use crate::reply::{Item, Message, Reply, Transaction};
use crate::request::{self, Headers, Manage};
use crate::transport::{Received, Transport, Wait};
use crate::wire::Violation;

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum End {
    /// The client left, or was told to.
    Closed,
    /// The socket failed, as it does when the other side is gone.
    Broken,
    Violation(Violation),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Broken
    }
}

impl From<Violation> for End {
    fn from(violation: Violation) -> End {
        End::Violation(violation)
    }
}

/// A client whose login has not been answered yet.
pub(crate) struct Connection<'a> {
    shared: &'a Shared,
    transport: Transport,
    inbox: Inbox,
    size: usize,
    identity: Identity,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(shared: &'a Shared, transport: Transport) -> Connection<'a> {
        Connection {
            identity: shared.model().identity(),
            shared,
            transport,
            inbox: Inbox::new(),
            size: SIZE_FIRST,
        }
    }

    /// Serves the client until it leaves. What it did wrong is recorded.
    pub(crate) fn serve(mut self) {
        let end = self.enter().and_then(|session| match session {
            Some(session) => Served::new(&mut self, session).serve(),
            None => Ok(()),
        });
        match end {
            Ok(()) | Err(End::Closed | End::Broken) => {}
            Err(End::Violation(violation)) => {
                self.shared.journal().violations.push(violation.to_string());
            }
        }
        self.transport.cut();
    }

    /// From PreLogin to the login's answer; `None` where it was refused.
    fn enter(&mut self) -> Result<Option<Session>, End> {
        let first = self.message()?;
        if first.kind != PRELOGIN {
            return Err(Violation::new(format!("a first message of type {}", first.kind)).into());
        }
        let asked = PreLogin::read(&first.body)?;
        let encrypts = self.shared.encrypts();
        let reply = asked.reply(encrypts, &self.identity);
        self.transport
            .send(&packet::packet(REPLY, 1, true, &reply))?;
        if asked.agree(encrypts) == Agreed::Encrypted {
            self.secure()?;
        }
        let message = self.message()?;
        if message.kind != LOGIN {
            return Err(Violation::new(format!(
                "a message of type {} before the login",
                message.kind
            ))
            .into());
        }
        let login = Login::read(&message.body)?;
        self.log_in(&login)
    }

    #[cfg(target_os = "linux")]
    fn secure(&mut self) -> Result<(), End> {
        let certificate = self
            .shared
            .certificate
            .as_ref()
            .expect("agreed to only where there is one");
        if !self.inbox.is_empty() {
            return Err(Violation::new("bytes before the reply to PreLogin").into());
        }
        let nowhere = match &self.transport {
            Transport::Plain(socket) => Transport::Plain(socket.try_clone()?),
            Transport::Tls(_) => return Err(Violation::new("TLS within TLS").into()),
        };
        self.transport = std::mem::replace(&mut self.transport, nowhere).secure(certificate)?;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn secure(&mut self) -> Result<(), End> {
        Err(Violation::new("TLS is for Linux").into())
    }

    fn log_in(&mut self, login: &Login) -> Result<Option<Session>, End> {
        let admitted = self.shared.model().login(login);
        let id = self.shared.sessions.fetch_add(1, Ordering::Relaxed);
        let mut session = Session {
            id,
            login: String::new(),
            database_first: String::new(),
            database: String::new(),
            application: login.application.clone(),
            transaction: None,
        };
        match admitted {
            Ok(admitted) => {
                session.login = admitted.login;
                session.database_first = admitted.database.clone();
                session.database = admitted.database;
                let wanted = match login.packet_size {
                    0 => SIZE_FIRST,
                    size => (size as usize).clamp(512, 32_767),
                };
                let sizes = (wanted, self.size);
                let federated = matches!(login.proof, Proof::Token(_));
                let mut encoder =
                    Encoder::new(&self.identity, &mut session, &self.shared.transactions);
                encoder.logged_in(sizes, federated);
                let encoded = encoder.finish();
                self.send(encoded)?;
                self.size = wanted;
                self.inbox.set_size(wanted);
                Ok(Some(session))
            }
            Err(refusal) => {
                let mut reply = Reply::new();
                reply
                    .items
                    .extend(refused(login, &refusal).into_iter().map(Item::Error));
                let mut encoder =
                    Encoder::new(&self.identity, &mut session, &self.shared.transactions);
                encoder.batch(&reply);
                let encoded = encoder.finish();
                self.send(encoded)?;
                Ok(None)
            }
        }
    }

    /// The next message, however long it takes.
    fn message(&mut self) -> Result<packet::Message, End> {
        loop {
            if let Some(message) = self.inbox.next()? {
                return Ok(message);
            }
            match self.transport.receive(Wait::Forever)? {
                Received::Bytes(bytes) => self.inbox.push(&bytes),
                Received::Nothing => {}
                Received::Closed => return Err(End::Closed),
            }
        }
    }

    /// Whether the client gives up within the time.
    #[expect(
        clippy::disallowed_methods,
        reason = "a delay is real time, and belongs to no trial"
    )]
    fn attention(&mut self, time: Option<Duration>) -> Result<bool, End> {
        let start = std::time::Instant::now();
        loop {
            if let Some(message) = self.inbox.next()? {
                if message.kind == ATTENTION {
                    self.shared.journal().attentions += 1;
                    return Ok(true);
                }
                let text = format!(
                    "a message of type {} while the last one is answered",
                    message.kind
                );
                return Err(Violation::new(text).into());
            }
            let left = time.map(|time| time.checked_sub(start.elapsed()).unwrap_or_default());
            let wait = match left {
                None => Wait::Never,
                Some(Duration::ZERO) => return Ok(false),
                Some(left) => Wait::AtMost(left),
            };
            match (self.transport.receive(wait)?, left) {
                (Received::Bytes(bytes), _) => self.inbox.push(&bytes),
                (Received::Nothing, None) => return Ok(false),
                (Received::Nothing, Some(_)) => {}
                (Received::Closed, _) => return Err(End::Closed),
            }
        }
    }

    /// Sends a reply, with what happens within it. An attention ends it after the token under way.
    fn send(&mut self, encoded: Encoded) -> Result<(), End> {
        let Encoded { bytes, marks } = encoded;
        let mut sending = Sending { sent: 0, number: 1 };
        let mut given_up = false;
        for mark in marks.iter().filter(|mark| mark.event != Event::Boundary) {
            given_up = sending.until(self, &bytes, mark.at)?;
            match &mark.event {
                _ if given_up => {}
                Event::Delay(delay) => given_up = self.attention(Some(*delay))?,
                Event::Cut => return Err(End::Closed),
                Event::Boundary => {}
            }
            if given_up {
                break;
            }
        }
        if !given_up {
            // The last packet says that it is the last: it is sent even where nothing is left for it.
            let body = self.size - HEADER;
            let rest = bytes.len() - sending.sent;
            let whole = rest.saturating_sub(1) / body * body;
            given_up = sending.until(self, &bytes, sending.sent + whole)?;
        }
        if !given_up {
            return sending.last(self, &bytes[sending.sent..]);
        }
        let boundary = marks
            .iter()
            .map(|mark| mark.at)
            .find(|at| *at >= sending.sent);
        let boundary = boundary.unwrap_or(bytes.len());
        let mut rest = bytes[sending.sent..boundary].to_vec();
        rest.extend(encode::attention());
        sending.last(self, &rest)
    }
}

/// A message on its way out.
struct Sending {
    sent: usize,
    number: u8,
}

impl Sending {
    /// Sends all up to a place, without ending the message. Returns whether the client gave up meanwhile.
    fn until(
        &mut self,
        connection: &mut Connection<'_>,
        bytes: &[u8],
        place: usize,
    ) -> Result<bool, End> {
        while self.sent < place {
            let end = place.min(self.sent + connection.size - HEADER);
            let packet = packet::packet(REPLY, self.number, false, &bytes[self.sent..end]);
            connection.transport.send(&packet)?;
            self.sent = end;
            self.number = self.number.wrapping_add(1);
            if connection.attention(None)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends the rest and ends the message, whatever the client says meanwhile.
    fn last(&mut self, connection: &mut Connection<'_>, rest: &[u8]) -> Result<(), End> {
        let body = connection.size - HEADER;
        let mut pieces = rest.chunks(body).peekable();
        if pieces.peek().is_none() {
            let packet = packet::packet(REPLY, self.number, true, &[]);
            connection.transport.send(&packet)?;
        }
        while let Some(piece) = pieces.next() {
            let packet = packet::packet(REPLY, self.number, pieces.peek().is_none(), piece);
            connection.transport.send(&packet)?;
            self.number = self.number.wrapping_add(1);
        }
        Ok(())
    }
}

/// A client that is logged in.
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
            // What SQL Server says before it closes such a connection.
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
                // It crossed with the end of its reply.
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
                    let reply = match self.check(&headers) {
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
                    let reply = match self.check(&headers) {
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
            answers.push(match self.check(headers) {
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
        self.connection.send(encoded)
    }

    /// The model's reply, or error 50001.
    fn ask(&mut self, text: String, parameters: Vec<crate::Parameter>, form: Form) -> Reply {
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

    /// A request has to name the transaction that its session is in.
    fn check(&self, headers: &Headers) -> Result<(), Reply> {
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

    /// Handles, database and, mostly, the transaction are those of a new session.
    fn reset(&mut self, reset: Reset) {
        self.prepared = Prepared::default();
        self.session.database = self.session.database_first.clone();
        if reset == Reset::All {
            self.session.transaction = None;
        }
        self.connection.shared.model().reset(&self.session);
    }
}

/// The errors of a refused login, as SQL Server words them.
fn refused(login: &Login, refusal: &Refusal) -> Vec<Message> {
    let user = match &login.proof {
        Proof::Password { user, .. } => user.as_str(),
        Proof::Token(_) => "<token-identified principal>",
        Proof::Integrated => {
            let text = "Login failed. The login is from an untrusted domain and cannot be used with \
                        Integrated authentication.";
            return vec![Message::error(18452, text).class(14)];
        }
    };
    let denied = Message::error(18456, format!("Login failed for user '{user}'.")).class(14);
    match refusal {
        Refusal::Denied => vec![denied],
        Refusal::NoDatabase(name) => {
            let text = format!(
                "Cannot open database \"{name}\" requested by the login. The login failed."
            );
            vec![Message::error(4060, text).class(11), denied]
        }
        Refusal::Other(message) => vec![message.clone()],
    }
}
