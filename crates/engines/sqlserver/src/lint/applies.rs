//! Which servers a rule is for.

use crate::capture::Product;

use super::profile::Profile;

/// Which servers a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applies {
    /// Kinds of server.
    pub products: &'static [Product],
    /// On Windows alone.
    pub windows: bool,
    /// From this major version on; 0: all.
    pub since: u32,
    /// Up to this major version; 0: all.
    pub until: u32,
    /// On virtual machines of Azure alone.
    pub azure: bool,
    /// Only where this ladder of latencies was asked for.
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
