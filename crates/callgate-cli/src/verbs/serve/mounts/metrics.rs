//! `/metrics`: what is counted, for Prometheus.

use super::{Mount, World};
use crate::failure::Failure;

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    if !world.config.telemetry.metrics {
        return Ok(None);
    }
    let router = world.telemetry.router();
    let drain = Box::pin(std::future::ready(()));
    Ok(Some(Mount { name: "metrics", path: "/metrics", router, drain }))
}
