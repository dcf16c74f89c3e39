//! Which files share a volume.

use reading::Role;

/// Files that share a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they are for.
    pub roles: &'static [Role],
    /// What kind of volume it is.
    pub on: On,
}

/// What kind of volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Disks that are attached.
    Attached,
    /// All local disks of the machine, striped; they may lose their contents when it stops, so they hold temporary files only.
    Local,
}

/// A way to distribute files over volumes.
pub type Grouping = &'static [Group];

const fn attached(roles: &'static [Role]) -> Group {
    Group {
        roles,
        on: On::Attached,
    }
}

const TEMP_ON_LOCAL: Group = Group {
    roles: &[Role::Temp],
    on: On::Local,
};

/// Every way to distribute files over volumes.
pub(crate) const GROUPINGS: [Grouping; 7] = [
    &[attached(&[Role::Data, Role::Temp, Role::Log])],
    &[attached(&[Role::Data, Role::Temp]), attached(&[Role::Log])],
    &[attached(&[Role::Data, Role::Log]), attached(&[Role::Temp])],
    &[attached(&[Role::Data]), attached(&[Role::Temp, Role::Log])],
    &[
        attached(&[Role::Data]),
        attached(&[Role::Temp]),
        attached(&[Role::Log]),
    ],
    &[attached(&[Role::Data, Role::Log]), TEMP_ON_LOCAL],
    &[
        attached(&[Role::Data]),
        attached(&[Role::Log]),
        TEMP_ON_LOCAL,
    ],
];

/// Name of a volume with these files: `data`, `data-log`, ..
pub(crate) fn name(roles: &[Role]) -> String {
    Role::joined(roles, "-")
}
