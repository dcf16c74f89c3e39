//! What is shown of anything, independent of the output format: an answer, facts, and sections of typed cells and sentences.

use crate::findings::Verdict;
use table::Table;

/// A report, of whatever.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The question, or what it is about; empty where the answer says it.
    pub title: String,
    /// The answer, in as few sentences as there can be.
    pub answer: Vec<Item>,
    /// Whether nothing of it may be relied on.
    pub is_doubtful: bool,
    /// What was done, and where, by name.
    pub facts: Vec<(&'static str, String)>,
    /// The rest, in the order in which it is read.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name, which is unique but for a short form; a page has it as the element's.
    pub id: &'static str,
    /// Its heading on a terminal and in Markdown, which may be empty.
    pub title: String,
    /// Where it is shown.
    pub place: Place,
    /// Its content.
    pub body: Body,
}

/// Where a section is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the screen, of a list or commands at most so many; whole everywhere else.
    Screen(usize),
    /// On the screen alone, in place of longer sections; of a list at most so many.
    Short(usize),
    /// Everywhere but on the screen.
    Full,
}

/// How much a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// What fits on one screen of 100 columns and 40 lines.
    #[default]
    Screen,
    /// Everything.
    Full,
}

/// The content of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Typed cells.
    Table(Table),
    /// Sentences.
    List(Vec<Item>),
    /// Sentences by name.
    Facts(Vec<(&'static str, String)>),
    /// Commands by purpose.
    Commands(Vec<(String, String)>),
}

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its subject, where that is printed before it.
    pub about: String,
    /// The sentence, or what is said of its subject.
    pub text: String,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer that begins without a sign.
    Answer,
    /// A comparison's verdict.
    Verdict(Verdict),
    /// What to buy.
    Price,
    /// One of several.
    Point,
    /// Plain text; a note to the item above.
    Remark,
    /// What limits the rest, and is read first.
    Caution,
    /// How far to trust it.
    Warning,
}

impl Report {
    /// Adds a section, if it has content.
    pub fn add(&mut self, id: &'static str, title: &str, place: Place, body: Body) {
        let is_empty = match &body {
            Body::Table(table) => table.rows.is_empty(),
            Body::List(items) => items.is_empty(),
            Body::Facts(facts) => facts.is_empty(),
            Body::Commands(commands) => commands.is_empty(),
        };
        if !is_empty {
            self.sections.push(Section {
                id,
                title: title.to_owned(),
                place,
                body,
            });
        }
    }

    /// The sections that are shown.
    pub fn shown(&self, extent: Extent) -> impl Iterator<Item = &Section> {
        let sections = self.sections.iter();
        sections.filter(move |section| match (section.place, extent) {
            (Place::Screen(_), _)
            | (Place::Short(_), Extent::Screen)
            | (Place::Full, Extent::Full) => true,
            (Place::Short(_), Extent::Full) | (Place::Full, Extent::Screen) => false,
        })
    }

    fn whole(&self, id: &str) -> Option<&Body> {
        let mut sections = self.shown(Extent::Full);
        let section = sections.find(|section| section.id == id);
        section.map(|section| &section.body)
    }

    /// The items of a section that is a list; none where there is no such section.
    pub fn list(&self, id: &str) -> &[Item] {
        match self.whole(id) {
            Some(Body::List(items)) => items,
            Some(Body::Table(_) | Body::Facts(_) | Body::Commands(_)) | None => &[],
        }
    }

    /// The cells of a section that is a table, where there is one.
    pub fn table(&self, id: &str) -> Option<&Table> {
        match self.whole(id) {
            Some(Body::Table(table)) => Some(table),
            Some(Body::List(_) | Body::Facts(_) | Body::Commands(_)) | None => None,
        }
    }
}

impl Item {
    /// A sentence about something.
    pub fn new(kind: Kind, about: impl Into<String>, text: impl Into<String>) -> Item {
        Item {
            kind,
            about: about.into(),
            text: text.into(),
        }
    }

    /// Sentences of one kind.
    pub fn all<T: Into<String>>(kind: Kind, texts: impl IntoIterator<Item = T>) -> Vec<Item> {
        let item = |text| Item::new(kind, "", text);
        texts.into_iter().map(item).collect()
    }

    /// On one line: its subject, and what is said of it.
    pub fn line(&self) -> String {
        match self.about.as_str() {
            "" => self.text.clone(),
            about => format!("{about}: {}", self.text),
        }
    }
}
