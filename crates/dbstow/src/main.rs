//! The program: arguments in, one exit code out.

use std::io;
use std::process::ExitCode;

use analysis::report::side_by_side::NothingInCommon;
use clap::{CommandFactory, Parser, Subcommand};
#[cfg(feature = "fio")]
use dbstow::command::calibrate;
use dbstow::command::{
    self, advise, check, disks, doctor, experiments, import, layout, lint, machines, output, plan,
    profile, record, report, run, services, submit, trial as one_by_one, verify, workloads,
};
#[cfg(feature = "shell")]
use dbstow::command::{completions, man};
use experiment::kind::OtherKind;
use experiment::spec;
use files::FileError;
use lab::request::{CatalogueFileError, RequestError};
use lab::trial;
use raw::RawError;

/// Finds out where a database's files should live: temp space, data and log; on which disks, in how many
/// files.
#[derive(Parser)]
#[command(
    version,
    after_help = "Start with:\n  dbstow experiments\n  dbstow run tempdb-ssd-vs-premium\n\n\
        Exit codes: 0 success, 1 failure, 2 usage error,\n\
        3 a stated expectation was not met."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an experiment and report the results
    Run(run::Args),
    /// Show what would run, without running it
    Plan(plan::Args),
    /// Run some trials of a plan that was written to a file, on any machine
    Trial(one_by_one::Args),
    /// Write the batch script or manifest that runs a plan's trials on a cluster
    Submit(submit::Args),
    /// Check whether an experiment can run
    Check(check::Args),
    /// Report on recorded trials or on advice, or compare two results
    Report(report::Args),
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    #[command(flatten)]
    Emulated(command::emulated::Command),
    /// Record what a running PostgreSQL, MariaDB, MySQL or SQL Server asks of its disks
    Record(record::Args),
    /// Turn what other tools recorded of a server into a profile
    Import(import::Args),
    /// Find machine, disks and places for the files of a recorded server, by price
    Advise(advise::Args),
    /// Compare what advice promised with what was recorded afterwards
    Verify(verify::Args),
    /// Cut the power of a placement's disks, and see what its server has lost
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    Drill(command::drill::Args),
    /// Replay a server's own statements on a copy of its database, on other layouts
    #[cfg(all(target_os = "linux", feature = "emulator"))]
    Rehearse(command::rehearse::Args),
    /// Show a profile: what a server asked of its disks
    Profile(profile::Args),
    /// Check the storage layout of a SQL Server, MariaDB or MySQL against documented rules
    Lint(lint::Args),
    /// Generate apply and rollback scripts for a placement
    Layout(layout::Args),
    /// Benchmark a directory and generate a matching disk model
    #[cfg(feature = "fio")]
    Calibrate(calibrate::Args),
    /// Inspect a SQL Server, MariaDB or MySQL: version, permissions, and where its files are
    Doctor(doctor::Args),
    /// List disks, or show one
    Disks(disks::Args),
    /// List machines, or show one
    Machines(machines::Args),
    /// List managed services, or show what one allows
    Services(services::Args),
    /// List the built-in experiments, or show one
    Experiments(experiments::Args),
    /// List the built-in workloads, or show one
    Workloads(workloads::Args),
    /// Print a shell completion script
    #[cfg(feature = "shell")]
    Completions(completions::Args),
    /// Print a manual page, or write all of them
    #[cfg(feature = "shell")]
    Man(man::Args),
}

fn main() -> ExitCode {
    // A shell requests completions: nothing else may be printed then.
    #[cfg(feature = "shell")]
    match completions::answer(Arguments::command) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => return ExitCode::from(output::usage(&error)),
    }
    output::hide_passwords(std::env::args_os().map(|text| text.to_string_lossy().into_owned()));
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(mut error) => {
            command::suggest_subcommand(&mut error, &Arguments::command());
            let code = output::usage(&error);
            if let Some(left_out) = command::left_out(&error) {
                output::note(&left_out);
            }
            return ExitCode::from(code);
        }
    };
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("dbstow: {}", message(&error)));
            ExitCode::from(code(&error))
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Trial(args) => one_by_one::run(&args),
        Command::Submit(args) => submit::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Report(args) => report::run(&args),
        #[cfg(all(target_os = "linux", feature = "emulator"))]
        Command::Emulated(emulated) => command::emulated::run(
            &emulated,
            lab::inventory::Inventory::with_engines(dbstow::engines::ENGINES),
        ),
        Command::Record(args) => record::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Advise(args) => advise::run(&args),
        #[cfg(all(target_os = "linux", feature = "emulator"))]
        Command::Drill(args) => command::drill::run(&args),
        #[cfg(all(target_os = "linux", feature = "emulator"))]
        Command::Rehearse(args) => command::rehearse::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Layout(args) => layout::run(&args),
        #[cfg(feature = "fio")]
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Disks(args) => disks::run(&args),
        Command::Machines(args) => machines::run(&args),
        Command::Services(args) => services::run(&args),
        Command::Experiments(args) => experiments::run(&args),
        Command::Workloads(args) => workloads::run(&args),
        #[cfg(feature = "shell")]
        Command::Completions(args) => completions::run(&args, &Arguments::command()),
        #[cfg(feature = "shell")]
        Command::Man(args) => man::run(&args, Arguments::command()),
    }
}

/// The error and its causes, except a cause whose text is already in the message; with the remedy, where the last cause
/// is a system error.
fn message(error: &anyhow::Error) -> String {
    let causes = error.chain().skip(1).map(ToString::to_string);
    let text = causes.fold(error.to_string(), |text, cause| {
        if text.contains(&cause) {
            text
        } else {
            format!("{text}: {cause}")
        }
    });
    let systems = error.chain().find_map(|cause| cause.downcast_ref());
    let systems = systems.filter(|system: &&io::Error| text.ends_with(&system.to_string()));
    let remedy = systems.map_or("", |system| remedy(system.kind()));
    text + remedy
}

/// The remedy where the system refuses to read or write.
fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space there, or choose another place"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; give this user access to it, run dbstow as a user that has it, or choose another place"
        }
        io::ErrorKind::NotFound => "; check the path, whose folder has to exist",
        io::ErrorKind::NotADirectory => {
            "; a part of the path is a file and no folder: choose another path"
        }
        _ => "",
    }
}

/// The exit code for an error.
fn code(error: &anyhow::Error) -> u8 {
    if error.is::<command::ExpectationFailed>() {
        3
    } else if is_mistake(error) {
        2
    } else {
        1
    }
}

/// Whether it is a usage error, rather than a failure.
fn is_mistake(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<command::UsageError>()
            || cause.is::<RequestError>() && !is_io(cause)
            || cause.is::<CatalogueFileError>()
            || cause.is::<OtherKind>()
            || cause.is::<spec::SpecError>()
            || cause.is::<catalogue::CatalogueError>()
            || cause.is::<catalogue::QueryError>()
            || cause.is::<::layout::LayoutError>()
            || cause.is::<NothingInCommon>()
            || cause.is::<::advise::verify::PromiseError>()
            || cause.is::<::advise::verify::VerifyError>()
            || cause.is::<analysis::lint::HostError>()
            || cause.is::<analysis::demand::NoDemand>()
            || cause.is::<rules::capture::CaptureError>()
            || cause.is::<workload::WorkloadError>()
            || cause.is::<::profile::ProfileError>()
            || cause.is::<::import::ImportError>()
            || cause.is::<trial::StageError>()
            || cause.is::<trial::RehearsalError>()
            || cause.is::<lab::run::PrepareError>()
            || cause.is::<lab::run::TooLarge>()
            || cause.is::<lab::plan_file::PlanFileError>()
            || cause.is::<engine::OptionsError>()
            || cause.is::<engine::UnknownEngine>()
            || cause.is::<trial::real::VolumesError>() && !is_io(cause)
            || is_of_an_entry(cause)
            || cause.is::<experiment::results::ResultsError>() && !is_io(cause)
            || is_of_a_file(cause)
    })
}

/// Whether the cause is an entry that `calibrate` cannot write.
#[cfg(feature = "fio")]
fn is_of_an_entry(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<::calibrate::EntryError>()
}

/// This build has no `calibrate`.
#[cfg(not(feature = "fio"))]
fn is_of_an_entry(_cause: &(dyn std::error::Error + 'static)) -> bool {
    false
}

/// Whether the cause is a file that belongs to another user, or must not be replaced.
fn is_of_a_file(cause: &(dyn std::error::Error + 'static)) -> bool {
    let plain = match cause.downcast_ref() {
        Some(RawError::File(error)) => Some(error),
        _ => cause.downcast_ref(),
    };
    plain.is_some_and(|error| !matches!(error, FileError::Io { .. }))
}

fn is_io(cause: &(dyn std::error::Error + 'static)) -> bool {
    use experiment::results::ResultsError::{File, Io};

    let results = cause.downcast_ref();
    let volumes = cause.downcast_ref();
    let file_io = |error: &FileError| matches!(error, FileError::Io { .. });
    match (results, volumes) {
        (Some(File(error)), _) => file_io(error),
        (Some(Io { .. }), _) | (_, Some(trial::real::VolumesError::Io { .. })) => true,
        _ => matches!(
            cause.downcast_ref(),
            Some(RequestError::CurrentDirectory(_))
        ),
    }
}
