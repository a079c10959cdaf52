//! A run as one file.
#![allow(clippy::unwrap_used)]

use callgate_engine::{
    Journal,
    journal::{JournalError, Line, MemoryJournal, Options, SqliteJournal},
    runfile::{self, Header, Mask, RunFile, RunFileError},
};
use callgate_machine::Record;
use serde_json::{Value, json};

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn record(seq: u64, value: Value) -> Record {
    let event = serde_json::from_value(value).unwrap();
    Record { run: "r1".into(), seq, at: 1000 + seq, event }
}

fn run() -> Vec<Record> {
    vec![
        record(
            0,
            json!({"type": "runStarted", "agent": {"name": "support"}, "model": "m", "goal": "use s3cret-42"}),
        ),
        record(
            1,
            json!({"type": "callFinished", "call": "c1", "attempt": 1, "raw": "Bearer s3cret-42 ".repeat(30_000)}),
        ),
        record(2, json!({"type": "userSaid", "text": "ok \u{2028} \" \\ \u{1F980}"})),
    ]
}

fn exported(journal: &dyn Journal, mask: &Mask) -> Vec<u8> {
    let contract = json!({"name": "t", "description": "d", "input": {"type": "object"}});
    let header = Header::new("r1", "support", vec![contract]);
    let mut out = Vec::new();
    runfile::write(&mut out, header, &journal.lines("r1").unwrap(), mask).unwrap();
    out
}

fn read(bytes: &[u8]) -> Result<RunFile, RunFileError> {
    runfile::read(&mut &*bytes)
}

#[test]
fn a_run_goes_from_one_journal_to_another() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |path: &std::path::Path| SqliteJournal::open(path, Options::default()).unwrap();
    let (here, there) = (open(here.path()), open(there.path()));
    block_on(here.append(&run())).unwrap();
    let bytes = exported(&here, &Mask::none());
    let file = read(&bytes).unwrap();
    assert_eq!((&*file.header.run, &*file.header.agent, file.header.version), ("r1", "support", 1));
    assert_eq!(file.header.catalog[0]["name"], "t");
    assert!(block_on(there.import(&file.lines)).unwrap());
    assert_eq!(there.load("r1").unwrap(), run());
    // And back: the same is no news, another is refused.
    let again = read(&exported(&there, &Mask::none())).unwrap();
    assert!(!block_on(here.import(&again.lines)).unwrap());
    let other = [Line::of(&record(0, json!({"type": "userSaid", "text": "x"}))).unwrap()];
    assert!(matches!(block_on(here.import(&other)), Err(JournalError::Exists { .. })));
}

#[test]
fn secrets_stay_at_home() {
    let journal = MemoryJournal::new();
    block_on(journal.append(&run())).unwrap();
    let env = |name: &str| (name == "TOKEN").then(|| "s3cret-42".to_owned());
    let bytes = exported(&journal, &Mask::of_env(["TOKEN", "UNSET"], env));
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(!text.contains("s3cret"), "a secret got out");
    let file = read(&bytes).unwrap();
    assert_eq!(file.header.masked, ["TOKEN"]);
    let said = serde_json::to_string(&file.lines[0].record().unwrap()).unwrap();
    assert!(said.contains("use ${TOKEN}"), "{said}");
    assert_eq!(file.lines.len(), 3);
}

#[test]
fn a_flipped_byte_and_a_cut_file_are_found() {
    let journal = MemoryJournal::new();
    let records = [run()[0].clone(), record(1, json!({"type": "userSaid", "text": "and?"}))];
    block_on(journal.append(&records)).unwrap();
    let bytes = exported(&journal, &Mask::none());
    assert!(read(&bytes).is_ok());
    for at in 0..bytes.len() {
        for bit in [0, 3, 5] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(read(&bytes).is_err(), "byte {at}, bit {bit}: not found");
        }
        assert!(read(&bytes[..at]).is_err(), "cut at {at}: not found");
    }
    assert!(matches!(read(&[&bytes[..], b"more\n"].concat()), Err(RunFileError::Trailing { .. })));
    let last = bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap();
    assert!(matches!(read(&bytes[..=last]), Err(RunFileError::Cut { records: 2 })));
}

/// What a later version of this format's reader must still be able to read, and what this one
/// passes on: written by hand, with an event, a field and a header field that nobody knows here.
#[test]
fn later_events_and_fields_pass_through_byte_for_byte() {
    let lines = [
        r#"{"callgate":"run","version":1,"run":"r1","exporter":"9.9","moon":{"b":1,"a":[1.50]}}"#,
        r#"{"run":"r1","seq":0,"at":7,"type":"runStarted","agent":{"name":"a"},"model":"m","goal":"g","tide":1e2}"#,
        r#"{"run":"r1","seq":1,"at":8,"type":"moonRose","spaced" : true}"#,
    ];
    let body = lines.join("\n") + "\n";
    let hash = callgate_contract::tool::hash(&body);
    let text = format!("{body}{{\"callgate\":\"end\",\"records\":2,\"sha256\":\"{hash}\"}}\n");
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.header.more["moon"], json!({"b": 1, "a": [1.5]}));
    let mut again = Vec::new();
    file.write(&mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), text);
    file.lines[0].record().unwrap();
    assert!(matches!(file.lines[1].record(), Err(JournalError::UnknownEvent { seq: 1, .. })));

    let rows = [
        (text.replace("\"version\":1", "\"version\":2"), "later"),
        (text.replace("\"seq\":1", "\"seq\":5"), "should be"),
        (text.replace("\"seq\":1,\"at\":8", "\"at\":8,\"seq\":1"), "as Callgate writes it"),
        (text.replace("\"callgate\":\"run\"", "\"callgate\":\"tale\""), "not a run file"),
        (String::new(), "not a run file"),
        ("{}\n".to_owned(), "not a run file"),
    ];
    for (text, word) in rows {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(word), "{word}: {error}");
    }
}
