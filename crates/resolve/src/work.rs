//! What the sessions of an arm do: the statements of a workload, or what a server did.

use engine::{EngineProvider, Simulated};
use experiment::spec::{Mode, Settings};
use model::Durability;
use profile::Profile;
use replay::{DemandError, DemandSeries};
use workload::Workload;

/// Whether what is simulated must end early. It is called often, even within statements.
pub type Cancel = std::rc::Rc<dyn Fn() -> bool>;

/// The work of the sessions of a trial.
pub enum Work {
    /// The statements of a workload.
    Statements(Box<Workload>),
    /// A recorded profile: in simulate its operations, otherwise its requests as plain I/O.
    Recording(Box<Recording>),
}

impl Work {
    /// The statements.
    ///
    /// # Panics
    /// When it is a profile, which has no statements.
    pub fn workload(&self) -> &Workload {
        self.statements().expect("a profile has no statements")
    }

    /// The statements; `None` for a profile.
    pub fn statements(&self) -> Option<&Workload> {
        match self {
            Work::Statements(workload) => Some(workload),
            Work::Recording(_) => None,
        }
    }

    /// When a write of a data file is durable; `None` without a database.
    pub fn data_durability(
        &self,
        settings: &Settings,
        mode: Mode,
        engine: &dyn EngineProvider,
    ) -> Option<Durability> {
        match (self, mode) {
            (Work::Recording(recording), _) => {
                let demand = recording.demand.as_ref().ok()?;
                Some(demand.periods()[0].demand.data.durability)
            }
            (Work::Statements(_), _) if engine.simulated() == Some(Simulated::PlainIo) => None,
            (Work::Statements(_), Mode::Simulate) => Some(settings.engine.data_durability),
            // Every engine that runs on modelled disks writes, then flushes.
            (Work::Statements(_), Mode::Emulate | Mode::Measure) => Some(Durability::OnFlush),
        }
    }

    /// The recording; `None` for statements.
    pub fn recording(&self) -> Option<&Recording> {
        match self {
            Work::Statements(_) => None,
            Work::Recording(recording) => Some(recording),
        }
    }
}

/// The activity of a server, for a replay.
pub struct Recording {
    /// The replayed part of its profile.
    pub profile: Profile,
    /// The demand of its operations, with the sessions and the rate of the experiment; or why that is not known.
    pub demand: Result<DemandSeries, DemandError>,
}

impl Recording {
    /// The demand of its operations.
    ///
    /// # Panics
    /// When it is not known, in which case it is never simulated.
    pub fn demand(&self) -> &DemandSeries {
        let demand = self.demand.as_ref();
        demand.expect("what is simulated was checked to have a demand")
    }
}
