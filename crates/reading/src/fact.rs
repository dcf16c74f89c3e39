//! Facts about a site by name: of the machine, and of its volumes.

/// The fact that a volume shares a disk with others; its value lists them, comma-separated.
pub const SHARES_A_DISK: &str = "shares a disk with";

/// The disks beneath a volume's device, by name, comma-separated.
pub const DISKS: &str = "disks";

/// How programs see modelled volumes: `block`, a filesystem on a device, or `file`, a tree without a cache.
pub const FRONT: &str = "front";

/// The name of a volume's fact: `volume d: filesystem`.
pub fn of_volume(volume: &str, fact: &str) -> String {
    format!("volume {volume}: {fact}")
}

/// Volume and fact of a name; `None` for facts of the machine.
pub fn parts(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("volume ")?.split_once(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volumes_fact_reads_back_from_its_name() {
        assert_eq!(
            parts(&of_volume("d", SHARES_A_DISK)),
            Some(("d", SHARES_A_DISK))
        );
        assert_eq!(parts("kernel"), None);
    }
}
