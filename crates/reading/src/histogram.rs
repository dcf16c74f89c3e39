//! Latency histograms as text: HDR histogram V2 bytes in base64.
//!
//! HdrHistogram's own tools read this form, so a record's histogram can be pasted into them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use model::Duration;
use thiserror::Error;

/// Digits kept of every latency: within 1 in 1000.
const DIGITS: u8 = 3;

/// A text that is not a histogram.
#[derive(Debug, Error)]
pub enum HistogramError {
    /// It is not base64.
    #[error("histogram is not base64: {0}")]
    Text(#[from] base64::DecodeError),
    /// It is base64 of something else, or cut short.
    #[error("histogram is damaged: {0}")]
    Bytes(#[from] hdrhistogram::serialization::DeserializeError),
    /// It has a higher precision than ours, which takes a hundred times the memory.
    #[error("histogram has {0} significant digits; at most {DIGITS} are supported")]
    Digits(u32),
}

/// An empty histogram of nanoseconds that grows as needed, so that nothing is clipped.
pub fn empty() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("3 digits are within the 0 to 5 allowed")
}

/// Longest latency that can be distinguished: half of what a histogram can hold, some 146 years.
pub const LATENCY_MAX: Duration = Duration::from_nanos(1 << 62);

/// Records a latency: at least a nanosecond, the smallest that a histogram can hold.
///
/// # Panics
/// When `histogram` does not resize.
pub fn record(histogram: &mut Histogram<u64>, latency: Duration) {
    let ns = latency.as_nanos().clamp(1, LATENCY_MAX.as_nanos());
    histogram
        .record(ns)
        .expect("a histogram that grows takes every value up to LATENCY_MAX");
}

/// The text of `histogram`.
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory does not fail, and counts are below 2^63");
    STANDARD.encode(bytes)
}

/// The histogram in `text`.
///
/// # Errors
/// When `text` is not base64, or its bytes are not a complete histogram.
pub fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(text)?;
    // Source: HdrHistogram, "V2 encoding": cookie, length, offset of normalisation, digits; four bytes each.
    if let Some(digits) = bytes.get(12..16) {
        let digits = digits
            .iter()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        if digits > u32::from(DIGITS) {
            return Err(HistogramError::Digits(digits));
        }
    }
    Ok(Deserializer::new().deserialize(&mut bytes.as_slice())?)
}

/// For `#[serde(with = "crate::histogram::text")]`: a histogram as its text.
pub mod text {
    use hdrhistogram::Histogram;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the text of `histogram`.
    ///
    /// # Errors
    /// The error of `serializer`.
    pub fn serialize<S: Serializer>(
        histogram: &Histogram<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::encode(histogram))
    }

    /// Reads a text.
    ///
    /// # Errors
    /// When it is not a text, or not a histogram.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Histogram<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::decode(&text).map_err(D::Error::custom)
    }
}

/// All of `texts` merged into one histogram, and how many of them could not be read.
pub fn merge<'a>(texts: impl Iterator<Item = &'a str>) -> (Histogram<u64>, usize) {
    let mut merged = empty();
    let mut damaged = 0;
    for text in texts {
        match decode(text) {
            Ok(histogram) => merged
                .add(histogram)
                .expect("a histogram that grows takes any other"),
            Err(_) => damaged += 1,
        }
    }
    (merged, damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_survives_its_text() {
        let mut histogram = empty();
        histogram.record_n(550_000, 1_000).unwrap();
        histogram.record(3_600_000_000_000).unwrap();

        assert_eq!(decode(&encode(&histogram)).unwrap(), histogram);
    }

    #[test]
    fn damaged_texts_are_errors_not_panics() {
        let whole = encode(&empty());

        assert!(matches!(decode("~~~"), Err(HistogramError::Text(_))));
        assert!(matches!(decode("AAAA"), Err(HistogramError::Bytes(_))));
        assert!(decode(&whole[..whole.len() - 8]).is_err());
    }

    #[test]
    fn a_histogram_finer_than_ours_is_refused_before_it_takes_its_memory() {
        let mut fine: Histogram<u64> = Histogram::new(5).unwrap();
        fine.record(1).unwrap();

        assert!(matches!(
            decode(&encode(&fine)),
            Err(HistogramError::Digits(5))
        ));
    }

    #[test]
    fn merging_adds_the_counts_and_counts_the_damaged() {
        let mut one = empty();
        one.record(1_000).unwrap();
        let one = encode(&one);

        let (merged, damaged) = merge([one.as_str(), "~", one.as_str()].into_iter());

        assert_eq!((merged.len(), damaged), (2, 1));
    }
}
