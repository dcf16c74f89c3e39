//! A private server under drill: clients write a ledger, and crash states of its volumes are checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::orphans::Registration;
use host::site::Site;
use model::Bytes;

use crate::drill::moved::Places;
use crate::drill::replayed::{self, OF_SERVER, OF_SESSIONS};
use crate::session::login::{OBSERVER, SESSION, open};
use crate::session::target::SessionSettings;
use crate::session::wire::Connection;
use crate::trial::cluster::Cluster;
use crate::trial::find::Binaries;
use crate::trial::tablespaces::{self, Tablespaces};
use engine::EngineError;
use engine::drilled::{
    ACCOUNTS, ControlSpec, Found, Kind, Origin, Product, Server, ServerSpec, Verdict, Writer,
    accounts,
};
use engine::managed_server::{Directories, Owner};
use engine::row::first;
use experiment::spec::{Commit, Role};

/// Connections besides those that write the ledger.
const CONNECTIONS_SPARE: u32 = 20;

/// What all clients have written to the ledger, and the required content of each row.
const CONTENT: &str = "repeat(md5(session || '/' || number), 6)";

/// PostgreSQL: a private server, on volumes under drill.
pub struct PostgresProduct {
    binaries: Binaries,
    /// The user it runs as.
    owner: Option<Owner>,
    registration: Arc<Registration>,
}

impl PostgresProduct {
    /// Uses these programs, as this user; what it creates is noted in `registration`.
    pub fn new(
        binaries: Binaries,
        owner: Option<Owner>,
        registration: &Arc<Registration>,
    ) -> PostgresProduct {
        PostgresProduct {
            binaries,
            owner,
            registration: Arc::clone(registration),
        }
    }
}

/// Its page: a disk that writes it atomically needs no `full_page_writes`.
const PAGE: Bytes = Bytes::kib(8);

/// Settings under which PostgreSQL must not survive.
/// <https://www.postgresql.org/docs/current/runtime-config-wal.html> (`fsync`, `full_page_writes`), read 2026-11-24.
const CONTROLS: [ControlSpec; 2] = [
    ControlSpec {
        setting: "fsync",
        value: "off",
        kind: Kind::Power,
        page: PAGE,
        is_noticed: |verdict| matches!(verdict, Verdict::Lost { .. }),
    },
    ControlSpec {
        setting: "full_page_writes",
        value: "off",
        kind: Kind::Torn,
        page: PAGE,
        is_noticed: |verdict| match verdict {
            Verdict::Corrupt { .. } => true,
            Verdict::DoesNotStart { why } => why.contains("invalid page"),
            Verdict::Intact | Verdict::Lost { .. } => false,
        },
    },
];

/// A private server under drill.
struct Drilled {
    cluster: Cluster,
    sessions: u32,
}

/// Little memory, so that pages are written continuously; checkpoints occur on request, and keep few log files for reuse.
const SETTINGS: [(&str, &str); 5] = [
    ("shared_buffers", "4MB"),
    ("checkpoint_timeout", "1d"),
    ("max_wal_size", "1GB"),
    ("min_wal_size", "32MB"),
    ("restart_after_crash", "off"),
];

/// A client that writes the ledger.
struct Client {
    connection: Connection,
    session: u32,
}

impl PostgresProduct {
    fn server(&self, spec: &ServerSpec<'_>, cluster: Cluster) -> Drilled {
        let own = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = spec.settings;
        let temp = 1..=settings.placement.files(Role::Temp).len();
        let temp: Vec<String> = temp
            .map(|number| format!("{}_{number}", Role::Temp))
            .collect();
        let connections = spec.sessions + CONNECTIONS_SPARE;
        let mut more = vec![
            ("temp_tablespaces".to_owned(), temp.join(",")),
            ("max_connections".to_owned(), connections.to_string()),
        ];
        if settings.engine.commit == Commit::Relaxed {
            more.push(("synchronous_commit".to_owned(), "off".to_owned()));
        }
        let nothing = OF_SERVER.iter().chain(&OF_SESSIONS);
        let nothing = nothing.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let all = nothing.chain(own).chain(more);
        let all = all.chain(spec.own.iter().cloned());
        let of_sessions: SessionSettings = match spec.origin {
            // Settings from `--setting` are used.
            Origin::ThisRun => &[],
            Origin::Folder => &OF_SESSIONS,
        };
        let cluster = cluster.reading_no_file_of_its_data().with(all);
        Drilled {
            cluster: cluster.with_sessions(of_sessions),
            sessions: spec.sessions,
        }
    }
}

impl Product for PostgresProduct {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn owner(&self) -> Option<Owner> {
        self.owner
    }

    fn make(&self, spec: &ServerSpec<'_>, site: &dyn Site) -> Result<(), EngineError> {
        let places = Places::of(site, spec.settings);
        // They vanish with the volumes.
        let mut directories = Directories::new(self.owner);
        let cluster = Cluster::create(
            (&self.binaries, self.owner),
            &self.registration,
            &mut directories,
            (&places.data, &places.log),
            spec.settings,
            &["--data-checksums"],
        )?;
        for tablespace in places.tablespaces.all() {
            directories.make(&tablespace.directory)?;
        }
        directories.keep();
        let drilled = self.server(spec, cluster);
        drilled.cluster.start()?;
        let loaded = drilled.load(&places.tablespaces);
        let stopped = drilled.cluster.server().shut_down();
        let ended = drilled.end();
        loaded.and(stopped)?;
        ended.map_err(|why| EngineError::failed("end PostgreSQL", why))
    }

    fn found(
        &self,
        spec: &ServerSpec<'_>,
        site: &dyn Site,
        moved: &[(PathBuf, PathBuf)],
    ) -> Result<Result<Box<dyn Server>, String>, EngineError> {
        let places = Places::of(site, spec.settings);
        let used = spec.settings.placement.volumes().len();
        let volumes: Vec<&Path> = (0..used).map(|place| site.directory(place)).collect();
        if let Err(why) = places.make_ready(&volumes, moved, self.owner, spec.origin) {
            return Ok(Err(why));
        }
        let program = (&self.binaries, self.owner);
        let data = &places.data;
        let cluster = Cluster::found(program, &self.registration, data, spec.settings)?;
        Ok(Ok(Box::new(self.server(spec, cluster))))
    }

    fn may_set(&self, name: &str, value: &str) -> Result<(), String> {
        replayed::may_set(name, value)
    }

    fn controls(&self) -> &'static [ControlSpec] {
        &CONTROLS
    }
}

impl Drilled {
    fn load(&self, tablespaces: &Tablespaces) -> Result<(), EngineError> {
        let mut connection = self.connect(OBSERVER)?;
        tablespaces::create(&mut connection, tablespaces)
            .map_err(|error| EngineError::failed("make tablespaces", error))?;
        let place = |number: usize| &tablespaces.data[number % tablespaces.data.len()].name;
        let (ledger, accounts) = (place(0), place(1));
        for statement in [
            format!(
                "CREATE TABLE ledger(session int, number bigint, content text NOT NULL, source int NOT NULL, target int NOT \
                 NULL, PRIMARY KEY (session, number) USING INDEX TABLESPACE {ledger}) TABLESPACE {ledger}"
            ),
            format!(
                "CREATE TABLE accounts(id int PRIMARY KEY USING INDEX TABLESPACE {accounts}, balance bigint NOT NULL, \
                 filler text) TABLESPACE {accounts}"
            ),
            format!(
                "INSERT INTO accounts SELECT id, 0, repeat('x', 80) FROM generate_series(1, {ACCOUNTS}) AS id"
            ),
            "CREATE EXTENSION amcheck".to_owned(),
            "VACUUM ANALYZE".to_owned(),
        ] {
            connection
                .work(&statement)
                .map_err(|error| EngineError::failed(&statement, error))?;
        }
        Ok(())
    }

    fn look_into(&self, found: &mut Found) -> Result<(), String> {
        let mut connection = self.connect(OBSERVER).map_err(|error| error.to_string())?;
        let mut ask = |what: &str, sql: &str| {
            connection
                .work(sql)
                .map_err(|error| format!("{what}: {error}"))
        };
        // Without an index, so that every row is read.
        ask(
            "set up a session",
            "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off",
        )?;
        let rows = ask(
            "read the ledger",
            &format!(
                "SELECT session, max(number), count(*), count(DISTINCT number), bool_and(content = {CONTENT}) \
             FROM ledger GROUP BY session ORDER BY session"
            ),
        )?;
        for row in rows {
            let number = |place: usize| row.number::<u64>(place).ok().flatten();
            let (session, last, rows) = (number(0), number(1), number(2));
            let (Some(session), Some(last)) = (session, last) else {
                found
                    .contradictions
                    .push("a row of the ledger has no number".to_owned());
                continue;
            };
            if rows != Some(last) || number(3) != Some(last) {
                found.contradictions.push(format!(
                    "session {session} has {} rows up to commit {last}",
                    rows.unwrap_or(0)
                ));
            }
            if row.text(4) != Ok(Some("t")) {
                found
                    .contradictions
                    .push(format!("a row of session {session} has other content"));
            }
            if let Some(place) = found.last.get_mut(session as usize) {
                *place = last;
            }
        }
        // Every account has the balance from the transfers of all surviving commits, and none is missing.
        let wrong = ask(
            "read the accounts",
            &format!(
                "SELECT count(*) FROM generate_series(1, {ACCOUNTS}) AS id FULL JOIN accounts USING (id) LEFT JOIN (SELECT id, \
             sum(amount) AS amount FROM (SELECT source AS id, -number AS amount FROM ledger UNION ALL SELECT target, number FROM \
             ledger) AS transfer GROUP BY id) AS transfers USING (id) WHERE balance IS DISTINCT FROM coalesce(amount, 0)"
            ),
        )?;
        let wrong = first(&wrong)
            .and_then(|row| row.word(0))
            .unwrap_or_default();
        if wrong != "0" {
            found.contradictions.push(format!(
                "{wrong} of {ACCOUNTS} accounts are missing or have another balance than the ledger says"
            ));
        }
        for index in ["ledger_pkey", "accounts_pkey"] {
            ask(
                &format!("check index {index}"),
                &format!("SELECT bt_index_check('{index}'::regclass, true)"),
            )?;
        }
        for table in ["ledger", "accounts"] {
            let rows = ask(
                &format!("check table {table}"),
                &format!("SELECT msg FROM verify_heapam('{table}'::regclass)"),
            )?;
            if let Some(message) = rows.iter().find_map(|row| row.text(0).ok().flatten()) {
                found.contradictions.push(format!("{table}: {message}"));
            }
        }
        Ok(())
    }

    fn connect(&self, name: &str) -> Result<Connection, EngineError> {
        open(&self.cluster.target("postgres"), name)
    }
}

impl Server for Drilled {
    fn version(&self) -> Result<String, EngineError> {
        let asked = "SHOW server_version";
        let rows = self.connect(OBSERVER)?.work(asked);
        let rows = rows.map_err(|error| EngineError::failed(asked, error))?;
        let answer = first(&rows).and_then(|row| Ok(row.word(0)?.to_owned()));
        answer.map_err(|error| EngineError::failed(asked, error))
    }

    fn start(&self) -> Result<Result<(), String>, EngineError> {
        match self.cluster.start() {
            Ok(()) => Ok(Ok(())),
            Err(error) => match self.exit_reason() {
                Some(why) => Ok(Err(why)),
                None => Err(error),
            },
        }
    }

    fn shut_down(&self) -> Result<(), EngineError> {
        self.cluster.server().shut_down()
    }

    fn end(&self) -> Result<(), String> {
        self.cluster.server().end(false)
    }

    fn exit_reason(&self) -> Option<String> {
        let exit_reason = self.cluster.server().exit_reason()?;
        Some(self.cluster.server().cause().unwrap_or(exit_reason))
    }

    fn writer(&self, session: u32) -> Result<Box<dyn Writer>, EngineError> {
        Ok(Box::new(Client {
            connection: self.connect(SESSION)?,
            session,
        }))
    }

    fn checkpoint(&self) -> Result<(), EngineError> {
        let mut connection = self.connect(OBSERVER)?;
        let done = connection.work("CHECKPOINT");
        done.map(|_| ())
            .map_err(|error| EngineError::failed("CHECKPOINT", error))
    }

    fn spill(&self) -> Result<(), EngineError> {
        let mut connection = self.connect(SESSION)?;
        let sort = "SELECT count(*) FROM (SELECT id FROM accounts ORDER BY filler, balance, -id OFFSET 0) AS sorted";
        let table = "CREATE TEMPORARY TABLE some_accounts AS SELECT * FROM accounts LIMIT 1000";
        for (what, statement) in [
            ("set up a session", "SET work_mem = '64kB'"),
            ("sort", sort),
            ("make a temporary table", table),
        ] {
            connection
                .work(statement)
                .map_err(|error| EngineError::failed(what, error))?;
        }
        Ok(())
    }

    fn look(&self) -> Found {
        let mut found = Found {
            last: vec![0; self.sessions as usize],
            contradictions: Vec::new(),
        };
        if let Err(error) = self.look_into(&mut found) {
            found.contradictions.push(error);
        }
        found
    }
}

impl Writer for Client {
    fn commit(&mut self, number: u64) -> Result<(), EngineError> {
        let session = self.session;
        let (from, to) = accounts(session, number);
        // One message, thus one transaction.
        let sql = format!(
            "INSERT INTO ledger SELECT session, number, {CONTENT}, {from}, {to} FROM (VALUES ({session}, {number}::bigint)) AS \
             v(session, number); UPDATE accounts SET balance = balance - {number} WHERE id = {from}; UPDATE accounts SET balance = \
             balance + {number} WHERE id = {to}"
        );
        let done = self.connection.work(&sql);
        done.map(|_| ())
            .map_err(|error| EngineError::failed("write the ledger", error))
    }
}
