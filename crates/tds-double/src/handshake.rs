//! From a client's first packet to the response to its login.

use std::sync::atomic::Ordering;

use crate::connection::{Connection, End};
use crate::encode::Encoder;
use crate::login::{Login, Proof};
use crate::model::{Refusal, Session};
use crate::packet::{self, LOGIN, PRELOGIN, REPLY, SIZE_FIRST};
use crate::prelogin::{Agreed, PreLogin};
use crate::reply::{Item, Message, Reply};
use crate::transport::Transport;
use crate::wire::Violation;

/// From PreLogin to the login response; `None` where it was refused.
pub(crate) fn enter(connection: &mut Connection<'_>) -> Result<Option<Session>, End> {
    let first = connection.message()?;
    if first.kind != PRELOGIN {
        return Err(Violation::new(format!("a first message of type {}", first.kind)).into());
    }
    let asked = PreLogin::read(&first.body)?;
    let encrypts = connection.shared.encrypts();
    let reply = asked.reply(encrypts, &connection.identity);
    connection
        .transport
        .send(&packet::packet(REPLY, 1, true, &reply))?;
    if asked.agree(encrypts) == Agreed::Encrypted {
        connection.secure()?;
    }
    let message = connection.message()?;
    if message.kind != LOGIN {
        return Err(Violation::new(format!(
            "a message of type {} before the login",
            message.kind
        ))
        .into());
    }
    if matches!(connection.transport, Transport::Plain(_)) {
        connection.shared.journal().logins_in_clear_text += 1;
    }
    let login = Login::read(&message.body)?;
    log_in(connection, &login)
}

fn log_in(connection: &mut Connection<'_>, login: &Login) -> Result<Option<Session>, End> {
    let admitted = connection.shared.model().login(login);
    let id = connection.shared.sessions.fetch_add(1, Ordering::Relaxed);
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
            let sizes = (wanted, connection.packet_size());
            let federated = matches!(login.proof, Proof::Token(_));
            let mut encoder = Encoder::new(
                &connection.identity,
                &mut session,
                &connection.shared.transactions,
            );
            encoder.logged_in(sizes, federated);
            let encoded = encoder.finish();
            connection.send(encoded)?;
            connection.set_packet_size(wanted);
            Ok(Some(session))
        }
        Err(refusal) => {
            let mut reply = Reply::new();
            reply
                .items
                .extend(refused(login, &refusal).into_iter().map(Item::Error));
            let mut encoder = Encoder::new(
                &connection.identity,
                &mut session,
                &connection.shared.transactions,
            );
            encoder.batch(&reply);
            let encoded = encoder.finish();
            connection.send(encoded)?;
            Ok(None)
        }
    }
}

/// The errors of a refused login, in SQL Server's wording.
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
