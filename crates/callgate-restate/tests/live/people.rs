//! Approvals, answers, cancellation, pause, doubt.

use callgate_machine::{
    Agent, Event, Status,
    event::{Decision, Resolution},
};
use callgate_restate::{Client, Phase, RunStatus, Said, Say, WaitsOn};

use crate::{
    runs::{Stack, kinds},
    support::{
        agent::{self, Tools},
        until, within,
    },
};

const ASKS: &str = r#"{ "replies": [ { "calls": [ { "id": "c1", "name": "ask", "arguments": {"n": 1} } ] }, { "text": "Asked." } ] }"#;

fn binding(status: &RunStatus) -> String {
    let WaitsOn::Approval { binding, .. } = &status.waits[0].on else { panic!("{status:?}") };
    binding.to_string()
}

fn yes() -> Decision {
    Decision::Approve
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_decision_counts_and_outlives_processes() {
    let Some(mut stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let serving = stack.serve(stack.worker(agent::engine(ASKS, &tools))).await;
    let (addr, run) = (serving.addr(), Client::new_id());
    stack.submit(&run).await;
    let status = stack.status(&run, "the question", |s| s.phase == Phase::Waiting).await;
    let WaitsOn::Approval { tool, arguments, .. } = &status.waits[0].on else { panic!() };
    assert_eq!((&**tool, &**arguments), ("ask", r#"{"n": 1}"#));
    let seen = binding(&status);

    // Both processes go; the question stays.
    drop(serving);
    stack.restate.kill();
    stack.restate.up().await;
    let _serving = stack.serve_at(addr, || stack.worker(agent::engine(ASKS, &tools))).await;

    let stale = stack.client.decide(&run, "c1", Some("other"), yes(), None).await.unwrap();
    assert!(
        matches!(&stale, Said::Refused { because } if because.contains("look again")),
        "{stale:?}"
    );
    let nobody = stack.client.decide(&run, "c9", None, yes(), None).await.unwrap();
    assert!(
        matches!(&nobody, Said::Refused { because } if because.contains("waiting: c1")),
        "{nobody:?}"
    );

    let (client, seen) = (&stack.client, Some(seen.as_str()));
    let no = Decision::Reject { reason: Some("not today".into()) };
    let (a, b) = tokio::join!(
        client.decide(&run, "c1", seen, yes(), Some("ann")),
        client.decide(&run, "c1", seen, no, Some("bob"))
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    // Whoever comes second learns what the first one said, or that it is over.
    let winner = match (&a, &b) {
        (Said::Taken, Said::Already { said, .. }) => {
            assert_eq!(said.by().map(|by| &**by), Some("ann"));
            "ann"
        }
        (Said::Already { said, .. }, Said::Taken) => {
            assert_eq!(said.by().map(|by| &**by), Some("bob"));
            "bob"
        }
        (Said::Taken, Said::Refused { .. }) => "ann",
        (Said::Refused { .. }, Said::Taken) => "bob",
        other => panic!("{other:?}"),
    };
    within("the end", stack.client.attach(&run)).await.unwrap();
    let records = stack.judged(&run).await;
    let decided: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.event {
            Event::ApprovalDecided { by, .. } => by.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(decided.len(), 1);
    assert_eq!(&*decided[0], winner);
    assert_eq!(tools.calls("ask").len(), usize::from(winner == "ann"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_judged_again() {
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let _serving = stack.serve(stack.worker(agent::engine(ASKS, &tools))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    let waits = |s: &RunStatus| s.phase == Phase::Waiting;
    let first = binding(&stack.status(&run, "the question", waits).await);
    let edit = Decision::Edit { arguments: r#"{"n": 2}"#.into() };
    assert_eq!(
        stack.client.decide(&run, "c1", Some(&first), edit, None).await.unwrap(),
        Said::Taken
    );
    // What was edited is asked about in its turn: the same call, another binding.
    let other = |s: &RunStatus| waits(s) && binding(s) != first;
    let second = binding(&stack.status(&run, "the second question", other).await);
    let stale = stack.client.decide(&run, "c1", Some(&first), yes(), None).await.unwrap();
    assert!(matches!(stale, Said::Refused { .. }), "{stale:?}");
    assert_eq!(
        stack.client.decide(&run, "c1", Some(&second), yes(), None).await.unwrap(),
        Said::Taken
    );
    within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(tools.calls("ask"), [r#"{"n": 2}"#]);
    stack.judged(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_lapses_by_a_durable_timer() {
    let Some(mut stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let mut spec = Agent { name: "test".to_owned(), ..Agent::default() };
    spec.approvals.timeout_seconds = Some(2);
    let serving = stack.serve(stack.worker(agent::engine_of(spec, ASKS, &tools))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    stack.status(&run, "the question", |s| s.phase == Phase::Waiting).await;
    stack.restate.kill();
    stack.restate.up().await;
    let finish = within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.status, Status::Answered);
    assert!(tools.calls("ask").is_empty());
    let records = stack.judged(&run).await;
    let lapsed = |r: &callgate_machine::Record| {
        matches!(&r.event, Event::ApprovalDecided { decision: Decision::Expired, .. })
    };
    assert!(records.iter().any(lapsed), "{:?}", kinds(&records));
    drop(serving);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_wherever_it_is() {
    let model = r#"{ "replies": [ { "text": "too late", "delayMs": 600000 } ] }"#;
    let tool = r#"{ "replies": [ { "calls": [ { "name": "wait" }, { "name": "echo" } ] }, { "text": "no" } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    for (name, script) in [("model", model), ("tool", tool), ("person", ASKS)] {
        let tools = Tools::new();
        let worker = stack.worker(agent::engine(script, &tools)).build(format!("b-{name}"));
        let _serving = stack.serve(worker).await;
        let run = format!("cancel-{name}");
        stack.submit(&run).await;
        let at = |s: &RunStatus| match name {
            "model" => s.hop == 1,
            "tool" => s.events >= 8,
            _ => s.phase == Phase::Waiting,
        };
        stack.status(&run, "the run to be there", at).await;
        // The status is written before the step begins; give that a moment.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let begun = std::time::Instant::now();
        assert_eq!(stack.client.cancel(&run, Some("ann")).await.unwrap(), Said::Taken);
        let finish = within("the end", stack.client.attach(&run)).await.unwrap();
        assert_eq!(finish.status, Status::Cancelled, "{name}");
        eprintln!("cancelled in the {name} hop after {:?}", begun.elapsed());
        let records = stack.judged(&run).await;
        let by = records.iter().find_map(|record| match &record.event {
            Event::CancelRequested { by } => by.clone(),
            _ => None,
        });
        assert_eq!(by.as_deref(), Some("ann"), "{name}");
        let again = stack.client.cancel(&run, None).await.unwrap();
        assert!(
            matches!(&again, Said::Refused { because } if because.contains("is over")),
            "{again:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_from_restates_side() {
    let script = r#"{ "replies": [ { "calls": [ { "name": "wait" } ] }, { "text": "no" } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let _serving = stack.serve(stack.worker(agent::engine(script, &tools))).await;
    let run = Client::new_id();
    let submit = callgate_restate::Submit::new("g", serde_json::Value::Null);
    let sent = stack.client.submit(&run, &submit).await.unwrap();
    until("the call", || async { (!tools.calls("wait").is_empty()).then_some(()) }).await;
    stack.client.admin_api().unwrap().cancel(&sent.invocation).await.unwrap();
    let finish = within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.status, Status::Cancelled);
    stack.judged(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_and_resumed() {
    let script = r#"{ "replies": [ { "calls": [ { "name": "wait" } ] }, [ { "text": "x", "delayMs": 600000 }, { "text": "Went on." } ] ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let _serving = stack.serve(stack.worker(agent::engine(script, &tools))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    until("the call", || async { (!tools.calls("wait").is_empty()).then_some(()) }).await;
    // Calls under way end first.
    assert_eq!(stack.client.pause(&run, Some("ann")).await.unwrap(), Said::Taken);
    let early = stack.client.resume(&run, None).await.unwrap();
    assert!(
        matches!(&early, Said::Refused { because } if because.contains("not paused")),
        "{early:?}"
    );
    tools.gate.add_permits(1);
    stack.status(&run, "the pause", |s| s.phase == Phase::Paused).await;
    assert_eq!(stack.client.resume(&run, Some("bob")).await.unwrap(), Said::Taken);
    // A model hop is stopped by a pause and made again after it.
    stack.status(&run, "the second hop", |s| s.hop == 2 && s.phase == Phase::Running).await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(stack.client.pause(&run, None).await.unwrap(), Said::Taken);
    stack.status(&run, "the second pause", |s| s.phase == Phase::Paused && s.pauses == 1).await;
    assert_eq!(stack.client.resume(&run, None).await.unwrap(), Said::Taken);
    let finish = within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.text.as_deref(), Some("Went on."));
    assert_eq!(tools.calls("wait").len(), 1);
    let records = stack.judged(&run).await;
    let count = |kind: &str| kinds(&records).iter().filter(|k| *k == kind).count();
    assert_eq!((count("pauseRequested"), count("runPaused"), count("runResumed")), (2, 2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_answers() {
    let script = r#"{ "replies": [ { "calls": [ { "id": "q", "name": "ask_user", "arguments": {"question": "Which one?", "choices": ["a", "b"]} } ] }, { "text": "Thanks." } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let spec = Agent { name: "test".to_owned(), ask_user: true, ..Agent::default() };
    let _serving = stack.serve(stack.worker(agent::engine_of(spec, script, &Tools::new()))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    let status = stack.status(&run, "the question", |s| s.phase == Phase::Waiting).await;
    let WaitsOn::Answer { question, choices } = &status.waits[0].on else { panic!("{status:?}") };
    assert_eq!((&**question, choices.len()), ("Which one?", 2));
    let wrong = stack.client.decide(&run, "q", None, yes(), None).await.unwrap();
    assert!(matches!(wrong, Said::Refused { .. }), "{wrong:?}");
    assert_eq!(stack.client.answer(&run, "q", "b", Some("ann")).await.unwrap(), Said::Taken);
    let finish = within("the end", stack.client.attach(&run)).await.unwrap();
    assert_eq!(finish.text.as_deref(), Some("Thanks."));
    stack.judged(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_write_is_in_doubt_until_a_person_says() {
    let script = r#"{ "replies": [ { "calls": [ { "id": "w", "name": "wait_once" }, { "id": "r", "name": "wait" } ] }, { "text": "Settled." } ] }"#;
    let Some(stack) = Stack::start().await else { return };
    let done = Resolution::Done { result: Some(r#"{"waited":"by hand"}"#.into()) };
    for (n, (resolution, calls)) in
        [(done, 1), (Resolution::Redo, 2), (Resolution::Fail, 1)].into_iter().enumerate()
    {
        let tools = Tools::new();
        let build = format!("b-{n}");
        let worker = || stack.worker(agent::engine(script, &tools)).build(build.as_str());
        let serving = stack.serve(worker()).await;
        let (addr, run) = (serving.addr(), format!("doubt-{n}"));
        stack.submit(&run).await;
        until("both calls", || async {
            (tools.calls("wait_once").len() + tools.calls("wait").len() == 2).then_some(())
        })
        .await;
        drop(serving);
        let _serving = stack.serve_at(addr, worker).await;
        // The read is made again; the write is not.
        until("the read to be made again", || async {
            (tools.calls("wait").len() == 2).then_some(())
        })
        .await;
        tools.gate.add_permits(1);
        let is_doubt =
            |s: &RunStatus| s.waits.iter().any(|w| matches!(w.on, WaitsOn::Doubt { .. }));
        let status = stack.status(&run, "the doubt", is_doubt).await;
        let WaitsOn::Doubt { tool, attempt, idempotency_key, .. } = &status.waits[0].on else {
            panic!()
        };
        assert_eq!((&**tool, *attempt), ("wait_once", 1));
        assert_eq!(**idempotency_key, format!("{run}/w"));
        assert_eq!(tools.calls("wait_once").len(), 1);
        assert_eq!(
            stack.client.resolve(&run, "w", resolution, Some("ann")).await.unwrap(),
            Said::Taken
        );
        tools.gate.add_permits(1);
        let finish = within("the end", stack.client.attach(&run)).await.unwrap();
        assert_eq!(finish.text.as_deref(), Some("Settled."));
        assert_eq!(tools.calls("wait_once").len(), calls);
        let records = stack.judged(&run).await;
        assert!(kinds(&records).contains(&"callInDoubt".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_over_http_as_anybody_would_send_it() {
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let _serving = stack.serve(stack.worker(agent::engine(ASKS, &tools))).await;
    stack.submit("by-hand").await;
    stack.status("by-hand", "the question", |s| s.phase == Phase::Waiting).await;
    let said =
        Say::Decision { call: "c1".into(), binding: None, decision: yes(), by: Some("ann".into()) };
    let mut body = serde_json::to_value(said).unwrap();
    body.as_object_mut().unwrap().remove("kind");
    assert_eq!(body, serde_json::json!({"call":"c1","decision":{"decision":"approve"},"by":"ann"}));
    let url = format!("{}/restate/call/CallgateRun/by-hand/approve", stack.restate.ingress());
    let answer = reqwest::Client::new()
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.text().await.unwrap(), r#"{"outcome":"taken"}"#);
    within("the end", stack.client.attach("by-hand")).await.unwrap();
    assert_eq!(tools.calls("ask").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_here_is_there_for_a_run() {
    use callgate_engine::{AskWith, Word};
    let Some(stack) = Stack::start().await else { return };
    let tools = Tools::new();
    let _serving = stack.serve(stack.worker(agent::engine(ASKS, &tools))).await;
    let run = Client::new_id();
    stack.submit(&run).await;
    let approver = AskWith(|question: callgate_machine::Question| {
        assert_eq!((&*question.tool, &*question.arguments), ("ask", r#"{"n": 1}"#));
        std::future::ready(Word::approve("ann"))
    });
    let (mut seen, never) = (Vec::new(), Default::default());
    let attended = stack.client.attend(&run, &approver, &never, |record| seen.push(record));
    let finish = within("the end", attended).await.unwrap();
    assert_eq!(finish.text.as_deref(), Some("Asked."));
    assert_eq!(seen, stack.judged(&run).await);

    // Whoever is asked here never answers; somebody elsewhere does, and another run is cancelled.
    let silent = AskWith(|_| std::future::pending());
    let run = Client::new_id();
    stack.submit(&run).await;
    let elsewhere = async {
        stack.status(&run, "the question", |s| s.phase == Phase::Waiting).await;
        stack.client.decide(&run, "c1", None, yes(), Some("bob")).await.unwrap()
    };
    let attended = stack.client.attend(&run, &silent, &never, |_| {});
    let (finish, said) = within("both", async { tokio::join!(attended, elsewhere) }).await;
    assert_eq!((finish.unwrap().status, said), (Status::Answered, Said::Taken));
    let (run, cancel) = (Client::new_id(), tokio_util::sync::CancellationToken::new());
    stack.submit(&run).await;
    let cancelling = async {
        stack.status(&run, "the question", |s| s.phase == Phase::Waiting).await;
        cancel.cancel();
    };
    let attended = stack.client.attend(&run, &silent, &cancel, |_| {});
    let (finish, ()) = within("both", async { tokio::join!(attended, cancelling) }).await;
    assert_eq!(finish.unwrap().status, Status::Cancelled);
}
