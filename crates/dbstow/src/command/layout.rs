//! `dbstow layout`: generates apply and rollback scripts for a placement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use files::{Folder, Readers};
use model::Bytes;

use super::UsageError;
use super::arm::ArmOf;
use super::choice::{self, SYSTEMS, one_of};
use super::output::note;
use super::pair::key_and_value;
use super::request::{experiment_named, report_idle, resolved};
use super::service_layout;
use crate::engines::LAYOUTS;
use experiment::plan::Plan;
use experiment::spec::{Idle, Role, remedy};
use files::input;
use lab::request::RunRequest;
use layout::service::{Names, Server};
use layout::{CaptureFile, LayoutProvider, LayoutRequest, Platform, Script, scripts};

/// Generate apply and rollback scripts for a placement
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of a built-in experiment, or path of an experiment file; without one, tempdb's files are given by
    /// --files, --size and --volume
    #[cfg_attr(feature = "shell", arg(add = super::names::experiment_or_file()))]
    pub experiment: Option<String>,
    /// Arm of the experiment to generate scripts for [default: the only one]
    #[arg(long, value_name = "NAME", requires = "experiment")]
    pub arm: Option<String>,
    /// Folder of a volume, as the server sees it; one for every volume that holds a file
    #[arg(long, value_name = "VOLUME=FOLDER", value_parser = name_and_folder)]
    pub volume: Vec<(String, String)>,
    /// Which roles to place: temp (tempdb with its log), data, log; for MariaDB also binlog, undo, doublewrite
    #[arg(long, value_name = "ROLE,..", value_delimiter = ',', value_parser = role, default_value = "temp")]
    pub role: Vec<Role>,
    /// What `dbstow doctor` wrote about the server: its files, version, system, free space; for SQL Server alone, scripts for
    /// others ask the server
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Platform of the server, if there is no capture [default: inferred from the folders]
    #[arg(long, value_parser = one_of(SYSTEMS))]
    pub on: Option<Platform>,
    /// Which database product
    #[arg(long, value_parser = choice::layout(), default_value = LAYOUTS[0].name())]
    pub engine: &'static dyn LayoutProvider,
    /// Set a key of the experiment, such as placement.a.temp.files=8; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value, requires = "experiment")]
    pub set: Vec<(String, String)>,
    /// Also read this catalogue file, for the experiment's disks and machines; may be given several times
    #[arg(long, value_name = "FILE", requires = "experiment")]
    pub catalogue: Vec<PathBuf>,
    /// Number of temp files, assigned to the volumes in turn [default: the arm's; without one, 1 per volume]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32_767))]
    pub files: Option<u32>,
    /// Allow fewer temp files than the server has, where that leaves fewer than `dbstow lint` advises
    #[arg(long)]
    pub allow_fewer_files: bool,
    /// Size of each temp file (SQL Server), such as "4 GiB" [default: the arm's, or that of the largest present file]
    #[arg(long)]
    pub size: Option<Bytes>,
    /// Size of tempdb's log [default: as it is]
    #[arg(long, value_name = "SIZE")]
    pub log_size: Option<Bytes>,
    /// Growth increment of each file; "0 B" turns growth off
    #[arg(long, value_name = "SIZE", default_value_t = LayoutRequest::GROWTH)]
    pub growth: Bytes,
    /// Database whose data and log to place (--role data,log): a new one; on a managed instance and for
    /// PostgreSQL, an existing one [default for PostgreSQL: the whole data directory]
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// Volume that loses its contents when the machine is moved or stopped [default: an arm's disks that the catalogue says it of]; may be
    /// given several times
    #[arg(long, value_name = "VOLUME")]
    pub ephemeral: Vec<String>,
    /// Volume that comes back without a file system: the start-up script formats it [default: an arm's disks that the catalogue
    /// says it of]; implies --ephemeral; may be given several times
    #[arg(long, value_name = "VOLUME")]
    pub raw: Vec<String>,
    /// The service to restart, such as MSSQL$NAME for a named instance [default: the captured or the usual one]
    #[arg(long, value_name = "NAME")]
    pub service: Option<String>,
    /// Data directory of the PostgreSQL server, which moves with --role data, and has its write-ahead log
    #[arg(long, value_name = "FOLDER")]
    pub data_directory: Option<String>,
    /// An arm on a managed service: the server, as the service calls it
    #[arg(
        long,
        value_name = "NAME",
        requires = "experiment",
        help_heading = "Managed services"
    )]
    pub server_name: Option<String>,
    /// An arm on a managed service of Azure: the resource group of the server
    #[arg(
        long,
        value_name = "NAME",
        requires = "experiment",
        help_heading = "Managed services"
    )]
    pub resource_group: Option<String>,
    /// An arm on a managed service where temporary files are chosen by a parameter: the server's parameter group
    #[arg(
        long,
        value_name = "NAME",
        requires = "experiment",
        help_heading = "Managed services"
    )]
    pub parameter_group: Option<String>,
    /// Folder for the scripts; nothing in it is overwritten [default: print the scripts]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Nothing is run: read the scripts, then run them in the order of their README.

Examples:
  An arm of an experiment, on a VM with Windows whose D: is the local SSD:
    dbstow layout tempdb-ssd-vs-premium --arm local-ssd --volume d=D:\\tempdb \\
        --role temp,log --capture server.json --out scripts
  Without an experiment, 8 files of 4 GiB on two volumes of a server with Linux:
    dbstow layout --files 8 --size '4 GiB' --volume a=/nvme0/tempdb --volume b=/nvme1/tempdb --out scripts
  Number and size of tempdb's files on a managed instance:
    dbstow layout --files 16 --size '4 GiB' --capture instance.json
  PostgreSQL: temporary files and write-ahead log:
    dbstow layout files-times-disks --arm NAME --engine postgres --role temp,log --volume d=/mnt/d ..
  PostgreSQL: the data directory, with the arm's volumes mounted:
    dbstow layout shop-advice/finalists.toml --arm cheapest --engine postgres --role data,temp,log \\
        --data-directory /var/lib/postgresql/15/main --volume cheapest-data-temp-log=/mnt/data --out scripts
  A managed service: commands of its own client, from the experiment's baseline to the arm, and back:
    dbstow layout shop-advice/finalists.toml --arm best-value --server-name shop --out scripts
    dbstow layout orders-advice/finalists.toml --arm cheapest --server-name orders --resource-group sales --out scripts
  MariaDB: redo log and binary log on a volume of their own, temporary files on a local SSD that is empty after a stop:
    dbstow layout --engine mariadb --role log,binlog --volume logs=/mnt/logs --out logs
    dbstow layout --engine mariadb --role temp --volume ssd=/mnt/ssd --ephemeral ssd --out temp";

/// Keys of a run that determine which engine has the files, and which files it has.
const USED: [&str; 3] = ["engine.name", "engine.like", "engine.mariadb.binlog"];

/// Writes the scripts.
///
/// # Errors
/// When the request is invalid, or the folder cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let arm = args.experiment.as_deref().map(|name| args.arm_in(name));
    let arm = arm.transpose()?;
    let on_service = arm.as_ref().and_then(|arm| Some((arm, arm.server()?)));
    let scripts = match on_service {
        Some((arm, then)) => args.of_service(arm, then)?,
        None => args.of_machine(arm.as_ref())?,
    };
    match &args.out {
        Some(folder) => {
            write(folder, &scripts)?;
            let names: String = scripts
                .iter()
                .map(|script| format!("  {}\n", script.name))
                .collect();
            let folder = folder.display();
            Ok(super::print(&format!(
                "wrote to {folder}; begin with README.md\n{names}"
            ))?)
        }
        None => {
            let one = |script: &Script| format!("==> {} <==\n{}\n", script.name, script.text);
            Ok(super::print(&scripts.iter().map(one).collect::<String>())?)
        }
    }
}

impl Args {
    /// Scripts for a server on a machine, and for files that a server has.
    fn of_machine(&self, arm: Option<&ArmOf>) -> Result<Vec<Script>> {
        let names = [
            ("--server-name", self.server_name.is_some()),
            ("--resource-group", self.resource_group.is_some()),
            ("--parameter-group", self.parameter_group.is_some()),
        ];
        if let Some((option, _)) = names.iter().find(|(_, is_given)| *is_given) {
            let message = format!(
                "{option}: the arm is on no managed service, and its scripts are for the server itself; leave it out"
            );
            return Err(UsageError(message).into());
        }
        self.check_product()?;
        let request = self.request(arm)?;
        let capture = self.capture.as_deref();
        let capture = capture.map(|path| read(path, self.engine)).transpose()?;
        Ok(scripts(self.engine, &request, capture.as_ref())?)
    }

    /// Commands for a server of a managed service, and what its product makes of its volumes.
    fn of_service(&self, arm: &ArmOf, then: Server<'_>) -> Result<Vec<Script>> {
        let title = &then.service.title;
        let unused = [
            ("--volume", !self.volume.is_empty()),
            ("--capture", self.capture.is_some()),
            ("--on", self.on.is_some()),
            ("--files", self.files.is_some()),
            ("--size", self.size.is_some()),
            ("--log-size", self.log_size.is_some()),
            ("--ephemeral", !self.ephemeral.is_empty()),
            ("--raw", !self.raw.is_empty()),
            ("--service", self.service.is_some()),
            ("--data-directory", self.data_directory.is_some()),
        ];
        if let Some((option, _)) = unused.iter().find(|(_, is_given)| *is_given) {
            let message = format!(
                "{option}: the arm is on {title}, which decides where files are; leave it out (of a managed instance's files: give \
                 --capture without an experiment)"
            );
            return Err(UsageError(message).into());
        }
        let names = Names {
            server: self.server_name.clone(),
            group: self.resource_group.clone(),
            database: self.database.clone(),
            parameters: self.parameter_group.clone(),
        };
        service_layout::scripts(arm, then, names)
    }

    fn request(&self, arm: Option<&ArmOf>) -> Result<LayoutRequest> {
        let folders = self.folders()?;
        let mut request = match arm {
            Some(arm) => self.of_arm(arm),
            None => LayoutRequest::new("files as given"),
        };
        if self.experiment.is_none() {
            let volumes: Vec<&str> = self.volume.iter().map(|(name, _)| name.as_str()).collect();
            self.check_without_experiment(&volumes)?;
            for role in self.engine.roles_of_volumes() {
                match *role == Role::Temp {
                    true => request.distribute(*role, &volumes, self.files),
                    false => request.distribute(*role, volumes.get(..1).unwrap_or_default(), None),
                }
            }
        } else if let Some(count) = self.files {
            request.recount(Role::Temp, count);
        }
        if let Some(size) = self.size {
            for file in request.files.entry(Role::Temp).or_default() {
                file.size = Some(size);
            }
        }
        self.check_roles(&request)?;
        self.check_ephemeral(&request)?;
        let forgets = self.ephemeral.iter().chain(&self.raw);
        request.ephemeral.extend(forgets.cloned());
        for volume in &self.raw {
            request.raw.entry(volume.clone()).or_insert(1);
        }
        Ok(LayoutRequest {
            roles: self.role.iter().copied().collect(),
            folders,
            growth: self.growth,
            allow_fewer_files: self.allow_fewer_files,
            log_size: self.log_size,
            service: self.service.clone(),
            database: self.database.clone(),
            on: self.on,
            data_directory: self.data_directory.clone(),
            ..request
        })
    }

    fn folders(&self) -> Result<BTreeMap<String, String>> {
        let mut folders = BTreeMap::new();
        for (volume, folder) in &self.volume {
            if folders.insert(volume.clone(), folder.clone()).is_some() {
                let message =
                    format!("--volume {volume}={folder}: this volume has a folder already");
                return Err(UsageError(message).into());
            }
        }
        Ok(folders)
    }

    fn check_without_experiment(&self, volumes: &[&str]) -> Result<()> {
        let by_volume = self.engine.roles_of_volumes();
        if self.role.contains(&Role::Data) && !by_volume.contains(&Role::Data) {
            let message =
                "--role data without an experiment: which files? Name an experiment and its --arm";
            return Err(UsageError(message.to_owned()).into());
        }
        let count = self.files.map_or(usize::MAX, |count| count as usize);
        if count < volumes.len() {
            let message = format!(
                "--files {count} for {} volumes, so that some would stay empty; give fewer volumes, or more files",
                volumes.len()
            );
            return Err(UsageError(message).into());
        }
        if volumes.is_empty() && self.files.is_none() {
            let message = "nothing to lay out; name an experiment and its --arm, or give --files and --volume";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(())
    }

    /// Refuses options that the scripts of this product do not use.
    fn check_product(&self) -> Result<()> {
        let given = [
            ("--capture", self.capture.is_some()),
            ("--data-directory", self.data_directory.is_some()),
            ("--size", self.size.is_some()),
            ("--log-size", self.log_size.is_some()),
            ("--growth", self.growth != LayoutRequest::GROWTH),
            ("--allow-fewer-files", self.allow_fewer_files),
        ];
        let is_given = |option: &str| {
            let known = given.iter().find(|(known, _)| *known == option);
            known.expect("an option that only some products use").1
        };
        let mut unused = self.engine.unused().iter();
        match unused.find(|(option, _)| is_given(option)) {
            None => Ok(()),
            Some((option, why)) => Err(UsageError(format!("{option}{why}")).into()),
        }
    }

    /// Refuses roles that the scripts of this product do not place, whether requested or in the arm.
    fn check_roles(&self, request: &LayoutRequest) -> Result<()> {
        let placed = self.engine.roles();
        let others = || Role::ALL.into_iter().filter(|role| !placed.contains(role));
        if let Some(role) = others().find(|role| self.role.contains(role)) {
            let message = format!(
                "--role {role}: scripts place it for --engine {} alone",
                placing(role)
            );
            return Err(UsageError(message).into());
        }
        let is_in_arm = |role: &Role| self.experiment.is_some() && !request.files(*role).is_empty();
        match others().find(is_in_arm) {
            Some(role) => {
                let message = format!(
                    "{} places {role} (key {role} of its placement), which scripts place for --engine {} alone; leave it out in a copy \
                     of the file",
                    request.title,
                    placing(role)
                );
                Err(UsageError(message).into())
            }
            None => Ok(()),
        }
    }

    fn check_ephemeral(&self, request: &LayoutRequest) -> Result<()> {
        let known = |name: &String| self.volume.iter().any(|(volume, _)| volume == name);
        let ephemeral = self.ephemeral.iter().map(|name| ("--ephemeral", name));
        let mut all = ephemeral.chain(self.raw.iter().map(|name| ("--raw", name)));
        match all.find(|(_, name)| !known(name)) {
            None => Ok(()),
            Some((option, name)) => {
                let temp = request.files(Role::Temp).iter();
                let known: BTreeSet<&str> = temp.map(|file| file.volume.as_str()).collect();
                let known: Vec<&str> = known.into_iter().collect();
                let message = format!(
                    "{option} {name}: there is no --volume {name}=.. (temp files are on: {})",
                    known.join(", ")
                );
                Err(UsageError(message).into())
            }
        }
    }

    fn arm_in(&self, experiment: &str) -> Result<ArmOf> {
        let resolved = resolved(&RunRequest {
            set: self.set.clone(),
            allow_large: true,
            catalogues: self.catalogue.clone(),
            ..RunRequest::new(experiment_named(experiment)?)
        })?;
        let plan = resolved.plan;
        let arm = self.arm_of(&plan)?;
        let arm = plan.arm(&arm).expect("it was found there");
        let title = format!("{}, arm {}", plan.experiment, arm.name);
        let why = "scripts place files, and set nothing else of a server";
        let idle = Idle::without_run(&self.set, &USED, why);
        let of_places = |idle: &Idle| ["machine", "volume", "placement"].contains(&idle.section());
        report_idle(&[idle, resolved.idle.into_iter().filter(of_places).collect()].concat());
        let baseline = &plan.protocol.baseline;
        let today = plan
            .arm(baseline)
            .filter(|baseline| baseline.name != arm.name);
        Ok(ArmOf {
            title,
            settings: arm.settings.clone(),
            today: today.map(|today| today.settings.clone()),
            is_baseline: today.is_none() && plan.arms.len() > 1,
            catalogue: resolved.inventory.catalogue,
        })
    }

    fn of_arm(&self, arm: &ArmOf) -> LayoutRequest {
        let named = (self.ephemeral.as_slice(), self.raw.as_slice());
        for text in LayoutRequest::contradictions(&arm.settings, &arm.catalogue, named) {
            note(&format!("dbstow: {text}"));
        }
        LayoutRequest::of(&arm.title, &arm.settings, &arm.catalogue)
    }

    fn arm_of(&self, plan: &Plan) -> Result<String> {
        let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
        let listed = || names.join(", ");
        match (&self.arm, names.as_slice()) {
            (None, [only]) => Ok((*only).to_owned()),
            (None, _) => {
                let message = format!("which arm? Add --arm NAME (arms: {})", listed());
                Err(UsageError(message).into())
            }
            (Some(name), names) if names.contains(&name.as_str()) => Ok(name.clone()),
            (Some(name), _) => {
                let remedy = remedy(name, "arms", names.iter().copied());
                let message = format!(
                    "--arm {name}: \"{}\" has no such arm{remedy}",
                    plan.experiment
                );
                Err(UsageError(message).into())
            }
        }
    }
}

/// Names of the products whose scripts place a role.
fn placing(role: Role) -> String {
    let products = LAYOUTS.iter().filter(|known| known.roles().contains(&role));
    let names: Vec<&str> = products.map(|known| known.name()).collect();
    names.join(", ")
}

/// Reads a capture, and refuses one of another product than `engine`.
fn read(path: &Path, engine: &dyn LayoutProvider) -> Result<CaptureFile> {
    let name = path.display().to_string();
    let text = input::named(path).map_err(|error| UsageError(format!("{name}: {error}")))?;
    // Captures of SQL Server name no product.
    let product = rules::capture::product(&text);
    if let Some(product) = product.filter(|product| product != engine.name()) {
        let uses_none = |known: &&dyn LayoutProvider| {
            let mut unused = known.unused().iter();
            unused.any(|(option, _)| *option == "--capture")
        };
        let remedy = match LAYOUTS.iter().find(|known| known.name() == product) {
            Some(known) if uses_none(known) => {
                format!(
                    "leave it out and add --engine {product}, whose scripts ask the server itself"
                )
            }
            Some(_) => format!("add --engine {product}"),
            None => "there are no scripts for it".to_owned(),
        };
        let of = engine.product();
        let message = format!("{name}: this is a capture of {product}, not of {of}; {remedy}");
        return Err(UsageError(message).into());
    }
    Ok(CaptureFile { name, text })
}

/// Writes all files, or none if one exists: a script may have been edited by hand.
fn write(folder: &Path, scripts: &[Script]) -> Result<()> {
    let folder = Folder::to_fill(folder, Readers::Umask)?;
    let mut names = scripts.iter().map(|script| &script.name);
    if let Some(name) = names.find(|name| folder.holds(name.as_ref())) {
        let message = format!(
            "{} is there already; give another folder, or delete it",
            folder.path().join(name).display()
        );
        return Err(UsageError(message).into());
    }
    for script in scripts {
        folder.write_new(script.name.as_ref(), script.text.as_bytes(), Readers::Umask)?;
    }
    Ok(())
}

fn role(text: &str) -> Result<Role, String> {
    let known = Role::ALL
        .into_iter()
        .find(|role| role.name() == text.trim());
    known.ok_or_else(|| {
        "give temp, data or log (for MariaDB also binlog, undo or doublewrite), or several with commas between".to_owned()
    })
}

fn name_and_folder(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.trim().is_empty() && !folder.trim().is_empty() => {
            Ok((name.trim().to_owned(), folder.trim().to_owned()))
        }
        Some(_) | None => {
            Err("give a volume's name and a folder, such as d=D:\\tempdb or d=/mnt/fast".to_owned())
        }
    }
}
