use std::{sync::Mutex, time::Duration};

use crate::mcp::auth::{Browser as _, BrowserError, Loopback};

#[tokio::test]
async fn only_the_way_back_ends_the_wait() {
    let shown = std::sync::Arc::new(Mutex::new(Vec::new()));
    let seen = shown.clone();
    let show = move |url: &str| seen.lock().unwrap().push(url.to_owned());
    let browser = Loopback::bind(0, Loopback::LIMIT, show).await.unwrap();
    let redirect = browser.redirect_uri();
    let base = redirect.strip_suffix("/callback").unwrap().to_owned();
    let page = "https://login.example.com/authorize?client_id=c&state=ours";

    let visits = async {
        // A connection that says nothing does not hold up the others.
        let address = base.strip_prefix("http://").unwrap();
        let _silent = tokio::net::TcpStream::connect(address).await.unwrap();
        let mut statuses = Vec::new();
        for target in [
            "/favicon.ico",
            "/callback",
            "/callback?code=x&state=guessed",
            "/callback?code=c&state=ours",
        ] {
            let answer = reqwest::get(format!("{base}{target}")).await.unwrap();
            statuses.push(answer.status().as_u16());
        }
        statuses
    };
    let (back, statuses) = tokio::join!(browser.open(page), visits);
    assert_eq!(back.unwrap(), format!("{redirect}?code=c&state=ours"));
    assert_eq!(statuses, [404, 404, 404, 200]);
    assert_eq!(*shown.lock().unwrap(), [page]);
}

#[tokio::test]
async fn nobody_comes_back() {
    let browser = Loopback::bind(0, Duration::from_millis(50), |_| {}).await.unwrap();
    let waited = browser.open("https://login.example.com/?state=s").await;
    assert!(matches!(waited, Err(BrowserError::TimedOut { .. })), "{waited:?}");
}
