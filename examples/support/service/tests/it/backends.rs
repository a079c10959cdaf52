//! Admitted calls, through their backends, to the service and the weather program.

use std::{fs, sync::Arc, time::Duration};

use callgate_contract::{ErrorKind, Executed, Mode, Verdict};
use callgate_tool::{Backends, Invocation, Invoked};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    contracts::{catalog, folder},
    service::Service,
};

fn call(service: &Service, tool: &str, arguments: &str, key: &str) -> Invoked {
    let catalog = catalog();
    let tool = catalog.get(tool).unwrap();
    let Verdict::Admitted { arguments, .. } = tool.admit(arguments, Mode::Strict) else {
        panic!("{arguments} is refused");
    };
    let url = format!("http://{}", service.address);
    // PATH and the like for the program, and where the service is.
    let env = Arc::new(move |name: &str| match name {
        "SUPPORT_URL" => Some(url.clone()),
        name => std::env::var(name).ok(),
    });
    let backend = Backends::builtin().build(&tool.backend, &folder(), env).unwrap();
    let invocation = Invocation {
        run: "run".into(),
        call: "call".into(),
        tool: tool.name.clone(),
        arguments,
        idempotency_key: key.into(),
        attempt: 1,
        timeout: Duration::from_secs(60),
        cancel: CancellationToken::new(),
        trace: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(backend.invoke(invocation))
}

fn value(invoked: &Invoked) -> Value {
    let output = invoked.result.as_ref().unwrap();
    serde_json::from_str(output.structured.as_ref().unwrap()).unwrap()
}

#[test]
fn reads_reach_the_service() {
    let service = Service::start(&[]);
    let ticket = call(&service, "get_ticket", r#"{"ticketId": "T-1042"}"#, "k");
    assert_eq!(value(&ticket), service.get("/tickets/T-1042").1);
    let customer = call(&service, "get_customer", r#"{"customerId": "C-003"}"#, "k");
    assert_eq!(value(&customer), service.get("/customers/C-003").1);

    // A status that is left out is left out of the query too.
    let range = r#"{"startDate": "2026-03-01", "endDate": "2026-03-31"}"#;
    assert_eq!(value(&call(&service, "searchInvoices", range, "k"))["count"], 6);
    let paid = r#"{"startDate": "2026-03-01", "endDate": "2026-03-31", "status": "paid"}"#;
    let paid = call(&service, "searchInvoices", paid, "k");
    assert_eq!(value(&paid)["count"], 3);
    let text = paid.result.unwrap().structured.unwrap();
    assert!(text.contains(r#""total":1961.30,"ledgerId":4611686018455380085"#), "{text}");

    let missing = call(&service, "get_ticket", r#"{"ticketId": "T-9"}"#, "k").result.unwrap_err();
    assert_eq!((missing.kind, missing.executed), (ErrorKind::ToolError, Executed::No));
    assert!(missing.message.contains("there is no ticket T-9"), "{}", missing.message);
}

#[test]
fn a_repeated_attempt_writes_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("requests.jsonl");
    let service = Service::start(&["--log", log.to_str().unwrap()]);
    let note = r#"{"ticketId": "T-1042", "text": "Refund of 1961.30 for 4611686018455380085."}"#;
    let first = call(&service, "add_note", note, "key-1");
    let second = call(&service, "add_note", note, "key-1");
    assert_eq!(value(&first), value(&second));
    assert_eq!(service.get("/tickets/T-1042").1["updates"].as_array().unwrap().len(), 3);
    let line = fs::read_to_string(&log).unwrap();
    let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    assert_eq!(line["idempotencyKey"], "key-1");
}

#[test]
fn the_weather_is_a_program() {
    let service = Service::start(&[]);
    let oslo = call(&service, "get_weather", r#"{"city": "Oslo"}"#, "k");
    assert_eq!(value(&oslo)["temperature"], -3);
    let nowhere = call(&service, "get_weather", r#"{"city": "Atlantis"}"#, "k").result.unwrap_err();
    assert_eq!(nowhere.kind, ErrorKind::ToolError);
    assert!(nowhere.message.contains("no weather station in Atlantis"), "{}", nowhere.message);
}
