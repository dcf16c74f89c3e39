//! Encrypted connections to a PostgreSQL: `sslmode` and `sslrootcert` behave as in libpq.

#![cfg(all(unix, feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    reason = "a panic with its line is what a failing test should give"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use engine::Engine;
use experiment::spec::Temperature;
use host::clock::Clock;
use postgres::{Postgres, ServerUrl};
use tempfile::TempDir;
use testing::server::{Folders, SessionContext, binaries, experiment, load, run};
use testing::theirs::{ENCODED, Theirs};

/// Certificates, each with its key beside it.
struct Certificates(TempDir);

impl Certificates {
    /// `authority` signs `server`, for the name localhost, and `client`, for the user boss; `other` knows neither; `alone`
    /// signs itself as in PostgreSQL's manual.
    fn new() -> Certificates {
        let certificates = Certificates(tempfile::tempdir().unwrap());
        certificates.make("authority", "/CN=authority", &[]);
        certificates.make("other", "/CN=other", &[]);
        certificates.make("alone", "/CN=localhost", &[]);
        let authority = certificates.path("authority.pem");
        let key = certificates.path("authority.key");
        let signed = [
            "-CA",
            &authority,
            "-CAkey",
            &key,
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ];
        let named = ["-addext", "subjectAltName=DNS:localhost"];
        certificates.make("server", "/CN=somebody", &[&signed[..], &named].concat());
        certificates.make("client", "/CN=boss", &signed);
        certificates
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn make(&self, name: &str, subject: &str, more: &[&str]) {
        let output = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
            ])
            .args(["-nodes", "-days", "2", "-subj", subject, "-out"])
            .arg(self.path(&format!("{name}.pem")))
            .arg("-keyout")
            .arg(self.path(&format!("{name}.key")))
            .args(more)
            .output()
            .expect("openssl");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Starts the server anew with one of them.
    fn installed(&self, server: &Theirs, name: &str) {
        for kind in ["pem", "key"] {
            let to = server.path(&format!("server.{kind}"));
            fs::copy(self.path(&format!("{name}.{kind}")), &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
            server.hand_over(&to);
        }
        let certificate = format!("ssl_cert_file={}", server.path("server.pem").display());
        let key = format!("ssl_key_file={}", server.path("server.key").display());
        let authority = server.path("authority.pem");
        fs::copy(self.path("authority.pem"), &authority).unwrap();
        server.hand_over(&authority);
        let clients = format!("ssl_ca_file={}", authority.display());
        server.up(&[
            "listen_addresses=127.0.0.1",
            "ssl=on",
            &certificate,
            &key,
            &clients,
        ]);
    }
}

/// A recording that is started only for its connection.
struct Recorder<'a> {
    server: &'a Theirs,
    folder: TempDir,
}

impl Recorder<'_> {
    fn of(server: &Theirs) -> Recorder<'_> {
        Recorder {
            server,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("profile.toml")
    }

    fn start(&self, host: &str, parameters: &str, environment: &[(&str, &str)]) -> Child {
        let port = self.server.port();
        let url = format!("postgresql://boss:{ENCODED}@{host}:{port}/postgres?{parameters}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbstow"));
        command
            .args([
                "record", "--every", "1s", "--for", "600s", "--server", &url, "--out",
            ])
            .arg(self.out())
            // Nobody's certificates but those of the URL.
            .env("HOME", self.folder.path())
            .env_remove("PGSSLMODE")
            .env_remove("PGSSLROOTCERT")
            .env_remove("PGSSLCERT")
            .env_remove("PGSSLKEY")
            .env_remove("PGSSLCERTMODE")
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Whether its connection is encrypted, as reported by the server.
    fn is_encrypted(&self, host: &str, parameters: &str, environment: &[(&str, &str)]) -> bool {
        let mut recording = self.start(host, parameters, environment);
        let state = "SELECT string_agg(ssl::text, ' ') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE application_name = 'dbstow' AND query LIKE 'EXECUTE look%'";
        let state = loop {
            let state = self.server.sql(state);
            if !state.is_empty() {
                break state;
            }
            if recording.try_wait().unwrap().is_some() {
                panic!(
                    "{host} {parameters}: {}",
                    text(&recording.wait_with_output().unwrap())
                );
            }
        };
        recording.kill().unwrap();
        recording.wait().unwrap();
        let own = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'dbstow'";
        while !self.server.sql(own).is_empty() {}
        state == "true"
    }

    /// Asserts that it is refused with `texts`, and that nothing of the password is shown.
    fn refused(&self, host: &str, parameters: &str, texts: &[&str]) {
        let output = self
            .start(host, parameters, &[])
            .wait_with_output()
            .unwrap();
        let said = text(&output);
        assert!(!output.status.success(), "{host} {parameters}: {said}");
        for text in texts {
            assert!(said.contains(text), "{host} {parameters}: {said}");
        }
        assert!(!said.contains(ENCODED), "{said}");
        assert!(!self.out().exists());
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_connection_is_encrypted_as_the_url_says() {
    let Some(binaries) = binaries() else { return };
    let certificates = Certificates::new();
    let server = Theirs::made(&binaries, &binaries);
    certificates.installed(&server, "server");
    let recorder = Recorder::of(&server);
    let with =
        |mode: &str, root: &str| format!("sslmode={mode}&sslrootcert={}", certificates.path(root));
    assert!(recorder.is_encrypted("127.0.0.1", "", &[]), "prefer");
    assert!(!recorder.is_encrypted("127.0.0.1", "sslmode=disable", &[]));
    assert!(!recorder.is_encrypted("127.0.0.1", "sslmode=allow", &[]));
    assert!(recorder.is_encrypted("127.0.0.1", "sslmode=require", &[]));
    assert!(recorder.is_encrypted("127.0.0.1", &with("verify-ca", "authority.pem"), &[]));
    assert!(recorder.is_encrypted("localhost", &with("verify-full", "authority.pem"), &[]));
    let environment = [
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", &certificates.path("authority.pem")),
    ];
    assert!(recorder.is_encrypted("localhost", "", &environment));

    certificates.installed(&server, "alone");
    assert!(recorder.is_encrypted("localhost", &with("verify-full", "alone.pem"), &[]));
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_the_users_own() {
    let Some(binaries) = binaries() else { return };
    let certificates = Certificates::new();
    let server = Theirs::made(&binaries, &binaries);
    let recorder = Recorder::of(&server);
    let root = certificates.path("authority.pem");
    let verified = format!("sslmode=verify-full&sslrootcert={root}");
    let own = |name: &str| {
        let file = |kind: &str| certificates.path(&format!("{name}.{kind}"));
        format!("{verified}&sslcert={}&sslkey={}", file("pem"), file("key"))
    };
    // The certificate instead of a password; and beside one, which SCRAM checks.
    for method in ["cert", "scram-sha-256 clientcert=verify-full"] {
        let lines = format!("local all all scram-sha-256\nhostssl all all all {method}\n");
        fs::write(server.path("data/pg_hba.conf"), lines).unwrap();
        certificates.installed(&server, "server");
        assert!(
            recorder.is_encrypted("localhost", &own("client"), &[]),
            "{method}"
        );
        let environment = [
            ("PGSSLCERT", &*certificates.path("client.pem")),
            ("PGSSLKEY", &*certificates.path("client.key")),
        ];
        assert!(recorder.is_encrypted("localhost", &verified, &environment));

        let none = ["SQLSTATE 28000", "sslcert=FILE"];
        recorder.refused("localhost", &verified, &none);
        // Of an authority that the server does not know, and for another user.
        let log = || fs::read_to_string(server.path("log")).unwrap();
        let earlier = log().len();
        recorder.refused("localhost", &own("other"), &["localhost"]);
        // The server writes it after it has answered the client.
        let clock = Clock::start();
        while !log()[earlier..].contains("could not accept SSL connection") {
            let seconds = clock.now().as_secs_f64();
            assert!(seconds < 30.0, "{}", &log()[earlier..]);
        }
        recorder.refused("localhost", &own("server"), &["SQLSTATE 28"]);
    }

    // A run's sessions, too.
    let url = format!(
        "postgresql://boss:{ENCODED}@localhost:{}/postgres?{}",
        server.port(),
        own("client")
    );
    let site = Folders::new(2);
    let (settings, workload) = experiment("version-store", "postgres", 2, 1);
    let url = ServerUrl::parse(&url).unwrap();
    let mut engine = Postgres::external(&url, &site, &settings, &workload).unwrap();
    load(&engine, &workload, 1);
    let with = "SELECT count(*) > 0 AND bool_and(client_dn IS NOT DISTINCT FROM '/CN=boss') \
                FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name LIKE 'dbstow%'";
    let seat = SessionContext(engine.connect(0).unwrap());
    assert_eq!(server.sql(with), "t");
    drop(seat);
    engine.stop().unwrap();

    for (from, to, said) in [
        ("client.key", "open.key", "chmod 0600"),
        ("client.pem", "no.key", "holds no private key"),
    ] {
        fs::copy(certificates.path(from), certificates.path(to)).unwrap();
        let mode = if to == "open.key" { 0o644 } else { 0o600 };
        fs::set_permissions(certificates.path(to), fs::Permissions::from_mode(mode)).unwrap();
        let certificate = certificates.path("client.pem");
        let parameters = format!(
            "{verified}&sslcert={certificate}&sslkey={}",
            certificates.path(to)
        );
        recorder.refused("localhost", &parameters, &[said]);
    }
    // The certificate of another key.
    let parameters = format!(
        "{verified}&sslcert={}&sslkey={}",
        certificates.path("client.pem"),
        certificates.path("other.key")
    );
    recorder.refused("localhost", &parameters, &["do not match"]);
}

#[test]
fn a_default_certificate_that_cannot_be_used_can_be_left_out() {
    let Some(binaries) = binaries() else { return };
    let certificates = Certificates::new();
    let server = Theirs::made(&binaries, &binaries);
    certificates.installed(&server, "server");
    let recorder = Recorder::of(&server);
    assert!(recorder.is_encrypted("127.0.0.1", "", &[]));

    let home = recorder.folder.path().join(".postgresql");
    fs::create_dir(&home).unwrap();
    for (from, to, mode) in [
        ("client.pem", "postgresql.crt", 0o644),
        ("client.key", "postgresql.key", 0o644),
    ] {
        fs::copy(certificates.path(from), home.join(to)).unwrap();
        fs::set_permissions(home.join(to), fs::Permissions::from_mode(mode)).unwrap();
    }
    let said = ["postgresql.key", "chmod 0600", "sslcertmode=disable"];
    recorder.refused("127.0.0.1", "", &said);
    assert!(recorder.is_encrypted("127.0.0.1", "sslcertmode=disable", &[]));
    assert!(recorder.is_encrypted("127.0.0.1", "", &[("PGSSLCERTMODE", "disable")]));

    let named = format!(
        "sslcertmode=disable&sslcert={}",
        certificates.path("client.pem")
    );
    recorder.refused("127.0.0.1", &named, &["sslcert has no effect"]);
}

#[test]
fn what_is_not_as_required_is_refused_with_a_remedy() {
    let Some(binaries) = binaries() else { return };
    let certificates = Certificates::new();
    let server = Theirs::made(&binaries, &binaries);
    certificates.installed(&server, "server");
    let recorder = Recorder::of(&server);
    let with =
        |mode: &str, root: &str| format!("sslmode={mode}&sslrootcert={}", certificates.path(root));
    let other_name = ["is not for 127.0.0.1", "sslmode=verify-ca"];
    recorder.refused(
        "127.0.0.1",
        &with("verify-full", "authority.pem"),
        &other_name,
    );
    let untrusted = ["certificate is not trusted", "sslrootcert=FILE"];
    recorder.refused("localhost", &with("verify-full", "other.pem"), &untrusted);
    recorder.refused("localhost", &with("verify-ca", "other.pem"), &untrusted);
    recorder.refused("localhost", &with("require", "other.pem"), &untrusted);
    recorder.refused("localhost", "sslmode=verify-full", &untrusted);
    recorder.refused("localhost", "sslmode=verify-ca", &["give sslrootcert=FILE"]);

    // Nobody gets in without TLS.
    let lines = "local all all scram-sha-256\nhostssl all all all scram-sha-256\n";
    fs::write(server.path("data/pg_hba.conf"), lines).unwrap();
    certificates.installed(&server, "server");
    recorder.refused(
        "localhost",
        "sslmode=disable",
        &["SQLSTATE 28000", "use sslmode=require"],
    );
    assert!(recorder.is_encrypted("localhost", "sslmode=allow", &[]));

    // Nobody gets in with TLS.
    let lines = "local all all scram-sha-256\nhostnossl all all all scram-sha-256\n";
    fs::write(server.path("data/pg_hba.conf"), lines).unwrap();
    certificates.installed(&server, "server");
    recorder.refused("localhost", "sslmode=require", &["SQLSTATE 28000"]);
    assert!(!recorder.is_encrypted("localhost", "", &[]));

    server.up(&["listen_addresses=127.0.0.1", "ssl=off"]);
    let none = ["does not offer TLS", "sslmode=disable"];
    recorder.refused("localhost", "sslmode=require", &none);
    recorder.refused("localhost", &with("verify-full", "authority.pem"), &none);
    assert!(!recorder.is_encrypted("localhost", "", &[]));
}

#[test]
fn sessions_of_a_run_on_a_given_server_are_encrypted_and_the_report_says_so() {
    let Some(binaries) = binaries() else { return };
    let certificates = Certificates::new();
    let server = Theirs::made(&binaries, &binaries);
    certificates.installed(&server, "server");
    let (port, root) = (server.port(), certificates.path("authority.pem"));
    let url = format!(
        "postgresql://boss:{ENCODED}@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={root}"
    );
    let site = Folders::new(2);
    let (settings, workload) = experiment("version-store", "postgres", 2, 1);
    let mut engine = Postgres::external(
        &ServerUrl::parse(&url).unwrap(),
        &site,
        &settings,
        &workload,
    )
    .unwrap();
    load(&engine, &workload, 1);
    let notes = engine
        .start(Temperature::Cold, &mut || Ok(Vec::new()))
        .unwrap();
    assert!(notes.join("\n").contains("sslmode=disable"), "{notes:?}");
    let mut seat = SessionContext(engine.connect(0).unwrap());
    assert_eq!(run(&mut seat, &workload, (0, 1), 20), [""; 0]);
    let encrypted = "SELECT count(*) > 0 AND bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE application_name LIKE 'dbstow%'";
    assert_eq!(server.sql(encrypted), "t");
    drop(seat);
    engine.stop().unwrap();
}
