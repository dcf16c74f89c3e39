//! Background requests of a long operation, which go with its own requests.

use reading::Role;

/// Requests of an operation: of data, and of temporary files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside {
    pub(super) of: [RoleRequests; 2],
}

/// Requests for files of one role.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoleRequests {
    /// That the session waits for.
    pub(super) own: u64,
    /// How many of these it has issued.
    issued: u64,
    /// Background reads.
    pub(super) reads: u64,
    /// Background writes.
    pub(super) writes: u64,
}

impl Beside {
    /// Background reads and writes of data and of temporary files that go with the next request of the session, for files of `role`.
    ///
    /// Read-ahead goes with reads of the same files, writes go with all requests: a sort writes while it reads its table, too.
    pub(super) fn next(&mut self, role: Role) -> [[u64; 2]; 2] {
        let mut due = [[0; 2]; 2];
        if self.of.iter().all(|asked| asked.own == 0) {
            return due;
        }
        let at = usize::from(role == Role::Temp);
        self.of[at].issued += 1;
        let sum = |count: fn(&RoleRequests) -> u64| self.of.iter().map(count).sum();
        let (step, steps) = (sum(|asked| asked.issued), sum(|asked| asked.own));
        for (of, asked) in self.of.iter().enumerate() {
            let reads = match asked.own {
                0 => share(asked.reads, step, steps),
                own if of == at => share(asked.reads, asked.issued, own),
                _ => 0,
            };
            due[of] = [reads, share(asked.writes, step, steps)];
        }
        due
    }

    /// Those of an operation without requests of its own.
    pub(super) fn alone(&self) -> [[u64; 2]; 2] {
        match self.of.iter().all(|asked| asked.own == 0) {
            true => self.of.map(|asked| [asked.reads, asked.writes]),
            false => [[0; 2]; 2],
        }
    }
}

/// How many of `count` go with a step, from 1, of `steps`, so that all of them are spread evenly.
fn share(count: u64, step: u64, steps: u64) -> u64 {
    count * step / steps - count * (step - 1) / steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_background_requests_are_spread_over_those_that_are_waited_for() {
        let mut beside = Beside::default();
        beside.of[0] = RoleRequests {
            own: 4,
            reads: 2,
            ..RoleRequests::default()
        };
        beside.of[1] = RoleRequests {
            own: 8,
            writes: 3,
            ..RoleRequests::default()
        };
        assert_eq!(beside.alone(), [[0; 2]; 2]);
        // Of a short operation.
        assert_eq!(Beside::default().next(Role::Data), [[0; 2]; 2]);
        let mut issued = Vec::new();
        for role in [[Role::Data; 4].as_slice(), &[Role::Temp; 8]].concat() {
            let [[reads, of_data], [of_temp, writes]] = beside.next(role);
            assert_eq!((of_data, of_temp), (0, 0));
            issued.push((reads, writes));
        }
        let reads: Vec<u64> = issued.iter().map(|(reads, _)| *reads).collect();
        let writes: Vec<u64> = issued.iter().map(|(_, writes)| *writes).collect();
        // Every second read of data, and every fourth of all requests.
        assert_eq!(reads[..4].iter().sum::<u64>(), 2);
        assert_eq!(reads[4..], [0; 8]);
        assert!(reads.iter().chain(&writes).all(|count| *count <= 1));
        assert_eq!(
            writes
                .chunks(4)
                .map(|of| of.iter().sum::<u64>())
                .collect::<Vec<_>>(),
            [1; 3]
        );
    }
}
