//! What differs between two servers, as commands of the service's client.

use catalogue::{Change, Part, Shell};
use model::Bytes;

use super::fill::{Names, fill};
use super::server::Server;
use super::volumes::more_volumes;
use super::way::{Step, Way};
use crate::error::LayoutError;

/// The options of the main command, and the way, while they are collected.
struct Options<'a> {
    way: Way,
    shell: Shell,
    names: &'a Names,
    values: Vec<(&'static str, String)>,
    text: String,
}

impl Options<'_> {
    fn add(&mut self, option: &str) -> Result<(), LayoutError> {
        if !option.is_empty() {
            let filled = fill(option, self.shell, self.names, &self.values)?;
            self.text += &format!(" {filled}");
        }
        Ok(())
    }

    /// Adds the option of a part that changes, and says so.
    fn change(
        &mut self,
        part: &Part,
        what: &'static str,
        (from, to): (Option<String>, String),
    ) -> Result<(), LayoutError> {
        self.add(&part.option)?;
        self.way.steps.push(Step {
            what,
            from: from.unwrap_or_default(),
            to,
            during: part.during.clone(),
        });
        Ok(())
    }
}

/// The way from a server, where it is known, to another.
///
/// # Errors
/// When a name is missing, or nothing is known of how the service changes.
pub(super) fn way(
    from: Option<&Server<'_>>,
    to: &Server<'_>,
    names: &Names,
) -> Result<Way, LayoutError> {
    let Some(change) = &to.service.change else {
        return Err(LayoutError::Impossible(format!(
            "{}: how a server of it is changed is not in the catalogue; use the service's own console",
            to.service.title
        )));
    };
    let mut options = Options {
        way: Way::default(),
        shell: change.shell,
        names,
        values: values(to, change),
        text: String::new(),
    };
    let is_tier = from.is_none_or(|from| from.service.name != to.service.name);
    if is_tier {
        options.add(&to.service.tier)?;
    }
    class(from, to, change, &mut options)?;
    storage(from, to, change, is_tier, &mut options)?;
    if let Some(volumes) = &change.volumes {
        let json = more_volumes(from, to, volumes, &mut options.way);
        if let Some(json) = json {
            options.values.push(("volumes", json));
            options.add(&volumes.option)?;
        }
    }
    let values = options.values.clone();
    let run = |template: &String| fill(template, change.shell, names, &values);
    let mut commands: Vec<String> = Vec::new();
    if !options.text.is_empty() {
        commands.push(run(&change.command)? + &options.text);
    }
    let has_log = |server: &Server<'_>| server.has_log_volume();
    let before = from.is_some_and(has_log);
    if let Some(log) = &change.log_volume
        && before != to.has_log_volume()
    {
        let shown = |has: bool| {
            if has {
                "its own volume"
            } else {
                "with the data"
            }
        };
        options.way.steps.push(Step {
            what: "log",
            from: from.map_or(String::new(), |_| shown(before).to_owned()),
            to: shown(to.has_log_volume()).to_owned(),
            during: log.during.clone(),
        });
        // It exists only beside storage that the server has then, or still has.
        let (switch, at) = match to.has_log_volume() {
            true => (&log.on, commands.len()),
            false => (&log.off, 0),
        };
        let switch: Vec<String> = switch.iter().map(run).collect::<Result<_, _>>()?;
        commands.splice(at..at, switch);
    }
    if let Some((switch, step)) = temp(from, to) {
        options.way.steps.push(step);
        for template in switch {
            commands.push(run(template)?);
        }
    }
    for command in commands {
        options.way.commands.push(command);
        if let Some(waits) = &change.waits {
            options.way.commands.push(run(waits)?);
        }
    }
    Ok(options.way)
}

/// What stands for the words in braces.
fn values(to: &Server<'_>, change: &Change) -> Vec<(&'static str, String)> {
    let class = to.class_name();
    let mut values = vec![
        ("class", class.to_owned()),
        ("cores", to.class.spec.cores.to_string()),
    ];
    let mut series = change.series.iter();
    if let Some(series) = series.find(|series| class.starts_with(&series.begins)) {
        values.push(("series", series.name.clone()));
    }
    if let Some(first) = to.counted().first() {
        values.extend(first.rule.code.clone().map(|code| ("type", code)));
        values.extend(first.iops.map(|iops| ("iops", iops.0.to_string())));
        if let Some(rate) = first.throughput {
            values.push(("mib_per_s", (rate.0 >> 20).to_string()));
            values.push(("mb_per_s", (rate.0 / 1_000_000).to_string()));
        }
    }
    if let Some(size) = to.size() {
        let gib = size.0.div_ceil(1 << 30).next_multiple_of(change.size_step);
        values.push(("gib", gib.to_string()));
    }
    values
}

fn class(
    from: Option<&Server<'_>>,
    to: &Server<'_>,
    change: &Change,
    options: &mut Options<'_>,
) -> Result<(), LayoutError> {
    let is_same = from.is_some_and(|from| from.class.name == to.class.name);
    let is_tier = from.is_some_and(|from| from.service.name != to.service.name);
    let shown = |server: &Server<'_>| match is_tier {
        true => format!("{}, {}", server.service.name, server.class_name()),
        false => server.class_name().to_owned(),
    };
    let Some(part) = change.class.as_ref().filter(|_| !is_same) else {
        return Ok(());
    };
    options.change(part, "class", (from.map(shown), shown(to)))
}

/// The storage that a server has reserved: its type, size and rates.
fn storage(
    from: Option<&Server<'_>>,
    to: &Server<'_>,
    change: &Change,
    is_tier: bool,
    options: &mut Options<'_>,
) -> Result<(), LayoutError> {
    let kind = |server: &Server<'_>| {
        let mut held = server.volumes.iter().filter(|held| !held.rule.is_local());
        let first = server.counted().first().map(|held| held.rule);
        let rule = first.or_else(|| held.next().map(|held| held.rule));
        rule.map_or(String::new(), |rule| rule.disk.clone())
    };
    let (then, before) = (kind(to), from.map_or(String::new(), kind));
    let is_other = then != before;
    let title = &to.service.title;
    if is_other {
        match (&change.storage, from) {
            (Some(part), _) => options.change(part, "storage", (from.map(|_| before), then))?,
            (None, Some(_)) => options.way.left.push(format!(
                "The storage stays {before}: {title} does not make it {then} in place; restore a backup into a new server of that storage."
            )),
            (None, None) => options.way.notes.push(format!(
                "The storage has to be {then} already: {title} does not change its type in place."
            )),
        }
        if change.storage.is_none() && from.is_some() {
            // The rates are those of the other type.
            return Ok(());
        }
    }
    size(from, to, change, is_tier, options)?;
    let rates = |server: &Server<'_>| {
        let first = server
            .counted()
            .first()
            .map(|held| (held.iops, held.throughput));
        first.unwrap_or_default()
    };
    let (own, known) = (rates(to), from.map(rates).unwrap_or_default());
    if let (Some(part), Some(iops)) = (&change.iops, own.0)
        && (is_other || known.0 != own.0)
    {
        let before = known.0.map(|iops| iops.0.to_string());
        options.change(part, "IOPS", (before, iops.0.to_string()))?;
    }
    if let (Some(part), Some(rate)) = (&change.throughput, own.1)
        && (is_other || known.1 != own.1)
    {
        let before = known.1.map(|rate| rate.to_string());
        options.change(part, "throughput", (before, rate.to_string()))?;
    }
    Ok(())
}

fn size(
    from: Option<&Server<'_>>,
    to: &Server<'_>,
    change: &Change,
    is_tier: bool,
    options: &mut Options<'_>,
) -> Result<(), LayoutError> {
    let (Some(part), Some(size)) = (&change.size, to.size()) else {
        return Ok(());
    };
    let before = from.and_then(Server::size);
    if before == Some(size) && !is_tier {
        return Ok(());
    }
    let title = &to.service.title;
    if let Some(before) = before.filter(|before| *before > size && !change.shrinks) {
        options.way.left.push(format!(
            "The storage stays at {before}: {title} cannot make it smaller; for {size}, move the data to a new server."
        ));
        return Ok(());
    }
    let least =
        before.map(|before| Bytes(before.0 + before.0.saturating_mul(change.grows_by) / 100));
    let grows = |(before, least): &(Bytes, Bytes)| *before < size && size < *least;
    if let Some((before, least)) = before.zip(least).filter(grows) {
        options.way.notes.push(format!(
            "{size} is less than {} % above {before}: {title} makes it {} GiB, and charges that.",
            change.grows_by,
            least.0.div_ceil(1 << 30)
        ));
    }
    // A tier wants its size beside it, also where that stays.
    if before == Some(size) {
        return options.add(&part.option);
    }
    let before = before.map(|before| before.to_string());
    options.change(part, "size", (before, size.to_string()))
}

/// Commands that put temporary files on the disk inside the class, or take them from there, where that is chosen.
fn temp<'a>(from: Option<&Server<'_>>, to: &'a Server<'_>) -> Option<(&'a [String], Step)> {
    let switch = to.service.temp_local.as_ref()?;
    let shown = |is_local: bool| {
        if is_local {
            "on the class's disk"
        } else {
            "on the storage"
        }
    };
    // A new class has them on its own disk.
    let is_local = from.is_none_or(|from| !from.has_local() || from.has_temp_local());
    let wanted = to.has_temp_local();
    (to.has_local() && is_local != wanted).then(|| {
        let commands = if wanted { &switch.on } else { &switch.off };
        let step = Step {
            what: "temporary files",
            from: from.map_or(String::new(), |from| {
                shown(from.has_temp_local()).to_owned()
            }),
            to: shown(wanted).to_owned(),
            during: switch.during.clone(),
        };
        (commands.as_slice(), step)
    })
}
