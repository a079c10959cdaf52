//! An agent's card, for whoever wants to pin it.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};

use super::{
    agent::RemoteAgent,
    spec::{A2aBackendSpec, Plan},
};
use crate::{
    Env,
    guard::Resolver,
    lock::{PinnedCard, Wanted},
};

/// How long a card may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The URL of the agent that a contract's `backend` object names, as it is written there.
pub fn url_of(backend: &Map<String, Value>) -> Option<&str> {
    backend.get("a2a")?.get("url")?.as_str()
}

/// Asks for the card that a contract's agent has now.
///
/// # Errors
/// In words for people: the contract is none of this kind, a variable is not set, the agent cannot
/// be reached, or what it gives is no card.
pub(crate) async fn look(
    backend: &Map<String, Value>,
    env: Env,
    resolver: Arc<dyn Resolver>,
) -> Result<PinnedCard, String> {
    let spec: A2aBackendSpec = serde_json::from_value(Value::Object(backend.clone()))
        .map_err(|error| error.to_string())?;
    let plan = Plan::read(spec.a2a).map_err(|error| error.to_string())?;
    let agent = RemoteAgent::new(plan, env, resolver, Wanted::Any);
    let work = async {
        let session = agent.open(None)?;
        let card = session.card_text().await;
        card.map(|text| (text, session.secrets))
    };
    let (text, secrets) = tokio::time::timeout(PATIENCE, work)
        .await
        .map_err(|_| format!("it gave no card within {} s", PATIENCE.as_secs()))?
        .map_err(|trouble| trouble.failure(false, 1).message)?;
    // A card that repeats a credential is not written into a file.
    PinnedCard::read(&secrets.scrub(&text))
}
