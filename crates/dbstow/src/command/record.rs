//! `dbstow record`: monitors a running PostgreSQL, MariaDB, MySQL or SQL Server, and writes a profile. It changes nothing
//! there.

mod kept;

use std::path::PathBuf;

use anyhow::Result;
use engine::UnknownServer;
use model::Duration;
use profile::INTERVALS_MAX;

use super::{PublishArgs, ServerLogin, ServerTimeout, UsageError};
use crate::engines::ENGINES;

/// Shortest interval: servers update their counters at most once a second.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// Arguments of `record`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "It only sends queries, and changes nothing on the server. Ctrl-C ends the recording early and \
        writes what there is; a second one ends it at once. The file is written after each interval, so that a recording that \
        is killed leaves what it had. Where it cannot be written any more, the recording goes to another file, which is named.\n\n\
        PostgreSQL: the login needs pg_monitor; where the server is on this machine, run dbstow as root or as the \
        server's user, so that disks and processors are counted too. A password comes from PGPASSWORD or ~/.pgpass. \
        Encrypted where the server offers TLS; sslmode and sslrootcert in the URL ask for more, as in libpq.\n\n\
        MariaDB, MySQL: the login needs PROCESS, and SELECT on performance_schema.*; without performance_schema only \
        the totals of InnoDB are recorded. A password comes from MYSQL_PWD or ~/.my.cnf. Encrypted where packets leave \
        this machine; ssl-mode and ssl-ca in the URL ask for more or less.\n\n\
        SQL Server: the login needs VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE; a password comes \
        from SQLCMDPASSWORD. T-SQL and client run against Babelfish 4.4 (all loads equal to SQLite's); not yet run on SQL Server.\n\n\
        Examples:\n  \
        dbstow record --server postgresql://postgres@localhost/ --for 30min --out shop.toml\n  \
        dbstow record --server 'postgresql:///shop?host=/var/run/postgresql' --for 8h --every 1min --out day.toml\n  \
        dbstow record --server 'postgresql://watcher@db1/shop?sslmode=verify-full' --for 30min --out shop.toml\n  \
        dbstow record --server postgresql://db1 --for 8h --out day.toml --listen 127.0.0.1:9187\n  \
        dbstow record --server mysql://root@localhost/ --for 30min --out shop.toml\n  \
        MYSQL_PWD=.. dbstow record --server 'mysql://watcher@db1/?ssl-mode=VERIFY_IDENTITY' --for 8h --out day.toml\n  \
        SQLCMDPASSWORD=.. dbstow record --server sqlserver://watcher@db1 --for 30min --out shop.toml\n\n\
        Show the result: dbstow profile shop.toml\n\
        Exit codes: 0 success, 1 the server could not be queried, 2 usage error, an idle server, or too little time."
)]
pub struct Args {
    /// The server: postgresql://USER@HOST:PORT/DATABASE, mysql://USER@HOST:PORT/ or sqlserver://USER@HOST:PORT; all its
    /// databases are recorded
    #[arg(long, value_name = "URL")]
    pub server: String,
    /// How long to record
    #[arg(long = "for", value_name = "TIME")]
    pub length: Duration,
    /// Length of an interval; 10s or more gives figures that are not rounded by the server's own delays
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub every: Duration,
    /// Record from the server's own answers alone, as on a managed service, although it is on this machine
    #[arg(long)]
    pub no_host: bool,
    /// Profile to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// How long it may take
    #[command(flatten)]
    pub timeout: ServerTimeout,
    /// How to log in
    #[command(flatten)]
    pub login: ServerLogin,
    /// Where metrics go while it records
    #[command(flatten)]
    pub publish: PublishArgs,
}

/// Runs `dbstow record`.
///
/// # Errors
/// When the server cannot be queried, was idle, or the profile cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let mistake = |text: String| Err(UsageError(text).into());
    if args.every < EVERY_MIN {
        return mistake(format!(
            "--every {} is too short; give 1s or more",
            args.every
        ));
    }
    if args.length < args.every + args.every {
        return mistake(format!(
            "--for {} has no two intervals of {}; record for longer, or give a shorter --every",
            args.length, args.every
        ));
    }
    let intervals = args.length.as_nanos() / args.every.as_nanos();
    if intervals > INTERVALS_MAX as u64 {
        return mistake(format!(
            "--for {} has {intervals} intervals of {}, and a profile holds at most {INTERVALS_MAX}; give a longer --every",
            args.length, args.every
        ));
    }
    let engine = ENGINES.of_url(&args.server).map_err(|error| {
        UsageError(match error {
            UnknownServer::NoUrl(_) => error.to_string(),
            UnknownServer::LeftOut(why) => format!(
                "{why}; record with another build, or import what other tools recorded (dbstow import)"
            ),
        })
    })?;
    let servers = engine.recorded().expect("it was found by their scheme");
    let mut of_login = args.login.options.names();
    let takes = |name: &str| engine.options().iter().any(|option| option.name == name);
    if let Some(other) = of_login.find(|name| !takes(name)) {
        return mistake(format!(
            "--{other} has no effect on {}; leave it out",
            servers.title
        ));
    }
    super::import::check_free(&args.out, "remove it, or give another --out")?;
    live::record(args, servers)
}

/// A recording in progress: its progress bar, and Ctrl-C.
mod live {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use anyhow::{Context, Result, anyhow};
    use engine::EngineError;
    use engine::recorder::{RecordError, RecordedServers, Recording, Watcher};
    use model::Duration;
    use profile::{Interval, Profile};

    use super::Args;
    use super::kept::{Kept, Written};
    use crate::command::import::show;
    use crate::command::output::note;
    use crate::command::progress::Progress;
    use crate::command::publish::{Outlet, Publishing};
    use crate::command::run::interruption::INTERRUPTED;
    use crate::command::{UsageError, print};
    use crate::metrics::ServerMetrics;
    use table::quantity::duration;

    /// Records one of these servers, and writes the profile.
    pub(super) fn record(args: &Args, servers: &RecordedServers) -> Result<()> {
        let stopped = Arc::<AtomicBool>::default();
        let patience = args.timeout.patience(Arc::clone(&stopped));
        let recorder = (servers.open)(&args.server, &args.login.options, patience);
        let recorder = recorder.map_err(in_words)?;
        let recording = Recording {
            length: args.length,
            every: args.every,
            without_host: args.no_host,
        };
        let outlet = args.publish.open()?;
        let shown = RecordProgress::new(args, servers.title, stopped)?;
        let publishing = outlet.map(|outlet| shown.publish(outlet)).transpose()?;
        let recorded = recorder.record(recording, &shown);
        // Once more, complete.
        drop(publishing);
        shown.end();
        let profile = recorded.map_err(|error| match error {
            RecordError::Server(error) => in_words(error),
            RecordError::Nothing(text) if shown.kept.is_written() => UsageError(format!(
                "{text}; {} holds what was recorded until then",
                shown.kept.file().display()
            ))
            .into(),
            RecordError::Nothing(text) => UsageError(format!("{text}; nothing was written")).into(),
        })?;
        shown.keep(&profile)?;
        let file = shown.kept.file();
        show(&file, "dbstow record", &profile)?;
        match shown.kept.moved() {
            None => Ok(()),
            Some(why) => Err(anyhow!(
                "{} does not hold the whole recording ({why}); that is in {}",
                args.out.display(),
                file.display()
            )),
        }
    }

    /// Missing input detected before any attempt is a usage error.
    pub(super) fn in_words(error: EngineError) -> anyhow::Error {
        match error {
            EngineError::Missing(text) => UsageError(text).into(),
            EngineError::Failed { .. } => anyhow::Error::from(error),
        }
    }

    struct RecordProgress {
        kept: Kept,
        length: Duration,
        progress: Progress,
        /// Seconds shown by the bar.
        done: AtomicU64,
        stopped: Arc<AtomicBool>,
        metrics: Arc<ServerMetrics>,
    }

    impl RecordProgress {
        fn new(
            args: &Args,
            product: &'static str,
            stopped: Arc<AtomicBool>,
        ) -> Result<RecordProgress> {
            let length = args.length;
            let seen = Arc::clone(&stopped);
            let on_signal = move || {
                // The first one writes what was recorded; the second is for a name lookup that hangs.
                if seen.swap(true, Ordering::Relaxed) {
                    exit();
                }
            };
            ctrlc::set_handler(on_signal).context("a handler for Ctrl-C")?;
            let steps = whole_seconds(length);
            Ok(RecordProgress {
                kept: Kept::new(&args.out),
                length,
                progress: Progress::new(steps, "recording {wide_bar} {msg}"),
                done: AtomicU64::new(0),
                stopped,
                metrics: Arc::new(ServerMetrics::new(product, length)),
            })
        }

        /// Publishes metrics of the recording.
        fn publish(&self, outlet: Outlet) -> Result<Publishing> {
            if let Some(address) = outlet.address() {
                self.note(&format!("metrics are at http://{address}/metrics"));
            }
            let (metrics, progress) = (Arc::clone(&self.metrics), self.progress.clone());
            let note = move |text: &str| progress.suspend(|| note(&format!("dbstow: {text}")));
            outlet.start(Box::new(move || metrics.samples()), Box::new(note))
        }

        fn end(&self) {
            self.progress.end();
        }

        /// Writes the whole recording; prints it if no file can be written.
        fn keep(&self, profile: &Profile) -> Result<()> {
            let Err(error) = self.write(profile) else {
                return Ok(());
            };
            print(&profile::write("the recording", profile)?)?;
            Err(error
                .context("the recording is on standard output, since no file could be written"))
        }

        /// Writes the file, or replaces what this recording wrote before, and notes its new location.
        fn write(&self, profile: &Profile) -> Result<()> {
            if let Written::Elsewhere(why) = self.kept.write(profile)? {
                let file = self.kept.file();
                self.note(&format!(
                    "{why}; the recording is kept in {}",
                    file.display()
                ));
            }
            Ok(())
        }
    }

    impl Watcher for RecordProgress {
        fn is_stopped(&self) -> bool {
            self.stopped.load(Ordering::Relaxed)
        }

        fn elapsed(&self, time: Duration) {
            self.metrics.elapsed(time);
            let now = whole_seconds(time);
            let before = self.done.swap(now, Ordering::Relaxed);
            self.progress.step(now.saturating_sub(before));
            let left = whole_seconds(self.length.saturating_sub(time));
            self.progress
                .set_message(&format!("{} left", duration(Duration::from_secs(left))));
        }

        fn so_far(&self, profile: &Profile) {
            // A stream gets the whole recording, once.
            if files::is_stream(&self.kept.file()) {
                return;
            }
            if let Err(error) = self.write(profile) {
                self.note(&format!(
                    "{error:#}; the recording goes on, and is written at its end"
                ));
            }
        }

        fn counted(&self, length: Duration, interval: &Interval) {
            self.metrics.add(length, interval);
        }

        fn note(&self, text: &str) {
            self.progress.suspend(|| note(&format!("dbstow: {text}")));
        }
    }

    fn exit() {
        #[expect(clippy::disallowed_methods, reason = "`main` may be waiting for ever")]
        std::process::exit(INTERRUPTED);
    }

    fn whole_seconds(time: Duration) -> u64 {
        time.as_nanos() / 1_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command};

    use super::*;

    #[test]
    fn the_examples_of_the_help_are_accepted() {
        let command = Args::augment_args(Command::new("record"));
        let help = command.get_after_help().expect("it has examples");
        let help = help.to_string();
        let examples = help
            .lines()
            .filter_map(|line| line.split_once("dbstow record "))
            .filter(|(_, example)| example.starts_with("--server"));
        let mut count = 0;
        for (_, example) in examples {
            let words = shell_words::split(&format!("record {example}")).expect("words");
            let parsed = command.clone().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{example}: {parsed:?}");
            count += 1;
        }
        assert_eq!(count, 7);
    }
}
