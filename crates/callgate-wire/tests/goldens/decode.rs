//! Recorded replies to what they come to, whole and streamed.

use std::{fmt::Write as _, fs, path::PathBuf};

use callgate_wire::{Delta, ProviderError, Reply, Request};

use crate::{Dialect, dialects, requests, shown};

pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) streamed: bool,
}

/// The recorded replies of a dialect, in the order of their names.
pub(crate) fn recorded(dialect: &Dialect) -> Vec<Recorded> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/replies");
    let mut all: Vec<_> = fs::read_dir(folder.join(dialect.replies))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let streamed = !name.ends_with(".json");
            Recorded { name, bytes: fs::read(path).unwrap(), streamed }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!all.is_empty());
    all
}

/// The request that all recorded replies answer.
pub(crate) fn request(dialect: &Dialect) -> Request {
    let messages = vec![requests::user("Who is it, and when?")];
    dialect.addressed(&Request { messages, tools: requests::tools(), ..Request::default() })
}

pub(crate) type Decoded = (Vec<Delta>, Result<Reply, ProviderError>);

pub(crate) fn decode(dialect: &Dialect, recorded: &Recorded, chunks: &[&[u8]]) -> Decoded {
    let request = request(dialect);
    let mut deltas = Vec::new();
    if !recorded.streamed {
        return (deltas, dialect.codec.decode(&request, 200, None, &recorded.bytes));
    }
    let mut decoder = dialect.codec.stream(&request);
    for chunk in chunks {
        decoder.push(chunk, &mut deltas);
    }
    let reply = decoder.finish(&mut deltas);
    (deltas, reply)
}

#[test]
fn every_reply() {
    for dialect in dialects().iter().filter(|dialect| dialect.name != "compatible") {
        let mut out = String::new();
        for recorded in recorded(dialect) {
            let (deltas, reply) = decode(dialect, &recorded, &[&recorded.bytes]);
            let deltas = shown::deltas(&deltas);
            writeln!(out, "== {}\n{deltas}{}", recorded.name, shown::reply(&reply)).unwrap();
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("decode/{}", dialect.name), out);
        });
    }
}

/// The same reply, whole and streamed, comes to the same.
#[test]
fn whole_and_streamed_agree() {
    for dialect in dialects() {
        let recorded = recorded(&dialect);
        let (whole, streamed): (Vec<_>, Vec<_>) = recorded
            .iter()
            .filter(|one| one.name.starts_with("calls."))
            .partition(|one| !one.streamed);
        let [whole, streamed] = [whole[0], streamed[0]].map(|one| {
            let (_, reply) = decode(&dialect, one, &[&one.bytes]);
            reply.unwrap()
        });
        assert_eq!(whole, streamed, "{}", dialect.name);
    }
}

/// Law 7, on the way in; and names come back as the request has them.
#[test]
fn digits_and_names() {
    for dialect in dialects() {
        for one in recorded(&dialect).iter().filter(|one| one.name.starts_with("calls.")) {
            let (_, reply) = decode(&dialect, one, &[&one.bytes]);
            let reply = reply.unwrap();
            let calls: Vec<_> = reply.calls().map(|call| (&*call.name, &*call.arguments)).collect();
            let arguments = r#"{"id":1234567890123456789,"rate":1.10}"#;
            assert_eq!(calls, [("crm.get_customer", arguments), ("now", "{}")], "{}", dialect.name);
            assert!(reply.calls().all(|call| !call.id.is_empty()));
            assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (50, 20));
        }
    }
}
