//! `/`: the inspector, for people.

use callgate::server::ui;

use super::{Mount, World};
use crate::failure::Failure;

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    // It looks at runs and tools through the API.
    if !world.config.ui.enabled || world.host.is_none() {
        return Ok(None);
    }
    let drain = Box::pin(std::future::ready(()));
    Ok(Some(Mount { name: "inspector", path: "/", router: ui::router(), drain }))
}
