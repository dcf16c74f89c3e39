//! What a server read and wrote of single tables and indexes.

use serde::{Deserialize, Serialize};

/// A table or an index, and what it was used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectUse {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name, as its server writes it; with that of its database where there are several.
    pub name: String,
    /// What it was used for.
    pub used: Used,
}

/// What has its own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// A table, with what the server keeps in its files.
    Table,
    /// An index of a table.
    Index,
}

/// What a table or an index was used for, as far as its server counts that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    /// Bytes read from files, which the system's page cache may have had.
    pub read_bytes: u64,
    /// Bytes found in the server's own buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffered_bytes: Option<u64>,
    /// Bytes written to files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Rows that were inserted, updated or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_rows: Option<u64>,
}

impl ObjectKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Table => "table",
            ObjectKind::Index => "index",
        }
    }
}

impl Used {
    /// This, and what it was used for at another time.
    pub fn and(self, other: Used) -> Used {
        self.each(other, |a, b| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        })
    }

    /// What it was used for since an earlier count; where that is larger, counting began anew.
    pub fn since(self, earlier: Used) -> Used {
        self.each(earlier, |own, earlier| {
            let own = own?;
            Some(own.checked_sub(earlier.unwrap_or(0)).unwrap_or(own))
        })
    }

    fn each(self, other: Used, of: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) -> Used {
        Used {
            read_bytes: of(Some(self.read_bytes), Some(other.read_bytes)).unwrap_or(0),
            buffered_bytes: of(self.buffered_bytes, other.buffered_bytes),
            written_bytes: of(self.written_bytes, other.written_bytes),
            changed_rows: of(self.changed_rows, other.changed_rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_added_and_taken_off_where_it_is_counted() {
        let first = Used {
            read_bytes: 10,
            buffered_bytes: Some(4),
            ..Used::default()
        };
        let both = first.and(Used {
            read_bytes: 5,
            changed_rows: Some(2),
            ..Used::default()
        });
        assert_eq!((both.read_bytes, both.buffered_bytes), (15, Some(4)));
        assert_eq!((both.written_bytes, both.changed_rows), (None, Some(2)));
        assert_eq!(both.since(first).read_bytes, 5);
        // Counting began anew.
        assert_eq!(first.since(both).read_bytes, 10);
    }
}
