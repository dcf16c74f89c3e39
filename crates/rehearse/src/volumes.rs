//! Volumes with a copy of the backup: staged once for all layouts that have the same files in the same places, and mounted over
//! for each trial, whose writes are discarded.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use emulator::{
    Contents, EmulationSpec, Filesystem, Front, MountSpec, Others, RemoteSite, TransportChoice,
    when_unused,
};
use engine::hooks::HostHooks;
use engine::own_directory::{OwnDirectory, short_directory};
use engine::rehearsed::{BackupFacts, CopyVolumes, Rehearsed, RehearsedProduct};
use engine::{EngineError, Started};
use experiment::spec::{Placement, Settings};
use files::Folder;
use host::orphans::Registration;
use lab::trial::real::{Placed, Player, Supply};
use lab::trial::{Stage, Subject};
use model::{Bytes, DiskSpec, MachineSpec, VolumeSpec, random};

use super::error::RehearsalError;
use super::schedule::Schedule;
use engine::logged::Login;

/// Most space that a volume has beyond the backup: what is written to a copy.
pub(crate) const SPARE: Bytes = Bytes::gib(16);

/// Copies of a backup, and the trials on them.
pub(crate) struct Copies<'a> {
    pub(crate) product: Arc<dyn RehearsedProduct>,
    pub(crate) registration: Arc<Registration>,
    pub(crate) hooks: &'a HostHooks,
    pub(crate) facts: BackupFacts,
    /// Where images are.
    pub(crate) folder: PathBuf,
    pub(crate) logins: Vec<Login>,
    pub(crate) schedule: &'a Schedule,
    pub(crate) reads_only: bool,
    /// Settings by which servers log statements.
    pub(crate) logging: &'a BTreeMap<String, String>,
    pub(crate) player: &'a dyn Player,
    /// By placement: the folder of the images, and where they were mounted while they were staged.
    pub(crate) staged: Vec<Staged>,
}

/// A copy of a backup.
pub(crate) struct Staged {
    placement: Placement,
    volumes: BTreeMap<String, Bytes>,
    images: PathBuf,
    mounted: PathBuf,
}

/// Mounted volumes.
pub(crate) struct Mounted {
    /// First, so that they are unmounted before their directories are removed.
    pub(crate) site: Arc<RemoteSite>,
    pub(crate) directory: OwnDirectory,
}

impl Mounted {
    /// Gives a server that runs as another user access to them.
    pub(crate) fn let_in(&self) -> io::Result<()> {
        let own = Folder::open(self.directory.path()).map_err(io::Error::other)?;
        own.change_mode(0o711).map_err(io::Error::other)
    }
}

impl Copies<'_> {
    /// Copies the backup to volumes like those of an arm, unless that was done.
    ///
    /// # Errors
    /// When it cannot be copied, or no server starts on the copy.
    pub(crate) fn stage(
        &mut self,
        backup: &Path,
        settings: &Settings,
        stage: &Stage,
    ) -> Result<(), RehearsalError> {
        if self.find(settings, stage).is_some() {
            return Ok(());
        }
        let name = format!("copy-{}", self.staged.len() + 1);
        let own = Folder::open(&self.folder)?;
        own.new_folder(name.as_ref())?;
        let images = self.folder.join(name);
        let volumes: Vec<VolumeSpec> = stage
            .volumes
            .iter()
            .map(|volume| VolumeSpec::of(&volume.name, DiskSpec::unlimited()))
            .collect();
        let sizes = self.sizes(stage);
        let machine = MachineSpec::unlimited();
        let mounted = self.mount(&images, &volumes, &sizes, machine, 1, Contents::InPlace);
        let mounted = mounted.map_err(RehearsalError::Volumes)?;
        let on = CopyVolumes {
            site: &*mounted.site,
            settings,
            let_in: &|| mounted.let_in(),
        };
        let copied = self.product.stage(backup, &self.facts, &on);
        let directory = mounted.directory.path().to_owned();
        let stopped = when_unused(|| mounted.site.stop());
        copied?;
        stopped.map_err(RehearsalError::Volumes)?;
        self.staged.push(Staged {
            placement: settings.placement.clone(),
            volumes: sizes,
            images,
            mounted: directory,
        });
        Ok(())
    }

    fn find(&self, settings: &Settings, stage: &Stage) -> Option<&Staged> {
        let sizes = self.sizes(stage);
        let mut staged = self.staged.iter();
        staged.find(|staged| staged.placement == settings.placement && staged.volumes == sizes)
    }

    /// Sizes of an arm's volumes: those of its disks, and no more than a rehearsal needs.
    fn sizes(&self, stage: &Stage) -> BTreeMap<String, Bytes> {
        let size = |volume: &VolumeSpec| {
            let disks = volume.disks.iter().map(|disk| disk.size.0);
            let whole = disks.fold(0, u64::saturating_add);
            Bytes(whole.min(self.facts.size.0 + SPARE.0))
        };
        let volumes = stage.volumes.iter();
        volumes
            .map(|volume| (volume.name.clone(), size(volume)))
            .collect()
    }

    pub(crate) fn mount(
        &self,
        images: &Path,
        volumes: &[VolumeSpec],
        sizes: &BTreeMap<String, Bytes>,
        machine: MachineSpec,
        seed: u64,
        contents: Contents,
    ) -> io::Result<Mounted> {
        let directory = OwnDirectory::make(&short_directory(), &self.registration)?;
        let own = Folder::open(directory.path()).map_err(io::Error::other)?;
        for volume in volumes {
            own.new_folder(volume.name.as_ref())
                .map_err(io::Error::other)?;
        }
        let owner = self.product.owner();
        let mount = |volume: &VolumeSpec| MountSpec {
            volume: volume.clone(),
            front: Front::Block {
                filesystem: Filesystem::Ext4,
                read_ahead: None,
            },
            directory: directory.path().join(&volume.name),
            backing: images.join(&volume.name),
            size: sizes[&volume.name],
            owner,
            others: Others::Nothing,
        };
        let spec = EmulationSpec {
            machine,
            volumes: volumes.iter().map(mount).collect(),
            seed,
            transport: TransportChoice::default(),
            trace: None,
            contents,
        };
        let site = RemoteSite::start((self.hooks.emulator)()?, &spec)?;
        Ok(Mounted {
            site: Arc::new(site),
            directory,
        })
    }

    /// The server of a trial on its mounted volumes.
    fn open(
        &self,
        settings: &Settings,
        staged: &Staged,
        mounted: &Mounted,
    ) -> Result<Started, EngineError> {
        let moved = [(staged.mounted.clone(), mounted.directory.path().to_owned())];
        let trial = Rehearsed {
            facts: &self.facts,
            logins: &self.logins,
            sessions: self.schedule.sessions(),
            reads_only: self.reads_only,
            logging: self.logging,
        };
        let on = CopyVolumes {
            site: &*mounted.site,
            settings,
            let_in: &|| mounted.let_in(),
        };
        self.product.open(&trial, &moved, &on).map(Started::Engine)
    }
}

impl Supply for Copies<'_> {
    fn place<'a>(&'a self, subject: &'a Subject<'a>) -> Result<Placed<'a>, String> {
        let (stage, settings) = (subject.stage, subject.settings);
        let staged = self.find(settings, stage);
        let staged = staged.ok_or("its copy was not staged")?;
        let seed = random::derive(subject.id.seed, "store", 0);
        let mounted = self.mount(
            &staged.images,
            &stage.volumes,
            &staged.volumes,
            stage.machine.clone(),
            seed,
            Contents::Discarded,
        );
        let mounted = mounted.map_err(|error| format!("mounting the volumes: {error}"))?;
        let mounted = Arc::new(mounted);
        let of_engine = Arc::clone(&mounted);
        Ok(Placed {
            site: Arc::clone(&mounted.site) as _,
            disks: stage.disks.clone(),
            engine: Box::new(move || self.open(settings, staged, &of_engine)),
            close: Box::new(move || {
                let stopped = when_unused(|| mounted.site.stop());
                stopped
                    .err()
                    .map(|error| format!("the volumes: {error}"))
                    .into_iter()
                    .collect()
            }),
            keep: false,
            player: Some(self.player),
        })
    }
}
