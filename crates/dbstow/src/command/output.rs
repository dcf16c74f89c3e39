//! Output of the program: everything that it prints goes through here.
//!
//! Names, messages and figures come from files, servers and other programs. Printed unchanged, they could move the
//! cursor, set the terminal's title or reorder text.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

use analysis::report::terminal::{self, Styled, Tone};
use analysis::report::{Extent, Report};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use parking_lot::Mutex;
use table::Width;

/// Passwords in URLs on the command line, with the colon before them and the `@` behind.
static PASSWORDS: OnceLock<Vec<String>> = OnceLock::new();

/// `text` made safe for a terminal: control characters and invisible or reordering ones are escaped as `\x1b` or
/// `\u{202e}`; line feeds (with or without a carriage return before them) and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut fit = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let line_end = character == '\r' && characters.peek() == Some(&'\n');
        match u32::from(character) {
            _ if line_end || !is_unfit(character) => fit.push(character),
            code @ 0..0x100 => write!(fit, "\\x{code:02x}").expect("a string takes it"),
            code => write!(fit, "\\u{{{code:x}}}").expect("a string takes it"),
        }
    }
    Cow::Owned(fit)
}

/// The same for JSON, where these characters only occur in strings: escaped in JSON's own notation, so that the
/// document's content is unchanged.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    let unfit = |character: char| is_unfit(character) && character != '\r';
    if !text.contains(unfit) {
        return Cow::Borrowed(text);
    }
    let mut fit = String::with_capacity(text.len());
    for character in text.chars() {
        if unfit(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(fit, "\\u{unit:04x}").expect("a string takes it");
            }
        } else {
            fit.push(character);
        }
    }
    Cow::Owned(fit)
}

/// Whether a terminal could interpret it instead of displaying it.
///
/// Source: Unicode 16, general categories Cc and Cf with the line and paragraph separators, without those of
/// single scripts; "Trojan Source" (CVE-2021-42574) for the order of text.
fn is_unfit(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        // Zero width, marks of direction, separators, embeddings and overrides.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        // Word joiner, invisible operators, isolates.
        '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tags, and variation selectors that hide text.
        '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Redacts anything in `arguments` that looks like a password in a URL from all output.
pub fn hide_passwords(arguments: impl Iterator<Item = String>) {
    let passwords = arguments.filter_map(|argument| password(&argument).map(str::to_owned));
    // Set once, by `main`; later calls have no effect.
    let _ = PASSWORDS.set(passwords.collect());
}

/// `:secret@` of `scheme://user:secret@host`. A password may contain an unencoded `@`.
fn password(argument: &str) -> Option<&str> {
    let start = argument.find("://")? + "://".len();
    let from = start + argument[start..].find(':')?;
    let until = argument.rfind('@')?;
    (from < until).then(|| &argument[from..=until])
}

fn hidden(text: Cow<'_, str>) -> Cow<'_, str> {
    let passwords = PASSWORDS.get().map_or(&[][..], Vec::as_slice);
    let mut text = text;
    for password in passwords {
        if text.contains(password) {
            text = Cow::Owned(text.replace(password, ":***@"));
        }
    }
    text
}

/// Prints a result; a reader that closes the pipe early, as `head` does, is not a failure.
///
/// # Errors
/// When it cannot be written.
pub(super) fn print(text: &str) -> io::Result<()> {
    write_out(&printable(&hidden(text.into())))
}

/// Width of the terminal for results, or the usual width where output is not a terminal.
pub(super) fn width() -> Width {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or_else(Width::default, |(columns, _)| Width::of(columns.0.into()))
}

/// Prints a report, one screen of it or in `full`, and below it what is where; `more` is the command for all of it.
///
/// # Errors
/// As [`print`].
pub(super) fn print_report(report: &Report, full: bool, files: &str, more: &str) -> io::Result<()> {
    let (extent, more) = match full {
        true => (Extent::Full, String::new()),
        false => (Extent::Screen, format!("More:    {more}\n")),
    };
    let mut text = terminal::render(report, width(), extent);
    text.push(&format!("\n{files}{more}"));
    print_styled(&text)
}

/// Prints all of a report that has no short form.
///
/// # Errors
/// As [`print`].
pub(super) fn print_whole(report: &Report) -> io::Result<()> {
    print_styled(&terminal::render(report, width(), Extent::Full))
}

/// Prints all of several reports, below one another.
///
/// # Errors
/// As [`print`].
pub(super) fn print_all(reports: impl Iterator<Item = Report>) -> io::Result<()> {
    let mut all = Styled::default();
    for (at, report) in reports.enumerate() {
        if at > 0 {
            all.push("\n");
        }
        all.append(terminal::render(&report, width(), Extent::Full));
    }
    print_styled(&all)
}

/// All of a report on standard error, where standard output has something else.
pub(super) fn note_whole(report: &Report) {
    note(
        terminal::render(report, width(), Extent::Full)
            .to_string()
            .trim_end(),
    );
}

/// Prints a result, in colours where the terminal supports them and `NO_COLOR` is not set.
fn print_styled(text: &Styled) -> io::Result<()> {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => print(&text.to_string()),
        ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => {
            let mut stdout = AutoStream::auto(io::stdout().lock());
            written(&mut stdout, &coloured(text))
        }
    }
}

/// `text` with the escape sequences of its colours, and no others from its content.
fn coloured(text: &Styled) -> String {
    let pieces = text.pieces().map(|(tone, piece)| {
        let style = style(tone);
        let piece = hidden(piece.into());
        // On a separate line, so that a pager that colours line by line shows it.
        let lines = printable(&piece);
        let lines = lines.split_inclusive('\n').map(|line| {
            let (line, end) = line
                .strip_suffix('\n')
                .map_or((line, ""), |line| (line, "\n"));
            format!("{style}{line}{style:#}{end}")
        });
        lines.collect::<String>()
    });
    pieces.collect()
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Better => AnsiColor::Green.on_default(),
        Tone::Worse => AnsiColor::Red.on_default(),
        Tone::Attention => AnsiColor::Yellow.on_default(),
    }
}

/// Prints a JSON result.
///
/// # Errors
/// As [`print`].
pub(super) fn print_json(text: &str) -> io::Result<()> {
    write_out(&printable_json(&hidden(text.into())))
}

/// Clears the terminal, then prints.
///
/// # Errors
/// As [`print`].
#[cfg(all(target_os = "linux", feature = "emulator"))]
pub(super) fn print_afresh(text: &str) -> io::Result<()> {
    write_out("\x1b[H\x1b[J")?;
    print(text)
}

fn write_out(text: &str) -> io::Result<()> {
    written(&mut io::stdout().lock(), text)
}

fn written(to: &mut dyn Write, text: &str) -> io::Result<()> {
    let written = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    match written {
        Err(error) if reader_left(&error) => Ok(()),
        Err(error) => {
            let what = format!("cannot write to standard output: {error}");
            Err(io::Error::new(error.kind(), what))
        }
        Ok(()) => Ok(()),
    }
}

/// Whether a write failed because the reader closed the pipe (`dbstow experiments | head -1`).
///
/// Windows also says `ERROR_PIPE_NOT_CONNECTED`, which Rust's standard library does not count as a broken pipe.
fn reader_left(error: &io::Error) -> bool {
    const ERROR_PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == ErrorKind::BrokenPipe
        || (cfg!(windows) && error.raw_os_error() == Some(ERROR_PIPE_NOT_CONNECTED))
}

/// Lines held while a screen is shown; `None` while none is.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Holds notes from now on.
#[cfg(feature = "live")]
pub(super) fn hold() {
    HELD.lock().get_or_insert_default();
}

/// Prints the held notes, and stops holding.
#[cfg(feature = "live")]
pub(super) fn release() {
    let held = HELD.lock().take();
    for line in held.into_iter().flatten() {
        note(&line);
    }
}

/// The stream a screen is drawn on; the caller sanitizes its text.
#[cfg(feature = "live")]
pub(super) fn screen() -> io::Stderr {
    io::stderr()
}

/// Prints a line on stderr. Write errors are ignored, as they could not be reported anywhere.
pub fn note(line: &str) {
    if let Some(held) = &mut *HELD.lock() {
        held.push(line.to_owned());
        return;
    }
    let text = hidden(line.into());
    let _ = writeln!(io::stderr().lock(), "{}", printable(&text));
}

/// Prints an error about the arguments, or the requested help, and returns the exit code.
pub fn usage(error: &clap::Error) -> u8 {
    if error.use_stderr() {
        // Without colours: its text repeats arguments.
        note(error.render().to_string().trim_end());
    } else {
        // All of it is our own text. A reader that closes the pipe early is not a failure.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        let hostile = "a\x1b]0;title\x07b\x1b[2Jc\rd\u{202e}e\u{9b}f\x7fg\u{e0041}";
        assert_eq!(
            printable(hostile),
            "a\\x1b]0;title\\x07b\\x1b[2Jc\\x0dd\\u{202e}e\\x9bf\\x7fg\\u{e0041}"
        );
    }

    #[test]
    fn a_colour_is_put_around_a_text_that_cannot_bring_one_along() {
        let mut text = Styled::default();
        text.push("plain \x1b[31m\n");
        text.push_in(Tone::Better, "p30\x1b[0m is\nfaster\n");

        assert_eq!(
            coloured(&text),
            "plain \\x1b[31m\n\x1b[32mp30\\x1b[0m is\x1b[0m\n\x1b[32mfaster\x1b[0m\n"
        );
    }

    #[test]
    fn lines_tabs_and_letters_stay() {
        let text = "one\ttwo\r\nthree ± é 日本\n";
        assert_eq!(printable(text), text);
    }

    #[test]
    fn a_password_is_found_to_its_last_at() {
        assert_eq!(password("postgresql://ann:p@ss@db/x"), Some(":p@ss@"));
        assert_eq!(password("--server=mysql://ann:pw@db"), Some(":pw@"));
        assert_eq!(password("postgresql://ann@db:5432/x"), None);
        assert_eq!(password("d=C:\\data@x"), None);
    }

    proptest! {
        #[test]
        fn nothing_unfit_is_left_in_any_text(text in "\\PC{0,20}[\\x00-\\x1f\\x7f-\\u{a0}\\u{2000}-\\u{2070}]{0,20}\\PC{0,20}") {
            let fit = printable(&text).replace("\r\n", "\n");
            prop_assert!(!fit.contains(is_unfit), "{fit:?}");
        }

        #[test]
        fn json_says_the_same_and_holds_nothing_unfit(text in any::<String>()) {
            let json = serde_json::to_string(&text).expect("a text is JSON");
            let fit = printable_json(&json);
            prop_assert!(!fit.contains(is_unfit), "{fit:?}");
            let read: String = serde_json::from_str(&fit).expect("it is JSON still");
            prop_assert_eq!(read, text);
        }
    }
}
