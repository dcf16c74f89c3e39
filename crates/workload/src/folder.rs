//! Reads a [`Workload`] from a folder, on disk or embedded.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use model::Duration;
use products::Dialect;
use toml::Spanned;

use files::input::{self, Reach};

use super::definition::{
    LOOP_COUNT, LOOP_FIRST, Load, Run, RunLength, Setting, Weighted, Workload, holds,
};
use super::error::{WorkloadError, line_of};
use super::script::{Command, Script, ScriptError, ScriptProblem};
use super::suggest;
use super::value::Value;
use super::variables::{BUILTIN_VARIABLES, Names};
use super::wire::{self, LoadFile, Parameter, RunFile, WeightedFile, WorkloadFile};

/// The file that makes a folder a workload.
pub(super) const FILE: &str = "workload.toml";

/// Default log bytes per changed row: a row of 200 bytes and a header of 100.
///
/// A rough guess for small rows; set it where the log matters.
pub(super) const LOG_BYTES_PER_ROW: u64 = 300;

/// A folder's files, independent of where they are.
pub(super) trait Folder {
    /// The name of `file` in messages.
    fn place(&self, file: &str) -> String;
    /// The text of `file`.
    fn text(&self, file: &str) -> io::Result<String>;
    /// Names of the existing scripts.
    fn scripts(&self) -> Vec<String>;
}

/// A folder on disk.
pub(super) struct OnDisk<'a> {
    pub(super) path: &'a Path,
    pub(super) reach: Reach,
}

impl Folder for OnDisk<'_> {
    fn place(&self, file: &str) -> String {
        self.path.join(file).display().to_string()
    }

    fn text(&self, file: &str) -> io::Result<String> {
        input::beneath(self.path, file, self.reach)
    }

    fn scripts(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".sql"))
            .collect();
        names.sort();
        names
    }
}

impl Workload {
    /// Reads a folder: its `workload.toml` and the scripts that it names.
    ///
    /// In another dialect than SQLite's, `load.ENGINE.sql` replaces `load.sql` if it exists, with the name of the dialect's engine.
    /// Other files are ignored. `reach` controls whether scripts may be elsewhere.
    ///
    /// # Errors
    /// The first error, with file, line, value and remedy.
    pub fn from_folder(
        path: &Path,
        dialect: Dialect,
        reach: Reach,
    ) -> Result<Workload, WorkloadError> {
        read(&OnDisk { path, reach }, dialect)
    }
}

/// Reads and checks a workload.
pub(super) fn read<F: Folder + ?Sized>(
    folder: &F,
    dialect: Dialect,
) -> Result<Workload, WorkloadError> {
    let file = folder.place(FILE);
    let text = folder.text(FILE).map_err(|source| WorkloadError::Read {
        path: file.clone().into(),
        source,
    })?;
    let WorkloadFile {
        name,
        about,
        database,
        tables,
        operation,
        claim,
        io_between,
        sessions,
        parameters,
        range,
        load,
        run,
    } = wire::read(&file, &text)?;
    let mut reader = Reader {
        folder,
        dialect,
        file,
        text: &text,
        names: Names::new(),
    };
    let sessions = match sessions {
        Some(sessions) => Some(reader.positive("sessions", &sessions)?),
        None => None,
    };
    let parameters = reader.parameters(parameters)?;
    let ranges = reader.ranges(range, &parameters)?;
    let load = reader.load(load)?;
    let run = reader.run(run, &parameters)?;
    check_defined(&reader.names)?;
    let workload = Workload {
        name,
        about: about.trim().to_owned(),
        database,
        tables,
        operation,
        claim,
        io_between,
        load,
        run,
        sessions,
        stress: None,
        parameters,
        ranges,
        names: Arc::new(reader.names),
    };
    workload.length(sessions.unwrap_or(1))?;
    Ok(workload)
}

/// Every variable that a script reads must have a value from somewhere.
pub(super) fn check_defined(names: &Names) -> Result<(), ScriptError> {
    match names.undefined() {
        None => Ok(()),
        Some(undefined) => Err(ScriptError {
            file: undefined.file.to_owned(),
            line: undefined.line,
            problem: ScriptProblem::Undefined {
                name: undefined.name.to_owned(),
                remedy: suggest::remedy(undefined.name, names.defined()),
            },
        }),
    }
}

struct Reader<'a, F: ?Sized> {
    folder: &'a F,
    dialect: Dialect,
    file: String,
    text: &'a str,
    names: Names,
}

impl<F: Folder + ?Sized> Reader<'_, F> {
    fn line<T>(&self, place: &Spanned<T>) -> u32 {
        line_of(self.text, place.span().start)
    }

    fn value_error<T>(
        &self,
        place: &Spanned<T>,
        key: &'static str,
        given: impl ToString,
        wanted: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError::Value {
            file: self.file.clone(),
            line: self.line(place),
            key,
            given: given.to_string(),
            wanted: wanted.into(),
        }
    }

    fn empty<T>(&self, place: &Spanned<T>, what: String) -> WorkloadError {
        WorkloadError::Empty {
            file: self.file.clone(),
            line: self.line(place),
            what,
        }
    }

    fn positive(&self, key: &'static str, value: &Spanned<i64>) -> Result<u32, WorkloadError> {
        match u32::try_from(*value.get_ref()) {
            Ok(number) if number > 0 => Ok(number),
            Ok(_) | Err(_) => {
                let wanted = format!("give a whole number from 1 to {}", u32::MAX);
                Err(self.value_error(value, key, value.get_ref(), wanted))
            }
        }
    }

    fn parameters(
        &mut self,
        given: BTreeMap<Spanned<String>, Parameter>,
    ) -> Result<BTreeMap<String, Value>, WorkloadError> {
        let mut parameters = BTreeMap::new();
        for (name, Parameter(value)) in given {
            let reserved = BUILTIN_VARIABLES.contains(&name.get_ref().as_str());
            if reserved && name.get_ref() != "scale" {
                let wanted = "dbstow sets that variable itself; choose another name";
                return Err(self.value_error(&name, "a parameter's name", name.get_ref(), wanted));
            }
            if !super::script::is_name(name.get_ref()) {
                let wanted = "use letters, digits and `_`, no digit first";
                let shown = format!("`{}`", name.get_ref());
                return Err(self.value_error(&name, "a parameter's name", shown, wanted));
            }
            self.names.define(name.get_ref());
            parameters.insert(name.into_inner(), value);
        }
        Ok(parameters)
    }

    /// Ranges of parameters; checks that each parameter exists and that its default is in range.
    fn ranges(
        &self,
        given: BTreeMap<Spanned<String>, (i64, i64)>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, RangeInclusive<i64>>, WorkloadError> {
        let one = |(name, (least, most)): (Spanned<String>, (i64, i64))| {
            let range = least..=most;
            match parameters.get(name.get_ref()) {
                Some(value) if holds(&range, value) => Ok((name.into_inner(), range)),
                value => {
                    let wanted = "name a parameter, and give the least and the most that it may be, its own value among them";
                    let own = value.map_or_else(|| "no parameter".to_owned(), Value::to_string);
                    let given = format!("[{least}, {most}] of `{}` ({own})", name.get_ref());
                    Err(self.value_error(&name, "a range", given, wanted))
                }
            }
        };
        given.into_iter().map(one).collect()
    }

    fn load(&mut self, load: LoadFile) -> Result<Load, WorkloadError> {
        let mut scripts = |files: Vec<Spanned<String>>| -> Result<Vec<Script>, WorkloadError> {
            files.iter().map(|file| self.script(file)).collect()
        };
        Ok(Load {
            measured: load.measured,
            schema: scripts(load.schema)?,
            scripts: scripts(load.scripts)?,
        })
    }

    fn script(&mut self, file: &Spanned<String>) -> Result<Script, WorkloadError> {
        let name = file.get_ref();
        let (place, text) = self.text(name);
        let text = text.map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                return self.missing(file);
            }
            WorkloadError::Read {
                path: place.clone().into(),
                source,
            }
        })?;
        let script = Script::parse(&place, &text, self.dialect, &mut self.names)?;
        if script.commands.is_empty() {
            return Err(self.empty(file, format!("script `{name}` does nothing")));
        }
        Ok(script)
    }

    fn missing(&self, file: &Spanned<String>) -> WorkloadError {
        let there = self.folder.scripts();
        WorkloadError::MissingScript {
            file: self.file.clone(),
            line: self.line(file),
            script: file.get_ref().clone(),
            remedy: suggest::remedy(file.get_ref(), there.iter().map(String::as_str)),
        }
    }

    /// Location and text of a script: the dialect's own version if it exists.
    fn text(&self, name: &str) -> (String, io::Result<String>) {
        let variant = self.dialect.variant(name).and_then(|variant| {
            let text = self.folder.text(&variant);
            let absent = matches!(&text, Err(error) if error.kind() == io::ErrorKind::NotFound);
            (!absent).then(|| (self.folder.place(&variant), text))
        });
        variant.unwrap_or_else(|| (self.folder.place(name), self.folder.text(name)))
    }

    fn run(
        &mut self,
        run: Spanned<RunFile>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<Run, WorkloadError> {
        let length = self.length(&run, parameters)?;
        let run = run.into_inner();
        if run.scripts.get_ref().is_empty() {
            return Err(self.empty(&run.scripts, "`scripts` of the run is empty".to_owned()));
        }
        let log_bytes_per_row = match &run.log_bytes_per_row {
            None => LOG_BYTES_PER_ROW,
            Some(bytes) => u64::try_from(*bytes.get_ref()).map_err(|_| {
                let wanted = "give the bytes of log per changed row, 0 or more";
                self.value_error(bytes, "log_bytes_per_row", bytes.get_ref(), wanted)
            })?,
        };
        let mix = run.scripts.into_inner().into_iter();
        let scripts = mix
            .map(|script| self.weighted(script))
            .collect::<Result<_, _>>()?;
        let server_loop = match &run.server_loop {
            None => None,
            Some(file) => self.server_loop(file, parameters)?,
        };
        Ok(Run {
            length,
            scripts,
            log_bytes_per_row,
            server_loop,
            per_turn: 1,
        })
    }

    /// The loop, if it is in the dialect being read; for others only checks that the file exists.
    fn server_loop(
        &mut self,
        file: &Spanned<String>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<Option<Script>, WorkloadError> {
        const KEY: &str = "server_loop";
        let name = file.get_ref();
        let wrong = |reader: &Self, wanted: &str| {
            reader.value_error(file, KEY, format!("\"{name}\""), wanted)
        };
        if !self.folder.scripts().contains(name) {
            return Err(self.missing(file));
        }
        let dialect = Dialect::of(name);
        if dialect == Dialect::SQLITE {
            let example = Dialect::TSQL.engine;
            let wanted =
                format!("name it for the server whose SQL it is, such as `loop.{example}.sql`");
            return Err(wrong(self, &wanted));
        }
        if dialect != self.dialect {
            return Ok(None);
        }
        for variable in [LOOP_FIRST, LOOP_COUNT] {
            if parameters.contains_key(variable) {
                let wanted = format!("rename the parameter `{variable}`, which the loop is given");
                return Err(wrong(self, &wanted));
            }
            self.names.define(variable);
        }
        let script = self.script(file)?;
        let reads = |variable: &str| match script.commands.as_slice() {
            [Command::Sql(statement)] => statement.parameters.iter().any(|name| name == variable),
            _ => false,
        };
        match reads(LOOP_FIRST) && reads(LOOP_COUNT) {
            true => Ok(Some(script)),
            false => Err(wrong(
                self,
                "write one statement for operations `:first` to `:first + :count - 1`",
            )),
        }
    }

    fn weighted(&mut self, given: WeightedFile) -> Result<Weighted, WorkloadError> {
        let weight = match &given.weight {
            None => 1,
            Some(weight) => self.positive("weight", weight)?,
        };
        let script = self.script(&given.file)?;
        Ok(Weighted { script, weight })
    }

    fn length(
        &self,
        run: &Spanned<RunFile>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<RunLength, WorkloadError> {
        match (&run.get_ref().operations, &run.get_ref().duration) {
            (Some(operations), None) => self.operations(operations, parameters),
            (None, Some(duration)) => self.duration(duration, parameters),
            (Some(_), Some(duration)) => Err(self.value_error(
                duration,
                "the run's length",
                "given twice",
                "give either `operations` or `duration`",
            )),
            (None, None) => Err(self.value_error(
                run,
                "the run's length",
                "not given",
                "add `operations = 10_000` or `duration = \"10 s\"`",
            )),
        }
    }

    fn operations(
        &self,
        given: &Spanned<Parameter>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<RunLength, WorkloadError> {
        const KEY: &str = "operations";
        let Parameter(value) = given.get_ref();
        let named = match value {
            Value::Int(operations) if *operations > 0 => {
                let operations = Setting::Fixed(operations.unsigned_abs());
                return Ok(RunLength::Operations(operations));
            }
            Value::Text(name) if name == "sessions" || parameters.contains_key(name) => name,
            Value::Text(name) => {
                let known = parameters.keys().map(String::as_str).chain(["sessions"]);
                let remedy = suggest::remedy(name, known);
                let wanted = format!("give a whole number above 0, or a parameter's name{remedy}");
                return Err(self.value_error(given, KEY, format!("\"{name}\""), wanted));
            }
            Value::Int(_) | Value::Double(_) | Value::Null => {
                let wanted = "give a whole number above 0, or a parameter's name";
                return Err(self.value_error(given, KEY, value, wanted));
            }
        };
        Ok(RunLength::Operations(Setting::Parameter(named.clone())))
    }

    fn duration(
        &self,
        given: &Spanned<String>,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<RunLength, WorkloadError> {
        let text = given.get_ref();
        if parameters.contains_key(text) {
            return Ok(RunLength::Duration(Setting::Parameter(text.clone())));
        }
        match text.parse::<Duration>() {
            Ok(duration) if duration > Duration::ZERO => {
                Ok(RunLength::Duration(Setting::Fixed(duration)))
            }
            Ok(_) | Err(_) => {
                let remedy = suggest::remedy(text, parameters.keys().map(String::as_str));
                let wanted = format!(
                    "give a span above 0 such as \"10 s\", or the name of a parameter that holds one{remedy}"
                );
                Err(self.value_error(given, "duration", format!("\"{text}\""), wanted))
            }
        }
    }
}
