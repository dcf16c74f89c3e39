//! Answers dbstow's queries from the state.

use sqlserver::tsql::question::{self, Needs};

use super::error;
use super::state::{BATCHES, COMMITS, COMMITS_OF_TEMPDB, Database, File, TEMPDB, Waiting};
use super::text::{Max, PAGE};
use super::{AZURE_DATABASE, SqlServer};
use crate::model::Session;
use crate::reply::{Item, Reply, Rows};
use crate::value::{Kind, Value};

/// The reply to a query, or `None` where the text is not one.
pub(super) fn answer(server: &SqlServer, session: &Session, text: &str) -> Option<Reply> {
    let question = question::QUESTIONS
        .into_iter()
        .find(|question| question.text == text)?;
    let azure = server.edition.engine == AZURE_DATABASE;
    if azure && !question.azure_database {
        return Some(Reply::error(error::invalid_object(object(text))));
    }
    let needed = match question.needs {
        Needs::ServerState => Some(server.state_permission()),
        Needs::SecurityState => Some(server.security_permission()),
        Needs::Nothing | Needs::Definition => None,
    };
    if let Some(needed) = needed.filter(|needed| !server.may(&session.login, needed)) {
        let mut reply = Reply::new();
        let errors = error::state_denied(needed);
        reply.items.extend(errors.map(Item::Error));
        return Some(reply);
    }
    let rows = rows(server, session, text)
        .unwrap_or_else(|| panic!("no rows for the question \"{}\"", question.name));
    Some(Reply::new().rows(rows))
}

/// The sources that a text selects from.
fn object(text: &str) -> &str {
    let after = text.split_once(" FROM ").map_or(text, |(_, after)| after);
    after.split([' ', ';', '(']).next().unwrap_or(after)
}

fn rows(server: &SqlServer, session: &Session, text: &str) -> Option<Rows> {
    let rows = match text {
        _ if text == question::IDENTITY.text => identity(server, session),
        _ if text == question::PERMISSIONS.text => permissions(server, session),
        _ if text == question::HOST.text => {
            table("platform distribution release", "ttt").row(words(&[
                &server.edition.platform,
                &server.edition.distribution,
                "",
            ]))
        }
        _ if text == question::MACHINE.text => table(
            "processors memory_kb target_kb started virtual_machine",
            "nnntt",
        )
        .row([
            server.edition.processors.into(),
            server.edition.memory_kb.into(),
            server.edition.memory_kb.into(),
            started(server).into(),
            "HYPERVISOR".into(),
        ]),
        _ if text == question::STARTED.text => table("started", "t").row([started(server).into()]),
        _ if text == question::SERVICES.text => services(server),
        _ if text == question::SETTINGS.text => server
            .settings
            .iter()
            .fold(table("name value", "tn"), |rows, (name, setting)| {
                rows.row([name.as_str().into(), setting.in_use.into()])
            }),
        _ if text == question::DATABASES.text => databases(server),
        _ if text == question::FILES.text => files(server, session),
        _ if text == question::TEMPDB_IN_USE.text => tempdb_in_use(server),
        _ if text == question::READY.text => table("ready", "n").row([1.into()]),
        _ if text == question::VOLUMES.text => volumes(server),
        _ if text == question::FILE_IO.text => file_io(server),
        _ if text == question::WAITS.text => waits(server),
        _ if text == question::CACHED.text => cached(server),
        _ if text == question::TEMPDB_SPACE.text => tempdb_space(server),
        _ if text == question::TRACE_FLAGS.text => table("TraceFlag Status Global Session", "nnnn"),
        _ if text == question::PERFORMANCE.text => performance(server),
        _ if text == question::WAITING.text => waiting(server.waiting.iter()),
        _ if text == question::SESSION_READS.text => session_reads(server),
        _ if text == question::STATEMENTS.text => statements(server),
        _ if text == question::PROCESS.text => process(server),
        _ if text == question::FILE_REQUESTS.text => file_requests(server, session),
        _ if text == question::BATCHES.text => batches(server),
        _ if text == question::LAST_REQUESTS.text => last_requests(server, session),
        _ if text == question::REQUESTS.text => requests(server, session),
        _ => return None,
    };
    Some(rows)
}

/// Columns by name, and a letter for the type: `n` for bigint, `t` for nvarchar.
fn table(names: &str, kinds: &str) -> Rows {
    let kind = |letter| {
        if letter == 'n' {
            Kind::BigInt
        } else {
            Kind::Text(512)
        }
    };
    Rows::new(names.split(' ').zip(kinds.chars().map(kind)))
}

fn words<const N: usize>(words: &[&str; N]) -> [Value; N] {
    words.map(Value::from)
}

/// Advances by a day at each start. The double has no clock: its times are made up, and only differ.
fn started(server: &SqlServer) -> String {
    format!("2026-01-{:02}T08:00:00.000", server.starts.min(28))
}

fn identity(server: &SqlServer, session: &Session) -> Rows {
    let names = "version edition engine_edition tempdb_metadata_in_memory is_clustered data_path log_path server_name instance \
                 database_name login_name taken babelfish";
    let in_memory = server.settings["tempdb metadata memory-optimized"].in_use;
    let folder = server.folder();
    table(names, "ttnnntttttttt").row([
        server.edition.version.as_str().into(),
        server.edition.name.as_str().into(),
        server.edition.engine.into(),
        Value::from((server.major() >= 15).then_some(in_memory)),
        i64::from(server.clustered).into(),
        folder.as_str().into(),
        folder.as_str().into(),
        server.name.as_str().into(),
        server.instance.as_str().into(),
        session.database.as_str().into(),
        session.login.as_str().into(),
        "2026-02-01T12:00:00.0000000+00:00".into(),
        Value::from(server.babelfish.as_deref()),
    ])
}

fn permissions(server: &SqlServer, session: &Session) -> Rows {
    let names = [
        "VIEW SERVER STATE",
        "VIEW SERVER PERFORMANCE STATE",
        "VIEW SERVER SECURITY STATE",
        "VIEW ANY DEFINITION",
        "ALTER SERVER STATE",
        "ALTER SETTINGS",
        "CREATE ANY DATABASE",
        "ALTER ANY DATABASE",
        "CONTROL SERVER",
        "sysadmin",
    ];
    names
        .into_iter()
        .fold(table("permission allowed", "tn"), |rows, name| {
            // A permission unknown to this version is NULL.
            let parts = [
                "VIEW SERVER PERFORMANCE STATE",
                "VIEW SERVER SECURITY STATE",
            ];
            let known = !parts.contains(&name) || server.major() >= 16;
            // The double has no roles: a login with CONTROL counts as its administrator.
            let permission = if name == "sysadmin" {
                "CONTROL SERVER"
            } else {
                name
            };
            let allowed = i64::from(server.may(&session.login, permission));
            rows.row([name.into(), known.then_some(allowed).into()])
        })
}

fn services(server: &SqlServer) -> Rows {
    let flag = if server.instant_file_initialization {
        "Y"
    } else {
        "N"
    };
    let account = if server.edition.platform == "Windows" {
        "NT Service\\MSSQLSERVER"
    } else {
        "mssql"
    };
    table("name account instant_file_initialization", "ttt").row(words(&[
        "SQL Server (MSSQLSERVER)",
        account,
        flag,
    ]))
}

fn databases(server: &SqlServer) -> Rows {
    let rows = table(
        "id name recovery read_committed_snapshot encrypted",
        "nttnn",
    );
    server.databases.iter().fold(rows, |rows, (id, database)| {
        rows.row([
            (*id).into(),
            database.name.as_str().into(),
            database.recovery.as_str().into(),
            i64::from(database.read_committed_snapshot).into(),
            0.into(),
        ])
    })
}

/// Every file with the ids of its database and of itself.
fn each_file(server: &SqlServer) -> impl Iterator<Item = (i64, i64, &Database, &File)> {
    server.databases.iter().flat_map(|(id, database)| {
        let files = database.files.iter();
        files.map(move |(file_id, file)| (*id, *file_id, database, file))
    })
}

fn kind(file: &File) -> &'static str {
    if file.log { "LOG" } else { "ROWS" }
}

/// Without the permission, a login sees no files of others in `sys.master_files`.
fn sees(server: &SqlServer, session: &Session, database: &Database) -> bool {
    let all = ["VIEW ANY DEFINITION", "ALTER ANY DATABASE"]
        .iter()
        .any(|name| server.may(&session.login, name));
    all || database.owner == session.login
}

/// tempdb's files as of the next start.
fn files(server: &SqlServer, session: &Session) -> Rows {
    let names = "database_id id kind name path size_pages max_pages growth percent_growth state";
    let seen = each_file(server).filter(|(_, _, database, _)| sees(server, session, database));
    seen.fold(
        table(names, "nntttnnnnt"),
        |rows, (id, file_id, database, file)| {
            let max = match file.max {
                // A log with unlimited growth is limited to 2 TiB.
                Max::Unlimited if file.log => 268_435_456,
                Max::Unlimited => -1,
                Max::Pages(pages) => pages as i64,
            };
            let (growth, percent) = file.growth.columns();
            let pending = database.options.contains("RECOVERY_PENDING");
            rows.row([
                id.into(),
                file_id.into(),
                kind(file).into(),
                file.next.name.as_str().into(),
                file.next.path.as_str().into(),
                (file.next.pages as i64).into(),
                max.into(),
                growth.into(),
                percent.into(),
                if pending {
                    "RECOVERY_PENDING"
                } else {
                    "ONLINE"
                }
                .into(),
            ])
        },
    )
}

fn tempdb_in_use(server: &SqlServer) -> Rows {
    let rows = table("id kind name path size_pages", "ntttn");
    server.databases[&TEMPDB]
        .files
        .iter()
        .fold(rows, |rows, (id, file)| {
            rows.row([
                (*id).into(),
                kind(file).into(),
                file.now.name.as_str().into(),
                file.now.path.as_str().into(),
                (file.now.pages as i64).into(),
            ])
        })
}

fn volumes(server: &SqlServer) -> Rows {
    let rows = table(
        "database_id file_id mount_point label file_system total_bytes available_bytes",
        "nntttnn",
    );
    each_file(server).fold(rows, |rows, (id, file_id, _, file)| {
        match server.volume_of(&file.now.path) {
            None => rows,
            Some(volume) => rows.row([
                id.into(),
                file_id.into(),
                volume.mount_point.as_str().into(),
                volume.label.as_str().into(),
                volume.file_system.as_str().into(),
                (volume.total_bytes as i64).into(),
                (server.free(volume) as i64).into(),
            ]),
        }
    })
}

fn file_io(server: &SqlServer) -> Rows {
    let names = "database_id file_id reads read_bytes read_stall_ms read_governed_ms writes written_bytes write_stall_ms \
                 write_governed_ms size_bytes";
    each_file(server).fold(
        table(names, "nnnnnnnnnnn"),
        |rows, (id, file_id, _, file)| {
            let (io, size) = (file.io, (file.now.pages * PAGE) as i64);
            let numbers = [
                id,
                file_id,
                io.reads,
                io.read_bytes,
                io.read_stall_ms,
                0,
                io.writes,
                io.written_bytes,
                io.write_stall_ms,
                0,
                size,
            ];
            rows.row(numbers.map(Value::from))
        },
    )
}

fn process(server: &SqlServer) -> Rows {
    table("started processor_ms now_utc", "tnt").row([
        started(server).into(),
        server.processor_ms.into(),
        "2026-02-01T12:00:00.0000000".into(),
    ])
}

fn file_requests(server: &SqlServer, session: &Session) -> Rows {
    let names = "database_id file_id kind reads read_bytes read_stall_ms writes written_bytes write_stall_ms";
    each_file(server).fold(
        table(names, "nntnnnnnn"),
        |rows, (id, file_id, database, file)| {
            let io = file.io;
            rows.row([
                id.into(),
                file_id.into(),
                Value::from(sees(server, session, database).then(|| kind(file).to_owned())),
                io.reads.into(),
                io.read_bytes.into(),
                io.read_stall_ms.into(),
                io.writes.into(),
                io.written_bytes.into(),
                io.write_stall_ms.into(),
            ])
        },
    )
}

fn batches(server: &SqlServer) -> Rows {
    let counted = [BATCHES, COMMITS, COMMITS_OF_TEMPDB];
    let rows = table("counter instance value kind", "ttnn");
    server
        .performance
        .iter()
        .fold(rows, |rows, (name, (value, kind))| {
            if !counted.iter().any(|counted| counted == name) {
                return rows;
            }
            let [_, counter, instance] = name;
            rows.row([
                counter.as_str().into(),
                instance.as_str().into(),
                (*value).into(),
                (*kind).into(),
            ])
        })
}

/// Advances by a second for each text sent by any session: the double has no clock. A session that sent none is missing.
fn last_requests(server: &SqlServer, session: &Session) -> Rows {
    let others = server.asked.iter().filter(|(id, _)| **id != session.id);
    others.fold(
        table("session_id last_request", "nt"),
        |rows, (id, asked)| {
            let (minutes, second) = (asked / 60, asked % 60);
            let (day, hour, minute) = (1 + minutes / 1440 % 28, minutes / 60 % 24, minutes % 60);
            let time = format!("2026-02-{day:02}T{hour:02}:{minute:02}:{second:02}");
            rows.row([i64::from(*id).into(), time.into()])
        },
    )
}

fn requests(server: &SqlServer, session: &Session) -> Rows {
    let others = server.under_way.iter().filter(|(id, _)| **id != session.id);
    waiting(others.map(|(_, waiting)| waiting))
}

fn waits(server: &SqlServer) -> Rows {
    let counted = server.waits.iter().filter(|(_, wait)| wait.tasks > 0);
    counted.fold(
        table("kind tasks wait_ms signal_ms", "tnnn"),
        |rows, (kind, wait)| {
            rows.row([
                kind.as_str().into(),
                wait.tasks.into(),
                wait.wait_ms.into(),
                wait.signal_ms.into(),
            ])
        },
    )
}

fn cached(server: &SqlServer) -> Rows {
    let rows = table("database_id pages dirty_pages", "nnn");
    let held = server
        .databases
        .iter()
        .filter(|(_, database)| database.clean_pages + database.dirty_pages > 0);
    held.fold(rows, |rows, (id, database)| {
        let (pages, dirty) = (
            database.clean_pages + database.dirty_pages,
            database.dirty_pages,
        );
        rows.row([*id, pages as i64, dirty as i64].map(Value::from))
    })
}

fn tempdb_space(server: &SqlServer) -> Rows {
    let data = server.databases[&TEMPDB]
        .files
        .values()
        .filter(|file| !file.log);
    let (total, used) = data.fold((0, 0), |(total, used), file| {
        (total + file.now.pages, used + file.used_pages)
    });
    let numbers = [total, total - used, used, 0, 0].map(|pages| Value::from(pages as i64));
    table(
        "total_pages free_pages user_pages internal_pages version_pages",
        "nnnnn",
    )
    .row(numbers)
}

fn performance(server: &SqlServer) -> Rows {
    let rows = table("object counter instance value kind", "tttnn");
    // Commits are not among the counters of this query.
    let counters = server.performance.iter();
    let counters = counters.filter(|([_, counter, _], _)| counter != COMMITS[1]);
    counters.fold(
        rows,
        |rows, ([object, counter, instance], (value, kind))| {
            rows.row([
                object.as_str().into(),
                counter.as_str().into(),
                instance.as_str().into(),
                (*value).into(),
                (*kind).into(),
            ])
        },
    )
}

fn waiting<'a>(all: impl Iterator<Item = &'a Waiting>) -> Rows {
    let rows = table("session_id status wait_type wait_resource", "nttt");
    all.fold(rows, |rows, waiting| {
        rows.row([
            waiting.session.into(),
            waiting.status.clone().into(),
            waiting.kind.clone().into(),
            waiting.resource.clone().into(),
        ])
    })
}

/// A sum over no rows is NULL.
fn session_reads(server: &SqlServer) -> Rows {
    let numbers = server
        .session_reads
        .map_or([None; 4], |numbers| numbers.map(Some));
    table("logical_reads reads writes cpu_ms", "nnnn").row(numbers.map(Value::from))
}

fn statements(server: &SqlServer) -> Rows {
    let names = ["text", "threads", "spilled_pages"];
    let kinds = [Kind::Text(4000), Kind::BigInt, Kind::BigInt];
    let rows = Rows::new(names.into_iter().zip(kinds));
    let plans = server.plan_cache.iter();
    plans.fold(rows, |rows, (text, (threads, spilled))| {
        rows.row([text.as_str().into(), (*threads).into(), (*spilled).into()])
    })
}
