//! Defaults of a simulated engine for keys that an experiment does not set.

use model::store::PageSize;
use model::{Bytes, Durability, Duration};

use crate::setting::thousands;

/// What a simulated engine can be like, and the defaults it has then.
#[derive(Debug)]
pub struct Like {
    /// Its name as the value of `engine.like`.
    pub name: &'static str,
    /// Its name in sentences.
    pub title: &'static str,
    /// Its defaults.
    pub defaults: Defaults,
}

/// Default values of the keys of `[engine]`.
#[derive(Debug)]
pub struct Defaults {
    /// Size of a page.
    pub page_size: PageSize,
    /// How far a scan reads ahead; zero: not at all.
    pub read_ahead: Bytes,
    /// Largest write of neighbouring pages.
    pub write_gather: Bytes,
    /// Concurrent page writes; at least 1.
    pub writes_in_flight: u32,
    /// Time between checkpoints; `None`: no checkpoint during a run.
    pub checkpoint: Option<Duration>,
    /// Maximum log since the oldest unflushed change; 0: unlimited.
    pub log_capacity: Bytes,
    /// Maximum number of pages whose doublewrite copies are written together; 0: no doublewrite.
    pub doublewrite_pages: u32,
    /// Whether the first change of a page after a checkpoint logs the whole page.
    pub full_page_images: bool,
    /// Largest write of the log.
    pub log_gather: Bytes,
    /// Maximum number of log writes in flight; at least 1.
    pub log_in_flight_max: u32,
    /// Whether a log write is durable only once its volume was flushed.
    pub log_flush: bool,
    /// When a write of a data file is durable.
    pub data_durability: Durability,
    /// Processor time of a statement beside its pages and steps.
    pub statement: Duration,
}

impl Defaults {
    /// Without `like`: SQL Server's, with the largest write of 2014 and without read-ahead.
    pub const GENERIC: Defaults = Defaults {
        page_size: PageSize::DEFAULT,
        read_ahead: Bytes::ZERO,
        write_gather: Bytes::kib(256), // 32 pages, SQL Server to 2014
        writes_in_flight: 32,
        checkpoint: Some(Duration::from_secs(60)), // SQL Server's target recovery time since 2016
        log_capacity: Bytes::ZERO,
        doublewrite_pages: 0,
        full_page_images: false,
        log_gather: Bytes::kib(60), // SQL Server's largest log block
        log_in_flight_max: 1,
        log_flush: false, // SQL Server writes through: see its table
        data_durability: Durability::OnCompletion,
        statement: Duration::from_micros(20), // assumed: of the order of a server core of the 2010s
    };
}

impl Defaults {
    /// Keys of `[engine]` and their defaults, as FORMAT.md's table has them; the number of log writes in flight is not a key.
    pub fn table(&self) -> [(&'static str, String); 11] {
        let size = |bytes: Bytes| match bytes {
            Bytes::ZERO => "0".to_owned(),
            bytes => bytes.to_string(),
        };
        let checkpoint = self.checkpoint.map_or("none".to_owned(), |interval| {
            format!("{} s", interval.as_secs_f64())
        });
        [
            ("page_size", size(self.page_size.bytes())),
            ("read_ahead", size(self.read_ahead)),
            ("write_gather", size(self.write_gather)),
            ("writes_in_flight", thousands(self.writes_in_flight)),
            ("checkpoint", checkpoint),
            ("log_capacity", size(self.log_capacity)),
            ("doublewrite_pages", thousands(self.doublewrite_pages)),
            ("full_page_images", self.full_page_images.to_string()),
            ("log_gather", size(self.log_gather)),
            ("log_flush", self.log_flush.to_string()),
            ("cpu.statement", self.statement.to_string()),
        ]
    }
}

impl PartialEq for Like {
    fn eq(&self, other: &Like) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LIKES;

    #[test]
    fn format_md_says_how_many_log_writes_are_in_flight() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../FORMAT.md");
        let format = std::fs::read_to_string(path).expect("it is in the repository");
        let [sql_server, others @ ..] = LIKES.map(|like| like.defaults.log_in_flight_max);
        let expected = format!("With `sqlserver`, up to {sql_server} log writes are in flight");
        assert!(format.contains(&expected), "FORMAT.md lacks: {expected}");
        assert_eq!(others, [Defaults::GENERIC.log_in_flight_max; 3]);
        assert_eq!(Defaults::GENERIC.log_in_flight_max, 1);
    }
}
