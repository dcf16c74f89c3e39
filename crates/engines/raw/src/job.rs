//! A job of plain I/O: size, mix, depth and pattern of its requests, and the time in which they count.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

use model::{Bytes, Instant, Iops};

use super::RawError;
use experiment::spec::{Amount, Workload};
use workload::Value;

/// Smallest unit of direct I/O that every device understands.
const SECTOR: u64 = 512;
/// Largest block; more than any database reads or writes at once.
const BLOCK_MAX: Bytes = Bytes::mib(64);
/// Maximum number of requests in flight per file; Linux's default limit of asynchronous I/O per process is 65,536.
const DEPTH_MAX: u32 = 4096;

/// Plain I/O of one size, mix and depth, the same at every data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSpec {
    /// Length of a request, a multiple of 512 bytes.
    pub block_size: Bytes,
    /// Share of reads, 0 to 100; the others are writes.
    pub read_percent: u8,
    /// Requests in flight at each data file, at all times.
    pub depth: u32,
    /// Where requests go.
    pub pattern: Pattern,
    /// Size of each data file; requests go to whole blocks of it.
    pub span: Bytes,
    /// When writes are made durable.
    pub sync: SyncSpec,
    /// At most as many requests per second at each data file; `None`: as many as it takes.
    pub rate: Option<Iops>,
}

/// Where requests go in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// To any block, uniformly.
    Random,
    /// To the block after the previous one of the same direction, wrapping around at the end.
    Sequential,
}

/// When writes are made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncSpec {
    /// Never during the run.
    None,
    /// Each slot flushes after this many of its own writes, and waits for the flush.
    FlushEvery(NonZeroU32),
}

/// The measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins: the end of the warm-up.
    pub from: Instant,
    /// When it ends.
    pub until: Instant,
}

impl Window {
    /// The measured time requested by an experiment.
    ///
    /// # Errors
    /// When it requests a number of operations.
    pub fn of(workload: &Workload) -> Result<Window, RawError> {
        let from = Instant::ZERO + workload.warm_up;
        match workload.amount {
            Amount::Duration(duration) => Ok(Window {
                from,
                until: from + duration,
            }),
            Amount::Operations(operations) => Err(RawError::Operations(operations)),
        }
    }
}

impl RawSpec {
    /// From the parameters of the workload `raw`.
    ///
    /// # Errors
    /// When one is missing or invalid, with its allowed values.
    pub fn from_parameters(parameters: &BTreeMap<String, Value>) -> Result<RawSpec, RawError> {
        let given = Given(parameters);
        let spec = RawSpec {
            block_size: given.bytes("block_size")?,
            read_percent: given.whole("read_percent", 0, 100, "a whole number from 0 to 100")?,
            depth: given.whole("depth", 1, DEPTH_MAX, "a whole number from 1 to 4096")?,
            pattern: given.pattern()?,
            span: given.bytes("span")?,
            sync: given.sync()?,
            rate: None,
        };
        let block = spec.block_size;
        if block.0 == 0 || !block.0.is_multiple_of(SECTOR) || block > BLOCK_MAX {
            const WANTED: &str = "a multiple of 512 bytes up to 64 MiB";
            return Err(given.refuse("block_size", WANTED));
        }
        if spec.span < block {
            return Err(given.refuse("span", "at least one block (\"block_size\")"));
        }
        Ok(spec)
    }

    /// Names of its parameters.
    pub(super) const PARAMETERS: [&str; 6] = [
        "block_size",
        "read_percent",
        "depth",
        "pattern",
        "span",
        "sync",
    ];

    /// Whole blocks in a file.
    pub fn blocks(&self) -> u64 {
        (self.span.0 / self.block_size.0).max(1)
    }
}

/// The given parameters.
struct Given<'a>(&'a BTreeMap<String, Value>);

impl Given<'_> {
    fn refuse(&self, name: &'static str, wanted: &'static str) -> RawError {
        let given = match self.0.get(name) {
            Some(Value::Text(text)) => format!("\"{text}\""),
            Some(value) => value.to_string(),
            None => "not given".to_owned(),
        };
        RawError::Parameter {
            name,
            given,
            wanted,
        }
    }

    fn bytes(&self, name: &'static str) -> Result<Bytes, RawError> {
        let bytes = match self.0.get(name) {
            Some(Value::Text(text)) => text.parse().ok(),
            Some(Value::Int(bytes)) => u64::try_from(*bytes).ok().map(Bytes),
            Some(Value::Double(_) | Value::Null) | None => None,
        };
        bytes.ok_or_else(|| self.refuse(name, "a size such as \"8 KiB\", or whole bytes"))
    }

    fn whole<N: TryFrom<i64> + PartialOrd>(
        &self,
        name: &'static str,
        least: N,
        most: N,
        wanted: &'static str,
    ) -> Result<N, RawError> {
        let number = match self.0.get(name) {
            Some(Value::Int(number)) => N::try_from(*number).ok(),
            Some(Value::Text(_) | Value::Double(_) | Value::Null) | None => None,
        };
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| self.refuse(name, wanted))
    }

    fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Text(text)) => text.trim(),
            Some(Value::Int(_) | Value::Double(_) | Value::Null) | None => "",
        }
    }

    fn pattern(&self) -> Result<Pattern, RawError> {
        match self.text("pattern") {
            "random" => Ok(Pattern::Random),
            "sequential" => Ok(Pattern::Sequential),
            _ => Err(self.refuse("pattern", "\"random\" or \"sequential\"")),
        }
    }

    fn sync(&self) -> Result<SyncSpec, RawError> {
        let text = self.text("sync");
        if text == "none" {
            return Ok(SyncSpec::None);
        }
        let count = text.strip_prefix("flush every ").map(str::trim);
        let count: Option<NonZeroU32> = count.and_then(|count| count.parse().ok());
        count.map(SyncSpec::FlushEvery).ok_or_else(|| {
            let wanted = "\"none\" or \"flush every 1\" (or another number of writes)";
            self.refuse("sync", wanted)
        })
    }
}

impl fmt::Display for RawSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = match self.pattern {
            Pattern::Random => "random",
            Pattern::Sequential => "sequential",
        };
        let RawSpec {
            block_size,
            read_percent,
            depth,
            span,
            ..
        } = self;
        write!(
            f,
            "{block_size} {pattern}, {read_percent} % reads, depth {depth}, in {span}"
        )?;
        if let SyncSpec::FlushEvery(count) = self.sync {
            write!(f, ", a flush every {count} writes")?;
        }
        if let Some(rate) = self.rate {
            write!(f, ", at most {rate}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(changed: &[(&str, Value)]) -> BTreeMap<String, Value> {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut all = BTreeMap::from([
            ("block_size".to_owned(), text("8 KiB")),
            ("read_percent".to_owned(), Value::Int(70)),
            ("depth".to_owned(), Value::Int(8)),
            ("pattern".to_owned(), text("random")),
            ("span".to_owned(), text("1 GiB")),
            ("sync".to_owned(), text("none")),
        ]);
        all.extend(
            changed
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        );
        all
    }

    #[test]
    fn parameters_are_read_with_their_units() {
        let sync = Value::Text("flush every 4".to_owned());
        let spec = RawSpec::from_parameters(&parameters(&[("sync", sync)])).unwrap();
        assert_eq!(spec.block_size, Bytes::kib(8));
        assert_eq!(spec.blocks(), 131_072);
        let every = NonZeroU32::new(4).unwrap();
        assert_eq!(spec.sync, SyncSpec::FlushEvery(every));
    }

    #[test]
    fn a_parameter_that_makes_no_sense_is_refused_with_what_it_may_be() {
        for (name, value, wanted) in [
            ("block_size", Value::Int(1000), "multiple of 512"),
            ("block_size", Value::Text("8".to_owned()), "\"8 KiB\""),
            ("read_percent", Value::Int(101), "0 to 100"),
            ("depth", Value::Int(0), "1 to 4096"),
            ("pattern", Value::Text("zipf".to_owned()), "sequential"),
            ("span", Value::Int(4096), "at least one block"),
            ("sync", Value::Text("flush every 0".to_owned()), "none"),
        ] {
            let error = RawSpec::from_parameters(&parameters(&[(name, value)]))
                .unwrap_err()
                .to_string();
            assert!(error.contains(name) && error.contains(wanted), "{error}");
        }
    }
}
