//! A session that responds from a script, without a server: for tests of callers only, never for results presented as a SQL
//! Server's.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Argument, Batch, Cell, Failure, Item, Message, Rows, Session};
use crate::tsql::question::QUESTIONS;

/// Responds by exact query text. A text that is not in the script ends the session, so unexpected queries are detected.
///
/// ```
/// use dbstow_sqlserver::capture::capture;
/// use dbstow_sqlserver::session::Scripted;
///
/// let mut session = Scripted::new();
/// assert!(capture(&mut session).is_err(), "it does not even say what it is");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    answers: BTreeMap<String, Batch>,
    gone: bool,
}

impl Scripted {
    /// An empty script.
    pub fn new() -> Scripted {
        Scripted::default()
    }

    /// Reads results of [`QUESTIONS`] from text tables:
    ///
    /// ```text
    /// # start time
    /// started
    /// 2026-11-20T21:00:00
    /// # waits
    /// error 300 VIEW SERVER STATE permission was denied on object 'server', database 'master'.
    /// ```
    ///
    /// After `# question` come the names of the columns and then the rows, with `|` between cells; whole
    /// numbers are numbers, and `NULL` is NULL. Empty lines are skipped.
    ///
    /// # Panics
    /// When a question is unknown, or a row has another number of cells than there are columns.
    pub fn of_tables(text: &str) -> Scripted {
        let mut session = Scripted::new();
        session.tables(text);
        session
    }

    /// Reads results as [`Scripted::of_tables`], replacing existing ones.
    ///
    /// # Panics
    /// As [`Scripted::of_tables`].
    pub fn tables(&mut self, text: &str) {
        for section in text
            .split("\n#")
            .map(|part| part.trim_start_matches(['#', '\n']))
        {
            let mut lines = section
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty());
            let Some(name) = lines.next() else {
                continue;
            };
            let question = QUESTIONS.iter().find(|question| question.name == name);
            let question = question.unwrap_or_else(|| panic!("there is no question \"{name}\""));
            let head = lines.next().unwrap_or_default();
            let answer = match head
                .strip_prefix("error ")
                .and_then(|rest| rest.split_once(' '))
            {
                Some((number, text)) => {
                    let number = number.parse();
                    refusal(number.expect("after \"error\" comes its number"), text)
                }
                None => table(name, head, lines),
            };
            self.answer(question.text, answer);
        }
    }

    /// Sets the response to `text`.
    pub fn answer(&mut self, text: &str, answer: Batch) {
        self.answers.insert(text.to_owned(), answer);
    }

    fn answered(&mut self, text: &str) -> Result<Batch, Failure> {
        if self.gone {
            return Err(Failure::Lost(
                "the connection was given up before".to_owned(),
            ));
        }
        let answer = self.answers.get(text).cloned();
        answer.ok_or_else(|| {
            self.gone = true;
            Failure::OutOfStep(format!("the script has no answer to: {text}"))
        })
    }
}

impl Session for Scripted {
    fn batch(&mut self, text: &str, _: Option<Duration>) -> Result<Batch, Failure> {
        self.answered(text)
    }

    fn statement(&mut self, text: &str, _: &[Argument]) -> Result<u64, Failure> {
        let answer = self.answered(text)?.refused()?;
        let counted = answer.items.iter().map(|item| match item {
            Item::Rows(rows) => rows.rows.len() as u64,
            Item::Affected(count) => count.unwrap_or(0),
            Item::Info(_) | Item::Error(_) => 0,
        });
        Ok(counted.sum())
    }

    fn in_transaction(&self) -> bool {
        false
    }

    fn is_usable(&self) -> bool {
        !self.gone
    }
}

fn refusal(number: u32, text: &str) -> Batch {
    let message = Message {
        number,
        class: 14,
        state: 1,
        line: 1,
        text: text.to_owned(),
    };
    Batch {
        items: vec![Item::Error(message)],
    }
}

fn table<'a>(name: &str, head: &str, lines: impl Iterator<Item = &'a str>) -> Batch {
    let cells = |line: &'a str| line.split('|').map(|cell| cell_of(cell.trim())).collect();
    let columns: Vec<String> = head.split('|').map(|name| name.trim().to_owned()).collect();
    let rows: Vec<Vec<Cell>> = lines.map(cells).collect();
    for row in &rows {
        assert_eq!(row.len(), columns.len(), "a row of \"{name}\": {row:?}");
    }
    Batch {
        items: vec![Item::Rows(Rows { columns, rows })],
    }
}

fn cell_of(text: &str) -> Cell {
    match (text, text.parse()) {
        ("NULL", _) => Cell::Null,
        (_, Ok(number)) => Cell::Int(number),
        (text, Err(_)) => Cell::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsql::question;

    #[test]
    fn tables_are_answers_and_nothing_else_is() {
        let mut session = Scripted::of_tables(
            "# start time\nstarted\n2026-11-20T21:00:00\n\n# waits\nerror 300 denied, 'server'\n",
        );
        let started = session
            .batch(question::STARTED.text, None)
            .expect("it is in the script");
        let row = started.rows().next().expect("a row");
        assert_eq!(row.word("started").as_deref(), Ok("2026-11-20T21:00:00"));
        let refused = session
            .batch(question::WAITS.text, None)
            .expect("an answer");
        assert_eq!(
            refused.refused().map_err(|error| error.number()),
            Err(Some(300))
        );
        assert!(session.batch("SELECT 1;", None).is_err());
        assert!(!session.is_usable());
    }
}
