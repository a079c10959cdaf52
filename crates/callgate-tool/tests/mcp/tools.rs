//! Lists that change, and tools that are pinned.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use callgate_contract::{Admitted, ErrorKind, Executed, Failure};
use callgate_tool::{
    Backend, Invocation,
    mcp::{ClientOptions, DefinitionCheck, McpTool},
};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use crate::{LONG, Own, TIMEOUTS, call, outcome};

fn own(flags: &[&str]) -> Own {
    Own::start(flags, TIMEOUTS, ClientOptions::default())
}

fn invocation() -> Invocation {
    Invocation {
        run: "run_1".into(),
        call: "call_1".into(),
        tool: "ok".into(),
        arguments: Admitted::recorded("{}".into()),
        idempotency_key: "key-2".into(),
        attempt: 1,
        timeout: LONG,
        cancel: CancellationToken::new(),
        trace: None,
    }
}

#[tokio::test]
async fn a_list_is_read_once_until_it_changes() {
    for flags in [&[][..], &["modern", "listen"]] {
        let own = own(flags);
        let lists = join_all((0..20).map(|_| own.client.list())).await;
        let first = lists[0].as_ref().unwrap().revision;
        assert!(lists.iter().all(|list| list.as_ref().unwrap().revision == first));
        assert_eq!(own.client.list().await.unwrap().revision, first);
        assert_eq!(own.received_of("tools/list").len(), 1, "{flags:?}");

        let mut changes = own.client.changes();
        changes.mark_unchanged();
        if flags.contains(&"listen") {
            own.until_received("subscriptions/listen", 1).await;
        }
        // Four notices in a burst, before the answer.
        assert_eq!(outcome(&own.client.call(call("change")).await), "changed | -");
        changes.changed().await.unwrap();
        let lists = join_all((0..20).map(|_| own.client.list())).await;
        let list = lists[0].as_ref().unwrap();
        assert!(list.revision > first);
        assert!(list.tools[0].definition.contains("another"), "{flags:?}");
        let read = own.received_of("tools/list").len();
        assert!((2..=4).contains(&read), "{flags:?}: read {read} times");
        assert!(own.client.health().listed_at.is_some());
    }
}

#[tokio::test]
async fn a_pinned_tool_is_compared_before_it_is_called() {
    let own = own(&[]);
    let asked = Arc::new(AtomicU32::new(0));
    let check: DefinitionCheck = {
        let asked = asked.clone();
        Arc::new(move |tool| {
            asked.fetch_add(1, Ordering::Relaxed);
            if tool.definition.contains("another") {
                let failure = Failure::new(ErrorKind::DefinitionChanged, "it is another tool now");
                return Err(failure.executed(Executed::No));
            }
            Ok(())
        })
    };
    let tool = McpTool::new(own.client.clone(), "ok", false, Some(check));
    for _ in 0..3 {
        assert_eq!(outcome(&tool.invoke(invocation()).await), "ok | -");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    let sent = own.received_of("tools/call");
    assert_eq!(sent[0]["params"]["_meta"]["dev.callgate/idempotency-key"], "key-2");

    own.client.call(call("change")).await.result.unwrap();
    let invoked = tool.invoke(invocation()).await;
    assert_eq!(outcome(&invoked), "definition_changed false: it is another tool now");
    assert!(invoked.wire.is_none());
    assert_eq!(own.received_of("tools/call").len(), 4, "nothing was sent");
}

#[tokio::test]
async fn a_tool_that_is_gone_is_not_called() {
    let own = own(&["vanish"]);
    let tool = McpTool::new(own.client.clone(), "ok", false, Some(Arc::new(|_| Ok(()))));
    assert_eq!(outcome(&tool.invoke(invocation()).await), "ok | -");
    own.client.call(call("change")).await.result.unwrap();
    let got = outcome(&tool.invoke(invocation()).await);
    assert!(
        got.starts_with("definition_changed false: the server no longer has a tool ok"),
        "{got}"
    );
    assert_eq!(own.received_of("tools/call").len(), 2, "nothing was sent");
}

#[tokio::test]
async fn a_new_connection_is_compared_again() {
    let own = own(&[]);
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let check: DefinitionCheck = Arc::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    });
    let tool = McpTool::new(own.client.clone(), "die_after", false, Some(check));
    for _ in 0..2 {
        assert_eq!(outcome(&tool.invoke(invocation()).await), "goodbye | -");
        own.until_gone().await;
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_list_that_cannot_be_read_is_told_and_the_old_one_kept() {
    let own = own(&["lists_once"]);
    let tool = McpTool::new(own.client.clone(), "ok", false, Some(Arc::new(|_| Ok(()))));
    let first = own.client.list().await.unwrap().revision;
    own.client.call(call("change")).await.result.unwrap();

    let error = own.client.list().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server answered with an error: the store is locked (-32603)"
    );
    assert_eq!(own.client.last_list().map(|list| list.revision), Some(first));
    let told = own.client.health().list_error.unwrap();
    assert!(told.contains("the store is locked"), "{told}");

    // The server said that its tools changed: no pinned one is called by the old list.
    let failure = tool.invoke(invocation()).await.result.unwrap_err();
    assert_eq!((failure.kind, failure.executed), (ErrorKind::TransportLost, Executed::No));
    assert!(failure.message.contains("out of date"), "{}", failure.message);
    assert_eq!(own.received_of("tools/call").len(), 1, "nothing was sent");
}
