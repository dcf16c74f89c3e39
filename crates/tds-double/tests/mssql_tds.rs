//! Microsoft's client in Rust against the double: logins, order of items, prepared statements, and each fault.

use std::time::Duration;

use mssql_tds::connection::client_context::{ClientContext, TdsAuthenticationMethod};
use mssql_tds::connection::tds_client::{
    BatchErrorMode, ExecuteOptions, PreparedStatement, ResultSet, StatementResult, TdsClient,
};
use mssql_tds::connection_provider::tds_connection_provider::TdsConnectionProvider;
use mssql_tds::core::{CancelHandle, EncryptionOptions, EncryptionSetting};
use mssql_tds::datatypes::column_values::ColumnValues;
use mssql_tds::datatypes::sql_string::SqlString;
use mssql_tds::datatypes::sqltypes::SqlType;
use mssql_tds::error::{Error, SqlErrorInfo};
use mssql_tds::message::parameters::rpc_parameters::{RpcParameter, StatusFlags};
use mssql_tds::message::transaction_management::TransactionIsolationLevel;
use tds_double::{Credentials, Double, Encryption, Script, fixed};

const USER: &str = "sa";
const PASSWORD: &str = "Double-1433";
const TOKEN: &str = "eyJ0eXAi.a-token.of-no-one";
const ONE: &str = "SELECT 1 AS one";

fn start(encryption: Encryption) -> Double<Script> {
    let mut credentials = Credentials::new(USER, PASSWORD);
    credentials.token = Some(TOKEN.to_owned());
    Double::start(fixed::script(credentials), encryption).expect("a free port")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

fn context(double: &Double<Script>) -> ClientContext {
    let mut context = ClientContext::with_data_source(&address(double));
    context.user_name = USER.to_owned();
    context.password = PASSWORD.to_owned();
    context.connect_retry_count = 0;
    context.encryption_options = EncryptionOptions {
        mode: if double.certificate().is_some() {
            EncryptionSetting::Required
        } else {
            EncryptionSetting::PreferOff
        },
        trust_server_certificate: true,
        ..EncryptionOptions::new()
    };
    context
}

fn address(double: &Double<Script>) -> String {
    format!("tcp:127.0.0.1,{}", double.address().port())
}

async fn connect(
    double: &Double<Script>,
    change: impl FnOnce(&mut ClientContext),
) -> Result<TdsClient, Error> {
    let mut context = context(double);
    change(&mut context);
    TdsConnectionProvider::new()
        .create_client(context, &address(double), None)
        .await
}

/// The result of a batch, one line per item.
async fn batch(client: &mut TdsClient, text: &str) -> Result<Vec<String>, Error> {
    let options = ExecuteOptions::new()
        .on_error(BatchErrorMode::Continue)
        .timeout_secs(30);
    let mut lines = Vec::new();
    let mut next = client.execute(text.to_owned(), options).await;
    loop {
        let told = client.take_info_messages();
        lines.extend(
            told.into_iter()
                .map(|info| format!("info {}: {}", info.number, info.message)),
        );
        let error = match next {
            Ok(StatementResult::Rows) => match rows(client).await {
                Ok(rows) => {
                    lines.push(format!("rows {}", rows.len()));
                    None
                }
                Err(error) => Some(error),
            },
            Ok(StatementResult::NoRows { rows_affected }) => {
                lines.push(format!("affected {rows_affected:?}"));
                None
            }
            Ok(StatementResult::End) => return Ok(lines),
            Err(error) => Some(error),
        };
        match error {
            Some(Error::SqlServerError { diagnostics }) => {
                let line =
                    |error: &SqlErrorInfo| format!("error {}: {}", error.number, error.message);
                lines.extend(diagnostics.errors.iter().map(line));
                if !client.has_open_batch() {
                    return Ok(lines);
                }
            }
            Some(error) => return Err(error),
            None => {}
        }
        next = client.advance().await;
    }
}

async fn rows(client: &mut TdsClient) -> Result<Vec<Vec<ColumnValues>>, Error> {
    let mut rows = Vec::new();
    while let Some(row) = client.next_row().await? {
        rows.push(row);
    }
    Ok(rows)
}

fn numbers(error: &Error) -> Vec<u32> {
    match error {
        Error::SqlServerError { diagnostics } => diagnostics
            .errors
            .iter()
            .map(|error| error.number)
            .collect(),
        other => panic!("{other:?} is not an error of the server"),
    }
}

fn parameter(value: SqlType) -> RpcParameter {
    RpcParameter::new(Some("@P1".to_owned()), StatusFlags::NONE, value)
}

#[test]
fn every_type_arrives_as_it_was_scripted() {
    let double = start(Encryption::None);
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        client
            .execute(fixed::TYPES.to_owned(), ())
            .await
            .expect("rows");
        let rows = rows(&mut client).await.expect("rows");
        let text = |value: &ColumnValues| match value {
            ColumnValues::String(text) => text.to_utf8_string(),
            other => panic!("{other:?}"),
        };
        let row = &rows[0];
        assert_eq!(
            row[..7],
            [
                ColumnValues::Int(1),
                ColumnValues::Bit(true),
                ColumnValues::TinyInt(255),
                ColumnValues::SmallInt(-32_768),
                ColumnValues::Int(i32::MIN),
                ColumnValues::BigInt(i64::MAX),
                ColumnValues::Float(0.1),
            ]
        );
        assert_eq!(text(&row[7]), "Größe € 😀");
        assert_eq!(text(&row[8]), "long ".repeat(10_000));
        assert_eq!(row[9], ColumnValues::Bytes(vec![0, 1, 254, 255]));
        assert!(
            rows[1][1..]
                .iter()
                .all(|value| *value == ColumnValues::Null),
            "{:?}",
            rows[1]
        );
    });
    double.settle();
}

#[test]
fn sets_messages_counts_and_errors_keep_their_order() {
    let double = start(Encryption::None);
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        let sets = batch(&mut client, fixed::SETS).await.expect("a batch");
        assert_eq!(
            sets,
            ["rows 1", "info 0: between", "rows 1", "affected Some(3)"]
        );
        let between = batch(&mut client, fixed::ERROR_BETWEEN)
            .await
            .expect("a batch");
        assert_eq!(between, ["rows 1", "error 50000: told to fail", "rows 1"]);
        let after = batch(&mut client, fixed::ERROR_AFTER_ROWS)
            .await
            .expect("a batch");
        assert_eq!(after, ["error 8134: Divide by zero error encountered."]);
        assert_eq!(
            batch(&mut client, fixed::ROWS).await.expect("a batch"),
            ["rows 5000"]
        );
        let many = batch(&mut client, fixed::MANY_SETS).await.expect("a batch");
        assert_eq!(many.len(), 20_000);
        assert_eq!(
            batch(&mut client, "USE tempdb").await.expect("a batch")[0],
            "info 5701: Changed database context to 'tempdb'."
        );
        assert_eq!(client.database(), "tempdb");
        assert!(
            batch(&mut client, &fixed::long())
                .await
                .expect("a batch")
                .is_empty()
        );
    });
    double.settle();
}

#[test]
fn what_nothing_is_scripted_for_fails_and_is_kept() {
    let double = start(Encryption::None);
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        let error = client
            .execute("SELECT 2 AS two".to_owned(), ())
            .await
            .expect_err("unscripted");
        assert_eq!(numbers(&error), [50001]);
        assert!(error.to_string().contains("SELECT 2 AS two"), "{error}");
        assert_eq!(
            batch(&mut client, ONE).await.expect("the next one"),
            ["rows 1"]
        );
    });
    assert_eq!(double.unscripted(), ["SELECT 2 AS two"]);
    assert_eq!(double.heard(), ["SELECT 2 AS two", ONE]);
}

#[test]
fn parameters_come_back_as_they_went_whether_prepared_or_not() {
    let double = start(Encryption::None);
    let long = "ß".repeat(9_000);
    let string = |text: &str| Some(SqlString::from_utf8_string(text.to_owned()));
    let cases = [
        SqlType::Int(Some(-5)),
        SqlType::BigInt(Some(1 << 40)),
        SqlType::Float(Some(0.25)),
        SqlType::Bit(Some(true)),
        SqlType::NVarchar(string("Größe"), 4000),
        SqlType::NVarcharMax(string(&long)),
        SqlType::NVarchar(None, 4000),
        SqlType::VarBinary(Some(vec![1, 2]), 8),
    ];
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        for value in cases {
            let text = fixed::ECHO[0].to_owned();
            client
                .execute_sp_executesql(text.clone(), vec![parameter(value.clone())], ())
                .await
                .expect("rows");
            let direct = rows(&mut client).await.expect("rows");
            client.close_query().await.expect("the end");
            let mut statement = PreparedStatement::new(text);
            for _ in 0..3 {
                let values = vec![parameter(value.clone())];
                client
                    .execute_prepared(&mut statement, values, &mut None, ())
                    .await
                    .expect("rows");
                assert_eq!(rows(&mut client).await.expect("rows"), direct);
                client.close_query().await.expect("the end");
            }
            assert_eq!(direct.len(), 1);
            let null = matches!(value, SqlType::NVarchar(None, _));
            assert_eq!(direct[0][0] == ColumnValues::Null, null, "{value:?}");
        }
    });
    double.settle();
}

#[test]
fn a_transaction_is_known_to_both_sides() {
    let double = start(Encryption::None);
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        client
            .begin_transaction(TransactionIsolationLevel::ReadCommitted, None)
            .await
            .expect("begins");
        assert!(client.has_active_transaction());
        batch(&mut client, ONE).await.expect("a batch within");
        client.commit_transaction(None, None).await.expect("ends");
        batch(&mut client, "BEGIN TRANSACTION")
            .await
            .expect("begins");
        batch(&mut client, ONE).await.expect("a batch within");
        client.rollback_transaction(None, None).await.expect("ends");
        assert!(!client.has_active_transaction());
        let error = client
            .commit_transaction(None, None)
            .await
            .expect_err("there is none");
        assert_eq!(numbers(&error), [3902]);
    });
    double.settle();
}

#[test]
fn passwords_tokens_and_databases_are_checked_with_and_without_tls() {
    let mut encryptions = vec![Encryption::None];
    if cfg!(target_os = "linux") {
        encryptions.push(Encryption::Required);
    }
    for encryption in encryptions {
        let double = start(encryption);
        block_on(async {
            let mut client = connect(&double, |context| context.database = "tempdb".to_owned())
                .await
                .expect("let in");
            assert_eq!(client.database(), "tempdb");
            assert_eq!(client.is_encrypted(), encryption == Encryption::Required);
            assert_eq!(
                batch(&mut client, fixed::ROWS).await.expect("a batch"),
                ["rows 5000"]
            );
            let wrong = connect(&double, |context| context.password = "wrong".to_owned()).await;
            assert_eq!(numbers(&wrong.expect_err("refused")), [18456]);
            let nowhere = connect(&double, |context| context.database = "nowhere".to_owned()).await;
            assert_eq!(numbers(&nowhere.expect_err("refused")), [4060, 18456]);
            let token = |token: &str| {
                let token = token.to_owned();
                move |context: &mut ClientContext| {
                    context.user_name = String::new();
                    context.password = String::new();
                    context.tds_authentication_method = TdsAuthenticationMethod::AccessToken;
                    context.access_token = Some(token);
                }
            };
            let mut client = connect(&double, token(TOKEN)).await.expect("let in");
            assert_eq!(batch(&mut client, ONE).await.expect("a batch"), ["rows 1"]);
            let error = connect(&double, token("another"))
                .await
                .expect_err("refused");
            assert_eq!(numbers(&error), [18456]);
        });
        double.settle();
    }
}

#[test]
fn a_timeout_or_a_cancel_leaves_a_connection_that_works() {
    let double = start(Encryption::None);
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        let options = ExecuteOptions::new().timeout_secs(1);
        let error = client
            .execute(fixed::WAIT.to_owned(), options)
            .await
            .expect_err("a minute");
        assert!(matches!(error, Error::TimeoutError(_)), "{error:?}");
        assert_eq!(
            batch(&mut client, ONE).await.expect("the next one"),
            ["rows 1"]
        );

        let cancel = CancelHandle::new();
        let child = cancel.child_handle();
        client
            .execute(
                fixed::WAIT_WITHIN.to_owned(),
                ExecuteOptions::new().cancel(&child),
            )
            .await
            .expect("a row");
        cancel.cancel();
        let ended = rows(&mut client).await;
        assert!(
            ended.is_err() || client.advance().await.is_err(),
            "{ended:?}"
        );
        assert_eq!(
            batch(&mut client, ONE).await.expect("the next one"),
            ["rows 1"]
        );

        // Not for 20,000 result sets: this client accepts 1,024 ends of statements between its attention and the reply to
        // it (MAX_ATTENTION_SETTLEMENT_TOKENS), and gives the connection up after more.
        client
            .execute(fixed::ROWS.to_owned(), ())
            .await
            .expect("rows");
        client.cancel_query(10).await.expect("acknowledged");
        assert_eq!(
            batch(&mut client, ONE).await.expect("the next one"),
            ["rows 1"]
        );
    });
    assert_eq!(double.attentions(), 3);
    double.settle();
}

#[test]
fn a_reset_connection_is_back_in_its_first_database() {
    let double = start(Encryption::None);
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        batch(&mut client, "USE tempdb").await.expect("a batch");
        client.prepare_reset_connection(false);
        batch(&mut client, ONE).await.expect("a batch");
        assert!(!client.reset_pending());
        assert_eq!(client.database(), "master");

        // The open transaction ends with its session.
        client
            .begin_transaction(TransactionIsolationLevel::ReadCommitted, None)
            .await
            .expect("begins");
        client.prepare_reset_connection(false);
        batch(&mut client, ONE).await.expect("a batch");
        let error = client.commit_transaction(None, None).await;
        assert_eq!(numbers(&error.expect_err("there is none")), [3902]);
    });
    double.settle();
}

#[test]
fn a_cut_reply_and_bytes_that_are_no_token_are_noticed() {
    let double = start(Encryption::None);
    block_on(async {
        for text in [fixed::CUT, fixed::GARBAGE] {
            let mut client = connect(&double, |_| {}).await.expect("let in");
            let error = batch(&mut client, text).await.expect_err(text);
            assert!(!matches!(error, Error::SqlServerError { .. }), "{error:?}");
        }
    });
    double.settle();
}

#[test]
fn a_server_that_is_down_refuses_and_comes_back_at_the_same_place() {
    let mut double = start(Encryption::None);
    let place = double.address();
    block_on(async {
        let mut client = connect(&double, |_| {}).await.expect("let in");
        double.go_down();
        assert_eq!(double.open(), 0);
        assert!(batch(&mut client, ONE).await.is_err());
        let quickly = |context: &mut ClientContext| context.connect_timeout = 2;
        assert!(connect(&double, quickly).await.is_err());
        double.come_back().expect("its port");
        assert_eq!(double.address(), place);
        let mut client = connect(&double, |_| {}).await.expect("let in");
        let work = tokio::time::timeout(Duration::from_secs(30), batch(&mut client, ONE));
        assert_eq!(work.await.expect("in time").expect("a batch"), ["rows 1"]);
    });
    double.settle();
}
