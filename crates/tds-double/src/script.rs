//! A model that answers only by exact text.

use std::collections::BTreeMap;

use crate::login::{Login, Proof};
use crate::model::{Admitted, Model, Question, Refusal, Session};
use crate::reply::Reply;

/// Accepted credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Name of a login of SQL Server.
    pub user: String,
    /// Its password.
    pub password: String,
    /// An access token that is also accepted.
    pub token: Option<String>,
    /// Existing databases; sessions that request none begin in the first.
    pub databases: Vec<String>,
}

impl Credentials {
    /// A login with this name and password, in `master` and `tempdb`.
    pub fn new(user: &str, password: &str) -> Credentials {
        Credentials {
            user: user.to_owned(),
            password: password.to_owned(),
            token: None,
            databases: ["master", "tempdb"].map(str::to_owned).to_vec(),
        }
    }

    /// Whether this login is accepted.
    ///
    /// # Errors
    /// The reason for refusal.
    pub fn admit(&self, login: &Login) -> Result<Admitted, Refusal> {
        let name = match &login.proof {
            Proof::Password { user, password } => {
                // Login names are compared by the server's collation: case-insensitive.
                let known = user.eq_ignore_ascii_case(&self.user) && *password == self.password;
                known.then(|| self.user.clone())
            }
            Proof::Token(token) => (self.token.as_ref() == Some(token)).then(|| "token".to_owned()),
            Proof::Integrated => None,
        };
        let login_name = name.ok_or(Refusal::Denied)?;
        let wanted = if login.database.is_empty() {
            &self.databases[0]
        } else {
            &login.database
        };
        let same = |database: &&String| database.eq_ignore_ascii_case(wanted);
        match self.databases.iter().find(same) {
            Some(database) => Ok(Admitted {
                login: login_name,
                database: database.clone(),
            }),
            None => Err(Refusal::NoDatabase(wanted.clone())),
        }
    }
}

type Answer = Box<dyn FnMut(&Session, &Question) -> Reply + Send>;

/// Replies by exact text.
///
/// ```
/// use tds_double::{Credentials, Double, Encryption, Kind, Reply, Rows, Script};
///
/// let one = Rows::new([("one", Kind::Int)]).row([1.into()]);
/// let script = Script::new(Credentials::new("sa", "secret")).on("SELECT 1 AS one", Reply::new().rows(one));
/// let double = Double::start(script, Encryption::None).expect("a free port");
/// assert!(double.address().ip().is_loopback());
/// double.settle();
/// ```
pub struct Script {
    credentials: Credentials,
    answers: BTreeMap<String, Answer>,
}

impl Script {
    /// Without any texts.
    pub fn new(credentials: Credentials) -> Script {
        Script {
            credentials,
            answers: BTreeMap::new(),
        }
    }

    /// Adds a text with a constant reply.
    #[must_use]
    pub fn on(self, text: &str, reply: Reply) -> Script {
        self.on_each(text, move |_, _| reply.clone())
    }

    /// Adds a text whose reply is computed each time, from the parameters or from earlier events.
    #[must_use]
    pub fn on_each(
        mut self,
        text: &str,
        answer: impl FnMut(&Session, &Question) -> Reply + Send + 'static,
    ) -> Script {
        self.answers.insert(text.to_owned(), Box::new(answer));
        self
    }
}

impl Model for Script {
    fn login(&mut self, login: &Login) -> Result<Admitted, Refusal> {
        self.credentials.admit(login)
    }

    fn answer(&mut self, session: &mut Session, question: &Question) -> Option<Reply> {
        // FreeTDS's tsql appends a line break to each batch.
        let text = question.text.trim_end_matches('\n');
        let answer = self.answers.get_mut(text)?;
        Some(answer(session, question))
    }
}
