//! Effects of statements on the state, and SQL Server's errors when they fail.

use super::error::{self, Outcome};
use super::state::{Database, File, TEMPDB};
use super::text::{Max, PAGE, Spec, Statement};
use super::upkeep::{checkpoint, configure, drop_clean_buffers, shrink};
use super::{AZURE_DATABASE, MANAGED_INSTANCE, SqlServer};
use crate::model::Session;
use crate::reply::{Item, Message, Reply};

/// `database_id` up to which databases are system databases.
const SYSTEM_MAX: i64 = 4;
/// A file with only a name.
const PAGES_DEFAULT: u64 = 8 * (1 << 20) / PAGE;

/// Executes a batch. A failed statement does not stop those after it.
pub(super) fn run(
    server: &mut SqlServer,
    session: &mut Session,
    statements: &[Statement],
) -> Reply {
    let mut reply = Reply::new();
    // `USE` applies to the statements after it, and reaches the session with the reply.
    let mut database = session.database.clone();
    for statement in statements {
        match execute(server, &session.login, &mut database, statement) {
            Ok(items) => {
                let rows = matches!(items.last(), Some(Item::Rows(_)));
                reply.items.extend(items);
                if !rows {
                    reply = reply.done();
                }
            }
            Err(errors) => reply.items.extend(errors.into_iter().map(Item::Error)),
        }
        // The session that sets SINGLE_USER is not disconnected itself.
        server.severed.remove(&session.id);
        server.inside.insert(session.id, database.clone());
    }
    reply
}

fn execute(
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
        Statement::Drop(name) => drop_database(server, login, name),
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
            // SINGLE_USER: https://github.com/microsoft/sqlmanagementobjects/issues/49, read 2026-11-26.
            let unknown = ["RECOVERY", "SINGLE_USER"];
            let unknown = unknown.iter().any(|word| option.starts_with(word));
            let id = altered(server, login, database, unknown)?;
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
                false => execute(server, login, database, then),
            }
        }
    }
}

/// A database that the login may alter. `unknown`: the change is not supported by Azure's services.
fn altered(
    server: &SqlServer,
    login: &str,
    name: &str,
    unknown: bool,
) -> Result<i64, Vec<Message>> {
    let denied = || vec![error::alter_denied(name)];
    let (id, database) = server.database(name).ok_or_else(denied)?;
    if database.owner != login && !server.may(login, "ALTER ANY DATABASE") {
        return Err(denied());
    }
    let azure = [AZURE_DATABASE, MANAGED_INSTANCE].contains(&server.edition.engine);
    match unknown && azure {
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

fn drop_database(server: &mut SqlServer, login: &str, name: &str) -> Outcome {
    let (id, database) = server
        .database(name)
        .ok_or_else(|| vec![error::cannot_drop(name)])?;
    if id <= SYSTEM_MAX {
        return Err(vec![error::is_system(name)]);
    }
    if database.owner != login && !server.may(login, "ALTER ANY DATABASE") {
        return Err(vec![error::cannot_drop(name)]);
    }
    let is_in = |inside: &String| inside.eq_ignore_ascii_case(name);
    if server.inside.values().any(is_in) {
        return Err(vec![error::in_use(name)]);
    }
    server.databases.remove(&id);
    Ok(Vec::new())
}

fn modify(server: &mut SqlServer, id: i64, spec: &Spec) -> Outcome {
    let database = &server.databases[&id];
    let found = database
        .file(&spec.name)
        .ok_or_else(|| vec![error::no_file(&spec.name)])?;
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
        if database.file(name).is_some_and(|other| other != found) {
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
            return Err(vec![error::cannot_expand(
                server.is_windows(),
                &file.now.path,
            )]);
        }
        changed.now.pages = pages;
        changed.next.pages = pages;
    }
    server.file_mut(id, found).clone_from(&changed);
    Ok(items)
}

/// Adds a file, which is in use immediately.
fn add(server: &mut SqlServer, id: i64, spec: &Spec, log: bool) -> Result<(), Vec<Message>> {
    let database = &server.databases[&id];
    if database.file(&spec.name).is_some() {
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
    if id == TEMPDB && server.tempdb_in_use {
        server.refused_in_use = true;
        return Err(vec![error::worktables()]);
    }
    let database = server.databases.get_mut(&id).expect("looked up before");
    let failed = |error: Message| vec![error];
    let found = database
        .file(name)
        .ok_or_else(|| failed(error::file_is_not_there()))?;
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
            let (name, inside) = (&database.name, &mut server.inside);
            let out = inside.extract_if(.., |_, database| database.eq_ignore_ascii_case(name));
            server.severed.extend(out.map(|(session, _)| session));
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
