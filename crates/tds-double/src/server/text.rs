//! Parses the statements about databases, files and settings, strictly: anything unknown is rejected.
//!
//! It was written from Microsoft's grammar, not from dbstow's own texts, so that the two can disagree:
//! <https://learn.microsoft.com/sql/t-sql/statements/alter-database-transact-sql-file-and-filegroup-options>,
//! <https://learn.microsoft.com/sql/t-sql/statements/create-database-transact-sql>, read 2026-11.

/// Bytes of a page.
pub const PAGE: u64 = 8192;

/// A statement that the server executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `USE`
    Use(String),
    /// `CREATE DATABASE`, with the files it names.
    Create {
        /// Name of the database.
        name: String,
        /// Data files; if empty, one as in `model`.
        data: Vec<Spec>,
        /// Logs; if empty, one as in `model`.
        log: Vec<Spec>,
    },
    /// `DROP DATABASE`
    Drop(String),
    /// `ALTER DATABASE .. MODIFY FILE`
    Modify {
        /// Name of the database.
        database: String,
        /// The file and what changes of it.
        spec: Spec,
    },
    /// `ALTER DATABASE .. ADD FILE` and `ADD LOG FILE`
    Add {
        /// Name of the database.
        database: String,
        /// The new files.
        specs: Vec<Spec>,
        /// Whether they are logs.
        log: bool,
    },
    /// `ALTER DATABASE .. REMOVE FILE`
    Remove {
        /// Name of the database.
        database: String,
        /// Name of the file.
        file: String,
    },
    /// `ALTER DATABASE .. SET`, with words separated by single blanks
    Set {
        /// Name of the database.
        database: String,
        /// Such as `RECOVERY SIMPLE`.
        option: String,
    },
    /// `CHECKPOINT`
    Checkpoint,
    /// `DBCC DROPCLEANBUFFERS`
    DropCleanBuffers,
    /// `DBCC SHRINKFILE`; `None` for `EMPTYFILE`
    Shrink {
        /// Name of the file, in the current database.
        file: String,
        /// Target in MB.
        megabytes: Option<u64>,
    },
    /// `EXEC sp_configure`
    Configure {
        /// Name of the setting.
        setting: String,
        /// Its new value; `None` for the one saved in `@shown`.
        value: Option<i64>,
    },
    /// `DECLARE @shown`: saves the value of `show advanced options`
    Keep,
    /// `RECONFIGURE`
    Reconfigure,
    /// `SET` of a session, such as `NOCOUNT ON`
    Session(String),
    /// `IF [NOT] EXISTS (SELECT 1 FROM tempdb.sys.database_files ..)`
    If {
        /// Whether the file must not exist.
        not: bool,
        /// Name of the file.
        file: String,
        /// Also requires it to be smaller (`true`) or larger than this many pages.
        size: Option<(bool, u64)>,
        /// The statement to run then.
        then: Box<Statement>,
    },
}

/// A file as specified in `CREATE DATABASE` and `ALTER DATABASE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Logical name.
    pub name: String,
    /// `NEWNAME`
    pub new_name: Option<String>,
    /// `FILENAME`
    pub path: Option<String>,
    /// `SIZE` in pages
    pub size: Option<u64>,
    /// `MAXSIZE`
    pub max: Option<Max>,
    /// `FILEGROWTH`
    pub growth: Option<Growth>,
}

/// The maximum size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Max {
    /// Limited only by its volume.
    Unlimited,
    /// In pages.
    Pages(u64),
}

/// The growth increment of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// In pages; 0 means never.
    Pages(u64),
    /// In percent of its size.
    Percent(u64),
}

impl Growth {
    /// As in `sys.master_files`: value, and whether it is percent.
    pub(super) fn columns(self) -> (i64, i64) {
        match self {
            Growth::Pages(pages) => (pages as i64, 0),
            Growth::Percent(percent) => (percent as i64, 1),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// In upper case.
    Word(String),
    Name(String),
    Text(String),
    Number(u64),
    Sign(char),
}

/// The statements of a batch, or `None` where one of them is unknown.
pub fn read(text: &str) -> Option<Vec<Statement>> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens, at: 0 };
    let mut statements = Vec::new();
    while reader.sign(';') {}
    while !reader.is_done() {
        statements.push(reader.statement()?);
        // T-SQL needs no separator between two of these statements, but dbstow always writes one.
        if !reader.is_done() && !reader.sign(';') {
            return None;
        }
        while reader.sign(';') {}
    }
    Some(statements)
}

pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut letters = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(&first) = letters.peek() {
        match first {
            _ if first.is_whitespace() => {
                letters.next();
            }
            '[' => tokens.push(Token::Name(quoted(&mut letters, ']')?)),
            '\'' => tokens.push(Token::Text(quoted(&mut letters, '\'')?)),
            '0'..='9' => {
                let mut digits = String::new();
                while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                tokens.push(Token::Number(digits.parse().ok()?));
            }
            _ if first.is_alphabetic() || matches!(first, '_' | '@') => {
                let mut word = String::new();
                while let Some(letter) = letters
                    .next_if(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '@'))
                {
                    word.push(letter);
                }
                match (word.as_str(), letters.peek()) {
                    ("N", Some('\'')) => tokens.push(Token::Text(quoted(&mut letters, '\'')?)),
                    _ => tokens.push(Token::Word(word.to_uppercase())),
                }
            }
            '(' | ')' | ',' | '=' | ';' | '.' | '%' | '<' | '>' => {
                letters.next();
                tokens.push(Token::Sign(first));
            }
            _ => return None,
        }
    }
    Some(tokens)
}

/// The text between two identical delimiters, which are doubled inside.
fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> Option<String> {
    letters.next();
    let mut text = String::new();
    loop {
        match letters.next()? {
            letter if letter == end => match letters.next_if_eq(&end) {
                Some(_) => text.push(end),
                None => return Some(text),
            },
            letter => text.push(letter),
        }
    }
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn is_done(&self) -> bool {
        self.at == self.tokens.len()
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn sign(&mut self, sign: char) -> bool {
        let is = self.tokens.get(self.at) == Some(&Token::Sign(sign));
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, sign: char) -> Option<()> {
        self.sign(sign).then_some(())
    }

    /// Consumes all of these words in turn, or none of them.
    fn words(&mut self, words: &str) -> bool {
        let start = self.at;
        for word in words.split(' ') {
            if self.tokens.get(self.at) != Some(&Token::Word(word.to_owned())) {
                self.at = start;
                return false;
            }
            self.at += 1;
        }
        true
    }

    fn name(&mut self) -> Option<String> {
        match self.next()? {
            Token::Name(name) => Some(name),
            // The original case would be better; names that dbstow writes are in brackets.
            Token::Word(word) => Some(word.to_lowercase()),
            Token::Text(_) | Token::Number(_) | Token::Sign(_) => None,
        }
    }

    fn text(&mut self) -> Option<String> {
        match self.next()? {
            Token::Text(text) => Some(text),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<u64> {
        match self.next()? {
            Token::Number(number) => Some(number),
            _ => None,
        }
    }

    fn statement(&mut self) -> Option<Statement> {
        if self.words("USE") {
            return self.name().map(Statement::Use);
        }
        if self.words("CREATE DATABASE") {
            return self.create();
        }
        if self.words("DROP DATABASE") {
            return self.name().map(Statement::Drop);
        }
        if self.words("ALTER DATABASE") {
            return self.alter();
        }
        if self.words("CHECKPOINT") {
            return Some(Statement::Checkpoint);
        }
        if self.words("DBCC DROPCLEANBUFFERS") {
            self.words("WITH NO_INFOMSGS");
            return Some(Statement::DropCleanBuffers);
        }
        if self.words("DBCC SHRINKFILE") {
            return self.shrink();
        }
        if self.words("RECONFIGURE") {
            return Some(Statement::Reconfigure);
        }
        if self.words("EXEC SYS") {
            self.expect('.')?;
            return if self.words("SP_CONFIGURE") {
                self.configure()
            } else {
                None
            };
        }
        if self.words("EXEC SP_CONFIGURE") {
            return self.configure();
        }
        if self.words("DECLARE @SHOWN INT") {
            return self.keep();
        }
        if self.words("IF") {
            return self.condition();
        }
        for option in [
            "NOCOUNT ON",
            "NOCOUNT OFF",
            "XACT_ABORT ON",
            "XACT_ABORT OFF",
        ] {
            if self.words(&format!("SET {option}")) {
                return Some(Statement::Session(option.to_owned()));
            }
        }
        None
    }

    fn create(&mut self) -> Option<Statement> {
        let name = self.name()?;
        let (mut data, mut log) = (Vec::new(), Vec::new());
        if self.words("ON") {
            self.words("PRIMARY");
            data = self.specs()?;
        }
        if self.words("LOG ON") {
            log = self.specs()?;
        }
        Some(Statement::Create { name, data, log })
    }

    fn alter(&mut self) -> Option<Statement> {
        let database = self.name()?;
        if self.words("MODIFY FILE") {
            let spec = self.spec()?;
            return Some(Statement::Modify { database, spec });
        }
        if self.words("ADD FILE") {
            let (specs, log) = (self.specs()?, false);
            return Some(Statement::Add {
                database,
                specs,
                log,
            });
        }
        if self.words("ADD LOG FILE") {
            let (specs, log) = (self.specs()?, true);
            return Some(Statement::Add {
                database,
                specs,
                log,
            });
        }
        if self.words("REMOVE FILE") {
            let file = self.name()?;
            return Some(Statement::Remove { database, file });
        }
        if !self.words("SET") {
            return None;
        }
        const OPTIONS: [&str; 9] = [
            "RECOVERY SIMPLE",
            "RECOVERY FULL",
            "READ_COMMITTED_SNAPSHOT ON",
            "READ_COMMITTED_SNAPSHOT OFF",
            "ALLOW_SNAPSHOT_ISOLATION ON",
            "ALLOW_SNAPSHOT_ISOLATION OFF",
            "SINGLE_USER WITH ROLLBACK IMMEDIATE",
            "MULTI_USER",
            "DELAYED_DURABILITY",
        ];
        let found = OPTIONS.into_iter().find(|option| self.words(option))?;
        let mut option = found.to_owned();
        if found == "DELAYED_DURABILITY" {
            self.expect('=')?;
            let value = ["DISABLED", "ALLOWED", "FORCED"]
                .into_iter()
                .find(|word| self.words(word))?;
            option = format!("{found} = {value}");
        }
        Some(Statement::Set { database, option })
    }

    fn specs(&mut self) -> Option<Vec<Spec>> {
        let mut specs = vec![self.spec()?];
        while self.sign(',') {
            specs.push(self.spec()?);
        }
        Some(specs)
    }

    /// `(NAME = .., option = .., ..)`, each option once.
    fn spec(&mut self) -> Option<Spec> {
        self.expect('(')?;
        if !self.words("NAME") {
            return None;
        }
        self.expect('=')?;
        let mut spec = Spec {
            name: self.name()?,
            ..Spec::default()
        };
        while self.sign(',') {
            let Token::Word(option) = self.next()? else {
                return None;
            };
            self.expect('=')?;
            let twice = match option.as_str() {
                "NEWNAME" => spec.new_name.replace(self.name()?).is_some(),
                "FILENAME" => spec.path.replace(self.text()?).is_some(),
                "SIZE" => spec.size.replace(self.size()?).is_some(),
                "MAXSIZE" if self.words("UNLIMITED") => spec.max.replace(Max::Unlimited).is_some(),
                "MAXSIZE" => spec.max.replace(Max::Pages(self.size()?)).is_some(),
                "FILEGROWTH" => spec.growth.replace(self.growth()?).is_some(),
                _ => return None,
            };
            if twice {
                return None;
            }
        }
        self.expect(')')?;
        Some(spec)
    }

    /// A number with a unit; MB where there is none.
    fn size(&mut self) -> Option<u64> {
        let number = self.number()?;
        self.pages(number)
    }

    fn pages(&mut self, number: u64) -> Option<u64> {
        let units = [
            ("KB", 1 << 10),
            ("MB", 1 << 20),
            ("GB", 1 << 30),
            ("TB", 1_u64 << 40),
        ];
        let unit = units.into_iter().find(|(unit, _)| self.words(unit));
        let bytes = number.checked_mul(unit.map_or(1 << 20, |(_, bytes)| bytes))?;
        Some(bytes.div_ceil(PAGE))
    }

    fn growth(&mut self) -> Option<Growth> {
        let number = self.number()?;
        if self.sign('%') {
            return Some(Growth::Percent(number));
        }
        self.pages(number).map(Growth::Pages)
    }

    fn shrink(&mut self) -> Option<Statement> {
        self.expect('(')?;
        let file = self.text()?;
        self.expect(',')?;
        let megabytes = if self.words("EMPTYFILE") {
            None
        } else {
            Some(self.number()?)
        };
        self.expect(')')?;
        self.words("WITH NO_INFOMSGS");
        Some(Statement::Shrink { file, megabytes })
    }

    fn configure(&mut self) -> Option<Statement> {
        let setting = self.text()?;
        self.expect(',')?;
        let value = if self.words("@SHOWN") {
            None
        } else {
            Some(i64::try_from(self.number()?).ok()?)
        };
        Some(Statement::Configure { setting, value })
    }

    fn keep(&mut self) -> Option<Statement> {
        let rest = "= ( SELECT CAST ( VALUE_IN_USE AS INT ) FROM SYS . CONFIGURATIONS WHERE NAME = show advanced options )";
        for expected in rest.replace("show advanced options", "\u{1}").split(' ') {
            let said = match self.next()? {
                Token::Word(word) => word,
                Token::Sign(sign) => sign.to_string(),
                Token::Text(text) if text == "show advanced options" => "\u{1}".to_owned(),
                _ => return None,
            };
            if said != expected {
                return None;
            }
        }
        Some(Statement::Keep)
    }

    fn condition(&mut self) -> Option<Statement> {
        let not = self.words("NOT");
        if !self.words("EXISTS") {
            return None;
        }
        self.expect('(')?;
        if !self.words("SELECT") || self.number()? != 1 || !self.words("FROM TEMPDB") {
            return None;
        }
        self.expect('.')?;
        if !self.words("SYS") {
            return None;
        }
        self.expect('.')?;
        if !self.words("DATABASE_FILES WHERE NAME") {
            return None;
        }
        self.expect('=')?;
        let file = self.text()?;
        let mut size = None;
        if self.words("AND SIZE") {
            let smaller = self.sign('<');
            if !smaller {
                self.expect('>')?;
            }
            size = Some((smaller, self.number()?));
        }
        self.expect(')')?;
        let then = Box::new(self.statement()?);
        Some(Statement::If {
            not,
            file,
            size,
            then,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::restore;

    #[test]
    fn every_text_that_dbstow_makes_is_a_statement() {
        for (name, text) in sqlserver::tsql::examples() {
            for batch in text.split("GO\n") {
                let is_known = read(batch).is_some() || restore::is_one(batch);
                assert!(is_known, "{name}: {batch}");
            }
        }
    }

    #[test]
    fn names_paths_and_sizes_are_read_as_they_are_meant() {
        let text = "ALTER DATABASE [a]]b] MODIFY FILE (NAME = [t 1], FILENAME = N'D:\\o''hara\\t.mdf', SIZE = 8MB, \
                    MAXSIZE = UNLIMITED, FILEGROWTH = 10%);";
        let spec = Spec {
            name: "t 1".to_owned(),
            path: Some("D:\\o'hara\\t.mdf".to_owned()),
            size: Some(1024), // 8 MiB / 8 KiB
            max: Some(Max::Unlimited),
            growth: Some(Growth::Percent(10)),
            ..Spec::default()
        };
        let database = "a]b".to_owned();
        assert_eq!(read(text), Some(vec![Statement::Modify { database, spec }]));
    }

    #[test]
    fn what_is_not_known_word_for_word_is_no_statement() {
        for text in [
            "ALTER DATABASE tempdb MODIFY FILE (NAME = a, FILENAMES = N'x')",
            "ALTER DATABASE tempdb MODIFY FILE (NAME = a SIZE = 8MB)",
            "ALTER DATABASE tempdb MODIFY FILE (NAME = a, SIZE = 8MB, SIZE = 9MB)",
            "ALTER DATABASE tempdb SET AUTO_SHRINK ON",
            "CREATE DATABASE a COLLATE Latin1_General_BIN2",
            "DBCC DROPCLEANBUFERS",
            "CHECKPOINT; SELECT 1",
            "DROP DATABASE [a",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
