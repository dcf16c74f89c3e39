//! The outcome of a back-test: what decides, and what is only a detail.

use reading::Role;

use super::BackTest;
use super::evidence::Reason;
use super::figure::{Detail, Figure, Measure, OFF_MAX};
use crate::parts::{Parts, TimePart};

/// Maximum difference of a part's share in an operation's time.
const SHARE_OFF_MAX: f64 = 0.1;

/// Whether a profile fits a layout.
#[derive(Clone, Debug, PartialEq)]
pub enum Fit {
    /// Rate and details are within [`OFF_MAX`](super::OFF_MAX).
    Fits,
    /// The rate and the time of an operation are, these details are not.
    RateFits {
        /// What is off, the furthest first; not empty.
        details: Vec<Detail>,
    },
    /// The rate, or the time of an operation, is not.
    DoesNotFit {
        /// The part of an operation's time, or the figure, that is off most.
        part: Detail,
        /// The likeliest reason.
        reason: Reason,
    },
}

impl Fit {
    /// Its name in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Fit::Fits => "fits",
            Fit::RateFits { .. } => "rate-fits",
            Fit::DoesNotFit { .. } => "does-not-fit",
        }
    }

    /// Whether advice can follow from it.
    pub fn allows_advice(&self) -> bool {
        match self {
            Fit::Fits | Fit::RateFits { .. } => true,
            Fit::DoesNotFit { .. } => false,
        }
    }
}

impl BackTest {
    /// Whether the profile fits. The rate and the time of an operation decide; where these are within
    /// [`OFF_MAX`](super::OFF_MAX), the rest is detail.
    pub fn fit(&self) -> Fit {
        let is_rate = |figure: &&Figure| {
            matches!(figure.measure, Measure::Operations | Measure::OperationTime)
        };
        if !self.figures.iter().filter(is_rate).all(Figure::fits) || self.is_implied_off() {
            let part = self.furthest();
            return Fit::DoesNotFit {
                part,
                reason: self.reason(&part),
            };
        }
        let mut details: Vec<Detail> = self
            .shares()
            .filter(|share| share.off().abs() > SHARE_OFF_MAX)
            .collect();
        let figures = self
            .figures
            .iter()
            .filter(|figure| figure.decides && !figure.fits());
        details.extend(figures.copied().map(Detail::Figure));
        details.sort_by(|a, b| b.off().abs().total_cmp(&a.off().abs()));
        match details.is_empty() {
            true => Fit::Fits,
            false => Fit::RateFits { details },
        }
    }

    /// The caveat of advice that follows from it; `None` where none is due, or where no advice is.
    pub fn caveat(&self) -> Option<String> {
        let Fit::RateFits { details } = self.fit() else {
            return None;
        };
        let first = details.first()?;
        let more = match details.len() {
            1 => String::new(),
            2 => "; another detail is off too".to_owned(),
            count => format!("; {} other details are off too", count - 1),
        };
        Some(format!("{first} ({}){more}", self.meaning(first)))
    }

    /// What a detail that is off probably means.
    pub fn meaning(&self, detail: &Detail) -> &'static str {
        match detail {
            Detail::Share { .. } | Detail::Time { .. } => "time is spent elsewhere than it was",
            Detail::Figure(figure) if !figure.measure.is_latency() => {
                "other programs' requests were counted, or the server gathers its requests otherwise"
            }
            Detail::Figure(figure) if figure.off() < 0.0 => {
                "the server waited longer than these disks take"
            }
            Detail::Figure(figure) if self.evidence.as_recorded || self.is_served(figure) => {
                "requests queue longer in the replay than they did"
            }
            Detail::Figure(_) => {
                "the server was answered sooner than these disks answer: by a cache in between, or by faster disks"
            }
        }
    }

    /// Whether an operation with the recorded latencies would take another time than in the replay, where its time was not
    /// recorded: sessions that wait for something else, or for their next operation, keep the rate as it was.
    fn is_implied_off(&self) -> bool {
        let simulated_s = self.simulated.total();
        let implied_s = self.as_recorded(&self.simulated);
        self.parts.is_none() && (simulated_s - implied_s).abs() > OFF_MAX * implied_s
    }

    /// What is off most: the part of an operation's time if that was recorded, or else a latency that sessions wait for, or else a
    /// rate.
    fn furthest(&self) -> Detail {
        let most = |details: &mut dyn Iterator<Item = Detail>| {
            details.max_by(|a, b| a.off().abs().total_cmp(&b.off().abs()))
        };
        let of = |is_latency: bool| {
            let figures = self.figures.iter().filter(move |figure| {
                figure.decides && !figure.fits() && figure.measure.is_latency() == is_latency
            });
            figures.copied().map(Detail::Figure)
        };
        most(&mut self.times())
            .or_else(|| most(&mut of(true)))
            .or_else(|| most(&mut of(false)))
            .or_else(|| {
                most(
                    &mut self
                        .figures
                        .iter()
                        .filter(|figure| !figure.fits())
                        .copied()
                        .map(Detail::Figure),
                )
            })
            .expect("a rate or a latency is off")
    }

    /// The share of each part in the time of an operation, recorded and simulated.
    fn shares(&self) -> impl Iterator<Item = Detail> {
        let parts = self.parts.into_iter();
        parts.flat_map(|[recorded, simulated]| {
            TimePart::ALL.into_iter().map(move |part| Detail::Share {
                part,
                recorded: recorded.share(part),
                simulated: simulated.share(part),
            })
        })
    }

    /// What each part takes of an operation: a share of a replay that takes half the time says little.
    fn times(&self) -> impl Iterator<Item = Detail> {
        let parts = self.parts.into_iter();
        parts.flat_map(|[recorded, simulated]| {
            TimePart::ALL.into_iter().map(move |part| Detail::Time {
                part,
                recorded_s: recorded[part],
                simulated_s: simulated[part],
            })
        })
    }

    /// How long an operation takes that is replayed in `parts`, if each wait is off by as much as on the layout of this back-test.
    ///
    /// Beside the replayed time itself, this is the interval that a detail implies: a detail that is off carries over to another
    /// layout fully, or not at all.
    pub fn as_recorded(&self, parts: &Parts) -> f64 {
        let factor = |part: TimePart| {
            let [recorded, simulated] = match self.parts {
                Some(parts) => parts.map(|of| of[part]),
                None => self.latency(part)?,
            };
            (recorded > 0.0 && simulated > 0.0).then(|| recorded / simulated)
        };
        let of = |part: TimePart| match part {
            TimePart::Read | TimePart::Write | TimePart::Temp | TimePart::Log | TimePart::Lock => {
                parts[part] * factor(part).unwrap_or(1.0)
            }
            TimePart::Processor | TimePart::Other => parts[part],
        };
        TimePart::ALL.into_iter().map(of).sum()
    }

    /// The latency that decides how long a part takes, recorded and simulated.
    fn latency(&self, part: TimePart) -> Option<[f64; 2]> {
        let of = match part {
            TimePart::Read => (Role::Data, Measure::ReadLatency),
            TimePart::Write => (Role::Data, Measure::WriteLatency),
            TimePart::Temp => (Role::Temp, Measure::ReadLatency),
            TimePart::Log => (Role::Log, Measure::WriteLatency),
            TimePart::Lock | TimePart::Processor | TimePart::Other => return None,
        };
        let mut figures = self.figures.iter();
        let figure = figures.find(|figure| (figure.role, figure.measure) == (Some(of.0), of.1))?;
        Some([figure.recorded, figure.simulated])
    }

    /// The latency that a detail is about: a figure itself if it is one; for a share, of the figures of its files that sessions wait
    /// for the one that is furthest off. `None`: no latency was recorded for it.
    pub(super) fn latency_of(&self, detail: &Detail) -> Option<Figure> {
        match detail {
            Detail::Figure(figure) => figure.measure.is_latency().then_some(*figure),
            Detail::Share { part, .. } | Detail::Time { part, .. } => {
                let role = match part {
                    TimePart::Read | TimePart::Write => Role::Data,
                    TimePart::Temp => Role::Temp,
                    TimePart::Log => Role::Log,
                    TimePart::Lock | TimePart::Processor | TimePart::Other => return None,
                };
                let figures = self.figures.iter().filter(|figure| {
                    figure.role == Some(role) && figure.decides && figure.measure.is_latency()
                });
                let most = figures.max_by(|a, b| a.off().abs().total_cmp(&b.off().abs()));
                most.copied()
            }
        }
    }
}
