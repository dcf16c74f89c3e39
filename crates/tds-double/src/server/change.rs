//! What statements do to the state, and what SQL Server says when they cannot.

use super::error::{self, System};
use super::state::{Database, File, Io, Place, Setting, TEMPDB, Volume, Work};
use super::text::{Growth, Max, PAGE, Spec, Statement};
use super::{NotStarted, SqlServer};
use crate::model::Session;
use crate::reply::{Item, Message, Reply, Rows};
use crate::value::Kind;

/// The items of a statement, or the errors it raises.
type Outcome = Result<Vec<Item>, Vec<Message>>;

const AZURE_DATABASE: i64 = 5;
const MANAGED_INSTANCE: i64 = 8;
/// `database_id` up to which databases are the system's own.
const SYSTEM_MAX: i64 = 4;
/// A file of which nothing is said but its name.
const PAGES_DEFAULT: u64 = 8 * (1 << 20) / PAGE;
/// Largest write of a checkpoint here, in pages.
const WRITE_PAGES: u64 = 32;

/// Carries a batch out. A statement that fails leaves those after it to run.
pub(super) fn run(
    server: &mut SqlServer,
    session: &mut Session,
    statements: &[Statement],
) -> Reply {
    let mut reply = Reply::new();
    // `USE` counts for the statements after it, and reaches the session with the reply.
    let mut database = session.database.clone();
    for statement in statements {
        match carry_out(server, &session.login, &mut database, statement) {
            Ok(items) => {
                let rows = matches!(items.last(), Some(Item::Rows(_)));
                reply.items.extend(items);
                if !rows {
                    reply = reply.done();
                }
            }
            Err(errors) => reply.items.extend(errors.into_iter().map(Item::Error)),
        }
    }
    reply
}

fn carry_out(
    server: &mut SqlServer,
    login: &str,
    database: &mut String,
    statement: &Statement,
) -> Outcome {
    match statement {
        Statement::Use(name) => {
            let (_, found) = server
                .database(name)
                .ok_or_else(|| vec![error::no_database(name)])?;
            let name = found.name.clone();
            if server.edition.engine == AZURE_DATABASE && !name.eq_ignore_ascii_case(database) {
                return Err(vec![error::no_use()]);
            }
            *database = name.clone();
            Ok(vec![Item::Database(name)])
        }
        Statement::Create { name, data, log } => create(server, login, name, data, log),
        Statement::Drop(name) => drop_database(server, login, database, name),
        Statement::Modify { database, spec } => {
            let id = altered(server, login, database, spec.path.is_some())?;
            modify(server, id, spec)
        }
        Statement::Add {
            database,
            specs,
            log,
        } => {
            let id = altered(
                server,
                login,
                database,
                specs.iter().any(|spec| spec.path.is_some()),
            )?;
            for spec in specs {
                add(server, id, spec, *log)
                    .map_err(|errors| [errors, vec![error::alter_failed()]].concat())?;
            }
            Ok(Vec::new())
        }
        Statement::Remove { database, file } => {
            let id = altered(server, login, database, false)?;
            remove(server, id, file)
        }
        Statement::Set { database, option } => {
            let recovery = option.starts_with("RECOVERY");
            let id = altered(server, login, database, recovery)?;
            set(server, id, option)
        }
        Statement::Checkpoint => checkpoint(server, login, database),
        Statement::DropCleanBuffers => drop_clean_buffers(server, login, database),
        Statement::Shrink { file, megabytes } => shrink(server, login, database, file, *megabytes),
        Statement::Configure { setting, value } => configure(server, login, setting, *value),
        Statement::Keep => {
            server.kept = server.settings["show advanced options"].in_use;
            Ok(Vec::new())
        }
        Statement::Reconfigure => {
            if !server.may(login, "ALTER SETTINGS") {
                return Err(vec![error::no_reconfigure()]);
            }
            for setting in server.settings.values_mut() {
                setting.in_use = setting.value;
            }
            Ok(Vec::new())
        }
        Statement::Session(_) => Ok(Vec::new()),
        Statement::If {
            not,
            file,
            size,
            then,
        } => {
            let tempdb = &server.databases[&TEMPDB];
            let is = |found: &&File| {
                let fits = |(smaller, pages): (bool, u64)| {
                    if smaller {
                        found.now.pages < pages
                    } else {
                        found.now.pages > pages
                    }
                };
                found.now.name.eq_ignore_ascii_case(file) && size.is_none_or(fits)
            };
            let exists = tempdb.files.values().any(|found| is(&found));
            match exists == *not {
                true => Ok(Vec::new()),
                false => carry_out(server, login, database, then),
            }
        }
    }
}

/// A database that the login may alter. `placed`: the change is one that Azure's services do not know.
fn altered(server: &SqlServer, login: &str, name: &str, placed: bool) -> Result<i64, Vec<Message>> {
    let denied = || vec![error::alter_denied(name)];
    let (id, database) = server.database(name).ok_or_else(denied)?;
    if database.owner != login && !server.may(login, "ALTER ANY DATABASE") {
        return Err(denied());
    }
    let azure = [AZURE_DATABASE, MANAGED_INSTANCE].contains(&server.edition.engine);
    match placed && azure {
        true => Err(vec![error::not_supported()]),
        false => Ok(id),
    }
}

fn create(server: &mut SqlServer, login: &str, name: &str, data: &[Spec], log: &[Spec]) -> Outcome {
    let specified = !(data.is_empty() && log.is_empty());
    if specified && server.edition.engine == MANAGED_INSTANCE {
        return Err(vec![error::no_files_in_create()]);
    }
    if specified && server.edition.engine == AZURE_DATABASE {
        return Err(vec![error::not_in_azure("CREATE DATABASE")]);
    }
    if !server.may(login, "CREATE ANY DATABASE") {
        return Err(vec![error::permission_in_database(
            "CREATE DATABASE",
            "master",
        )]);
    }
    if server.database(name).is_some() {
        return Err(vec![error::database_exists(name)]);
    }
    let model = server
        .databases
        .values()
        .find(|database| database.name == "model");
    let recovery = model.map_or("FULL", |model| &model.recovery).to_owned();
    let id = server
        .databases
        .keys()
        .last()
        .map_or(1, |last| last + 1)
        .max(SYSTEM_MAX + 1);
    let database = Database {
        name: name.to_owned(),
        owner: login.to_owned(),
        recovery,
        ..Database::empty()
    };
    server.databases.insert(id, database);
    let named = |name: String| {
        vec![Spec {
            name,
            ..Spec::default()
        }]
    };
    let data = if data.is_empty() {
        named(name.to_owned())
    } else {
        data.to_vec()
    };
    let log = if log.is_empty() {
        named(format!("{name}_log"))
    } else {
        log.to_vec()
    };
    // file_id 1 is the first data file, 2 the first log.
    let (first, rest) = data.split_first().expect("one at least");
    let files = [(first, false)]
        .into_iter()
        .chain(log.iter().map(|spec| (spec, true)));
    let files: Vec<(&Spec, bool)> = files.chain(rest.iter().map(|spec| (spec, false))).collect();
    for (spec, is_log) in files {
        if let Err(errors) = add(server, id, spec, is_log) {
            server.databases.remove(&id);
            return Err([errors, vec![error::create_failed()]].concat());
        }
    }
    Ok(Vec::new())
}

fn drop_database(server: &mut SqlServer, login: &str, current: &str, name: &str) -> Outcome {
    let (id, database) = server
        .database(name)
        .ok_or_else(|| vec![error::cannot_drop(name)])?;
    if id <= SYSTEM_MAX {
        return Err(vec![error::is_system(name)]);
    }
    if database.owner != login && !server.may(login, "ALTER ANY DATABASE") {
        return Err(vec![error::cannot_drop(name)]);
    }
    if database.name.eq_ignore_ascii_case(current) {
        return Err(vec![error::in_use(name)]);
    }
    server.databases.remove(&id);
    Ok(Vec::new())
}

fn modify(server: &mut SqlServer, id: i64, spec: &Spec) -> Outcome {
    let database = &server.databases[&id];
    let found = file_of(database, &spec.name).ok_or_else(|| vec![error::no_file(&spec.name)])?;
    let file = database.files[&found].clone();
    let nothing = Spec {
        name: spec.name.clone(),
        ..Spec::default()
    };
    if *spec == nothing {
        return Err(vec![error::no_property(&spec.name)]);
    }
    let mut changed = file.clone();
    let mut items = Vec::new();
    if let Some(name) = &spec.new_name {
        if file_of(database, name).is_some_and(|other| other != found) {
            return Err(vec![error::file_name_used(name)]);
        }
        changed.now.name = name.clone();
        changed.next.name = name.clone();
        items.push(Item::Info(error::name_set(name)));
    }
    if let Some(path) = &spec.path {
        changed.next.path = path.clone();
        items.push(Item::Info(error::path_set(&spec.name)));
    }
    changed.max = spec.max.unwrap_or(file.max);
    changed.growth = spec.growth.unwrap_or(file.growth);
    let pages = spec.size.unwrap_or(file.now.pages);
    if let Max::Pages(max) = changed.max
        && pages > max
    {
        return Err(vec![error::larger_than_max()]);
    }
    if spec.size.is_some() {
        if pages <= file.now.pages {
            return Err(vec![error::not_larger()]);
        }
        let more = (pages - file.now.pages) * PAGE;
        let free = server
            .volume_of(&file.now.path)
            .map_or(0, |volume| server.free(volume));
        if more > free {
            return Err(vec![error::cannot_expand(&file.now.path)]);
        }
        changed.now.pages = pages;
        changed.next.pages = pages;
    }
    server.file_mut(id, found).clone_from(&changed);
    Ok(items)
}

/// Adds a file, which is in use at once.
fn add(server: &mut SqlServer, id: i64, spec: &Spec, log: bool) -> Result<(), Vec<Message>> {
    let database = &server.databases[&id];
    if file_of(database, &spec.name).is_some() {
        return Err(vec![error::file_name_used(&spec.name)]);
    }
    let pages = spec.size.unwrap_or(PAGES_DEFAULT);
    if let Some(Max::Pages(max)) = spec.max
        && pages > max
    {
        return Err(vec![error::max_below_size(&spec.name)]);
    }
    let ending = match (log, database.files.is_empty()) {
        (true, _) => "ldf",
        (false, true) => "mdf",
        (false, false) => "ndf",
    };
    let path = spec
        .path
        .clone()
        .unwrap_or_else(|| format!("{}{}.{ending}", server.folder(), spec.name));
    server
        .check_new(&path, pages)
        .map_err(|error| vec![error])?;
    let mut file = File::new(log, &spec.name, &path, pages);
    file.max = spec.max.unwrap_or(file.max);
    file.growth = spec.growth.unwrap_or(file.growth);
    let database = server.databases.get_mut(&id).expect("looked up before");
    let free = (1..)
        .find(|number| !database.files.contains_key(number))
        .expect("a free number");
    database.files.insert(free, file);
    Ok(())
}

fn remove(server: &mut SqlServer, id: i64, name: &str) -> Outcome {
    let database = server.databases.get_mut(&id).expect("looked up before");
    let failed = |error: Message| vec![error];
    let found = file_of(database, name).ok_or_else(|| failed(error::file_is_not_there()))?;
    let file = &database.files[&found];
    let first = database
        .files
        .iter()
        .find(|(_, other)| other.log == file.log);
    if first.is_some_and(|(first, _)| *first == found) {
        return Err(failed(error::is_primary()));
    }
    if file.used_pages > 0 {
        return Err(failed(error::not_empty(name)));
    }
    database.files.remove(&found);
    Ok(vec![Item::Info(error::removed(name))])
}

fn set(server: &mut SqlServer, id: i64, option: &str) -> Outcome {
    let database = server.databases.get_mut(&id).expect("looked up before");
    if id == TEMPDB {
        let word = option.split(' ').next().unwrap_or(option);
        return Err(vec![
            error::option_refused(word, &database.name),
            error::alter_failed(),
        ]);
    }
    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
    match name {
        "RECOVERY" => database.recovery = value.to_owned(),
        "READ_COMMITTED_SNAPSHOT" => database.read_committed_snapshot = value == "ON",
        "SINGLE_USER" => {
            database.options.insert("SINGLE_USER".to_owned());
        }
        "MULTI_USER" => {
            database.options.remove("SINGLE_USER");
        }
        _ => {
            database.options.retain(|other| !other.starts_with(name));
            database.options.insert(option.to_owned());
        }
    }
    Ok(Vec::new())
}

fn checkpoint(server: &mut SqlServer, login: &str, name: &str) -> Outcome {
    let id = server.id_of(name).expect("a session is in a database");
    if server.databases[&id].owner != login && !server.may(login, "CONTROL SERVER") {
        return Err(vec![error::permission_in_database("CHECKPOINT", name)]);
    }
    let database = server.databases.get_mut(&id).expect("looked up before");
    let dirty = std::mem::take(&mut database.dirty_pages);
    database.clean_pages += dirty;
    let data: Vec<&mut File> = database
        .files
        .values_mut()
        .filter(|file| !file.log)
        .collect();
    let each = dirty.div_ceil(data.len() as u64);
    for file in data {
        let writes = each.div_ceil(WRITE_PAGES) as i64;
        file.io.add(Io {
            writes,
            written_bytes: (each * PAGE) as i64,
            write_stall_ms: writes,
            ..Io::default()
        });
    }
    Ok(Vec::new())
}

fn drop_clean_buffers(server: &mut SqlServer, login: &str, current: &str) -> Outcome {
    // https://learn.microsoft.com/sql/t-sql/database-console-commands/dbcc-dropcleanbuffers-transact-sql, read 2026-11.
    let needed = if server.major() >= 16 || server.edition.engine >= AZURE_DATABASE {
        "ALTER SERVER STATE"
    } else {
        "CONTROL SERVER"
    };
    if !server.may(login, needed) {
        return Err(vec![error::dbcc_denied(login, "dropcleanbuffers")]);
    }
    let azure = server.edition.engine == AZURE_DATABASE;
    for database in server.databases.values_mut() {
        if !azure || database.name.eq_ignore_ascii_case(current) {
            database.clean_pages = 0;
        }
    }
    Ok(Vec::new())
}

fn shrink(
    server: &mut SqlServer,
    login: &str,
    current: &str,
    name: &str,
    megabytes: Option<u64>,
) -> Outcome {
    let id = server.id_of(current).expect("a session is in a database");
    if server.databases[&id].owner != login && !server.may(login, "CONTROL SERVER") {
        return Err(vec![error::dbcc_denied(login, "shrinkfile")]);
    }
    let database = server.databases.get_mut(&id).expect("looked up before");
    let found = file_of(database, name).ok_or_else(|| vec![error::no_such_file(name, current)])?;
    if megabytes.is_none() {
        let used = std::mem::take(&mut database.files.get_mut(&found).expect("found").used_pages);
        let log = database.files[&found].log;
        let other = database
            .files
            .iter_mut()
            .find(|(other, file)| **other != found && file.log == log);
        match other {
            Some((_, other)) => other.used_pages += used,
            None => {
                database.files.get_mut(&found).expect("found").used_pages = used;
                return Err(vec![error::cannot_empty(name)]);
            }
        }
    }
    let file = database.files.get_mut(&found).expect("found");
    if let Some(megabytes) = megabytes {
        let target = (megabytes * (1 << 20) / PAGE).max(file.used_pages);
        file.now.pages = file.now.pages.min(target);
        file.next.pages = file.now.pages;
    }
    let columns = [
        "DbId",
        "FileId",
        "CurrentSize",
        "MinimumSize",
        "UsedPages",
        "EstimatedPages",
    ];
    let rows = Rows::new(columns.map(|name| (name, Kind::BigInt)));
    let (pages, used) = (file.now.pages as i64, file.used_pages as i64);
    Ok(vec![Item::Rows(rows.row(
        [id, found, pages, pages, used, used].map(Into::into),
    ))])
}

fn configure(server: &mut SqlServer, login: &str, name: &str, value: Option<i64>) -> Outcome {
    if server.edition.engine == AZURE_DATABASE {
        return Err(vec![error::not_in_azure("CONFIG")]);
    }
    if !server.may(login, "ALTER SETTINGS") {
        return Err(vec![error::may_not()]);
    }
    let shown = server.settings["show advanced options"].in_use == 1;
    let kept = server.kept;
    let known = |setting: &&mut Setting| !setting.advanced || shown;
    let setting = server
        .settings
        .get_mut(name)
        .filter(known)
        .ok_or_else(|| vec![error::no_setting(name)])?;
    let old = setting.value;
    setting.value = value.unwrap_or(kept);
    Ok(vec![Item::Info(error::setting_changed(
        name,
        old,
        setting.value,
    ))])
}

/// Lets a text's work happen.
pub(super) fn work(server: &mut SqlServer, work: &Work) -> Result<(), Message> {
    for (is_log, ios) in [(false, &work.data), (true, &work.log)] {
        for (name, io) in ios {
            for file in server
                .named(name)
                .files
                .values_mut()
                .filter(|file| file.log == is_log)
            {
                file.io.add(*io);
            }
        }
    }
    for (kind, wait) in &work.waits {
        let all = server.waits.entry(kind.clone()).or_default();
        all.tasks += wait.tasks;
        all.wait_ms += wait.wait_ms;
        all.signal_ms += wait.signal_ms;
    }
    for (name, pages) in &work.cached_pages {
        server.named(name).clean_pages += pages;
    }
    for (name, pages) in &work.dirty_pages {
        server.named(name).dirty_pages += pages;
    }
    for (name, pages) in &work.filled_pages {
        fill(server, name, *pages)?;
    }
    Ok(())
}

/// Pages go to the file with the most room; where none has any, files grow in turn.
fn fill(server: &mut SqlServer, name: &str, mut pages: u64) -> Result<(), Message> {
    while pages > 0 {
        let data = server
            .named(name)
            .files
            .iter()
            .filter(|(_, file)| !file.log);
        let room = |file: &File| file.now.pages - file.used_pages;
        let (found, free) = data
            .map(|(id, file)| (*id, room(file)))
            .max_by_key(|(_, free)| *free)
            .expect("a data file");
        if free > 0 {
            let taken = free.min(pages).min(8.max(pages / 8));
            server
                .named(name)
                .files
                .get_mut(&found)
                .expect("found")
                .used_pages += taken;
            pages -= taken;
            continue;
        }
        let files: Vec<(i64, File)> = server.named(name).files.clone().into_iter().collect();
        let grown = files
            .iter()
            .filter(|(_, file)| !file.log)
            .find_map(|(id, file)| {
                let pages = file.grown()?;
                let free = server
                    .volume_of(&file.now.path)
                    .map_or(0, |volume| server.free(volume));
                ((pages - file.now.pages) * PAGE <= free).then_some((*id, pages))
            });
        let (id, larger) = grown.ok_or_else(|| error::filegroup_full(name))?;
        // What a file grew by is gone at tempdb's next start, and stays elsewhere.
        let tempdb = server.id_of(name) == Some(TEMPDB);
        let file = server.named(name).files.get_mut(&id).expect("found");
        file.now.pages = larger;
        if !tempdb {
            file.next.pages = larger;
        }
    }
    Ok(())
}

pub(super) fn restart(server: &mut SqlServer) -> Result<(), NotStarted> {
    let tempdb = server.databases.remove(&TEMPDB).expect("tempdb");
    let mut made = Database {
        files: Default::default(),
        clean_pages: 0,
        dirty_pages: 0,
        ..tempdb.clone()
    };
    let mut errors = Vec::new();
    server.databases.insert(TEMPDB, made.clone());
    for (id, file) in &tempdb.files {
        let Place { name, path, pages } = &file.next;
        match server.check_new(path, *pages) {
            Ok(()) => {
                let mut fresh = File::new(file.log, name, path, *pages);
                (fresh.max, fresh.growth) = (file.max, file.growth);
                made.files.insert(*id, fresh);
                server.databases.insert(TEMPDB, made.clone());
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        server.databases.insert(TEMPDB, tempdb);
        errors.push(error::no_tempdb());
        return Err(NotStarted(errors));
    }
    server.starts += 1;
    server.waits.clear();
    for database in server.databases.values_mut() {
        (database.clean_pages, database.dirty_pages) = (0, 0);
        for file in database.files.values_mut() {
            file.io = Io::default();
            // Nobody has brought the file to its new place: the database cannot be opened.
            if file.now.path != file.next.path {
                database.options.insert("RECOVERY_PENDING".to_owned());
            }
        }
    }
    Ok(())
}

fn file_of(database: &Database, name: &str) -> Option<i64> {
    let same = |(_, file): &(&i64, &File)| file.next.name.eq_ignore_ascii_case(name);
    database.files.iter().find(same).map(|(id, _)| *id)
}

impl SqlServer {
    /// The volume that a path is on: the longest mount point that it begins with.
    pub fn volume_of(&self, path: &str) -> Option<&Volume> {
        let windows = self.edition.platform == "Windows";
        let fold = |text: &str| {
            if windows {
                text.to_lowercase()
            } else {
                text.to_owned()
            }
        };
        let path = fold(path);
        let on = self
            .volumes
            .iter()
            .filter(|volume| path.starts_with(&fold(&volume.mount_point)));
        on.max_by_key(|volume| volume.mount_point.len())
    }

    /// What is left on a volume.
    pub fn free(&self, volume: &Volume) -> u64 {
        let files = self
            .databases
            .values()
            .flat_map(|database| database.files.values());
        let on = files.filter(|file| self.volume_of(&file.now.path) == Some(volume));
        let used: u64 = on.map(|file| file.now.pages * PAGE).sum();
        volume.total_bytes.saturating_sub(volume.other_bytes + used)
    }

    /// Where files go of which no path is said: beside master's.
    pub(super) fn folder(&self) -> String {
        let path = &self.databases[&1].files[&1].now.path;
        let end = path.rfind(['\\', '/']).expect("a path with a folder");
        path[..=end].to_owned()
    }

    fn check_new(&self, path: &str, pages: u64) -> Result<(), Message> {
        let fault = |system| error::cannot_create(system, path);
        let volume = self
            .volume_of(path)
            .ok_or_else(|| fault(System::NotFound))?;
        if !volume.writable {
            return Err(fault(System::Denied));
        }
        let mut files = self
            .databases
            .values()
            .flat_map(|database| database.files.values());
        if files.any(|file| file.now.path.eq_ignore_ascii_case(path)) {
            return Err(error::path_used(path));
        }
        match pages * PAGE > self.free(volume) {
            true => Err(fault(System::Full)),
            false => Ok(()),
        }
    }

    fn file_mut(&mut self, database: i64, file: i64) -> &mut File {
        let database = self.databases.get_mut(&database).expect("looked up before");
        database.files.get_mut(&file).expect("looked up before")
    }

    /// A database that a test names.
    fn named(&mut self, name: &str) -> &mut Database {
        let id = self
            .id_of(name)
            .unwrap_or_else(|| panic!("there is no database {name}"));
        self.databases.get_mut(&id).expect("looked up before")
    }
}

impl Growth {
    /// As `sys.master_files` has it: pages or percent, and which of them.
    pub(super) fn columns(self) -> (i64, i64) {
        match self {
            Growth::Pages(pages) => (pages as i64, 0),
            Growth::Percent(percent) => (percent as i64, 1),
        }
    }
}
