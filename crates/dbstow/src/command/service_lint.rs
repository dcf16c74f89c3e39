//! `dbstow lint PROFILE --today FILE`: what rules for managed services look at.

use anyhow::Result;
use lab::request::{RunRequest, inputs};
use layout::lint::ServiceFacts;
use std::path::Path;

use super::UsageError;
use super::request::{layout_of_today, resolved};

/// The server of the layout in `today`, with what the profile says of its load.
///
/// # Errors
/// When a file cannot be read, or the server is on no managed service.
pub(super) fn load(profile: &str, today: Option<&str>) -> Result<ServiceFacts> {
    let recorded = inputs::profile(Path::new(profile))?;
    // Not its load: a file of monitoring alone, which counts no operations, is enough.
    let request = RunRequest {
        allow_large: true,
        ..RunRequest::placements(layout_of_today(profile, today, None, &[])?)
    };
    let resolved = resolved(&request.called("today", "What would be better?"))?;
    let arm = resolved.plan.arms.first();
    let settings = &arm.expect("a plan has an arm").settings;
    let facts = ServiceFacts::of(settings, &recorded, &resolved.inventory.catalogue);
    facts.ok_or_else(|| {
        let file = today.unwrap_or(profile);
        let message = format!(
            "--today {file}: its machine is not a class of a managed service, and these rules are for one; name one (`dbstow services`), or give \
             a capture (`dbstow doctor`) without --today"
        );
        UsageError(message).into()
    })
}
