//! dbstow's own session against the double: its handling of replies that end badly, late, or not at all.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use sqlserver::session::{
    Argument, Credentials as Who, Driver, Encryption as Protection, Failure, Item, Limits, Login,
    Secret, Server, Session,
};
use tds_double::{Credentials, Double, Encryption, Item as Part, Reply, Script, Value, fixed};

const PASSWORD: &str = "Double-1433";
/// Statements without rows or a count.
const SILENT: &str = "DECLARE @i int = 0; WHILE @i < 4000 BEGIN SET @i += 1; SET @i += 0; END";

fn start() -> Double<Script> {
    let script = fixed::script(Credentials::new("sa", PASSWORD)).on_each(SILENT, |_, _| Reply {
        items: vec![Part::Affected(None); 12_000],
        ..Reply::new()
    });
    Double::start(script, Encryption::None).expect("a free port")
}

fn connect(double: &Double<Script>) -> Driver {
    let server =
        Server::parse(&format!("127.0.0.1,{}", double.address().port())).expect("an address");
    let login = Login {
        credentials: Who::Password {
            user: "sa".to_owned(),
            password: Secret::new(PASSWORD),
        },
        encryption: Protection::OffInsecure,
        trust_certificate: true,
    };
    Driver::connect(&server, &login, "dbstow", &Limits::default()).expect("let in")
}

#[test]
fn twenty_thousand_result_sets_are_read_to_their_end() {
    let double = start();
    let batch = connect(&double)
        .batch(fixed::MANY_SETS, None)
        .expect("an answer");
    assert_eq!(batch.results().count(), 20_000);
    double.settle();
}

#[test]
fn rows_counts_messages_and_errors_keep_their_order() {
    let double = start();
    let mut session = connect(&double);
    let kinds = |text| -> Vec<&str> {
        let batch = session.batch(text, None).expect("an answer");
        let kind = |item: &Item| match item {
            Item::Rows(_) => "rows",
            Item::Affected(_) => "count",
            Item::Info(_) => "message",
            Item::Error(_) => "error",
        };
        batch.items.iter().map(kind).collect()
    };
    assert_eq!(
        [fixed::SETS, fixed::ERROR_BETWEEN].map(kinds),
        [
            vec!["rows", "message", "rows", "count"],
            vec!["rows", "error", "rows"],
        ]
    );
    double.settle();
}

#[test]
fn an_argument_of_another_type_than_the_first_one_keeps_its_digits_and_its_end() {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let script = Script::new(Credentials::new("sa", PASSWORD)).on_each(
        fixed::ECHO[0],
        move |_, question| {
            let values = question
                .parameters
                .iter()
                .map(|parameter| parameter.value.clone());
            kept.lock().expect("no panic").extend(values);
            Reply::new().done()
        },
    );
    let double = Double::start(script, Encryption::None).expect("a free port");
    let mut session = connect(&double);
    let long = "ü".repeat(5_000);
    // Twice: the first time it is prepared.
    for argument in [
        Argument::Null,
        Argument::Float(0.123_456_789),
        Argument::Text("ü".to_owned()),
        Argument::Text(long.clone()),
        Argument::Int(1),
        Argument::Float(1e300),
        Argument::Text(long.clone()),
        Argument::Null,
    ] {
        let done = session.statement(fixed::ECHO[0], &[argument]);
        done.expect("it is scripted");
    }
    let expected: [Value; 8] = [
        Value::Null,
        0.123_456_789.into(),
        "ü".into(),
        long.clone().into(),
        1.into(),
        1e300.into(),
        long.into(),
        Value::Null,
    ];
    assert_eq!(*seen.lock().expect("no panic"), expected);
    double.settle();
}

#[test]
fn a_loop_is_given_up_as_a_batch_and_executed_as_a_statement() {
    // The client's limit of 10,000 ends of statements in a row, which a plain batch sends one by one.
    let double = start();
    let mut session = connect(&double);
    let failure = session
        .batch(SILENT, None)
        .expect_err("the client gives it up");
    assert!(matches!(failure, Failure::OutOfStep(_)), "{failure}");
    assert!(
        !session.is_usable(),
        "what comes next on it could not be trusted"
    );
    assert!(matches!(
        session.batch("SELECT 1 AS one", None),
        Err(Failure::Lost(_))
    ));
    drop(session);

    let heard = double.heard().len();
    let mut session = connect(&double);
    // Through sp_executesql the server would report nothing for them; the double reports what it is scripted to.
    let _ = session.statement(SILENT, &[]);
    assert_eq!(double.heard().len(), heard + 1);
    assert_eq!(double.violations(), [""; 0]);
}

#[test]
fn an_answer_that_is_late_or_not_wanted_any_more_leaves_a_session_that_works() {
    let double = start();
    let mut session = connect(&double);
    let late = session.batch(fixed::WAIT, Some(Duration::from_millis(300)));
    assert_eq!(late, Err(Failure::Timeout));
    assert!(session.is_usable());

    let canceller = session.canceller();
    let other = thread::spawn(move || {
        thread::park_timeout(Duration::from_millis(100));
        canceller.cancel();
    });
    assert_eq!(session.statement(fixed::WAIT, &[]), Err(Failure::Cancelled));
    other.join().expect("it cancels");
    assert_eq!(
        session.statement(fixed::ECHO[0], &[Argument::Int(7)]),
        Ok(1)
    );
    assert_eq!(double.attentions(), 2);
    double.settle();
}

#[test]
fn a_cut_answer_is_a_lost_connection_and_bytes_that_are_no_answer_are_noticed() {
    let double = start();
    let mut session = connect(&double);
    assert!(matches!(
        session.batch(fixed::CUT, None),
        Err(Failure::Lost(_))
    ));
    assert!(!session.is_usable());

    let mut session = connect(&double);
    let failure = session
        .batch(fixed::GARBAGE, None)
        .expect_err("no answer at all");
    assert!(
        matches!(failure, Failure::OutOfStep(_) | Failure::Lost(_)),
        "{failure}"
    );
    assert!(!session.is_usable());
}
