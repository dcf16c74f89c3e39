//! What a session must still write before its commit is done.

/// What a session must still write before its commit is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitTicket {
    /// The session.
    pub session: u32,
    /// Log records not yet added to the log.
    pub log_bytes: u64,
    /// Rows whose old versions are not yet kept.
    pub rows: u64,
    /// Bytes of the transaction's records that [`Store::stream_log`](super::Store::stream_log) has already put into the log.
    pub streamed: u64,
    /// How far the log must be durable, once the records are in it.
    pub(crate) log_end: Option<u64>,
    /// The same for the binary log.
    pub(crate) binlog_end: Option<u64>,
}

impl CommitTicket {
    /// A commit of `log_bytes` of records over `rows` changed rows.
    pub fn new(session: u32, log_bytes: u64, rows: u64) -> CommitTicket {
        CommitTicket {
            session,
            log_bytes,
            rows,
            ..CommitTicket::default()
        }
    }

    /// The commit of a transaction that already streamed this many bytes of records into the log.
    pub fn after_streaming(self, streamed: u64) -> CommitTicket {
        CommitTicket { streamed, ..self }
    }
}
