//! Logins, renewals and their limits against a real pair of servers on this machine. What the
//! protocol demands of a client beyond that is shown by the official conformance suite.

mod loopback;
mod traces;
mod world;

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use world::{Returning, Willing, World, find};

use super::{Browser, Identity, OAuth, TokenStore, scopes::Bearer};
use crate::mcp::{Authorizer as _, Challenge};

fn oauth(world: &World, folder: &TempDir, identity: Identity) -> OAuth {
    let store = TokenStore::new(folder.path().join("oauth"));
    OAuth::new("tickets", &world.resource(), identity, store).unwrap()
}

fn with(oauth: OAuth, browser: impl Browser + 'static) -> OAuth {
    oauth.with_browser(Arc::new(browser))
}

fn challenge(world: &World, status: u16, rest: &str) -> Challenge {
    Challenge { status, www_authenticate: Some(world.challenge(rest)), attempt: 1 }
}

fn token(access: &str, refresh: Option<&str>, life: u64) -> (u16, Value) {
    let mut answer = json!({ "access_token": access, "token_type": "bearer", "expires_in": life });
    if let Some(refresh) = refresh {
        answer["refresh_token"] = refresh.into();
    }
    (200, answer)
}

#[tokio::test]
async fn a_login_is_kept_for_its_owner_alone() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    assert_eq!(oauth.authorization().await, Ok(None));
    assert_eq!(oauth.challenged(challenge(&world, 401, "")).await, Ok(true));
    assert_eq!(oauth.authorization().await, Ok(Some("Bearer secret-1".to_owned())));

    // PKCE, the resource indicator and the registered secret were sent.
    let authorization = world.ledger.authorizations.lock().unwrap()[0].clone();
    assert_eq!(find(&authorization, "code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(find(&authorization, "resource"), Some(world.resource()));
    assert_eq!(find(&authorization, "scope"), None);
    let (client, form) = world.ledger.exchanges.lock().unwrap()[0].clone();
    assert!(client.is_some_and(|client| client.starts_with("Basic ")));
    assert!(find(&form, "code_verifier").is_some());
    assert_eq!(find(&form, "resource"), Some(world.resource()));

    let file = oauth.store.path(&oauth.resource);
    assert!(std::fs::read_to_string(&file).unwrap().contains("secret-1"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
    let entry = oauth.store.load(&oauth.resource).unwrap().unwrap();
    assert!(!format!("{oauth:?} {entry:?}").contains("secret"));

    assert!(oauth.logout().unwrap());
    assert!(!oauth.logout().unwrap());
    assert_eq!(oauth.authorization().await, Ok(None));
}

#[tokio::test]
async fn a_run_never_waits_for_a_browser() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let oauth = oauth(&world, &folder, Identity::default());
    let table = [
        (401, "", "run `callgate mcp login tickets`"),
        (401, ", scope=\"read write\"", "run `callgate mcp login tickets --scope \"read write\"`"),
        (
            403,
            ", error=\"insufficient_scope\", scope=\"write\"",
            "run `callgate mcp login tickets --scope \"write\"`",
        ),
    ];
    for (status, rest, wanted) in table {
        let said = oauth.challenged(challenge(&world, status, rest)).await.unwrap_err();
        assert!(said.contains(wanted), "{said}");
    }
    // A 403 that is not about scopes is not about credentials.
    assert_eq!(oauth.challenged(challenge(&world, 403, "")).await, Ok(false));
    assert_eq!(world.ledger.logins(), 0);
}

#[tokio::test]
async fn an_expired_token_is_renewed_by_another_process() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    world.ledger.answers.lock().unwrap().push(token("old", Some("r1"), 0));
    let login = with(oauth(&world, &folder, Identity::default()), Willing);
    assert!(login.login(&[]).await.unwrap().renewable);

    let run = oauth(&world, &folder, Identity::default());
    assert_eq!(run.authorization().await, Ok(Some("Bearer secret-2".to_owned())));
    let (client, form) = world.ledger.exchanges.lock().unwrap()[1].clone();
    assert!(client.is_some_and(|client| client.starts_with("Basic ")), "the registered secret");
    assert_eq!(find(&form, "grant_type").as_deref(), Some("refresh_token"));
    assert_eq!(find(&form, "refresh_token").as_deref(), Some("r1"));
    assert_eq!(find(&form, "resource"), Some(world.resource()));
    // And is kept.
    assert_eq!(run.authorization().await, Ok(Some("Bearer secret-2".to_owned())));
    assert_eq!(world.ledger.exchanges.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_refused_token_is_renewed_before_a_person_is_asked() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    oauth.login(&[]).await.unwrap();
    assert_eq!(oauth.challenged(challenge(&world, 401, "")).await, Ok(true));
    assert_eq!(oauth.authorization().await, Ok(Some("Bearer secret-2".to_owned())));
    assert_eq!(world.ledger.logins(), 1);
    // Refused again: now a person has to.
    let again = Challenge { attempt: 2, ..challenge(&world, 401, "") };
    assert_eq!(oauth.challenged(again).await, Ok(true));
    assert_eq!(world.ledger.logins(), 2);
}

#[tokio::test]
async fn what_cannot_be_renewed_is_not_sent_and_the_registration_stays() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let refusal = (400, json!({ "error": "invalid_grant" }));
    world.ledger.answers.lock().unwrap().extend([token("old", Some("r1"), 0), refusal]);
    let login = with(oauth(&world, &folder, Identity::default()), Willing);
    login.login(&[]).await.unwrap();

    let run = oauth(&world, &folder, Identity::default());
    assert_eq!(run.authorization().await, Ok(None));
    let said = run.challenged(challenge(&world, 401, "")).await.unwrap_err();
    assert!(said.contains("callgate mcp login tickets"), "{said}");
    login.login(&[]).await.unwrap();
    assert_eq!(run.authorization().await, Ok(Some("Bearer secret-3".to_owned())));
    assert_eq!(world.ledger.registrations.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_server_in_trouble_costs_no_token() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let trouble = (503, json!({ "error": "temporarily_unavailable" }));
    world.ledger.answers.lock().unwrap().extend([token("old", Some("r1"), 0), trouble]);
    with(oauth(&world, &folder, Identity::default()), Willing).login(&[]).await.unwrap();

    let run = oauth(&world, &folder, Identity::default());
    let said = run.authorization().await.unwrap_err();
    assert!(said.contains("refresh failed") && !said.contains("r1"), "{said}");
    assert_eq!(run.authorization().await, Ok(Some("Bearer secret-3".to_owned())));
}

#[tokio::test]
async fn a_token_that_is_still_good_outlasts_trouble() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let trouble = (503, json!({ "error": "temporarily_unavailable" }));
    world.ledger.answers.lock().unwrap().extend([token("good", Some("r1"), 3600), trouble]);
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    oauth.login(&[]).await.unwrap();
    let received = oauth.store.load(&oauth.resource).unwrap().unwrap().received_at;
    // Ten seconds before its end it is time for another one.
    let good = oauth.current(received + 3590).await.unwrap();
    assert_eq!(good.as_deref(), Some("Bearer good"));
    assert_eq!(world.ledger.exchanges.lock().unwrap().len(), 2, "a renewal was tried");
    // At its end there is nothing to fall back to.
    world.ledger.answers.lock().unwrap().push((503, json!({ "error": "server_error" })));
    assert!(oauth.current(received + 3600).await.is_err());
}

#[tokio::test]
async fn what_the_server_said_of_its_metadata_is_kept() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    *world.ledger.challenge.lock().unwrap() = Some(world.challenge(", scope=\"read\""));
    world.ledger.answers.lock().unwrap().push(token("old", Some("r1"), 0));
    with(oauth(&world, &folder, Identity::default()), Willing).login(&[]).await.unwrap();
    assert_eq!(world.ledger.asked().as_deref(), Some("read"));
    assert_eq!(*world.ledger.visits.lock().unwrap(), ["POST"], "asked as a client asks");

    let run = oauth(&world, &folder, Identity::default());
    assert_eq!(run.authorization().await, Ok(Some("Bearer secret-2".to_owned())));
    assert_eq!(world.ledger.visits.lock().unwrap().len(), 1, "a renewal does not ask the resource");
}

#[tokio::test]
async fn many_refusals_at_once_are_one_login() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    let all = (0..8).map(|_| oauth.challenged(challenge(&world, 401, "")));
    let all = futures_util::future::join_all(all).await;
    assert!(all.iter().all(|answer| *answer == Ok(true)), "{all:?}");
    assert_eq!(world.ledger.logins(), 1);
}

#[tokio::test]
async fn scopes_grow_and_not_for_ever() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    *world.ledger.metadata.lock().unwrap() = json!({ "scopes_supported": ["offline_access"] });
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    let asked = |rest: &str, status| oauth.challenged(challenge(&world, status, rest));
    assert_eq!(asked(", scope=\"read\"", 401).await, Ok(true));
    assert_eq!(world.ledger.asked().as_deref(), Some("read offline_access"));
    let step_up = ", error=\"insufficient_scope\", scope=\"write\"";
    assert_eq!(asked(step_up, 403).await, Ok(true));
    assert_eq!(world.ledger.asked().as_deref(), Some("read offline_access write"));
    let said = asked(step_up, 403).await.unwrap_err();
    assert!(said.contains("has the scopes it asks for (write)"), "{said}");
    assert_eq!(world.ledger.logins(), 2);
}

#[tokio::test]
async fn credentials_stay_with_their_issuer() {
    let (world, other, folder) =
        (World::start().await, World::start().await, TempDir::new().unwrap());
    world.ledger.answers.lock().unwrap().push(token("old", Some("r1"), 0));
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    oauth.login(&[]).await.unwrap();

    *world.ledger.issuer.lock().unwrap() = Some(other.base.clone());
    assert_eq!(oauth.authorization().await, Ok(None), "a token of the earlier issuer");
    assert_eq!(oauth.challenged(challenge(&world, 401, "")).await, Ok(true));
    assert_eq!(other.ledger.registrations.load(std::sync::atomic::Ordering::SeqCst), 1);
    let exchanges = other.ledger.exchanges.lock().unwrap().clone();
    assert!(exchanges.iter().all(|(_, form)| find(form, "refresh_token").is_none()));
    assert_eq!(world.ledger.exchanges.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_registered_by_hand_stays_with_its_issuer() {
    let (world, other, folder) =
        (World::start().await, World::start().await, TempDir::new().unwrap());
    let identity = Identity {
        client_id: Some("by-hand".to_owned()),
        client_secret: Some("hand-secret".to_owned()),
        ..Identity::default()
    };
    let oauth = with(oauth(&world, &folder, identity), Willing);
    oauth.login(&[]).await.unwrap();
    assert_eq!(world.ledger.registrations.load(std::sync::atomic::Ordering::SeqCst), 0);
    let file = std::fs::read_to_string(oauth.store.path(&oauth.resource)).unwrap();
    assert!(!file.contains("hand-secret"), "{file}");

    *world.ledger.issuer.lock().unwrap() = Some(other.base.clone());
    let said = oauth.login(&[]).await.unwrap_err().to_string();
    assert!(said.contains(&world.base) && said.contains(&other.base), "{said}");
    assert_eq!(other.ledger.logins(), 0);
}

#[tokio::test]
async fn credentials_go_nowhere_in_the_clear() {
    for endpoint in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        let (world, folder) = (World::start().await, TempDir::new().unwrap());
        *world.ledger.metadata.lock().unwrap() = json!({ endpoint: "http://login.example.com/x" });
        let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
        let said = oauth.login(&[]).await.unwrap_err().to_string();
        assert!(said.contains("http://login.example.com/x") && said.contains("https"), "{said}");
        assert_eq!(world.ledger.logins(), 0);
    }
}

#[tokio::test]
async fn what_can_go_wrong_at_a_login() {
    let table = [
        ("error=access_denied&error_description=not%20today", "refused: access_denied (not today)"),
        ("state=x", "missing code"),
        ("code=x&state=guessed", "state not found"),
    ];
    for (back, wanted) in table {
        let (world, folder) = (World::start().await, TempDir::new().unwrap());
        let oauth = with(oauth(&world, &folder, Identity::default()), Returning(back));
        let said = oauth.login(&[]).await.unwrap_err().to_string();
        assert!(said.contains(wanted), "{back}: {said}");
        assert!(world.ledger.exchanges.lock().unwrap().is_empty());
    }
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let answer = (200, json!({ "access_token": "secret", "token_type": "mac" }));
    world.ledger.answers.lock().unwrap().push(answer);
    let oauth = with(oauth(&world, &folder, Identity::default()), Willing);
    let said = oauth.login(&[]).await.unwrap_err().to_string();
    assert!(said.contains("type `mac`") && !said.contains("secret"), "{said}");
}

#[tokio::test]
async fn a_broken_token_file_is_named_and_not_quoted() {
    let (world, folder) = (World::start().await, TempDir::new().unwrap());
    let oauth = oauth(&world, &folder, Identity::default());
    let file = oauth.store.path(&oauth.resource);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{\"token\": \"secret-5\"}").unwrap();
    let said = oauth.authorization().await.unwrap_err();
    assert!(said.contains(&file.display().to_string()) && !said.contains("secret-5"), "{said}");
}

#[test]
fn what_a_challenge_asks_for() {
    let table = [
        (None, "", false),
        (Some("Bearer"), "", false),
        (Some("Bearer realm=\"x\", scope=\"a b\""), "a b", false),
        (Some("Basic realm=\"x\", Bearer error=\"insufficient_scope\", scope=\"c\""), "c", true),
        (Some("Bearer error=\"invalid_token\""), "", false),
    ];
    for (header, scopes, insufficient) in table {
        let bearer = Bearer::parse(header);
        assert_eq!(
            (bearer.scopes.join(" ").as_str(), bearer.insufficient_scope),
            (scopes, insufficient)
        );
    }
}

#[tokio::test]
async fn what_a_declared_server_comes_to() {
    let env: crate::Env = Arc::new(|name| (name == "HOST").then(|| "h.example".to_owned()));
    let folder = TempDir::new().unwrap();
    let of = |server: &str| {
        let text = format!("{{\"mcpServers\": {{\"s\": {server}}}}}");
        let mut file = crate::mcp::ServersFile::read(".mcp.json", &text, folder.path());
        assert_eq!(file.mistakes, [], "{server}");
        file.servers.remove(0)
    };
    let store = || TokenStore::new(folder.path());
    for none in [
        r#"{"command": "x"}"#,
        r#"{"url": "https://h.example/", "headers": {"authorization": "Bearer ${TOKEN}"}}"#,
    ] {
        assert!(OAuth::of(&of(none), &env, store()).unwrap().is_none(), "{none}");
        assert!(super::authorizer(&of(none), &env, store()).is_none(), "{none}");
    }
    let some = of(r#"{"url": "https://${HOST}/mcp", "oauth": {"clientId": "c", "scopes": ["a"]}}"#);
    let oauth = OAuth::of(&some, &env, store()).unwrap().unwrap();
    assert_eq!(oauth.resource.as_str(), "https://h.example/mcp");
    assert_eq!(oauth.identity.client_id.as_deref(), Some("c"));

    // What is missing is told when the server asks.
    let unset =
        r#"{"url": "https://h.example/", "oauth": {"clientId": "c", "clientSecret": "${NO}"}}"#;
    let authorizer = super::authorizer(&of(unset), &env, store()).unwrap();
    assert_eq!(authorizer.authorization().await, Ok(None));
    let challenge = Challenge { status: 401, www_authenticate: None, attempt: 1 };
    let said = authorizer.challenged(challenge).await.unwrap_err();
    assert!(said.contains("variable NO is not set"), "{said}");
}
