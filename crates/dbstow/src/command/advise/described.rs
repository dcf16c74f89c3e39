//! Builds the advice document from the search results.

use std::collections::{BTreeMap, BTreeSet};

use advise::{
    Advice, Found, Headroom, Layouts, Load, Measured, Need, Placed, Ratio, Utilisation, headroom,
};
use analysis::report::advice::document::{
    self, Asked, Capacity, Counts, Figure, Next, SCHEMA, Used,
};
use anyhow::Result;
use catalogue::{Catalogue, MachineEntry};
use experiment::spec::{Disk, Volume};
use model::split::{Part, Spent, TimeSplit};
use model::storage::UsageOwner;
use model::store::Cause;
use model::{HostCacheMode, Measure};
use profile::BackTest;
use reading::Role;

use super::need::{Today, price_list_of_disk};
use super::{Args, UsageError, assumed, folder};
use table::quantity::{percent, usd};

/// What `--engine` calls MariaDB.
const MARIADB: &str = "mariadb";

/// What `--engine` calls SQL Server.
const SQL_SERVER: &str = "sqlserver";

/// Number of limits reported per layout.
const LIMITS_TOLD: usize = 4;

/// Request and results.
pub(super) struct Described<'a> {
    pub(super) args: &'a Args,
    pub(super) need: &'a Need,
    pub(super) today: &'a Today<'a>,
    pub(super) volumes: &'a [Volume],
    pub(super) catalogue: &'a Catalogue,
    pub(super) backtest: &'a BackTest,
    pub(super) layouts: &'a Layouts<'a>,
    pub(super) advice: &'a Advice,
    pub(super) load: &'a Load,
}

impl Described<'_> {
    /// The document.
    ///
    /// # Errors
    /// When an operation takes no time at all.
    pub(super) fn document(&self) -> Result<document::Advice> {
        let advice = self.advice;
        let with_headroom = |found: &Option<Found>| -> Result<Option<document::Layout>> {
            found
                .as_ref()
                .map(|found| self.with_headroom(found))
                .transpose()
        };
        let plain = |found: &Option<Found>| found.as_ref().map(|found| self.layout(found));
        let today = self.of_today();
        let (cheapest, above_budget) = (
            with_headroom(&advice.cheapest)?,
            with_headroom(&advice.above_budget)?,
        );
        let mut document = document::Advice {
            schema: SCHEMA,
            answer: String::new(),
            server: self.server(),
            asked: self.asked(),
            backtest: backtest(self.backtest),
            runner_up: plain(&advice.runner_up),
            fastest: plain(&advice.fastest),
            best_value: plain(&advice.best_value),
            frontier: advice
                .frontier
                .iter()
                .map(|found| self.layout(found))
                .collect(),
            counts: counts(advice),
            price_lists: Vec::new(),
            assumptions: Vec::new(),
            next: self.next(&today, cheapest.as_ref()),
            today,
            cheapest,
            above_budget,
        };
        document.price_lists = self.price_lists(&document);
        document.assumptions = self.assumptions(&document);
        document.answer = self.answer(&document);
        Ok(document)
    }

    fn server(&self) -> Option<String> {
        let origin = &self.today.profile.origin;
        let product = origin.product.as_ref()?;
        let version = origin.version.iter().map(|version| format!(" {version}"));
        Some(format!("{product}{}", version.collect::<String>()))
    }

    fn asked(&self) -> Asked {
        let need = self.need;
        let capacity = need.holdings.iter().map(|holding| Capacity {
            roles: holding.roles.iter().copied().collect(),
            bytes: holding.size.0,
        });
        Asked {
            profile: self.args.profile.display().to_string(),
            cloud: need.cloud.clone(),
            slower_max: self.args.not_slower,
            budget_usd_per_month: self.args.budget,
            growth: self.args.growth,
            system: match self.args.windows {
                true => "Windows",
                false => "Linux",
            },
            capacity: capacity.collect(),
            memory: need.memory.0,
        }
    }

    /// The answer, in a sentence.
    fn answer(&self, document: &document::Advice) -> String {
        let price = |layout: &document::Layout| {
            format!("${} a month", usd(layout.usd_per_month.unwrap_or_default()))
        };
        let now = document
            .today
            .usd_per_month
            .map(|now| format!(" (today ${})", usd(now)));
        let now = now.unwrap_or_default();
        let what = |layout: &document::Layout| {
            let machine = layout.machine.clone().unwrap_or_default();
            let volumes: Vec<String> = layout.volumes.iter().map(brief).collect();
            format!("{machine} with {}", volumes.join(" and "))
        };
        let goal = format!(
            "operations at most {} slower than today",
            percent(self.args.not_slower)
        );
        if let Some(cheapest) = &document.cheapest {
            if let Some(now) = self.kept_for(&document.today, cheapest) {
                return format!(
                    "Keep today's layout, for ${} a month: nothing cheaper keeps {goal}. The cheapest other one is {}, for \
                     {}: operations take {} of today's time.",
                    usd(now),
                    what(cheapest),
                    price(cheapest),
                    percent(cheapest.time)
                );
            }
            return format!(
                "{}, for {}{now}: operations take {} of today's time.",
                what(cheapest),
                price(cheapest),
                percent(cheapest.time)
            );
        }
        let budget = self.args.budget.map_or_else(String::new, |most| {
            format!(" for at most ${} a month", usd(most))
        });
        let nearest = match (&document.above_budget, &document.fastest) {
            (Some(dearer), _) => format!(
                "the cheapest that does is {}, for {}: raise the budget to that",
                what(dearer),
                price(dearer)
            ),
            (None, Some(fastest)) => format!(
                "the nearest is {}, for {}, on which operations take {} of today's time: allow that (--not-slower), or more \
                 machines and disks",
                what(fastest),
                price(fastest),
                percent(fastest.time)
            ),
            (None, None) => {
                "allow more (--not-slower), or other machines and disks (--machine, --disk, --cloud)".to_owned()
            }
        };
        let nothing = match document.counts.complete {
            true => "No layout keeps",
            false => "The search ended before it found a layout that keeps",
        };
        format!("{nothing} {goal}{budget}; {nearest}.")
    }

    /// Today's layout, which defines today's time.
    fn of_today(&self) -> document::Layout {
        let stage = self.today.stage;
        let machine = self
            .today
            .machine
            .and_then(|name| self.catalogue.machine(name).ok());
        let machine_usd = machine.and_then(|machine| self.machine_usd(machine));
        let roles = |name: &str| -> Vec<Role> {
            let has = |role: &Role| {
                let mut files = self.today.placement.files(*role).iter();
                files.any(|file| file.volume == name)
            };
            Role::COMMON.into_iter().filter(has).collect()
        };
        let there = self.volumes.iter();
        let there =
            there.filter(|volume| stage.volumes.iter().any(|known| known.name == volume.name));
        let volumes: Vec<document::Volume> = there
            .map(|volume| document::Volume {
                name: volume.name.clone(),
                roles: roles(&volume.name),
                disk: volume.disk.to_string(),
                count: volume.count,
                size: volume.provision.size.map(|size| size.0),
                iops: volume.provision.iops.map(|iops| iops.0),
                throughput: volume.provision.throughput.map(|rate| rate.0),
                usd_per_month: self.volume_usd(volume),
                forgets: self
                    .catalogue
                    .after_stop(&volume.disk.to_string(), self.today.machine)
                    .forgets(),
            })
            .collect();
        let disks_usd: Option<f64> = volumes.iter().map(|volume| volume.usd_per_month).sum();
        let names: Vec<String> = stage
            .volumes
            .iter()
            .map(|volume| volume.name.clone())
            .collect();
        document::Layout {
            machine: machine.map(|machine| machine.name.clone()),
            machine_usd_per_month: machine_usd,
            volumes,
            usd_per_month: machine_usd
                .zip(disks_usd)
                .map(|(machine, disks)| machine + disks),
            headroom: None,
            ..measured(
                &self.advice.today,
                Ratio {
                    mean: 1.0,
                    half: 0.0,
                },
                &names,
            )
        }
    }

    /// Dollars a month for one of today's volumes, at the requested prices.
    fn volume_usd(&self, volume: &Volume) -> Option<f64> {
        let Disk::Catalogue(name) = &volume.disk else {
            return (volume.disk == Disk::Local).then_some(0.0);
        };
        let provision = catalogue::Provision {
            size: volume.provision.size,
            iops: volume.provision.iops,
            throughput: volume.provision.throughput,
            bursting: volume.provision.bursting.unwrap_or(false),
        };
        let disk = self.catalogue.disk(name).ok()?;
        let usd = disk.provision(&provision).ok()?.usd_per_month?;
        Some(usd * f64::from(volume.count))
    }

    fn machine_usd(&self, machine: &MachineEntry) -> Option<f64> {
        let price = machine.price?;
        match self.args.windows {
            true => price.windows_per_month(),
            false => price.linux_per_month(),
        }
    }

    fn with_headroom(&self, found: &Found) -> Result<document::Layout> {
        let placed: Placed = self.layouts.placed(&found.layout);
        let today_s = self.advice.today.operation_s;
        let room = headroom(&placed, self.load, today_s * (1.0 + self.args.not_slower));
        let room = room.map_err(|error| UsageError(error.to_string()))?;
        let (factor, is_least) = match room {
            Headroom::None => (0.0, false),
            Headroom::Up(factor) => (factor, false),
            Headroom::Beyond(factor) => (factor, true),
        };
        Ok(document::Layout {
            headroom: Some(factor),
            headroom_is_least: is_least,
            ..self.layout(found)
        })
    }

    fn layout(&self, found: &Found) -> document::Layout {
        let (machine, usd) = self.layouts.machine(&found.layout);
        let volumes = self.layouts.volumes(&found.layout);
        let names: Vec<String> = volumes.iter().map(|volume| volume.name.clone()).collect();
        let volumes = volumes.into_iter().map(|volume| match volume.offer {
            Some(offer) => document::Volume {
                name: volume.name,
                roles: volume.roles.to_vec(),
                disk: offer.disk.clone(),
                count: offer.count,
                size: offer.provision.size.map(|size| size.0),
                iops: offer.provision.iops.map(|iops| iops.0),
                throughput: offer.provision.throughput.map(|rate| rate.0),
                usd_per_month: Some(offer.usd_per_month),
                forgets: false,
            },
            None => document::Volume {
                name: volume.name,
                roles: volume.roles.to_vec(),
                disk: "local".to_owned(),
                count: self.layouts.local_disks(&found.layout),
                size: None,
                iops: None,
                throughput: None,
                usd_per_month: Some(0.0),
                forgets: true,
            },
        });
        document::Layout {
            machine: Some(machine.to_owned()),
            machine_usd_per_month: Some(usd),
            volumes: volumes.collect(),
            usd_per_month: Some(found.layout.usd_per_month),
            headroom: None,
            ..measured(&found.measured, found.time, &names)
        }
    }

    /// The sources of the prices in the answers.
    fn price_lists(&self, document: &document::Advice) -> Vec<String> {
        let mut lists = BTreeSet::new();
        let layouts = [
            Some(&document.today),
            document.cheapest.as_ref(),
            document.runner_up.as_ref(),
            document.fastest.as_ref(),
            document.best_value.as_ref(),
            document.above_budget.as_ref(),
        ];
        for layout in layouts.into_iter().flatten() {
            let machine = layout.machine.as_ref();
            let machine = machine.and_then(|name| self.catalogue.machine(name).ok());
            lists.extend(machine.and_then(MachineEntry::price_list));
            let disks = layout.volumes.iter();
            lists.extend(
                disks.filter_map(|volume| price_list_of_disk(self.catalogue, &volume.disk)),
            );
        }
        lists.into_iter().collect()
    }

    /// Assumptions: in the catalogue, in the recorded profile, and here.
    fn assumptions(&self, document: &document::Advice) -> Vec<String> {
        let mut all = assumed::of_layouts(document, self.need.system, self.catalogue);
        let of_today = self.today.stage.notes.iter();
        all.extend(of_today.map(|note| format!("Today: {note}.")));
        all.extend(self.today.profile.assumptions.iter().cloned());
        all.extend(self.backtest.assumptions.iter().cloned());
        let mut assume = |text: &str| all.push(text.to_owned());
        if self.args.capacity.is_empty() {
            assume(
                "The files take as much as today's volumes hold (--capacity says what they need).",
            );
        }
        for role in [Role::Temp, Role::Log] {
            if !self.need.separate.contains(&role) {
                assume(&format!(
                    "Requests for {role} were not counted separately: these files stay with the data, and are in its space."
                ));
            }
        }
        let has_cache = |volume: &Volume| volume.host_cache != HostCacheMode::None;
        if self.volumes.iter().any(has_cache) {
            assume("New layouts have no host cache; today's has one.");
        }
        assume("New layouts are as in the long run, without burst credits; today's has its own.");
        assume("A processor does as much on every machine.");
        all
    }

    /// The price of today's layout, where nothing cheaper is fast enough.
    fn kept_for(&self, today: &document::Layout, cheapest: &document::Layout) -> Option<f64> {
        let now = today.usd_per_month.filter(|_| self.args.growth <= 1.0)?;
        (now <= cheapest.usd_per_month?).then_some(now)
    }

    fn next(&self, today: &document::Layout, cheapest: Option<&document::Layout>) -> Vec<Next> {
        let folder = folder::name(self.args);
        let file = folder.join("finalists.toml").display().to_string();
        let next = |what: &str, words: Vec<String>| Next {
            what: what.to_owned(),
            command: shell_words::join(["dbstow".to_owned()].into_iter().chain(words)),
        };
        let catalogues = || {
            let files = self.args.catalogue.iter();
            files.flat_map(|file| ["--catalogue".to_owned(), file.display().to_string()])
        };
        let mut simulate = words(&["run", &file]);
        simulate.extend(catalogues());
        let engine = self.engine();
        let mut emulate = words(&["run", &file, "--mode", "emulate", "--engine", engine]);
        emulate.extend(words(&["--workload", "FOLDER"]));
        emulate.extend(words(&["--set", "workload.duration=60s"]));
        emulate.extend(words(&["--set", "engine.memory=SIZE"]));
        emulate.extend(catalogues());
        let mut all = vec![
            next("compare the finalists, simulated", simulate),
            next(
                "run your own workload on modelled disks before paying",
                emulate,
            ),
        ];
        if let Some(cheapest) = cheapest.filter(|cheapest| self.kept_for(today, cheapest).is_none())
        {
            let mut scripts = words(&["layout", &file, "--arm", folder::CHEAPEST]);
            scripts.extend(words(&["--engine", engine]));
            scripts.extend(words(match engine {
                // Existing databases are moved by hand.
                SQL_SERVER => &["--role", "temp"],
                // The scripts query the server for the location of its files.
                MARIADB => &["--role", "data,temp,log"],
                _ => &[
                    "--role",
                    "data,temp,log",
                    "--database",
                    "NAME",
                    "--data-directory",
                    "FOLDER",
                ],
            }));
            let moved = |volume: &&document::Volume| {
                engine != SQL_SERVER || volume.roles.contains(&Role::Temp)
            };
            for volume in cheapest.volumes.iter().filter(moved) {
                let name = folder::volume_name(folder::CHEAPEST, volume);
                scripts.extend(["--volume".to_owned(), format!("{name}=FOLDER")]);
            }
            scripts.extend(catalogues());
            all.push(next(
                match engine {
                    SQL_SERVER => {
                        "generate apply and rollback scripts for tempdb on the cheapest layout"
                    }
                    _ => "generate apply and rollback scripts for the cheapest layout",
                },
                scripts,
            ));
        }
        all
    }

    /// The server's product, as an engine.
    fn engine(&self) -> &'static str {
        let product = self.today.profile.origin.product.as_deref();
        match product.unwrap_or_default().to_lowercase() {
            product if product.contains("postgres") => "postgres",
            product if product.contains("mariadb") => MARIADB,
            product if product.contains("sql server") || product == SQL_SERVER => SQL_SERVER,
            _ => "ENGINE",
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The simulation results of a layout with these volumes.
fn measured(measured: &Measured, time: Ratio, volumes: &[String]) -> document::Layout {
    // Disks of a stripe have the same limits; the most used comes first.
    let mut used: Vec<Used> = Vec::new();
    for limit in measured.used.iter().map(|used| limit(used, volumes)) {
        if !used.iter().any(|known| known.limit == limit.limit) {
            used.push(limit);
        }
    }
    used.truncate(LIMITS_TOLD);
    document::Layout {
        machine: None,
        machine_usd_per_month: None,
        volumes: Vec::new(),
        usd_per_month: None,
        time: time.mean,
        time_half: time.half,
        operation_ms: measured.operation_s * 1e3,
        used,
        spent: spent(&measured.split),
        headroom: None,
        headroom_is_least: false,
        survived: None,
    }
}

fn limit(used: &Utilisation, volumes: &[String]) -> Used {
    let measure = match used.measure {
        Measure::Iops => "IOPS",
        Measure::Throughput => "throughput",
    };
    let owner = match &used.owner {
        UsageOwner::Machine(name) => format!("the machine ({name})"),
        UsageOwner::Disk { volume, .. } => match volumes.get(*volume) {
            Some(name) => format!("volume {name}"),
            None => "a volume".to_owned(),
        },
    };
    Used {
        limit: format!("{measure} of {owner}"),
        share: used.share,
    }
}

/// What an operation's time is spent on, as shares of it.
fn spent(split: &TimeSplit) -> BTreeMap<String, f64> {
    let within = || split.iter().filter(|(spent, _)| *spent != Spent::Think);
    let all: f64 = within().map(|(_, time)| time.as_secs_f64()).sum();
    let mut shares = BTreeMap::new();
    for (on, time) in within() {
        let what = match on {
            Spent::Cpu => "on the processor",
            Spent::CpuQueued => "waiting for a processor",
            Spent::Lock => "waiting for a lock",
            Spent::Think => "between operations",
            Spent::Waiting(cause, part) => waited(cause, part),
        };
        *shares.entry(what.to_owned()).or_default() +=
            time.as_secs_f64() / all.max(f64::MIN_POSITIVE);
    }
    shares
}

fn waited(cause: Cause, part: Part) -> &'static str {
    match (cause, part) {
        (Cause::Read, Part::Throttled(_)) => "waiting for throttled reads",
        (Cause::Read, Part::Service | Part::Queued) => "waiting for reads",
        (Cause::Write, Part::Throttled(_)) => "waiting for throttled writes",
        (Cause::Write, Part::Service | Part::Queued) => "waiting for writes",
        (Cause::Log, Part::Throttled(_)) => "waiting for throttled log writes",
        (Cause::Log, Part::Service | Part::Queued) => "waiting for the log",
    }
}

/// A volume in a few words, for a sentence.
fn brief(volume: &document::Volume) -> String {
    let roles: Vec<&str> = volume.roles.iter().map(|role| role.name()).collect();
    let roles = roles.join(", ");
    let count = match volume.count {
        1 => String::new(),
        count => format!("{count} x "),
    };
    match volume.forgets {
        true => format!("its own disk for {roles}"),
        false => format!("{count}{} for {roles}", volume.disk),
    }
}

fn backtest(backtest: &BackTest) -> document::BackTest {
    let figure = |figure: &profile::Figure| Figure {
        role: figure.role,
        figure: figure.measure.to_string(),
        recorded: figure.recorded,
        simulated: figure.simulated,
        off: figure.off(),
        decides: figure.decides,
    };
    document::BackTest {
        fits: backtest.fits(),
        off_max: profile::OFF_MAX,
        figures: backtest.figures.iter().map(figure).collect(),
    }
}

fn counts(advice: &Advice) -> Counts {
    let counts = advice.counts;
    Counts {
        machines: counts.machines,
        machines_unpriced: counts.unpriced,
        considered: counts.considered,
        beaten: counts.beaten,
        bounded: counts.bounded,
        simulated: counts.simulated,
        complete: counts.is_complete,
    }
}
