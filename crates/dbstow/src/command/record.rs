//! `dbstow record`: watches a running PostgreSQL, and writes a profile. It changes nothing there.

use std::path::PathBuf;

use anyhow::Result;
use model::Duration;

use super::Mistake;

/// Shortest interval: servers count at most once a second.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// Arguments of `record`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "It only sends queries, and changes nothing on the server. The login needs pg_monitor; where the \
        server is on this machine, run dbstow as root or as the server's user, so that disks and processors are \
        counted too. A password comes from PGPASSWORD or ~/.pgpass. There is no TLS yet.\n\n\
        Ctrl-C ends the recording early and writes what there is.\n\n\
        Examples:\n  \
        dbstow record --server postgresql://postgres@localhost/ --for 30m --out shop.toml\n  \
        dbstow record --server 'postgresql:///shop?host=/var/run/postgresql' --for 8h --every 1m --out day.toml\n\n\
        Show the result: dbstow profile shop.toml\n\
        Exit codes: 0 success, 1 the server could not be queried, 2 usage error, an idle server, or too little time."
)]
pub struct Args {
    /// The server: postgresql://USER@HOST:PORT/DATABASE; all its databases are recorded
    #[arg(long, value_name = "URL")]
    pub server: String,
    /// How long to record
    #[arg(long = "for", value_name = "TIME")]
    pub length: Duration,
    /// Length of an interval; 10s or more gives figures that are not rounded by the server's own delays
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub every: Duration,
    /// Profile to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Runs `dbstow record`.
///
/// # Errors
/// When the server cannot be queried, was idle, or the profile cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let mistake = |text: String| Err(Mistake(text).into());
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
    super::import::check_free(&args.out)?;
    recorded(args)
}

#[cfg(not(all(unix, feature = "postgres")))]
fn recorded(_: &Args) -> Result<()> {
    let text = "this dbstow was built without PostgreSQL (cargo feature `postgres`, Unix only); use another build, or \
                import what other tools recorded (dbstow import)";
    Err(Mistake(text.to_owned()).into())
}

#[cfg(all(unix, feature = "postgres"))]
fn recorded(args: &Args) -> Result<()> {
    use lab::engine::EngineError;
    use lab::engine::postgres::{ServerUrl, watch};
    use lab::engine::watch::{RecordError, Recording};

    let wrong = |error: EngineError| match error {
        // What is missing before anything was tried is a mistake in what was asked.
        EngineError::Missing(text) => Mistake(text).into(),
        EngineError::Failed { .. } => anyhow::Error::from(error),
    };
    let server = ServerUrl::parse(&args.server).map_err(wrong)?;
    let recording = Recording {
        length: args.length,
        every: args.every,
    };
    let shown = live::Shown::new(args.length)?;
    let recorded = watch::record(&server, recording, &shown);
    shown.end();
    let profile = recorded.map_err(|error| match error {
        RecordError::Server(error) => wrong(error),
        RecordError::Nothing(text) => Mistake(text).into(),
    })?;
    super::import::save(&args.out, "dbstow record", &profile)
}

/// Progress, and Ctrl-C.
#[cfg(all(unix, feature = "postgres"))]
mod live {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use anyhow::{Context, Result};
    use lab::engine::watch::Watcher;
    use model::Duration;

    use crate::command::import::seconds;
    use crate::command::output::note;
    use crate::command::progress::Progress;

    pub(super) struct Shown {
        length: Duration,
        progress: Progress,
        /// Seconds that the bar shows.
        done: AtomicU64,
        stopped: Arc<AtomicBool>,
    }

    impl Shown {
        pub(super) fn new(length: Duration) -> Result<Shown> {
            let stopped = Arc::<AtomicBool>::default();
            let seen = Arc::clone(&stopped);
            ctrlc::set_handler(move || seen.store(true, Ordering::Relaxed))
                .context("a handler for Ctrl-C")?;
            let steps = whole_seconds(length);
            Ok(Shown {
                length,
                progress: Progress::new(steps, "recording {wide_bar} {msg}"),
                done: AtomicU64::new(0),
                stopped,
            })
        }

        pub(super) fn end(&self) {
            self.progress.end();
        }
    }

    impl Watcher for Shown {
        fn is_stopped(&self) -> bool {
            self.stopped.load(Ordering::Relaxed)
        }

        fn elapsed(&self, time: Duration) {
            let now = whole_seconds(time);
            let before = self.done.swap(now, Ordering::Relaxed);
            self.progress.step(now.saturating_sub(before));
            let left = whole_seconds(self.length.saturating_sub(time));
            self.progress
                .set_message(&format!("{} left", seconds(Duration::from_secs(left))));
        }

        fn note(&self, text: &str) {
            self.progress.suspend(|| note(&format!("dbstow: {text}")));
        }
    }

    fn whole_seconds(time: Duration) -> u64 {
        time.as_nanos() / 1_000_000_000
    }
}
