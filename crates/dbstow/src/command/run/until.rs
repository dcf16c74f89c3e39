//! `run --until`: as many blocks as the intervals need.

use anyhow::Result;

use super::UsageError;
use crate::command::output::note;
use analysis::findings::Findings;
use experiment::plan::Plan;
use experiment::spec::Mode;
use table::quantity::percent;

/// Blocks before the first look: with fewer, an interval is too often narrow by chance. A test of `analysis::statistics::compare`
/// says what looking costs.
const FIRST: u32 = 6;
/// Blocks between two looks.
const STEP: u32 = 2;
/// Most blocks, where none are given.
const MOST: u32 = 40;

/// When a run has enough blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// Widest interval on either side of a ratio, as a share of it.
    share: f64,
    most: u32,
}

impl Until {
    /// Until all intervals reach at most `share` to either side, or there are `most` blocks.
    pub(super) fn new(share: f64, most: Option<u32>) -> Until {
        Until {
            share,
            most: most.unwrap_or(MOST),
        }
    }

    /// Blocks before the first look.
    pub(super) fn first(self) -> u32 {
        FIRST.min(self.most)
    }

    /// Refuses a run whose intervals no number of blocks makes narrower.
    ///
    /// # Errors
    /// When there are none, or they contain what is not known.
    pub(super) fn check(self, plan: &Plan) -> Result<()> {
        let message = if plan.arms.len() < 2 {
            "--until: one arm is compared with nothing, so there is no interval; leave it out, and give --blocks"
        } else if plan.variant.mode == Mode::Simulate && !plan.protocol.nominal {
            "--until: intervals of simulate also contain what is not known of disks and statements, which more blocks do not make \
             narrower; add --nominal for those of chance alone, or give --blocks"
        } else {
            return Ok(());
        };
        Err(UsageError(message.to_owned()).into())
    }

    /// How many blocks the run should go on to after these `findings`; says why it ends where it should not.
    pub(super) fn more(self, findings: &Findings) -> Option<u32> {
        let blocks = findings.comparisons.iter().map(|compared| compared.blocks);
        let blocks = blocks.min()?;
        let widest = findings.widest_interval()?;
        let is_narrow = widest <= self.share;
        if !is_narrow && blocks < self.most {
            return Some(self.most.min(blocks + STEP));
        }
        let (reached, asked) = (percent(widest), percent(self.share));
        let all = format!("{blocks} blocks: every ratio is known within {reached}");
        note(&match is_narrow {
            true => all,
            false => format!("{all}, not within {asked}; --blocks gives it more"),
        });
        None
    }
}
