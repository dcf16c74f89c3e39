//! Arguments of `dbstow rehearse`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueHint;
use engine::Options;
use engine::logged::LogRequest;
use experiment::spec::percentage;
use rehearse::{Order, Pace, Source};

use crate::command::UsageError;
use crate::command::choice::{Choice, one_of};
use crate::command::pair::{key_and_value, name_and_path};
use crate::command::product_args::{OfRehearsal, ProductArgs, ServerLogin};
use crate::command::server_timeout::ServerTimeout;

/// Arguments of `rehearse`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow rehearse --backup base/ --statements postgresql.csv --layout today.toml --layout candidate.toml\n  \
    dbstow rehearse --backup base/ --statements postgresql.log --prefix '%m [%p] %u@%d ' --layout today.toml\n  \
    dbstow rehearse --backup base/ --statements postgresql.json --layout today.toml --layout candidate.toml --pace original --window 09:00-09:20\n  \
    dbstow rehearse --backup base/ --statements postgresql.csv --layout today.toml --reads-only --with-text\n  \
    dbstow rehearse --backup base/ --statements postgresql.csv --layout today.toml --record --out shop-rehearsal\n  \
    dbstow rehearse --dump shop.dump/ --settings rds.conf --statements postgresql.log --layout rds.toml --layout candidate.toml\n  \
    dbstow rehearse --backup prepared/ --settings settings.tsv --statements slow.log --layout today.toml --layout candidate.toml\n  \
    dbstow rehearse --server sqlserver://sa@test1 --backup 'D:\\backup\\shop.bak' --statements trace.sqlite \\\n      \
    --layout today.toml --layout candidate.toml --volume data='F:\\rehearse' --volume fast='G:\\rehearse'")]
pub struct Args {
    /// Backup of the server: the directory of a pg_basebackup (plain, or tar with or without gzip), that of a prepared
    /// mariadb-backup, or the data directory of a stopped server; it is only read. With --server, the file of a full backup of a
    /// database of SQL Server, as that server sees it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "dump", conflicts_with = "dump")]
    pub backup: Option<PathBuf>,
    /// Server on which the log is played, and which restores the backup for each trial under a name of dbstow's own:
    /// sqlserver://USER@HOST:PORT (password in SQLCMDPASSWORD). It is otherwise unused, and has no database of that name
    #[arg(long, value_name = "URL", requires = "backup", conflicts_with_all = ["dump", "settings"])]
    pub server: Option<String>,
    /// Directory that stands for a volume of the layouts, as the server sees it; all volumes need one
    #[arg(long, value_name = "VOLUME=DIR", requires = "server", value_parser = name_and_path)]
    pub volume: Vec<(String, PathBuf)>,
    /// Longest time for an answer
    #[command(flatten)]
    pub timeout: ServerTimeout,
    /// Instead of a backup, a dump of a database of PostgreSQL: the directory of a pg_dump --format=directory; may be given several times, for
    /// several databases
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dump: Vec<PathBuf>,
    /// Directory with the files of a tablespace of PostgreSQL's backup, by its OID, where the backup has a link; may be given for each.
    /// Those of a backup in tar format are read from it
    #[arg(long, value_name = "OID=DIR", value_parser = key_and_value, requires = "backup", conflicts_with = "server")]
    pub tablespace: Vec<(String, String)>,
    /// Settings of the server: as in postgresql.conf, or what MariaDB answers to SHOW GLOBAL VARIABLES. They take precedence over
    /// those of a backup; a dump has none
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub settings: Option<PathBuf>,
    /// Log with the server's statements: of PostgreSQL csvlog, jsonlog or stderr, written with log_min_duration_statement = 0 or
    /// log_statement = all; of MariaDB a slow log with long_query_time = 0, or a general log; of SQL Server WorkloadTools' file, or
    /// Extended Events exported as XML or CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub statements: PathBuf,
    /// Layout to rehearse on: machine, volumes and placements, as in an experiment; may be given several times, and the first is
    /// what the others are compared with
    #[arg(long, value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub layout: Vec<String>,
    /// What a line of the log begins with, as in the server's log_line_prefix [default: recognised]
    #[arg(long, value_name = "PREFIX")]
    pub prefix: Option<String>,
    /// Replay only statements that began in this time of the log's day, such as 09:00-09:20
    #[arg(long, value_name = "FROM-TO", value_parser = window)]
    pub window: Option<(u32, u32)>,
    /// Replay only statements in this database; if the log does not name any, all are in it
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// Replay only statements of this user; if the log does not name any, all are of it
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Replay only statements that read, in sessions that cannot write
    #[arg(long)]
    pub reads_only: bool,
    /// How fast: closed (as fast as the order allows, with the log's pauses), original (at the log's times), or x2 and the like
    /// (so many times as fast)
    #[arg(long, default_value_t)]
    pub pace: Pace,
    /// What is kept of the order of transactions
    #[arg(long, value_parser = one_of(ORDERS), default_value = ORDERS[0].0)]
    pub order: Order,
    /// Have the private server log no statements: for where yours will not log them any more. By default it logs them as the server of
    /// the log did, since that takes processor time; nothing of it is kept
    #[arg(long)]
    pub no_statement_log: bool,
    /// How often the log is replayed on each layout
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub blocks: u32,
    /// Seed of latencies, and of the order of trials
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Give no verdict where a smaller share of statements ends as in the log
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = share)]
    pub fidelity: f64,
    /// Show texts of statements, without their constants, and errors
    #[arg(long)]
    pub with_text: bool,
    /// Also record a profile of the first layout for `dbstow advise`, in one more trial: profile.toml in the folder of the results
    #[arg(long)]
    pub record: bool,
    /// Folder for the results, and meanwhile for copies of the backup
    #[arg(long, value_name = "FOLDER", default_value = "rehearsal", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// Begin anew, also where that folder has finished trials of this rehearsal or of another one
    #[arg(long)]
    pub fresh: bool,
    /// Print everything, not one screen of it
    #[arg(long)]
    pub full: bool,
    /// Options of single products
    #[command(flatten)]
    pub of_product: ProductArgs<OfRehearsal>,
    /// Login at the server
    #[command(flatten)]
    pub login: ServerLogin,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalogue: Vec<PathBuf>,
}

/// `--order`; the first one is the default.
const ORDERS: &[Choice<Order>] = &[
    (
        "commits",
        Order::Commits,
        "No transaction begins before one that writes and had ended before it in the log, so that they meet the same rows and locks",
    ),
    (
        "sessions",
        Order::Sessions,
        "Each session keeps its own order, and waits for no other, as clients do",
    ),
];

impl Args {
    pub(super) fn source(&self) -> Source {
        match (&self.backup, &self.server) {
            (Some(backup), Some(server)) => Source::OnServer(Box::new(Options {
                volumes: self.volume.iter().cloned().collect(),
                server: Some(server.clone()),
                timeout: self.timeout.timeout,
                backup: Some(backup.display().to_string()),
                of_product: self
                    .of_product
                    .options
                    .clone()
                    .with(self.login.options.clone()),
                ..Options::default()
            })),
            (Some(backup), None) => Source::Backup(backup.clone()),
            (None, _) => Source::Dumps(self.dump.clone()),
        }
    }

    /// Directories of tablespaces.
    ///
    /// # Errors
    /// When one is given twice.
    pub(super) fn tablespaces(&self) -> Result<BTreeMap<String, PathBuf>, UsageError> {
        let mut all = BTreeMap::new();
        for (name, directory) in &self.tablespace {
            if all.insert(name.clone(), PathBuf::from(directory)).is_some() {
                return Err(UsageError(format!(
                    "--tablespace {name}={directory}: {name} is given twice; keep one"
                )));
            }
        }
        Ok(all)
    }

    pub(super) fn log(&self) -> LogRequest {
        LogRequest {
            window: self.window,
            database: self.database.clone(),
            user: self.user.clone(),
            reads_only: self.reads_only,
            prefix: self.prefix.clone(),
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    // All of them may be asked for.
    percentage(text, 1.0 + f64::EPSILON)
}

/// Two times of the day.
fn window(text: &str) -> Result<(u32, u32), String> {
    let time = |text: &str| {
        let mut parts = text.trim().split(':');
        let mut number = |most: u32| {
            let number: u32 = parts.next()?.parse().ok()?;
            (number <= most).then_some(number)
        };
        let (hours, minutes) = (number(24)?, number(59)?);
        let seconds = number(59).unwrap_or(0);
        let time = hours * 3600 + minutes * 60 + seconds;
        (parts.next().is_none() && time <= 86_400).then_some(time)
    };
    let both = text
        .split_once('-')
        .and_then(|(from, to)| time(from).zip(time(to)));
    both.filter(|(from, to)| from != to)
        .ok_or_else(|| "give two different times of the day, such as 09:00-09:20".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_two_times_of_the_day() {
        assert_eq!(window("09:00-09:20"), Ok((32_400, 33_600)));
        assert_eq!(window("23:59:30 - 00:10"), Ok((86_370, 600)));
        for text in [
            "",
            "9",
            "09:00",
            "09:00-09:00",
            "25:00-26:00",
            "09:60-10:00",
            "a-b",
        ] {
            assert!(window(text).is_err(), "{text}");
        }
    }
}
