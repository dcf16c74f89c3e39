//! Microsoft's client behind our trait: its asynchronous calls, one at a time, on the calling thread.

mod convert;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mssql_tds::connection::client_context::{ClientContext, TdsAuthenticationMethod};
use mssql_tds::connection::tds_client::{
    BatchErrorMode, ExecuteOptions, PreparedStatement, ResultSet, StatementResult, TdsClient,
};
use mssql_tds::connection_provider::tds_connection_provider::TdsConnectionProvider;
use mssql_tds::core::{CancelHandle, EncryptionOptions, EncryptionSetting};
use mssql_tds::error::Error;
use mssql_tds::message::parameters::rpc_parameters::RpcParameter;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};

use super::limits::{Budget, Limits, Watch, watched};
use super::{
    Argument, Batch, Cell, Credentials, Encryption, Failure, Item, Login, Message, Rows, Server,
    Session,
};
use convert::{Declared, argument, cell, failure, is_out_of_step};

/// A connection by way of `mssql-tds`.
///
/// Works around two problems. After a protocol or usage error it resumes reading in the middle of a response: such a connection
/// is abandoned. And it aborts a response with 10,000 consecutive statements without row counts, as from a loop in a plain batch:
/// a text with a loop is therefore run by `sp_executesql`, which does not report them.
pub struct Driver {
    limits: Limits,
    runtime: Background,
    /// `None` once abandoned.
    client: Option<TdsClient>,
    /// By text and types: a statement is prepared for the types of its first arguments, and the server would convert others to
    /// them, which loses digits of numbers and truncates texts.
    prepared: HashMap<(String, Vec<Declared>), PreparedStatement>,
    cancel: Canceller,
}

/// A runtime that shuts down without waiting for its threads: a host name lookup may take minutes.
struct Background(Option<Runtime>);

impl Background {
    fn start() -> Result<Background, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Lost(error.to_string()))?;
        Ok(Background(Some(runtime)))
    }

    fn block_on<F: Future>(&self, work: F) -> F::Output {
        let runtime = self.0.as_ref().expect("it is there until it is dropped");
        runtime.block_on(work)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Cancels a session's current call, from another thread; the next call is cancelled too, once.
#[derive(Clone, Default)]
pub struct Canceller {
    handle: Arc<Mutex<CancelHandle>>,
    /// For a server that does not respond to the cancellation.
    is_asked: Arc<AtomicBool>,
}

impl Canceller {
    /// Cancels the call, which returns [`Failure::Cancelled`].
    pub fn cancel(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
        self.handle.lock().cancel();
    }

    /// The handle for the next call.
    fn child(&self) -> CancelHandle {
        self.handle.lock().child_handle()
    }

    /// Resets the state after a cancelled call has returned.
    fn settle(&self) {
        self.is_asked.store(false, Ordering::Relaxed);
        *self.handle.lock() = CancelHandle::new();
    }
}

/// Time limit for closing a connection.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

impl Driver {
    /// A handle to cancel the current call from another thread.
    pub fn canceller(&self) -> Canceller {
        self.cancel.clone()
    }

    /// From the next call on, the session is as after its login: the connection comes from a pool.
    #[cfg(target_os = "linux")]
    pub(crate) fn reset(&mut self) {
        if let Some(client) = &mut self.client {
            client.prepare_reset_connection(false);
        }
        self.prepared.clear();
    }

    /// Logs in. The server lists the session under the name `application`.
    ///
    /// # Errors
    /// When the server is unreachable or rejects the login, or would get the login in clear text and that was not requested.
    pub fn connect(
        server: &Server,
        login: &Login,
        application: &str,
        limits: &Limits,
    ) -> Result<Driver, Failure> {
        if login.encryption == Encryption::Optional {
            // With optional encryption, the client sends the login in clear text to a server that claims to lack TLS, and this
            // cannot be intercepted. A login under TLS first shows that the server has it. The certificate is not checked, as the
            // client never checks it for the login alone.
            let protected = Login {
                encryption: Encryption::Mandatory,
                trust_certificate: true,
                credentials: login.credentials.clone(),
            };
            Driver::open(server, &protected, application, limits)?;
        }
        Driver::open(server, login, application, limits)
    }

    fn open(
        server: &Server,
        login: &Login,
        application: &str,
        limits: &Limits,
    ) -> Result<Driver, Failure> {
        let runtime = Background::start()?;
        let context = context(server, login, application, limits);
        let provider = TdsConnectionProvider::new();
        let connecting = provider.create_client(context, server.address(), None);
        let watch = Watch::of_question(limits, limits.answer);
        let client = runtime
            .block_on(watched(connecting, watch))?
            .map_err(failure)?;
        Ok(Driver {
            limits: limits.clone(),
            runtime,
            client: Some(client),
            prepared: HashMap::new(),
            cancel: Canceller::default(),
        })
    }

    /// Runs an operation with the client; abandons the connection if it cannot be trusted afterwards.
    fn with<T>(
        &mut self,
        limit: Option<Duration>,
        work: impl AsyncFnOnce(
            &mut TdsClient,
            &mut HashMap<(String, Vec<Declared>), PreparedStatement>,
            &CancelHandle,
        ) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let Some(client) = &mut self.client else {
            return Err(Failure::Lost(
                "the connection was given up before".to_owned(),
            ));
        };
        let cancel = self.cancel.child();
        let watch = match limit {
            Some(limit) => Watch::of_question(&self.limits, limit),
            None => Watch::of_statement(&self.limits, Arc::clone(&self.cancel.is_asked)),
        };
        let work = work(client, &mut self.prepared, &cancel);
        let result = match self.runtime.block_on(watched(work, watch)) {
            Ok(result) => result,
            Err(failure) => {
                // It was left in the middle of a response.
                self.client = None;
                return Err(failure);
            }
        };
        let dead = client.is_connection_dead();
        result.map_err(|error| {
            let out_of_step = is_out_of_step(&error);
            let failure = failure(error);
            if failure == Failure::Cancelled {
                self.cancel.settle();
            }
            if dead || out_of_step || matches!(failure, Failure::Lost(_)) {
                self.client = None;
            }
            failure
        })
    }
}

impl Session for Driver {
    fn batch(&mut self, text: &str, limit: Option<Duration>) -> Result<Batch, Failure> {
        self.with(limit, async |client, _, cancel| {
            let (mut items, mut budget) = (Vec::new(), Budget::new());
            let mut options = ExecuteOptions::new()
                .on_error(BatchErrorMode::Continue)
                .cancel(cancel);
            options.timeout = limit.map(seconds);
            let mut next = client.execute(text.to_owned(), options).await;
            loop {
                let infos = client.take_info_messages();
                infos
                    .iter()
                    .try_for_each(|info| budget.take(info.message.len()))?;
                items.extend(
                    infos
                        .into_iter()
                        .map(|info| Item::Info(Message::from(info))),
                );
                match next {
                    Ok(StatementResult::Rows) => match rows(client, &mut budget).await {
                        Ok(rows) => items.push(Item::Rows(rows)),
                        Err(error) => items.extend(errors(client, error)?),
                    },
                    Ok(StatementResult::NoRows { rows_affected }) => {
                        budget.take(0)?;
                        items.push(Item::Affected(rows_affected));
                    }
                    Ok(StatementResult::End) => return Ok(Batch { items }),
                    Err(error) => {
                        budget.take(0)?;
                        items.extend(errors(client, error)?);
                    }
                }
                next = client.advance().await;
            }
        })
    }

    fn answer_limit(&self) -> Duration {
        self.limits.answer
    }

    fn statement(&mut self, text: &str, arguments: &[Argument]) -> Result<u64, Failure> {
        let declared: Vec<Declared> = arguments.iter().map(Declared::of).collect();
        let arguments = (1..)
            .zip(arguments)
            .map(|(number, value)| argument(number, value));
        let arguments: Vec<RpcParameter> = arguments.collect();
        self.with(None, async |client, prepared, cancel| {
            let options = ExecuteOptions::new().cancel(cancel);
            let next = if !arguments.is_empty() {
                let statement = prepared.entry((text.to_owned(), declared));
                let statement = statement.or_insert_with(|| PreparedStatement::new(text));
                client
                    .execute_prepared(statement, arguments, &mut None, options)
                    .await
            } else if loops(text) {
                client
                    .execute_sp_executesql(text.to_owned(), arguments, options)
                    .await
            } else {
                client.execute(text.to_owned(), options).await
            };
            counted(client, next).await
        })
    }

    fn in_transaction(&self) -> bool {
        self.client
            .as_ref()
            .is_some_and(TdsClient::has_active_transaction)
    }

    fn is_usable(&self) -> bool {
        self.client.is_some()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(client) = &mut self.client {
            // The server also notices a connection that simply ends.
            let watch = Watch::of_question(&Limits::default(), CLOSE_LIMIT);
            let _ = self
                .runtime
                .block_on(watched(client.close_connection(), watch));
        }
    }
}

fn context(server: &Server, login: &Login, application: &str, limits: &Limits) -> ClientContext {
    let mut context = ClientContext::with_data_source(server.address());
    context.application_name = application.to_owned();
    context.connect_timeout = seconds(limits.answer);
    // An automatically reconnected session would have silently lost its temporary tables.
    context.connect_retry_count = 0;
    if let Some(database) = server.database() {
        context.database = database.to_owned();
    }
    context.encryption_options = EncryptionOptions {
        mode: match login.encryption {
            Encryption::Optional | Encryption::OffInsecure => EncryptionSetting::PreferOff,
            Encryption::Mandatory => EncryptionSetting::Required,
            Encryption::Strict => EncryptionSetting::Strict,
        },
        trust_server_certificate: login.trust_certificate,
        ..EncryptionOptions::new()
    };
    match &login.credentials {
        Credentials::Password { user, password } => {
            context.tds_authentication_method = TdsAuthenticationMethod::Password;
            context.user_name = user.clone();
            context.password = password.reveal().to_owned();
        }
        Credentials::Token(token) => {
            context.tds_authentication_method = TdsAuthenticationMethod::AccessToken;
            context.access_token = Some(token.reveal().to_owned());
        }
        Credentials::Integrated => {
            context.tds_authentication_method = TdsAuthenticationMethod::SSPI;
        }
    }
    context
}

/// Reads all results to their end; returns the number of rows read and changed.
async fn counted(
    client: &mut TdsClient,
    mut next: Result<StatementResult, Error>,
) -> Result<u64, Error> {
    let mut count = 0;
    loop {
        match next? {
            StatementResult::Rows => {
                while client.next_row().await?.is_some() {
                    count += 1;
                }
            }
            StatementResult::NoRows { rows_affected } => count += rows_affected.unwrap_or(0),
            StatementResult::End => return Ok(count),
        }
        next = client.advance().await;
    }
}

/// Reads a result set to its end.
async fn rows(client: &mut TdsClient, budget: &mut Budget) -> Result<Rows, Error> {
    let columns = client.get_metadata().iter();
    let mut rows = Rows {
        columns: columns.map(|column| column.column_name.clone()).collect(),
        rows: Vec::new(),
    };
    while let Some(values) = client.next_row().await? {
        budget.take(0)?;
        let mut cells = Vec::new();
        for value in values {
            let cell = cell(value);
            budget.take(match &cell {
                Cell::Text(text) => text.len(),
                Cell::Null | Cell::Int(_) | Cell::Float(_) | Cell::Other => 0,
            })?;
            cells.push(cell);
        }
        rows.rows.push(cells);
    }
    Ok(rows)
}

/// The server's errors, if the batch continues after them.
fn errors(client: &TdsClient, error: Error) -> Result<Vec<Item>, Error> {
    match error {
        Error::SqlServerError { diagnostics } if !client.is_connection_dead() => Ok(diagnostics
            .errors
            .into_iter()
            .map(|error| Item::Error(Message::from(error)))
            .collect()),
        other => Err(other),
    }
}

/// Whether a text may contain a loop.
fn loops(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| word.eq_ignore_ascii_case("WHILE"))
}

/// Whole seconds, at least one: zero would mean no limit.
fn seconds(limit: Duration) -> u32 {
    u32::try_from(limit.as_secs_f64().ceil() as u64)
        .unwrap_or(u32::MAX)
        .max(1)
}
