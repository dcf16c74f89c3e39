//! Another user of the machine, played by `nobody`, and the folders where that user meets root.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::unistd::geteuid;

use crate::place::{Place, said};

/// The user, and its group.
pub const NOBODY: u32 = 65_534;

/// The smallest experiment that writes.
pub const SMALL: &str = r#"name = "small"
question = "Who writes where?"
[machine]
cores = 2
memory = "4 GiB"
[volume.d]
disk = "unlimited"
[placement.one]
data = { volumes = "d" }
temp = { volumes = "d" }
log = { volumes = "d" }
[workload]
name = "write-only"
operations = 20
[workload.parameters]
rows = 200
[engine]
memory = "1 MiB"
[protocol]
blocks = 1
metric = "elapsed_s"
"#;

/// Whether root runs the test; otherwise it is skipped, for this reason.
pub fn is_root(why: &str) -> bool {
    can_run(geteuid().is_root(), why)
}

/// Whether a test can run here; otherwise it is skipped, for this reason.
pub fn can_run(can: bool, why: &str) -> bool {
    if !can {
        crate::skip(why);
    }
    can
}

impl Place {
    /// A folder in it, with that mode whatever the mask.
    pub fn folder(&self, name: &str, mode: u32) {
        let folder = self.path(name);
        fs::create_dir_all(&folder).expect("the folder is ours");
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// A shell of `user` in the folder `tmp`; the script has `path` as a variable.
    pub fn shell(&self, user: u32, (variable, path): (&str, &str), script: &str) {
        let done = Command::new("sh")
            .args(["-ec", script])
            .env(variable, self.path(path))
            .current_dir(self.path("tmp"))
            .uid(user)
            .gid(user)
            .output();
        let done = done.expect("there is a shell");
        assert!(done.status.success(), "{script}: {}", said(&done));
    }
}
