//! Law 9: what is secret is in no trace, whoever listens to the libraries below.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use serde_json::json;
use tempfile::TempDir;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    instrument::WithSubscriber as _,
    span,
};

use super::{Willing, World, challenge, oauth, with};
use crate::mcp::{Authorizer as _, auth::Identity};

/// Writes down every field of every event.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

impl Visit for Everything {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{}={value:?}\n", field.name()));
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        attributes.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn no_secret_is_traced() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let answer = |number: u32| {
        let token = json!({
            "access_token": format!("secret-{number}"), "token_type": "bearer",
            "refresh_token": format!("secret-refresh-{number}"),
            "id_token": format!("secret-id-{number}"),
        });
        (200, token)
    };
    world.ledger.answers.lock().unwrap().extend([answer(1), answer(2)]);
    let identity = Identity {
        client_id: Some("by-hand".to_owned()),
        client_secret: Some("secret-of-the-client".to_owned()),
        ..Identity::default()
    };
    let traces = Everything::default();
    let oauth = with(oauth(&world, &folder, identity), Willing);
    async {
        oauth.login(&[]).await.unwrap();
        assert_eq!(oauth.challenged(challenge(&world, 401, "")).await, Ok(true));
        assert_eq!(oauth.authorization().await, Ok(Some("Bearer secret-2".to_owned())));
    }
    .with_subscriber(traces.clone())
    .await;
    let traces = traces.0.lock().unwrap().clone();
    assert!(traces.contains("discovery"), "the libraries below were not heard:\n{traces}");
    for secret in ["secret-", "the-code"] {
        assert!(!traces.contains(secret), "{secret} in\n{traces}");
    }
}
