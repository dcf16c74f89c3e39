//! What dbstow can do with a server, given the login's permissions, and the statements that would grant the rest.
//!
//! Permissions are those of Microsoft's documentation of each statement and view (learn.microsoft.com, read
//! 2026-11); having a permission does not prove that the statement works.

use std::collections::BTreeMap;

use super::{Capture, Identity, Product, Unanswered};
use crate::tsql::question::{self, Needs, Question};

/// Something that dbstow does with a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Description.
    pub what: &'static str,
    /// Whether it can.
    pub can: Can,
    /// Why, or why not.
    pub why: String,
    /// The statement that would help, for an administrator to run; empty if not needed or not helpful.
    pub grant: String,
}

/// Degree to which something can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Can {
    /// All of it.
    Yes,
    /// Some of it.
    Partly,
    /// Nothing of it.
    No,
    /// The server did not report it.
    Unknown,
}

/// Queries that return counters.
const COUNTERS: [&Question; 5] = [
    &question::MACHINE,
    &question::FILE_IO,
    &question::WAITS,
    &question::CACHED,
    &question::TEMPDB_SPACE,
];

/// The role that a login needs to move tempdb. `ALTER DATABASE` alone requires less, but `DBCC SHRINKFILE` in tempdb requires
/// this role, or tempdb's own db_owner, which is recreated at every start.
///
/// Source: Microsoft, "DBCC SHRINKFILE", permissions (read 2026-11).
pub const MOVES_TEMPDB: &str = "sysadmin";

/// The statement that lets a login move tempdb, for an administrator to run.
pub const MAKE_ADMINISTRATOR: &str = "ALTER SERVER ROLE sysadmin ADD MEMBER [login]";

/// Why dbstow does not move a server's tempdb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Azure SQL Database places it.
    Service,
    /// A failover cluster instance, which may start on another node.
    Cluster,
    /// The login lacks the role.
    Role,
    /// The server did not report the login's permissions.
    Unknown,
}

/// The obstacle to moving tempdb, given the server and the login's permissions; `None`: no obstacle. On a managed instance dbstow
/// changes number and size of the files, not their location.
///
/// Source: Microsoft, "Move system databases" and "Configure tempdb settings for Azure SQL Managed Instance" (read
/// 2026-11).
pub fn obstacle_to_moving_tempdb(
    identity: &Identity,
    permissions: &BTreeMap<String, bool>,
) -> Option<Obstacle> {
    let may = |name: &str| permissions.get(name).copied();
    match identity.product() {
        Product::AzureDatabase | Product::Babelfish => Some(Obstacle::Service),
        Product::Boxed if identity.clustered == Some(true) => Some(Obstacle::Cluster),
        Product::Boxed | Product::ManagedInstance | Product::Other => {
            match may(MOVES_TEMPDB).or(may("CONTROL SERVER")) {
                Some(true) => None,
                Some(false) => Some(Obstacle::Role),
                None => Some(Obstacle::Unknown),
            }
        }
    }
}

impl Capture {
    /// What dbstow can do here, in the order required to compare two locations of tempdb.
    pub fn capabilities(&self) -> Vec<Capability> {
        vec![
            self.counters(),
            self.all_files(),
            self.databases_of_its_own(),
            self.empty_cache(),
            self.server_memory(),
            self.move_tempdb(),
        ]
    }

    /// `None` if the server did not report it.
    fn may(&self, permission: &str) -> Option<bool> {
        self.permissions.get(permission).copied()
    }

    /// Whether a login has the administrator role; if a capture lacks it, derived from a permission that its members have too.
    fn is_administrator(&self) -> Option<bool> {
        self.may("sysadmin").or(self.may("CONTROL SERVER"))
    }

    /// By the results, not by permissions: Azure services differ in the permissions they require.
    fn counters(&self) -> Capability {
        let product = self.identity.product();
        let asked = COUNTERS.iter().filter(|question| match product {
            Product::AzureDatabase => question.azure_database,
            Product::Boxed => question.since <= self.identity.major(),
            Product::ManagedInstance | Product::Babelfish | Product::Other => true,
        });
        let asked: Vec<&str> = asked.map(|question| question.name).collect();
        let missing = self.unanswered.iter();
        let missing = missing.filter(|none| asked.contains(&&*none.question));
        let missing: Vec<&Unanswered> = missing.collect();
        // If a query timed out, a permission does not help.
        let grant = Needs::ServerState.grant(self.identity.major(), product);
        let grant = grant.filter(|_| missing.iter().any(|none| !none.remedy.is_empty()));
        let (can, why) = match missing.len() {
            0 => (Can::Yes, "every question was answered".to_owned()),
            some if some == asked.len() => (
                Can::No,
                "no question about the server's state was answered".to_owned(),
            ),
            _ => {
                let missing: Vec<&str> = missing.iter().map(|none| &*none.question).collect();
                (
                    Can::Partly,
                    format!("without an answer: {}", missing.join(", ")),
                )
            }
        };
        Capability {
            what: "see counters",
            can,
            why,
            grant: grant.unwrap_or_default().to_owned(),
        }
    }

    /// `sys.master_files` silently omits what a login may not see.
    fn all_files(&self) -> Capability {
        let what = "see the files of all databases";
        if self.identity.product() == Product::AzureDatabase {
            return cannot(
                what,
                "Azure SQL Database places its files itself and shows no paths",
            );
        }
        let any = [
            "VIEW ANY DEFINITION",
            "CREATE ANY DATABASE",
            "ALTER ANY DATABASE",
        ];
        let any = any.map(|permission| self.may(permission));
        let grant = Needs::Definition.grant(self.identity.major(), self.identity.product());
        if any.contains(&Some(true)) {
            let one = "the login has one of the permissions that show all of sys.master_files";
            return can(what, one);
        }
        // Suggested only if missing.
        let (can, grant) = match any == [None; 3] {
            true => (Can::Unknown, None),
            false => (Can::Partly, grant),
        };
        Capability {
            what,
            can,
            why: "sys.master_files leaves out what the login may not see, and does not say so"
                .to_owned(),
            grant: grant.unwrap_or_default().to_owned(),
        }
    }

    fn databases_of_its_own(&self) -> Capability {
        let what = "make and drop databases to measure";
        let permission = "CREATE ANY DATABASE";
        match self.identity.product() {
            Product::AzureDatabase => Capability {
                what,
                can: Can::Unknown,
                why: "a database is made in master, by a member of dbmanager, and costs money; none has files to place"
                    .to_owned(),
                grant: String::new(),
            },
            Product::ManagedInstance => Capability {
                why: "with file groups and files added afterwards; the service chooses their places".to_owned(),
                can: match self.may(permission) {
                    Some(true) => Can::Partly,
                    Some(false) => Can::No,
                    None => Can::Unknown,
                },
                ..self.by_permission(what, permission, "")
            },
            Product::Boxed | Product::Babelfish | Product::Other => {
                self.by_permission(what, permission, "who makes a database owns it, and may drop it")
            }
        }
    }

    /// Source: Microsoft, "DBCC DROPCLEANBUFFERS", permissions (read 2026-11).
    fn empty_cache(&self) -> Capability {
        let what = "empty the cache (CHECKPOINT, DBCC DROPCLEANBUFFERS)";
        let administrator = self.is_administrator() == Some(true);
        match self.identity.product() {
            Product::AzureDatabase => Capability {
                what,
                can: Can::Unknown,
                why: "a member of ##MS_ServerStateManager## may; it empties the cache of this database, in an elastic pool of all of its databases"
                    .to_owned(),
                grant: "ALTER SERVER ROLE ##MS_ServerStateManager## ADD MEMBER [login]".to_owned(),
            },
            _ if administrator => can(what, "the login is a member of sysadmin"),
            Product::Boxed if self.identity.major() < 16 => {
                // The administrator role is suggested only if the query was refused.
                let (can, grant) = match self.is_administrator() {
                    None => (Can::Unknown, ""),
                    Some(_) => (Can::No, MAKE_ADMINISTRATOR),
                };
                Capability {
                    what,
                    can,
                    why: "before 2022 only members of sysadmin may, who may do everything; a restart empties it too"
                        .to_owned(),
                    grant: grant.to_owned(),
                }
            }
            Product::Babelfish => cannot(what, "its cache is PostgreSQL's: it has no DBCC DROPCLEANBUFFERS"),
            Product::Boxed | Product::ManagedInstance | Product::Other => {
                let why = "for tempdb it takes a member of sysadmin too, since CHECKPOINT wants the database's owner";
                let mut capability = self.by_permission(what, "ALTER SERVER STATE", why);
                if capability.can == Can::Yes {
                    capability.can = Can::Partly;
                }
                capability
            }
        }
    }

    fn server_memory(&self) -> Capability {
        let what = "set max server memory";
        match self.identity.product() {
            Product::AzureDatabase => cannot(what, "the service objective decides it"),
            Product::ManagedInstance => cannot(what, "the instance's number of cores decides it"),
            Product::Babelfish => cannot(what, "its memory is PostgreSQL's (shared_buffers)"),
            Product::Boxed | Product::Other => self.by_permission(
                what,
                "ALTER SETTINGS",
                "sp_configure, then RECONFIGURE; at once, without a restart",
            ),
        }
    }

    fn move_tempdb(&self) -> Capability {
        let what = "move tempdb";
        let with = |can, why: &str, grant: Option<&str>| Capability {
            what,
            can,
            why: why.to_owned(),
            grant: grant.unwrap_or_default().to_owned(),
        };
        let managed = self.identity.product() == Product::ManagedInstance;
        match obstacle_to_moving_tempdb(&self.identity, &self.permissions) {
            None if managed => with(
                Can::Partly,
                "number, size and growth of its files can be changed, not their place",
                None,
            ),
            None => with(
                Can::Yes,
                "the new places are used from the next start on, and no T-SQL starts a server",
                None,
            ),
            Some(Obstacle::Service) if self.identity.product() == Product::Babelfish => with(
                Can::No,
                "its temporary tables are in PostgreSQL's tablespaces (temp_tablespaces)",
                None,
            ),
            Some(Obstacle::Service) => with(
                Can::No,
                "the service places tempdb; another service objective is what can be compared",
                None,
            ),
            Some(Obstacle::Cluster) => with(
                Can::No,
                "a failover cluster instance may start on a node that lacks the new places; `dbstow layout` writes the \
                 scripts for moving it by hand",
                None,
            ),
            Some(Obstacle::Role) => with(
                Can::No,
                "the login is not a member of sysadmin, which shrinking and removing files of tempdb requires",
                Some(MAKE_ADMINISTRATOR),
            ),
            Some(Obstacle::Unknown) => with(
                Can::Unknown,
                "the server did not say what the login may do",
                None,
            ),
        }
    }

    /// Yes or no, by one permission.
    fn by_permission(&self, what: &'static str, permission: &str, why: &str) -> Capability {
        let grant = format!("GRANT {permission} TO [login]");
        match self.may(permission) {
            Some(true) => can(what, why),
            Some(false) => Capability {
                what,
                can: Can::No,
                why: format!("the login lacks {permission}"),
                grant,
            },
            None => Capability {
                what,
                can: Can::Unknown,
                why: "the server did not say what the login may do".to_owned(),
                grant: String::new(),
            },
        }
    }
}

fn can(what: &'static str, why: &str) -> Capability {
    Capability {
        what,
        can: Can::Yes,
        why: why.to_owned(),
        grant: String::new(),
    }
}

fn cannot(what: &'static str, why: &str) -> Capability {
    Capability {
        can: Can::No,
        ..can(what, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A capture of one version, whose login has these permissions and no others.
    fn capture(version: &str, engine_edition: i64, allowed: &[&str]) -> Capture {
        let mut capture = Capture::default();
        capture.identity.version = version.to_owned();
        capture.identity.engine_edition = engine_edition;
        let asked = [
            "sysadmin",
            "CONTROL SERVER",
            "ALTER SERVER STATE",
            "ALTER SETTINGS",
            "CREATE ANY DATABASE",
            "ALTER ANY DATABASE",
            "VIEW ANY DEFINITION",
        ];
        let asked = asked.map(|name| (name.to_owned(), allowed.contains(&name)));
        capture.permissions = asked.into();
        capture
    }

    fn about(capture: &Capture, what: &str) -> Capability {
        let mut all = capture.capabilities().into_iter();
        all.find(|capability| capability.what.starts_with(what))
            .expect("it is one")
    }

    #[test]
    fn before_2022_only_an_administrator_empties_the_cache() {
        let state = ["ALTER SERVER STATE"];
        assert_eq!(about(&capture("15.0.1", 3, &state), "empty").can, Can::No);
        assert_eq!(
            about(&capture("16.0.1", 3, &state), "empty").can,
            Can::Partly
        );
        assert_eq!(
            about(&capture("15.0.1", 3, &["sysadmin"]), "empty").can,
            Can::Yes
        );
        let none = about(&capture("16.0.1", 3, &[]), "empty");
        assert_eq!(none.grant, "GRANT ALTER SERVER STATE TO [login]");
    }

    #[test]
    fn a_managed_instance_keeps_its_places_whatever_is_granted() {
        let all = ["sysadmin", "ALTER ANY DATABASE", "CREATE ANY DATABASE"];
        assert_eq!(
            about(&capture("12.0.2000.8", 8, &all), "move").can,
            Can::Partly
        );
        assert_eq!(about(&capture("12.0.2000.8", 8, &[]), "move").can, Can::No);
        assert_eq!(about(&capture("12.0.2000.8", 5, &all), "move").can, Can::No);
    }

    #[test]
    fn tempdb_is_moved_by_an_administrator_on_a_server_that_is_no_cluster() {
        let database = ["ALTER ANY DATABASE", "CREATE ANY DATABASE"];
        let other = about(&capture("16.0.1", 3, &database), "move");
        assert_eq!(other.can, Can::No);
        assert_eq!(other.grant, MAKE_ADMINISTRATOR);
        let mut server = capture("16.0.1", 3, &["sysadmin"]);
        assert_eq!(about(&server, "move").can, Can::Yes);
        server.identity.clustered = Some(true);
        assert_eq!(about(&server, "move").can, Can::No);
    }

    #[test]
    fn what_a_server_did_not_say_is_unknown() {
        let mut silent = capture("16.0.1", 3, &[]);
        silent.permissions.clear();
        for what in ["see the files", "make", "empty", "set", "move"] {
            assert_eq!(about(&silent, what).can, Can::Unknown, "{what}");
        }
        silent.identity.version = "15.0.1".to_owned();
        for capability in silent.capabilities() {
            let grant = &capability.grant;
            assert!(grant.is_empty(), "nothing was refused: {grant}");
        }
    }

    #[test]
    fn a_question_that_timed_out_is_no_reason_to_grant_an_administrator_anything() {
        let all = ["sysadmin", "CONTROL SERVER", "VIEW ANY DEFINITION"];
        let mut server = capture("16.0.1", 3, &all);
        let denied = "GRANT VIEW SERVER PERFORMANCE STATE TO [login]";
        for (remedy, grant) in [("", ""), (denied, denied)] {
            server.unanswered = vec![Unanswered {
                question: question::CACHED.name.to_owned(),
                why: "no answer in time".to_owned(),
                remedy: remedy.to_owned(),
            }];
            let counters = about(&server, "see counters");
            assert_eq!(counters.can, Can::Partly);
            assert_eq!(counters.why, "without an answer: buffer pool");
            assert_eq!(counters.grant, grant);
        }
    }
}
