//! Why a profile does not fit: the likeliest reason, from what else was recorded.

use reading::Role;

use super::BackTest;
use super::evidence::Reason;
use super::figure::{Detail, Figure, Measure, OFF_MAX};
use crate::parts::TimePart;

impl BackTest {
    /// The likeliest reason for which `most` is off.
    pub(super) fn reason(&self, most: &Detail) -> Reason {
        let mut figures = self.figures.iter();
        let operations = figures.find(|figure| figure.measure == Measure::Operations);
        let is_too_fast = operations.is_some_and(|figure| figure.off() > 0.0);
        if is_too_fast && self.evidence.is_busy {
            return Reason::Processor;
        }
        match most.part() {
            Some(TimePart::Lock) => return Reason::Locks,
            Some(TimePart::Processor) => return Reason::Processor,
            _ => {}
        }
        let is_of_log = match most {
            Detail::Figure(figure) => figure.role == Some(Role::Log),
            Detail::Share { part, .. } | Detail::Time { part, .. } => *part == TimePart::Log,
        };
        let commits = self.evidence.commits_lacking.map(Reason::Commits);
        if self.evidence.as_recorded || is_of_log && commits.is_some() {
            return commits.unwrap_or(Reason::Assumed);
        }
        let Some(latency) = self.latency_of(most).filter(|figure| !figure.fits()) else {
            return commits.unwrap_or(Reason::Otherwise);
        };
        if latency.off() < 0.0 {
            return match self.evidence.bursts {
                true => Reason::Credits,
                false => Reason::Slower,
            };
        }
        match self.is_served(&latency) && is_too_fast {
            true => Reason::Queue,
            false => Reason::Faster,
        }
    }

    /// Whether the simulated disks themselves could have served requests in the recorded time.
    pub(super) fn is_served(&self, latency: &Figure) -> bool {
        let role = latency.role.unwrap_or(Role::Data);
        let service = self.evidence.service.get(&(role, latency.measure));
        service.is_some_and(|service| latency.recorded >= service * (1.0 - OFF_MAX))
    }
}
