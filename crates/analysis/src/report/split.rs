//! Where a placement's sessions spent their time, in words.

use super::words;
use crate::findings::Arm;
use crate::quantity::percent;

/// Shares below this are summed up as others.
const SHARE_MIN: f64 = 0.01;

/// A part of the sessions' time.
pub(super) struct Part {
    /// The cause, as findings name it; empty for all others.
    pub(super) cause: String,
    /// Of the whole.
    pub(super) share: f64,
    /// `reads being served`
    pub(super) words: String,
    /// `71 %`
    pub(super) percent: String,
}

/// The largest causes, at most `causes_max`, and what is left; nothing where no time was recorded.
pub(super) fn parts(arm: &Arm, causes_max: usize) -> Vec<Part> {
    let mut shares: Vec<(&String, f64)> = arm.time_split.iter().map(|(c, s)| (c, *s)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = shares
        .iter()
        .take(causes_max)
        .filter(|(_, share)| *share >= SHARE_MIN);
    let part = |cause: &str, share: f64, words: String| Part {
        cause: cause.to_owned(),
        share,
        words,
        percent: percent(share),
    };
    let mut parts: Vec<Part> = named
        .map(|(cause, share)| part(cause, *share, words::cause(cause)))
        .collect();
    let others = 1.0 - parts.iter().map(|part| part.share).sum::<f64>();
    if others >= SHARE_MIN && !shares.is_empty() {
        parts.push(part("", others, "other".into()));
    }
    parts
}
