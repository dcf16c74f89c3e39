//! `dbstow man`: manual pages, generated from the same definitions as `--help`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use files::{Folder, Readers};

use super::UsageError;

/// Arguments of `man`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  dbstow man | man -l -
  dbstow man run | man -l -
  dbstow man --out /usr/local/share/man/man1

--out writes dbstow.1 and a page for each command, such as dbstow-run.1. Files of these names are
replaced.")]
pub struct Args {
    /// Print the page of this command [default: that of dbstow]
    #[arg(conflicts_with = "out")]
    pub command: Option<String>,
    /// Write all pages to this directory, which has to exist
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A manual page: its file name, and its text as roff.
struct Page {
    name: String,
    roff: Vec<u8>,
}

/// Runs `dbstow man` for the program that `command` describes.
///
/// # Errors
/// When the command does not exist, or a page cannot be written.
pub fn run(args: &Args, command: Command) -> Result<()> {
    let command = built(command);
    if let Some(folder) = &args.out {
        return write(&command, folder);
    }
    let asked = match &args.command {
        None => &command,
        Some(name) => find(&command, name)?,
    };
    let page = page(asked, &command)?;
    Ok(super::print(&String::from_utf8(page.roff)?)?)
}

/// The program with everything that clap adds, except `help`, which has no page.
fn built(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    command
}

fn find<'a>(program: &'a Command, name: &str) -> Result<&'a Command, UsageError> {
    let found = pages(program).find(|command| command.get_name() == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = pages(program).map(Command::get_name).collect();
        UsageError(format!(
            "man: no command \"{name}\" (commands: {})",
            known.join(", ")
        ))
    })
}

/// Commands with their own page.
fn pages(program: &Command) -> impl Iterator<Item = &Command> {
    program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
}

fn write(program: &Command, folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        let message = format!("--out {}: no such directory; make it", folder.display());
        return Err(UsageError(message).into());
    }
    let folder = Folder::to_fill(folder, Readers::Umask)?;
    let mut written = 0;
    for command in std::iter::once(program).chain(pages(program)) {
        let page = page(command, program)?;
        folder.write(page.name.as_ref(), &page.roff, Readers::Umask)?;
        written += 1;
    }
    let text = format!("wrote {written} pages to {}\n", folder.path().display());
    Ok(super::print(&text)?)
}

/// The page of one command. Its examples keep their line breaks, which [`Man::render`] would reflow.
fn page(command: &Command, program: &Command) -> Result<Page> {
    let version = program.get_version().unwrap_or_default();
    let without_notes = command
        .clone()
        .after_help(Resettable::Reset)
        .after_long_help(Resettable::Reset);
    // Pages carry no build date; an empty date would be left out, and the next field taken for it.
    let man = Man::new(without_notes)
        .date(" ")
        .source(format!("{} {version}", program.get_name()))
        .manual("dbstow manual");
    let mut roff = Vec::new();
    man.render(&mut roff)?;
    notes(command).to_writer(&mut roff)?;
    Ok(Page {
        name: man.get_filename(),
        roff,
    })
}

/// The text that `--help` prints after the options, line by line.
fn notes(command: &Command) -> Roff {
    let mut roff = Roff::new();
    let notes = command.get_after_long_help().or(command.get_after_help());
    if let Some(notes) = notes {
        roff.control("SH", ["NOTES"]);
        roff.control("nf", []);
        for line in notes.to_string().lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff
}
