//! `dbstow layout` of an arm that is on a managed service.

use anyhow::Result;
use layout::service::{Names, Server, ServiceRequest};
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
    let today = arm.today.as_ref();
    let server = today.and_then(|today| Server::of(today, &arm.catalogue));
    if let (Some(today), None) = (today, &server) {
        let machine = today.machine.kind.as_deref().unwrap_or("a machine");
        let message = format!(
            "{} is on {}, and today's server on {machine}: that is a move to a new server, which no command does in place; create one as the \
             arm has it, and move the data with the product's own tools",
            arm.title, then.service.title
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
        today: server,
        then,
        names,
    })?;
    if let Some(product) = product {
        scripts.extend(product.on_drives(&files, &drives)?);
    }
    Ok(scripts)
}
