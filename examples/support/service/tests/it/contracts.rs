//! The contracts of `examples/support` against the service that they describe.

use std::{fs, path::PathBuf};

use callgate_contract::{Catalog, Mode, Output, RuleVerdict, Tool, Verdict, result, rules::Facts};
use serde_json::Value;

use crate::service::Service;

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tools")
}

pub(crate) fn catalog() -> Catalog {
    let mut files: Vec<(String, String)> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    match Catalog::load(files.iter().map(|(name, text)| (name.as_str(), text.as_str()))) {
        Ok(catalog) => catalog,
        Err(mistakes) => panic!("{mistakes:#?}"),
    }
}

/// `admitted`, `needs` a look-up, or the fault's kind with what its message has to say.
fn judged(tool: &Tool, arguments: &str) -> String {
    match tool.admit(arguments, Mode::Strict) {
        Verdict::Refused(fault) => format!("{}: {}", fault.kind, fault.message),
        Verdict::Admitted { arguments, .. } => {
            match tool.check_rules(&arguments, &Facts::default(), 0) {
                RuleVerdict::Hold => "admitted".to_owned(),
                RuleVerdict::Ask { lookup, arguments, .. } => {
                    format!("needs {} {arguments}", lookup.tool)
                }
                RuleVerdict::Broken(fault) => format!("{}: {}", fault.kind, fault.message),
            }
        }
    }
}

#[test]
fn calls_are_judged() {
    let catalog = catalog();
    let table = [
        ("get_ticket", r#"{"ticketId": "T-1042"}"#, "admitted", ""),
        ("get_ticket", r#"{"ticketId": "1042"}"#, "schema_mismatch", "/ticketId"),
        ("get_ticket", r#"{"id": "T-1042"}"#, "schema_mismatch", "ticketId"),
        ("get_customer", r#"{"customerId": "C-003"}"#, "admitted", ""),
        ("get_customer", r#"{"customerId": "Nordwind"}"#, "schema_mismatch", "/customerId"),
        (
            "searchInvoices",
            r#"{"startDate": "2026-03-01", "endDate": "2026-03-31", "status": "paid"}"#,
            "admitted",
            "",
        ),
        (
            "searchInvoices",
            r#"{"startDate": "2026-03-01", "endDate": "2026-03-01"}"#,
            "admitted",
            "",
        ),
        (
            "searchInvoices",
            r#"{"startDate": "2026-04-01", "endDate": "2026-03-01"}"#,
            "rule_violation",
            "dates-in-order",
        ),
        (
            "searchInvoices",
            r#"{"startDate": "2026-02-30", "endDate": "2026-03-01"}"#,
            "schema_mismatch",
            "/startDate",
        ),
        (
            "searchInvoices",
            r#"{"startDate": "2026-03-01", "endDate": "2026-03-31", "status": "payed"}"#,
            "schema_mismatch",
            "paid",
        ),
        (
            "add_note",
            r#"{"ticketId": "T-1042", "text": "x"}"#,
            "needs get_ticket",
            r#""ticketId": "T-1042""#,
        ),
        ("add_note", r#"{"ticketId": "T-1042", "text": ""}"#, "schema_mismatch", "/text"),
        ("get_weather", r#"{"city": "Oslo"}"#, "admitted", ""),
        ("get_weather", r#"{"city": "Oslo", "unit": "kelvin"}"#, "schema_mismatch", "/unit"),
    ];
    for (tool, arguments, verdict, says) in table {
        let got = judged(catalog.get(tool).unwrap(), arguments);
        assert!(got.starts_with(verdict) && got.contains(says), "{tool} {arguments}: {got}");
    }
}

/// `{name}` filled from an example's input.
fn filled(target: &str, input: &Value) -> String {
    input.as_object().unwrap().iter().fold(target.to_owned(), |target, (name, value)| {
        target.replace(&format!("{{{name}}}"), value.as_str().unwrap())
    })
}

#[test]
fn examples_are_true() {
    let service = Service::start(&[]);
    let table = [
        ("get_ticket", "/tickets/{ticketId}"),
        ("get_customer", "/customers/{customerId}"),
        ("search_invoices", "/invoices?startDate={startDate}&endDate={endDate}&status={status}"),
    ];
    for (file, target) in table {
        let text = fs::read_to_string(folder().join(format!("{file}.json"))).unwrap();
        let contract: Value = serde_json::from_str(&text).unwrap();
        for example in contract["examples"].as_array().unwrap() {
            let answer = service.get(&filled(target, &example["input"]));
            assert_eq!(answer, (200, example["output"].clone()), "{file}");
        }
    }
}

#[test]
fn answers_pass_the_gate_out_whole() {
    let service = Service::start(&[]);
    let catalog = catalog();
    let tickets = (1001..=1042).map(|n| ("get_ticket", format!("/tickets/T-{n}")));
    let customers = (1..=12).map(|n| ("get_customer", format!("/customers/C-{n:03}")));
    let invoices = (1..=11).map(|month| {
        (
            "searchInvoices",
            format!("/invoices?startDate=2026-{month:02}-01&endDate=2026-{month:02}-28"),
        )
    });
    for (tool, target) in tickets.chain(customers).chain(invoices) {
        let (status, body) = service.send("GET", &target, &[], "");
        assert_eq!(status, 200, "{target}");
        let tool = catalog.get(tool).unwrap();
        match result::pass(tool, Mode::Strict, &Ok(Output::json(body.as_str()))) {
            Ok(passed) => {
                assert_eq!(&*passed.whole, body, "{target}");
                assert!(passed.omissions.is_empty(), "{target}: {:?}", passed.omissions);
            }
            Err(fault) => panic!("{target}: {}", fault.message),
        }
    }
}
