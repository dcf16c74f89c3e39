//! Servers that a rule applies to.

use crate::capture::Product;

use super::profile::Profile;

/// Servers that a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applies {
    /// Kinds of server.
    pub products: &'static [Product],
    /// On Windows only.
    pub windows: bool,
    /// From this major version on; 0: all.
    pub since: u32,
    /// Up to this major version; 0: all.
    pub until: u32,
    /// On Azure virtual machines only.
    pub azure: bool,
    /// Only if this ladder of latencies was selected.
    pub profile: Option<Profile>,
}

impl Applies {
    /// Installed on a machine, in any version.
    pub const BOXED: Applies = Applies {
        products: &[Product::Boxed],
        windows: false,
        since: 0,
        until: 0,
        azure: false,
        profile: None,
    };

    /// Installed on Windows.
    pub const WINDOWS: Applies = Applies {
        windows: true,
        ..Applies::BOXED
    };

    /// Installed on a virtual machine of Azure.
    pub const AZURE: Applies = Applies {
        azure: true,
        ..Applies::BOXED
    };

    /// A managed instance.
    pub const MANAGED: Applies = Applies {
        products: &[Product::ManagedInstance],
        ..Applies::BOXED
    };
}
