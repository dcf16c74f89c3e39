//! `dbstow layout` of an arm that is on a managed service.

use anyhow::Result;
use layout::service::{Names, Server, ServiceRequest, Today};
use layout::{LayoutRequest, Script, meant};

use super::UsageError;
use super::arm::ArmOf;
use crate::engines::LAYOUTS;

/// Commands for a server of a managed service, and what its product makes of its volumes.
pub(super) fn scripts(arm: &ArmOf, then: Server<'_>, names: Names) -> Result<Vec<Script>> {
    if arm.is_baseline {
        let message = format!(
            "{} is the baseline, which is what the server has; name another arm, or another baseline (--set protocol.baseline=NAME)",
            arm.title
        );
        return Err(UsageError(message).into());
    }
    let product = then.service.product.as_deref();
    let product = product.and_then(|product| meant(LAYOUTS, product));
    let drives = then.drives();
    let files = LayoutRequest {
        database: names.database.clone(),
        ..LayoutRequest::of(&arm.title, &arm.settings, &arm.catalogue)
    };
    let mut scripts = layout::service::scripts(&ServiceRequest {
        title: arm.title.clone(),
        today: Today::of(arm.today.as_ref(), &arm.catalogue),
        then,
        names,
    })?;
    if let Some(product) = product {
        scripts.extend(product.on_drives(&files, &drives)?);
    }
    Ok(scripts)
}
