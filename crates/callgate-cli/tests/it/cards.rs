//! Agents elsewhere: their cards pinned, drifted, accepted.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

/// An agent that has a card, and answers every task with a word.
struct Agent {
    url: String,
    card: Arc<Mutex<Value>>,
    asked: Arc<Mutex<u32>>,
}

impl Agent {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let card = Arc::new(Mutex::new(json!({
            "name": "Billing", "description": "Knows invoices.", "version": "1.0.0",
            "supportedInterfaces": [{ "url": format!("{url}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
            "capabilities": {}, "skills": []
        })));
        let asked = Arc::new(Mutex::new(0));
        let (shared, count) = (card.clone(), asked.clone());
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, &shared, &count);
            }
        });
        Self { url, card, asked }
    }

    fn asked(&self) -> u32 {
        *self.asked.lock().unwrap()
    }
}

fn answer(stream: TcpStream, card: &Mutex<Value>, asked: &Mutex<u32>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    stream.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let text = if first.starts_with("GET") {
        card.lock().unwrap().to_string()
    } else {
        *asked.lock().unwrap() += 1;
        let request: Value = serde_json::from_slice(&body).unwrap();
        let message =
            json!({ "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "paid" }] });
        json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "message": message } })
            .to_string()
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.get_mut().write_all(format!("{head}{text}").as_bytes())
}

#[test]
fn a_card_is_pinned_and_another_one_is_not_asked_until_it_is_accepted() {
    let agent = Agent::start();
    let desk = Project::by_turn(&json!([
        calls(&[("billing", json!({ "task": "Is invoice 17 paid?" }))]),
        says("It was asked."),
    ]))
    .with("agents", json!({ "billing": { "url": agent.url } }));
    let run = |arguments: &[&str]| callgate(desk.dir(), arguments).run();
    let lock = |arguments: &[&str], code: i32, words: &[&str]| {
        let out = run(&[&["lock"], arguments].concat()).with(code).out;
        words.iter().for_each(|word| assert!(out.contains(word), "no {word:?} in {out}"));
        out
    };

    // Nothing is trusted where nothing may be pinned, and nobody is asked.
    run(&["run", "--frozen", "Ask"]).with(2).says(&["callgate.lock has no entry", &agent.url]);
    lock(&["--check"], 7, &["not pinned"]);
    assert!(!desk.path("callgate.lock").exists());
    assert_eq!(agent.asked(), 0);

    // At first use it is pinned, and said.
    run(&["run", "Ask"]).with(0).says(&["pinned the card of the agent \"Billing\""]);
    assert_eq!(agent.asked(), 1);
    let file = || std::fs::read_to_string(desk.path("callgate.lock")).unwrap();
    let first = file();
    assert!(first.contains(&agent.url) && first.contains("Knows invoices."), "{first}");
    lock(&["--check"], 0, &["the agent \"Billing\", as accepted"]);
    run(&["run", "--frozen", "Ask"]).with(0);
    assert_eq!(agent.asked(), 2);

    // Another card: the call is refused, and what changed is told.
    agent.card.lock().unwrap()["description"] = json!("Knows\u{200b} all invoices.");
    let told = run(&["run", "--json", "Ask"]).with(0).out;
    assert!(told.contains("definition_changed"), "{told}");
    assert!(told.contains("callgate lock --accept"), "{told}");
    assert_eq!(agent.asked(), 2, "nothing is sent");
    lock(&[], 7, &["drifted", "~ card: description", "[-", "{+", "U+200B"]);
    let report: Value = serde_json::from_str(&lock(&["--check", "--json"], 7, &[])).unwrap();
    assert_eq!(report["agents"][0]["agent"], agent.url.as_str());
    assert_eq!(report["agents"][0]["fields"], json!(["description"]));
    assert_eq!(report["agents"][0]["flags"][0]["kind"], "invisible");
    assert_eq!(file(), first, "nothing is accepted by looking");

    // Accepted, by the name of its tool.
    lock(&["--accept", "billing"], 0, &["accepted"]);
    lock(&["--check"], 0, &[]);
    run(&["run", "Ask"]).with(0);
    assert_eq!(agent.asked(), 3);

    // Named no more, it is forgotten once that is accepted.
    let desk = desk.with("agents", json!({}));
    let told = callgate(desk.dir(), &["lock", "--accept"]).run().with(0).out;
    assert!(told.contains("forgotten"), "{told}");
    let lock = std::fs::read_to_string(desk.path("callgate.lock")).unwrap();
    assert!(!lock.contains("agents"), "{lock}");
}
