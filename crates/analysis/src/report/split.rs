//! Where a placement's sessions spent their time, in words.

use super::words;
use crate::findings::Arm;
use crate::quantity::percent;
use experiment::record::Cause;

/// Shares below this are summed up as others.
const SHARE_MIN: f64 = 0.01;

/// A part of the sessions' time.
pub(super) struct Part {
    /// The cause; `None` for all others.
    pub(super) cause: Option<Cause>,
    /// Of the whole.
    pub(super) share: f64,
    /// `reads being served`
    pub(super) words: String,
    /// `71 %`
    pub(super) percent: String,
}

/// The largest causes, at most `causes_max`, and what is left; nothing where no time was recorded.
pub(super) fn parts(arm: &Arm, causes_max: usize) -> Vec<Part> {
    let mut shares: Vec<(&Cause, f64)> = arm.time_split.iter().map(|(c, s)| (c, *s)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = shares
        .iter()
        .take(causes_max)
        .filter(|(_, share)| *share >= SHARE_MIN);
    let part = |cause: Option<&Cause>, share: f64, words: String| Part {
        cause: cause.cloned(),
        share,
        words,
        percent: percent(share),
    };
    let mut parts: Vec<Part> = named
        .map(|(cause, share)| part(Some(cause), *share, words::cause(cause)))
        .collect();
    let others = 1.0 - parts.iter().map(|part| part.share).sum::<f64>();
    if others >= SHARE_MIN && !shares.is_empty() {
        parts.push(part(None, others, "other".into()));
    }
    parts
}
