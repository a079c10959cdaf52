//! From the document's operations to contract files, one by one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    Import, Operation, Options, Outcome, Report, Skip, Skipped, Variable, auth, body,
    document::{At, Doc, Notes, below},
    draft::Draft,
    names::{self, Source},
    output, parameters, servers, words,
};
use crate::catalog::{Annotations, ToolFile};

/// The operations of a path item, and what the http backend can do with them.
const METHODS: [(&str, &str, bool); 8] = [
    ("get", "GET", true),
    ("put", "PUT", true),
    ("post", "POST", true),
    ("delete", "DELETE", true),
    ("options", "OPTIONS", true),
    ("head", "HEAD", true),
    ("patch", "PATCH", true),
    ("trace", "TRACE", false),
];

/// An operation in its place.
struct Found<'d> {
    item: At<'d>,
    at: At<'d>,
    method: &'static str,
    can_be_sent: bool,
    path: &'d str,
}

/// An operation, or a path whose item cannot be read as it is reported.
type Place<'d> = Result<Found<'d>, Operation>;

/// Imports every operation.
pub(super) fn all(doc: &Doc<'_>, options: &Options) -> Import {
    let prefix = match options.env_prefix.as_str() {
        "" => String::new(),
        given => auth::variable("", given),
    };
    let found = find(doc);
    let sources: Vec<Source<'_>> = found
        .iter()
        .filter_map(|place| place.as_ref().ok())
        .map(|f| Source { method: f.method, path: f.path, id: f.at.text("operationId") })
        .collect();
    let mut names = names::names(&sources).into_iter();
    let mut shared = Notes::default();
    if doc.root.get("webhooks").is_some_and(Value::is_object) {
        shared.add("/webhooks", "webhooks are calls that the service makes: not imported");
    }
    let mut environment: BTreeSet<Variable> = BTreeSet::new();
    let mut files = Vec::new();
    let mut operations = Vec::new();
    for place in found {
        let found = match place {
            Ok(found) => found,
            Err(operation) => {
                operations.push(operation);
                continue;
            }
        };
        let name = names.next().unwrap_or_default();
        let mut notes = Notes::default();
        let outcome = match one(doc, &found, &name, options, &prefix, &mut notes) {
            Ok((file, variables)) => {
                environment.extend(variables);
                files.push(file);
                Outcome::Imported(name)
            }
            Err(skipped) => Outcome::Skipped(skipped),
        };
        let (of_schemas, own): (Vec<_>, Vec<_>) =
            notes.told().into_iter().partition(|note| note.pointer.starts_with("/components/"));
        of_schemas.into_iter().for_each(|note| shared.add(note.pointer, note.message));
        operations.push(Operation {
            pointer: found.at.pointer.clone(),
            method: found.method.to_owned(),
            path: found.path.to_owned(),
            operation_id: found.at.text("operationId").map(str::to_owned),
            outcome,
            notes: own,
        });
    }
    let info = doc.at_root().get("info");
    let text = |name: &str| info.as_ref()?.text(name).map(str::to_owned);
    let report = Report {
        title: text("title"),
        version: text("version"),
        operations,
        notes: shared.told(),
        environment: environment.into_iter().collect(),
    };
    Import { files, report }
}

fn find<'d>(doc: &Doc<'d>) -> Vec<Place<'d>> {
    let mut out = Vec::new();
    for (path, value) in doc.paths {
        if path.starts_with("x-") {
            continue;
        }
        let written = At { value, pointer: below("/paths", path) };
        let item = match doc.resolve(written.clone()) {
            Ok(item) if item.value.is_object() => item,
            unusable => {
                let skipped = unusable
                    .err()
                    .unwrap_or_else(|| written.skip(Skip::NotAnObject { what: "a path item" }));
                let operation = Operation {
                    pointer: written.pointer,
                    method: String::new(),
                    path: path.clone(),
                    operation_id: None,
                    outcome: Outcome::Skipped(skipped),
                    notes: Vec::new(),
                };
                out.push(Err(operation));
                continue;
            }
        };
        for (word, at) in item.members() {
            if let Some(&(_, method, can_be_sent)) = METHODS.iter().find(|(m, ..)| *m == word) {
                out.push(Ok(Found { item: item.clone(), at, method, can_be_sent, path }));
            }
        }
    }
    out
}

fn one(
    doc: &Doc<'_>,
    found: &Found<'_>,
    name: &str,
    options: &Options,
    prefix: &str,
    notes: &mut Notes,
) -> Result<(ToolFile, Vec<Variable>), Skipped> {
    let Found { item, at, method, path, .. } = found;
    if !at.value.is_object() {
        return Err(at.skip(Skip::NotAnObject { what: "an operation" }));
    }
    if !found.can_be_sent {
        return Err(at.skip(Skip::Method { method: (*method).to_owned() }));
    }
    let mut parameters = parameters::read(doc, &[item, at], notes)?;
    let auth = auth::of(doc, at, &parameters.credentials, prefix, notes)?;
    parameters.arguments.retain(|parameter| !auth.brings(parameter));
    let body = body::read(doc, at, method, notes)?;
    let mut draft = Draft::default();
    draft.arguments(doc, at, &parameters.arguments, body, notes)?;
    draft.credentials(&auth);

    let root = doc.at_root();
    let variable = auth::variable(prefix, "BASE_URL");
    let base = match &options.base_url {
        Some(url) => servers::Base { text: url.trim_end_matches('/').to_owned(), from_env: false },
        None => servers::base(&[at, item, &root], &variable, notes),
    };
    let mut variables = auth.variables;
    if base.from_env {
        let holds = "where the service is, such as https://api.example.com".to_owned();
        variables.push(Variable { name: variable, holds });
    }
    let (input, http) = draft.finish(at, method, &base.text, path, notes)?;
    let output = if options.output { output::of(doc, at, method, notes) } else { None };
    let said = |name: &str| at.text(name).or_else(|| item.text(name));
    let version = root.get("info").and_then(|info| info.text("version")).filter(|v| is_semver(v));
    let mut backend = serde_json::Map::new();
    backend.insert("http".to_owned(), Value::Object(http));
    let file = ToolFile {
        schema: None,
        name: name.to_owned(),
        version: version.map(str::to_owned),
        description: Some(words::description(
            said("summary"),
            said("description"),
            at.is("deprecated"),
            &format!("{method} {path}"),
        )),
        input,
        output,
        examples: Vec::new(),
        annotations: annotations(method),
        tier: None,
        rules: Vec::new(),
        result: None,
        backend,
        timeout_ms: None,
        defer: false,
        mode: None,
        aliases: BTreeMap::new(),
        lint: None,
    };
    Ok((file, variables))
}

/// What a method says about the world (RFC 9110 9.2).
fn annotations(method: &str) -> Annotations {
    let read_only = matches!(method, "GET" | "HEAD" | "OPTIONS");
    Annotations {
        read_only,
        idempotent: read_only || matches!(method, "PUT" | "DELETE"),
        destructive: method == "DELETE",
        open_world: false,
    }
}

/// `1.2.3`, with or without what may follow.
fn is_semver(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    let is_number = |p: &&str| {
        !p.is_empty()
            && p.bytes().all(|b| b.is_ascii_digit())
            && (p.len() == 1 || !p.starts_with('0'))
    };
    parts.len() == 3 && parts.iter().all(is_number)
}
