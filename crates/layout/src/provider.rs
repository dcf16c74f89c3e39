//! What a product implements, so that `dbstow layout` generates scripts for it.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::{LayoutError, LayoutRequest, README, Script};
use experiment::spec::Role;

/// A database product whose files scripts place.
pub trait LayoutProvider: Debug + Sync {
    /// The name that the command line uses, and a capture of it.
    fn name(&self) -> &'static str;

    /// The product's own name, as in sentences.
    fn product(&self) -> &'static str;

    /// A line of help.
    fn about(&self) -> &'static str {
        self.product()
    }

    /// The roles that its scripts place.
    fn roles(&self) -> &'static [Role];

    /// Those of them that need no experiment: their files are one per volume, or are assigned to the volumes in turn.
    fn roles_of_volumes(&self) -> &'static [Role] {
        &[Role::Temp, Role::Log]
    }

    /// What its scripts move on a server with databases.
    fn moves(&self) -> Moves;

    /// Options of `dbstow layout` that its scripts do not use, each with the rest of the sentence that refuses it.
    fn unused(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// All scripts for what is requested, in any order.
    ///
    /// # Errors
    /// When such a server does not support it, or too little about it is known.
    fn scripts(
        &self,
        request: &LayoutRequest,
        capture: Option<&CaptureFile>,
    ) -> Result<Vec<Script>, LayoutError>;

    /// Scripts that put files on the volumes of a managed service, where it lets its users choose: `places` says where the server
    /// sees each volume.
    ///
    /// # Errors
    /// When the request has a name that the product does not take.
    fn on_drives(
        &self,
        request: &LayoutRequest,
        places: &BTreeMap<String, String>,
    ) -> Result<Vec<Script>, LayoutError> {
        let _ = (request, places);
        Ok(Vec::new())
    }
}

/// What scripts move on a server that has databases already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// The roles.
    pub roles: &'static [Role],
    /// What they are together, where that is not everything.
    pub what: Option<&'static str>,
    /// Arguments of `dbstow layout` besides experiment, arm and volumes; what the user has to replace is in capitals.
    pub arguments: &'static [&'static str],
    /// Temporary files that a machine should have: one for each of its processors, up to this many; 1 where their number is not
    /// chosen.
    pub temp_files_max: u32,
    /// Whether trials of the product need a server of the user's (`--server`): none can be started for them.
    pub needs_server: bool,
}

/// What a server reported about itself, as a file that only its product can read.
#[derive(Clone, Debug)]
pub struct CaptureFile {
    /// Its name, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The one of `products` whose scripts are for servers that a profile calls `product`.
pub fn meant(
    products: &[&'static dyn LayoutProvider],
    product: &str,
) -> Option<&'static dyn LayoutProvider> {
    let product = product.to_lowercase();
    let is_meant = |layout: &&&'static dyn LayoutProvider| {
        product.contains(layout.name()) || product.contains(&layout.product().to_lowercase())
    };
    products.iter().find(is_meant).copied()
}

/// All scripts of a product for what is requested, the README first.
///
/// # Errors
/// When such a server does not support it, or too little about it is known.
pub fn scripts(
    product: &dyn LayoutProvider,
    request: &LayoutRequest,
    capture: Option<&CaptureFile>,
) -> Result<Vec<Script>, LayoutError> {
    let mut scripts = product.scripts(request, capture)?;
    scripts.sort_by_key(|script| (script.name != README, script.name.clone()));
    Ok(scripts)
}
