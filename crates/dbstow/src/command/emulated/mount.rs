//! `dbstow mount`: mounts a directory on modelled disks for any program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::emulator::process::Order;
use ::emulator::{
    Contents, EmulationSpec, Filesystem, Front, MountSpec, Others, RemoteSite, TransportChoice,
};
use anyhow::{Context, Result};
use clap::ValueEnum;
use files::{Folder, Readers, unique_name};
use host::loop_device;
use model::{Bytes, HostCacheMode, MachineSpec, VolumeSpec};
use nix::sys::statvfs::statvfs;
use nix::unistd::{Group, User, geteuid};

use super::emulator;
use super::find::absolute;
use crate::command::listing;
use crate::command::orphans;
use crate::command::output::note;
use crate::command::request::report_idle;
use crate::command::{PublishArgs, UsageError};
use catalogue::{Catalogue, SizeRule};
use experiment::kind::Kind;
use experiment::spec::{Machine, Override, Provision, Volume, Volumes};
use files::input;
use lab::inventory::Inventory;
use lab::trial::Stage;

/// Arguments of `mount`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    dbstow mount azure.premium.p30 /mnt/p30 --size 20GiB\n  \
    dbstow mount aws.gp3 /mnt/gp3 --size 100GiB --filesystem xfs --owner postgres\n  \
    dbstow mount disks.toml /mnt/disks --backing /var/lib/disks\n  \
    dbstow mount unlimited /mnt/free --front file --trace requests.jsonl --foreground\n  \
    dbstow mount azure.premium.p30 /mnt/p30 --size 20GiB --listen 127.0.0.1:9187\n\n\
    A file such as disks.toml has [machine] and [volume.NAME] sections as an experiment has; each volume\n\
    is mounted at DIR/NAME, and all share the machine's limits. It may be the file that --today of `run` and\n\
    `advise` names: its placement has no effect here.")]
pub struct Args {
    /// A disk of the catalogue (`dbstow disks`), `unlimited`, or a TOML file of several volumes
    #[cfg_attr(feature = "shell", arg(add = crate::command::names::disk_or_file()))]
    pub spec: String,
    /// Mount point; created if missing
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// What programs see [default: block for root where there are loop devices, else file]
    #[arg(long, value_enum)]
    pub front: Option<FrontKind>,
    /// Directory that holds the data, and keeps it [default: a temporary directory, removed on unmount]
    #[arg(long, value_name = "DIR")]
    pub backing: Option<PathBuf>,
    /// How large each volume is, such as 10GiB [default: the disks' size]
    #[arg(long)]
    pub size: Option<Bytes>,
    /// Filesystem in block mode
    #[arg(long, value_enum, default_value_t)]
    pub filesystem: FilesystemKind,
    /// How far the kernel reads ahead in block mode [default: 128 KiB]
    #[arg(long, value_name = "SIZE")]
    pub read_ahead: Option<Bytes>,
    /// How requests reach the emulator
    #[arg(long, value_enum, default_value_t)]
    pub transport: TransportKind,
    /// Write every request to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Stay until Ctrl-C instead of returning
    #[arg(long)]
    pub foreground: bool,
    /// Who owns the volumes: a user, or numbers such as 999:999
    #[arg(long, value_name = "USER")]
    pub owner: Option<String>,
    /// Seed of the latencies
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Also read this catalogue file; may be given several times
    #[arg(long, value_name = "FILE")]
    pub catalogue: Vec<PathBuf>,
    /// Show what the disks do on one screen; q leaves it, and the disks stay mounted
    #[cfg(feature = "live")]
    #[arg(long, conflicts_with = "foreground")]
    pub live: bool,
    /// Where metrics go as long as it is mounted
    #[command(flatten)]
    pub publish: PublishArgs,
}

/// What programs see of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FrontKind {
    /// A real filesystem on a loop device: page cache, read-ahead, journal; needs root
    Block,
    /// A directory tree without page cache: one request is one modelled request
    File,
}

/// Filesystem in block mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FilesystemKind {
    /// ext4
    #[default]
    Ext4,
    /// XFS
    Xfs,
}

/// How requests reach the emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TransportKind {
    /// Reads and writes of /dev/fuse
    #[default]
    Fuser,
    /// FUSE over io_uring
    #[value(name = "io_uring")]
    IoUring,
}

/// Runs `dbstow mount`.
///
/// # Errors
/// When the spec is invalid, or this machine lacks something: what, and the remedy.
pub fn run(args: &Args, mut inventory: Inventory) -> Result<()> {
    for file in &args.catalogue {
        listing::add(&mut inventory.catalogue, file)?;
    }
    check_port(&args.publish)?;
    #[cfg(feature = "live")]
    if args.live {
        crate::command::screen::check()?;
    }
    let asked = requested(args, &inventory.catalogue)?;
    let (machine, volumes, notes) = Stage::volumes(&asked.volumes, &inventory.catalogue)?;
    report_idle(&asked.volumes.idle(&inventory));
    for text in notes {
        note(&format!("dbstow: {text}"));
    }
    orphans::clear()?;
    let order = order(args, &asked, machine, volumes)?;
    let mounted = mounted(args, &order);
    warn_of_space(&order);
    if args.foreground {
        return emulator::stay(&order, &args.publish, || {
            Ok(crate::command::print(&mounted)?)
        });
    }
    let mut emulator = emulator::detached()?;
    emulator.args(args.publish.arguments()?);
    RemoteSite::order(emulator, &order)?.leave_running();
    crate::command::print(&mounted)?;
    #[cfg(feature = "live")]
    if args.live {
        super::watched::show(&args.directory)?;
    }
    Ok(())
}

/// Refuses a port chosen by the system, as the user could not learn it.
fn check_port(publish: &PublishArgs) -> Result<(), UsageError> {
    match publish.address() {
        Some(address) if address.port() == 0 => Err(UsageError(format!(
            "--listen {address} leaves the port to the system; give one, such as 9187"
        ))),
        Some(_) | None => Ok(()),
    }
}

/// The requested volumes, and whether each has a separate directory inside DIR.
struct MountRequest {
    volumes: Volumes,
    many: bool,
}

/// Name of the only volume, which needs no distinguishing name.
const ONLY: &str = "volume";

fn requested(args: &Args, catalogue: &Catalogue) -> Result<MountRequest> {
    if !is_file(&args.spec) {
        return Ok(MountRequest {
            volumes: one(&args.spec, args.size, catalogue),
            many: false,
        });
    }
    let text = input::named(Path::new(&args.spec)).map_err(|error| {
        let file = &args.spec;
        UsageError(format!(
            "{file}: {error}; give a TOML file with [volume.NAME] sections, or a disk of `dbstow disks`"
        ))
    })?;
    Kind::Volumes.check(&args.spec, &text)?;
    Ok(MountRequest {
        volumes: Volumes::parse(&args.spec, &text)?,
        many: true,
    })
}

/// Catalogue names contain dots, but neither this suffix nor a slash.
fn is_file(spec: &str) -> bool {
    spec.contains('/') || spec.ends_with(".toml")
}

/// One volume of one disk, provisioned with the requested size where its vendor offers a choice.
fn one(disk: &str, size: Option<Bytes>, catalogue: &Catalogue) -> Volumes {
    let entry = catalogue.disk(disk).ok();
    let chosen = entry.filter(|entry| matches!(entry.size, SizeRule::Choice { .. }));
    let volume = Volume {
        name: ONLY.to_owned(),
        disk: disk.to_owned().into(),
        count: 1,
        interleave: Volume::INTERLEAVE_DEFAULT,
        host_cache: HostCacheMode::None,
        provision: Provision {
            size: size.filter(|_| chosen.is_some()),
            ..Provision::default()
        },
        credits: None,
        replaced: Override::default(),
        entry: None,
    };
    Volumes {
        machine: Machine::default(),
        volumes: vec![volume],
        given: Vec::new(),
    }
}

fn order(
    args: &Args,
    asked: &MountRequest,
    machine: MachineSpec,
    volumes: Vec<VolumeSpec>,
) -> Result<Order> {
    // A foreign link's owner could redirect it afterwards, and programs would write next to the volume.
    Folder::check_no_foreign_link(&args.directory)?;
    let directory = absolute(&args.directory)?;
    let owner = args.owner.as_deref().map(owner).transpose()?;
    let (backing, temporary) = match &args.backing {
        Some(backing) => {
            // The path as given: resolved through another user's link, it would appear to be this user's own.
            Folder::to_fill(backing, Readers::OwnerOnly)?;
            (absolute(backing)?, Vec::new())
        }
        None => {
            let made = temporary();
            (made.clone(), vec![made])
        }
    };
    let place = |inside: &Path, volume: &VolumeSpec| match asked.many {
        true => inside.join(&volume.name),
        false => inside.to_owned(),
    };
    let mounts = volumes.into_iter().map(|volume| {
        Ok(MountSpec {
            front: front(args),
            directory: place(&directory, &volume),
            backing: place(&backing, &volume),
            size: size(args, &volume)?,
            owner,
            // The user who mounts it controls access by others, on its root.
            others: Others::List,
            volume,
        })
    });
    let mounts: Vec<MountSpec> = mounts.collect::<Result<_>>()?;
    let inner = mounts.iter().map(|mount| mount.directory.clone());
    let directories = std::iter::once(directory.clone()).chain(inner.filter(|_| asked.many));
    Ok(Order {
        directories: directories.collect(),
        temporary,
        emulation: EmulationSpec {
            machine,
            volumes: mounts,
            seed: args.seed,
            transport: match args.transport {
                TransportKind::Fuser => TransportChoice::Fuser,
                TransportKind::IoUring => TransportChoice::IoUring,
            },
            trace: args.trace.as_deref().map(std::path::absolute).transpose()?,
            contents: Contents::InPlace,
        },
    })
}

fn front(args: &Args) -> Front {
    let block = Front::Block {
        filesystem: match args.filesystem {
            FilesystemKind::Ext4 => Filesystem::Ext4,
            FilesystemKind::Xfs => Filesystem::Xfs,
        },
        read_ahead: args.read_ahead,
    };
    match args.front {
        Some(FrontKind::Block) => block,
        Some(FrontKind::File) => Front::File,
        None if geteuid().is_root() && loop_device::exist() => block,
        None => Front::File,
    }
}

/// A nonexistent directory, with a name that cannot be guessed before the emulator creates it.
fn temporary() -> PathBuf {
    std::env::temp_dir().join(unique_name("dbstow-"))
}

fn size(args: &Args, volume: &VolumeSpec) -> Result<Bytes> {
    let all = volume.disks.iter().map(|disk| disk.size.0);
    let all = all.fold(0, u64::saturating_add);
    match args.size {
        Some(size) => Ok(size),
        None if all < u64::MAX => Ok(Bytes(all)),
        None => Err(UsageError(format!(
            "volume \"{}\" has no default size; give one, such as --size 10GiB",
            volume.name
        ))
        .into()),
    }
}

fn owner(text: &str) -> Result<(u32, u32)> {
    if let Some((user, group)) = text.split_once(':') {
        return match (user.parse(), group.parse()) {
            (Ok(user), Ok(group)) => Ok((user, group)),
            _ => {
                let user = named(user)?;
                let known = Group::from_name(group)?;
                let known =
                    known.ok_or_else(|| UsageError(format!("there is no group \"{group}\"")))?;
                Ok((user.uid.as_raw(), known.gid.as_raw()))
            }
        };
    }
    let user = named(text)?;
    Ok((user.uid.as_raw(), user.gid.as_raw()))
}

fn named(user: &str) -> Result<User> {
    let known = User::from_name(user).context("looking for a user")?;
    let remedy = "give one of this machine, or numbers such as 999:999";
    Ok(known.ok_or_else(|| UsageError(format!("there is no user \"{user}\"; {remedy}")))?)
}

/// Reports where volumes are overcommitted.
fn warn_of_space(order: &Order) {
    let volumes = &order.emulation.volumes;
    let promised: u64 = volumes
        .iter()
        .map(|mount| mount.size.0)
        .fold(0, u64::saturating_add);
    let Some(first) = volumes.first() else { return };
    let there = first.backing.ancestors().find(|path| path.exists());
    let Some(free) = there.and_then(|path| statvfs(path).ok()) else {
        return;
    };
    let free = Bytes(free.blocks_available().saturating_mul(free.fragment_size()));
    if promised > free.0 {
        let promised = Bytes(promised);
        note(&format!(
            "dbstow: the volumes are overcommitted: {promised} in all, {} has {free} free; \
             writes fail once it is full",
            first.backing.display()
        ));
    }
}

/// The message after mounting.
fn mounted(args: &Args, order: &Order) -> String {
    let mut text = String::new();
    for mount in &order.emulation.volumes {
        let how = match mount.front {
            Front::File => "file mode".to_owned(),
            Front::Block { filesystem, .. } => format!("block mode, {filesystem:?}").to_lowercase(),
        };
        let what = match mount.volume.name.as_str() {
            ONLY => &args.spec,
            name => name,
        };
        let (directory, size) = (mount.directory.display(), mount.size);
        writeln!(text, "{what} is at {directory} ({size}, {how})").expect("a string takes it");
    }
    let directory = args.directory.display();
    writeln!(
        text,
        "  dbstow stat {directory}     shows its disk statistics"
    )
    .expect("as above");
    if args.foreground {
        writeln!(text, "  Ctrl-C ends it").expect("as above");
    } else {
        writeln!(text, "  dbstow unmount {directory}  ends it").expect("as above");
    }
    if let Some(address) = args.publish.address() {
        writeln!(text, "  http://{address}/metrics  serves its metrics").expect("as above");
    }
    text
}
