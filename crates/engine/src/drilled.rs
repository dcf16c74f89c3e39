//! What is drilled: a server, or a library that keeps a database in files.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use volume::site::Site;

use crate::EngineError;
use experiment::spec::Settings;

/// Who has made a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This run, a moment ago.
    ThisRun,
    /// Whoever has made the folder that it was found in: its disks' file systems and what is on them are not trusted.
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
    /// Each is copied at a time of its own.
    Snapshots,
    /// All lose power at once, with all they have got, and then a bit of it flips.
    BitFlip,
}

/// What a server has of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Highest commit of each session, in their order; 0 without any.
    pub last: Vec<u64>,
    /// What cannot be: rows that are missing in between, with other content, twice; tables that contradict their indexes; ..
    pub contradictions: Vec<String>,
}

/// What became of a server in a crash state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// It has everything that was acknowledged, and nothing that cannot be.
    Intact,
    /// It started, without commits that it had acknowledged.
    Lost {
        /// How many.
        commits: u64,
    },
    /// It started, with something that cannot be.
    Corrupt {
        /// What.
        what: String,
    },
    /// It did not start.
    DoesNotStart {
        /// The end of its log.
        why: String,
    },
}

/// A database product that can be drilled.
pub trait Product: Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// As whom its server runs; `None`: as this user.
    fn owner(&self) -> Option<(u32, u32)>;

    /// Makes a server on the site's volumes with an empty ledger, and stops it again.
    ///
    /// # Errors
    /// When it does not come up.
    fn make(&self, spec: &ServerSpec<'_>, site: &dyn Site) -> Result<(), EngineError>;

    /// A server whose files are on other volumes than when it was made, as after a crash: `moved` has the directory that all
    /// volumes had, and the one that they have now. It is not started yet; no other user may reach the volumes before this was
    /// called. Where its files are not there, it says so in place of the server.
    ///
    /// # Errors
    /// When something cannot be made that has nothing to do with the volumes.
    fn found(
        &self,
        spec: &ServerSpec<'_>,
        site: &dyn Site,
        moved: &[(PathBuf, PathBuf)],
    ) -> Result<Result<Box<dyn Server>, String>, EngineError>;

    /// Whether a recording that anybody may have made may set this: it is about how the server writes, and its value names no
    /// program, library, file or address.
    ///
    /// # Errors
    /// Why not.
    fn may_set(&self, name: &str, value: &str) -> Result<(), String>;

    /// Servers of it that must not survive.
    fn controls(&self) -> &'static [ControlSpec];
}

/// What a drilled server is.
#[derive(Clone, Copy)]
pub struct ServerSpec<'a> {
    /// What its placement sets.
    pub settings: &'a Settings,
    /// How many clients write the ledger.
    pub sessions: u32,
    /// Settings in its own words, which count before all others.
    pub own: &'a [(String, String)],
    /// Who has made what is on the volumes.
    pub origin: Origin,
}

/// A server that must not survive.
pub struct ControlSpec {
    /// Its setting.
    pub setting: &'static str,
    /// The value that makes it lose or spoil data.
    pub value: &'static str,
    /// What happens to its volumes.
    pub kind: Kind,
    /// Whether that is what it has to do.
    pub is_noticed: fn(&Verdict) -> bool,
}

/// A server that is drilled.
pub trait Server: Sync {
    /// Its version.
    ///
    /// # Errors
    /// When it does not let us in.
    fn version(&self) -> Result<String, EngineError>;

    /// Starts it, and waits until it lets clients in; where it ends instead, it says why, in its words.
    ///
    /// # Errors
    /// When it cannot be run, or neither comes up nor ends.
    fn start(&self) -> Result<Result<(), String>, EngineError>;

    /// Stops it in an orderly way, so that it can be started again.
    ///
    /// # Errors
    /// When it does not stop.
    fn shut_down(&self) -> Result<(), EngineError>;

    /// Ends it at once, with nothing written that is not on disk yet.
    ///
    /// # Errors
    /// When it does not end.
    fn end(&self) -> Result<(), String>;

    /// Why it has ended, in its words, where it has by itself.
    fn exit_reason(&self) -> Option<String>;

    /// A client that writes the ledger of a session.
    ///
    /// # Errors
    /// When the server does not let it in.
    fn writer(&self, session: u32) -> Result<Box<dyn Writer>, EngineError>;

    /// Has everything written that is only in memory or in the log.
    ///
    /// # Errors
    /// When the server refuses.
    fn checkpoint(&self) -> Result<(), EngineError>;

    /// Uses temporary space.
    ///
    /// # Errors
    /// When the server is gone, or cannot.
    fn spill(&self) -> Result<(), EngineError>;

    /// Samples at every row, and at every index.
    fn look(&self) -> Found;
}

/// A client that writes the ledger.
pub trait Writer {
    /// Writes the session's commit of this number, and waits until it is acknowledged. A transfer between two accounts, drawn by
    /// the number, goes along.
    ///
    /// # Errors
    /// When the server is gone or refuses.
    fn commit(&mut self, number: u64) -> Result<(), EngineError>;
}

/// Most sessions: each has accounts of its own.
pub const SESSIONS_MAX: u32 = 100;

/// Accounts that transfers go between: some megabytes, so that a checkpoint writes many pages.
pub const ACCOUNTS: u32 = 50_000;

/// Two accounts that no other session has, so that nobody waits for a lock.
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

impl Verdict {
    /// Of a server that started with what was `found`, where so many commits of each session were acknowledged.
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
