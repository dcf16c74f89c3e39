//! Maps roles of few engines to the roles that every engine has: layouts, replays and advice support only the latter.

use std::collections::BTreeMap;

use reading::Role;

use super::definition::{Interval, Io, Profile, Requests};
use super::draft::add;

/// The common role whose requests most resemble those of `role`: the binary log is written and flushed at commit, undo pages and
/// doublewrite copies are written in the background.
fn common(role: Role) -> Role {
    match role {
        Role::Data | Role::Undo | Role::Doublewrite => Role::Data,
        Role::Temp => Role::Temp,
        Role::Log | Role::Binlog => Role::Log,
    }
}

impl Profile {
    /// Adds the requests of roles of few engines to those of the common roles: binlog to log, undo and doublewrite to data. A figure
    /// that one of them lacks is missing in the sum.
    pub fn in_common_roles(mut self) -> Profile {
        for volume in &mut self.volumes {
            volume.roles = volume.roles.iter().map(|role| common(*role)).collect();
        }
        for interval in self.intervals.iter_mut().chain(&mut self.left_out) {
            *interval = of_interval(std::mem::take(interval));
        }
        self
    }
}

fn of_interval(interval: Interval) -> Interval {
    let mut roles: BTreeMap<Role, Io> = BTreeMap::new();
    for role in Role::ALL {
        let Some(more) = interval.roles.get(&role) else {
            continue;
        };
        let io = roles.entry(common(role)).or_default();
        for (to, more) in [
            (&mut io.reads, more.reads),
            (&mut io.writes, more.writes),
            (&mut io.flushes, more.flushes),
        ] {
            if more != Requests::default() {
                add(to, more);
            }
        }
        io.session_writes = io.session_writes.or(more.session_writes);
    }
    Interval { roles, ..interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_innodb_are_added_to_those_that_every_engine_has() {
        let text = r#"format = "dbstow.profile/1"
start = "2026-11-22T10:00:00Z"
[origin]
tool = "test"
[[volume]]
roles = ["data", "undo"]
[[volume]]
roles = ["binlog"]
[intervals]
at_s = [0.0]
length_s = [10.0]
[intervals.data]
reads = [10.0]
read_wait_s = [0.5]
writes = [20.0]
[intervals.undo]
reads = [1.0]
read_wait_s = [0.1]
writes = [2.0]
[intervals.doublewrite]
writes = [3.0]
[intervals.log]
writes = [7.0]
[intervals.binlog]
writes = [5.0]
write_wait_s = [0.2]
flushes = [4.0]
"#;
        let profile = crate::read("a.toml", text)
            .expect("a profile")
            .in_common_roles();
        let roles = &profile.intervals[0].roles;
        assert_eq!(profile.roles(), [Role::Data, Role::Log].into());
        let data = roles[&Role::Data];
        // Reads of doublewrite were not counted, which must not remove the others.
        assert_eq!(data.reads.count, Some(11.0));
        assert_eq!(
            data.reads.waited.expect("both were timed").as_secs_f64(),
            0.6
        );
        assert_eq!(data.writes.count, Some(25.0));
        let log = roles[&Role::Log];
        assert_eq!((log.writes.count, log.writes.waited), (Some(12.0), None));
        assert_eq!(log.flushes.count, Some(4.0));
        assert_eq!(profile.volumes[0].roles, [Role::Data].into());
        assert_eq!(profile.volumes[1].roles, [Role::Log].into());
    }
}
