//! Third-party clients against the double: what they accept, a client of dbstow meets in the same form.
//!
//! python-tds and FreeTDS's `tsql` are independent implementations; mssql-python brings Microsoft's ODBC driver.
//! Microsoft's client in Rust is in `mssql_tds.rs`.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::json;
use tds_double::{Credentials, Double, Encryption, Script, fixed};

const USER: &str = "sa";
const PASSWORD: &str = "Double-1433";
const TOKEN: &str = "eyJ0eXAi.a-token.of-no-one";
/// What the clients ask for to see how it fails.
const UNSCRIPTED: &str = "SELECT 'nobody knows this'";

fn start(encryption: Encryption) -> Double<Script> {
    let mut credentials = Credentials::new(USER, PASSWORD);
    credentials.token = Some(TOKEN.to_owned());
    let script = fixed::script(credentials);
    Double::start(script, encryption).expect("a free port")
}

/// Reports a skipped test, or fails where skips are not allowed.
fn skip<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("DBSTOW_SKIP_NOTHING").is_none(), "{why}");
    eprintln!("skipped: {why}");
    None
}

/// A Python with the clients installed.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/foreign-clients");
    let made = PYTHON.get_or_init(|| {
        let output = Command::new(&script)
            .output()
            .map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(PathBuf::from(
                String::from_utf8_lossy(&output.stdout).trim(),
            )),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    });
    match made {
        Ok(path) => Some(path),
        Err(error) => skip(&format!("scripts/foreign-clients: {error}")),
    }
}

/// Runs a client of `tests/clients` against a double, and returns its list of passed checks.
fn client(name: &str, encryption: Encryption) -> Option<(Vec<String>, Double<Script>)> {
    let python = python()?;
    let double = start(encryption);
    let folder = tempfile::tempdir().expect("a folder");
    let certificate = folder.path().join("certificate.pem");
    std::fs::write(&certificate, double.certificate().unwrap_or_default()).expect("a file");
    let place = json!({
        "host": double.address().ip(),
        "port": double.address().port(),
        "tls": encryption == Encryption::Required,
        "certificate": certificate,
        "token": TOKEN,
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/clients/{name}.py"));
    let output = Command::new(python)
        .arg("-B") // no __pycache__ in the tree
        .arg(script)
        .arg(place.to_string())
        .output()
        .expect("Python starts");
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{name}: {said}\n{errors}\nviolations: {:?}",
        double.violations()
    );
    Some((said.lines().map(str::to_owned).collect(), double))
}

const PASSED: [&str; 10] = [
    "types",
    "rows",
    "sets",
    "many sets",
    "errors",
    "parameters",
    "a request of many packets",
    "timeout",
    "transactions",
    "logins",
];

fn passes(name: &str, encryption: Encryption) {
    let Some((passed, double)) = client(name, encryption) else {
        return;
    };
    let expected: Vec<&str> = PASSED.iter().copied().chain(["cut"]).collect();
    assert_eq!(passed, expected);
    assert_eq!(double.unscripted(), [UNSCRIPTED]);
    assert_eq!(double.violations(), Vec::<String>::new());
    assert!(double.attentions() >= 1, "the timeout was not an attention");
}

#[test]
fn python_tds_gets_what_the_script_says() {
    passes("python_tds", Encryption::None);
}

#[test]
fn python_tds_gets_it_through_tls() {
    passes("python_tds", Encryption::Required);
}

#[test]
fn microsofts_odbc_driver_gets_what_the_script_says() {
    passes("odbc", Encryption::None);
}

#[test]
fn microsofts_odbc_driver_gets_it_through_tls() {
    passes("odbc", Encryption::Required);
}

/// Output and errors of `tsql`, for batches in turn.
fn tsql(
    double: &Double<Script>,
    encryption: &str,
    password: &str,
    batches: &[&str],
) -> Option<(String, String)> {
    if Command::new("tsql").arg("-C").output().is_err() {
        return skip("there is no tsql here (Debian: freetds-bin)");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let settings = folder.path().join("freetds.conf");
    let (host, port) = (double.address().ip(), double.address().port());
    let text = format!(
        "[double]\nhost = {host}\nport = {port}\ntds version = 7.4\nencryption = {encryption}\nclient charset = UTF-8\n"
    );
    std::fs::write(&settings, text).expect("a file");
    let mut tsql = Command::new("tsql")
        .args(["-S", "double", "-U", USER, "-P", password, "-o", "q"])
        .env("FREETDSCONF", &settings)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("tsql starts");
    let input: String = batches
        .iter()
        .map(|batch| format!("{batch}\nGO\n"))
        .collect();
    let mut stdin = tsql.stdin.take().expect("piped");
    stdin
        .write_all(format!("{input}exit\n").as_bytes())
        .expect("tsql reads");
    drop(stdin);
    let output = tsql.wait_with_output().expect("tsql ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

fn tsql_passes(encryption: Encryption, wanted: &str) {
    let double = start(encryption);
    let batches = [
        fixed::SETS,
        fixed::ROWS,
        fixed::ERROR_BETWEEN,
        fixed::TYPES,
        UNSCRIPTED,
    ];
    let Some((rows, messages)) = tsql(&double, wanted, PASSWORD, &batches) else {
        return;
    };
    assert!(rows.contains("4999\tnumber 4999\n"), "{rows}");
    assert!(rows.contains("Größe € 😀"), "{rows}");
    assert!(
        rows.contains("2\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\tNULL\n"),
        "{rows}"
    );
    assert!(messages.contains("between"), "{messages}");
    assert!(
        messages.contains("Msg 50000 (severity 16, state 3)"),
        "{messages}"
    );
    assert!(
        messages.contains("Msg 50001 (severity 16, state 1)"),
        "{messages}"
    );
    assert_eq!(double.violations(), Vec::<String>::new());
    assert_eq!(double.unscripted(), [format!("{UNSCRIPTED}\n")]);
}

#[test]
fn tsql_gets_what_the_script_says() {
    tsql_passes(Encryption::None, "off");
}

#[test]
fn tsql_gets_it_through_tls() {
    tsql_passes(Encryption::Required, "require");
}

#[test]
fn tsql_with_a_wrong_password_is_refused() {
    let double = start(Encryption::None);
    let Some((_, messages)) = tsql(&double, "off", "wrong", &[]) else {
        return;
    };
    assert!(
        messages.contains("Msg 18456 (severity 14, state 1)"),
        "{messages}"
    );
    assert!(
        messages.contains("Login failed for user 'sa'."),
        "{messages}"
    );
}
