//! Arguments of `dbstow run`.

use std::path::PathBuf;

use clap::ValueHint;

use crate::command::report::Output;
use crate::command::{ExperimentArgs, PublishArgs};

/// Arguments of `run`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow run tempdb-ssd-vs-premium\n  \
    dbstow run tempdb-scale-out --blocks 10 --seed 7\n  \
    dbstow run tempdb-scale-out --nominal --until 2%\n  \
    dbstow run tempdb-spill --set engine.memory=\"8 MiB\" --format json\n  \
    dbstow run postgres-wal-volume --set volume.data.iops=3000,6000,12000\n  \
    dbstow run --profile shop.toml --today today.toml\n  \
    dbstow run wal-apart.toml --profile shop.toml\n  \
    dbstow run mine.toml --workload ./my-workload --out results/mine\n  \
    dbstow run mine.toml --mode emulate --live --listen 127.0.0.1:9187\n  \
    dbstow run tempdb-scale-out --mode emulate --engine postgres\n  \
    dbstow run tempdb-ssd-vs-premium --mode measure --volume d=/mnt/nvme --volume f=/mnt/data\n  \
    dbstow run tempdb-ssd-vs-premium --mode measure --engine sqlserver --server sqlserver://sa@db1 \\\n      \
    --volume d='D:\\' --volume f='F:\\tempdb' --restart-command 'ssh db1 systemctl restart mssql-server'")]
pub struct Args {
    /// The experiment
    #[command(flatten)]
    pub request: ExperimentArgs,
    /// First replay the profile on the layout in this file (machine, volumes and one placement), which its server has today,
    /// and stop with exit code 3 where that is not what was recorded; without an experiment, that is all. `recorded`: on disks
    /// as the profile shows them
    #[arg(long, value_name = "FILE", requires = "profile", value_hint = ValueHint::FilePath)]
    pub today: Option<String>,
    /// Continue with a profile that does not fit the layout of today
    #[arg(long, requires = "profile")]
    pub untested: bool,
    /// Also compare the baseline with itself, to measure the noise floor
    #[arg(long)]
    pub aa: bool,
    /// Stop as soon as every ratio is known within this, such as 2%, but not before 6 blocks; --blocks is the most then
    /// [default: 40] (emulate, measure, and simulate with --nominal)
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = until_share)]
    pub until: Option<f64>,
    /// Results folder [default: dbstow-results/EXPERIMENT-PLAN]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Remove the records of an earlier run in that folder first
    #[arg(long)]
    pub fresh: bool,
    /// In which forms
    #[command(flatten)]
    pub output: Output,
    /// Trials to run in parallel (simulate); results do not change [default: number of processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Keep the volumes after the run, for inspection (emulate, measure)
    #[arg(long)]
    pub keep: bool,
    /// Show arms, volumes and verdicts on one screen while it runs; q leaves it
    #[cfg(feature = "live")]
    #[arg(long)]
    pub live: bool,
    /// Where metrics go while it runs
    #[command(flatten)]
    pub publish: PublishArgs,
}

/// Below one.
fn until_share(text: &str) -> Result<f64, String> {
    match experiment::spec::percentage(text, 1.0)? {
        0.0 => Err("no interval is as narrow as 0 %; give a percentage such as 2%".to_owned()),
        share => Ok(share),
    }
}
