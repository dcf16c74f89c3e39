//! Counters of a replay's requests.

use model::{Completion, Duration, Operation, Request};
use profile::{Io, Requests};

use crate::replay::Service;

/// Requests of one role that were counted: reads, writes, flushes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted([Count; 3]);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    count: u64,
    bytes: u64,
    waited: Duration,
    /// Of that, in the disk itself.
    served: Duration,
}

impl Counted {
    pub(super) fn add(&mut self, request: &Request, completion: &Completion) {
        let count = &mut self.0[request.operation as usize];
        count.count += 1;
        count.bytes = count.bytes.saturating_add(request.length.0);
        count.waited += completion.latency();
        count.served += completion.service;
    }

    /// Mean time in the disk itself, without limits and queues; `None` without requests.
    pub(super) fn service(&self) -> Service {
        let mean = |operation: Operation| {
            let Count { count, served, .. } = self.0[operation as usize];
            (count > 0).then(|| Duration::from_secs_f64(served.as_secs_f64() / count as f64))
        };
        Service {
            read: mean(Operation::Read),
            write: mean(Operation::Write),
            flush: mean(Operation::Flush),
        }
    }

    pub(super) fn io(&self) -> Io {
        let requests = |operation: Operation| {
            let Count {
                count,
                bytes,
                waited,
                ..
            } = self.0[operation as usize];
            Requests {
                count: Some(count as f64),
                bytes: Some(bytes as f64),
                waited: Some(waited),
            }
        };
        Io {
            reads: requests(Operation::Read),
            writes: requests(Operation::Write),
            flushes: requests(Operation::Flush),
            session_writes: None,
        }
    }
}
