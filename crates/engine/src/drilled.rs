//! Targets of a drill: a server, or a library that keeps a database in files.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use host::orphans::Registration;
use host::site::Site;
use model::Bytes;
use serde::{Deserialize, Serialize};

use crate::{EngineError, ProductOptions};
use experiment::spec::Settings;

/// The origin of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This run, just now.
    ThisRun,
    /// The folder it was found in: its disks' file systems and their content are not trusted.
    Folder,
}

/// What happens to the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// All lose power at once.
    Power,
    /// All lose power at once, and a write is on disk only in part.
    Torn,
    /// Each is copied at a different time.
    Snapshots,
    /// All lose power at once, with everything they received, and then a bit of it flips.
    BitFlip,
}

/// The part of the ledger that a server has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Highest commit of each session, in order; 0 without any.
    pub last: Vec<u64>,
    /// Impossible content: missing, altered or duplicate rows; tables that contradict their indexes; ..
    pub contradictions: Vec<String>,
}

/// The outcome for a server in a crash state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// It has everything that was acknowledged, and no impossible content.
    Intact,
    /// It started, but lost commits that it had acknowledged.
    Lost {
        /// The number of lost commits.
        commits: u64,
    },
    /// It started, with impossible content.
    Corrupt {
        /// The first contradiction.
        what: String,
    },
    /// It did not start.
    DoesNotStart {
        /// The end of its log.
        why: String,
    },
}

/// How the servers of an engine are drilled.
pub trait DrillProvider: Sync {
    /// Keys of an experiment that determine how its server is set.
    fn keys(&self) -> &'static [&'static str];

    /// Settings with which each placement is drilled once; without any, it is drilled as it is.
    fn modes(&self) -> &'static [&'static [(&'static str, &'static str)]] {
        &[]
    }

    /// What a replay executes of the content of a folder, and as which user: a sentence.
    fn executes(&self) -> &'static str;

    /// Its product. What that creates is noted in `registration`.
    ///
    /// # Errors
    /// When it is not installed, or too old.
    fn product(
        &self,
        options: &ProductOptions,
        origin: Origin,
        registration: &Arc<Registration>,
    ) -> Result<Arc<dyn Product>, EngineError>;
}

/// A database product that can be drilled.
pub trait Product: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The user and group its server runs as; `None`: this user.
    fn owner(&self) -> Option<(u32, u32)>;

    /// Creates a server on the site's volumes with an empty ledger, and stops it again.
    ///
    /// # Errors
    /// When it does not start.
    fn make(&self, spec: &ServerSpec<'_>, site: &dyn Site) -> Result<(), EngineError>;

    /// A server whose files are on other volumes than when it was created, as after a crash: `moved` has the former and
    /// the current parent directory of all volumes. It is not started yet; no other user may access the volumes before
    /// this call. If its files are missing, returns a message in place of the server.
    ///
    /// # Errors
    /// When something that does not depend on the volumes cannot be created.
    fn found(
        &self,
        spec: &ServerSpec<'_>,
        site: &dyn Site,
        moved: &[(PathBuf, PathBuf)],
    ) -> Result<Result<Box<dyn Server>, String>, EngineError>;

    /// Checks that a recording of unknown origin may set this: it must affect how the server writes, and its value must
    /// not name a program, library, file or address.
    ///
    /// # Errors
    /// The reason for the refusal.
    fn may_set(&self, name: &str, value: &str) -> Result<(), String>;

    /// Its servers that must not survive.
    fn controls(&self) -> &'static [ControlSpec];
}

/// The specification of a drilled server.
#[derive(Clone, Copy)]
pub struct ServerSpec<'a> {
    /// The settings of its placement.
    pub settings: &'a Settings,
    /// How many clients write the ledger.
    pub sessions: u32,
    /// Settings in its own syntax, which override all others.
    pub own: &'a [(String, String)],
    /// The origin of the volumes' content.
    pub origin: Origin,
}

/// A server that must not survive.
pub struct ControlSpec {
    /// Its setting.
    pub setting: &'static str,
    /// The value that makes it lose or corrupt data.
    pub value: &'static str,
    /// What happens to its volumes.
    pub kind: Kind,
    /// Its page: on a disk that writes as much atomically, it may survive.
    pub page: Bytes,
    /// Whether the verdict is the expected one.
    pub is_noticed: fn(&Verdict) -> bool,
}

/// A drilled server.
pub trait Server: Sync {
    /// Its version.
    ///
    /// # Errors
    /// When it does not accept a connection.
    fn version(&self) -> Result<String, EngineError>;

    /// Starts it, and waits until it accepts clients; if it ends instead, returns its own error message.
    ///
    /// # Errors
    /// When it cannot be run, or neither starts nor ends.
    fn start(&self) -> Result<Result<(), String>, EngineError>;

    /// Shuts it down cleanly, so that it can be started again.
    ///
    /// # Errors
    /// When it does not stop.
    fn shut_down(&self) -> Result<(), EngineError>;

    /// Kills it, without writing anything that is not on disk yet.
    ///
    /// # Errors
    /// When it does not end.
    fn end(&self) -> Result<(), String>;

    /// Its own reason for ending, if it ended without being stopped.
    fn exit_reason(&self) -> Option<String>;

    /// A client that writes the ledger of a session.
    ///
    /// # Errors
    /// When the server refuses the connection.
    fn writer(&self, session: u32) -> Result<Box<dyn Writer>, EngineError>;

    /// Writes everything that is only in memory or in the log.
    ///
    /// # Errors
    /// When the server refuses.
    fn checkpoint(&self) -> Result<(), EngineError>;

    /// Uses temporary space.
    ///
    /// # Errors
    /// When the server is gone, or fails.
    fn spill(&self) -> Result<(), EngineError>;

    /// Reads every row and every index.
    fn look(&self) -> Found;
}

/// A client that writes the ledger.
pub trait Writer {
    /// Writes the session's commit of this number, and waits until it is acknowledged. It includes a transfer between
    /// two accounts, drawn from the number.
    ///
    /// # Errors
    /// When the server is gone or refuses.
    fn commit(&mut self, number: u64) -> Result<(), EngineError>;
}

/// Most sessions: each has its own accounts.
pub const SESSIONS_MAX: u32 = 100;

/// Accounts for transfers: some megabytes, so that a checkpoint writes many pages.
pub const ACCOUNTS: u32 = 50_000;

/// Two accounts that only this session uses, so that no session waits for a lock.
pub fn accounts(session: u32, number: u64) -> (u32, u32) {
    let account = |seed: u64| {
        let step = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let own = session % SESSIONS_MAX;
        let steps = ACCOUNTS / SESSIONS_MAX;
        1 + (step % u64::from(steps)) as u32 * SESSIONS_MAX + own
    };
    (account(number), account(number + 1_000_003))
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Intact => f.write_str("intact"),
            Verdict::Lost { commits: 1 } => f.write_str("an acknowledged commit is lost"),
            Verdict::Lost { commits } => write!(f, "{commits} acknowledged commits are lost"),
            Verdict::Corrupt { what } => write!(f, "corrupt: {what}"),
            Verdict::DoesNotStart { why } => write!(f, "does not start: {why}"),
        }
    }
}

impl Kind {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Power => "power",
            Kind::Torn => "torn",
            Kind::Snapshots => "snapshots",
            Kind::BitFlip => "bit-flip",
        }
    }
}

impl Verdict {
    /// Its name in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Intact => "intact",
            Verdict::Lost { .. } => "lost",
            Verdict::Corrupt { .. } => "corrupt",
            Verdict::DoesNotStart { .. } => "does-not-start",
        }
    }

    /// The verdict on a server that started with what was `found`, where this many commits of each session were acknowledged.
    pub fn of(acknowledged: &[u64], found: &Found) -> Verdict {
        if let Some(what) = found.contradictions.first() {
            return Verdict::Corrupt { what: what.clone() };
        }
        let last = found.last.iter().chain(std::iter::repeat(&0));
        let lost = acknowledged.iter().zip(last);
        match lost
            .map(|(acknowledged, last)| acknowledged.saturating_sub(*last))
            .sum()
        {
            0 => Verdict::Intact,
            commits => Verdict::Lost { commits },
        }
    }
}
