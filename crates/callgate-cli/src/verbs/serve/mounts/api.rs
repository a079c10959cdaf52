//! `/api`: runs over HTTP.

use callgate::server::Router;

use super::{Mount, World};
use crate::failure::Failure;

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    let Some(host) = world.host else { return Ok(None) };
    let (host, grace) = (host.clone(), world.drain);
    let drain = Box::pin(async move { host.drain(grace).await });
    Ok(Some(Mount { name: "runs", path: "/api", router: Router::new(), drain }))
}
