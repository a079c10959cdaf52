//! JSON-Schema-Test-Suite: `Schema` over `Document`, every file of the two drafts.

use std::{collections::BTreeMap, path::Path};

use callgate_contract::{document::Document, schema::Schema};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{files, shared};

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    /// As text: a schema suite tests digits too.
    data: Box<RawValue>,
    valid: bool,
}

/// Tests that do not apply here: file, and how their descriptions end (`*`: all of them).
type Exceptions = &'static [(&'static str, &'static str)];

#[derive(Default, Debug)]
struct Tally {
    passed: usize,
    /// Not applicable, by file.
    left_out: BTreeMap<String, usize>,
    failed: Vec<String>,
}

fn run(folder: &Path, dialect: &str, exceptions: Exceptions) -> Tally {
    let mut tally = Tally::default();
    for (file, path) in files(folder) {
        let text = std::fs::read_to_string(path).unwrap();
        let groups: Vec<Group> = serde_json::from_str(&text).unwrap();
        for group in groups {
            if excepted(exceptions, &file, "*") || needs_remote(&group.schema) {
                *tally.left_out.entry(file.clone()).or_default() += group.tests.len();
                continue;
            }
            let schema = match Schema::compile(with_dialect(group.schema, dialect)) {
                Ok(schema) => schema,
                Err(faults) => {
                    tally.failed.push(format!("{file}: {}: {faults:?}", group.description));
                    continue;
                }
            };
            for test in group.tests {
                if excepted(exceptions, &file, &test.description) {
                    *tally.left_out.entry(file.clone()).or_default() += 1;
                    continue;
                }
                let told = format!("{file}: {}: {}", group.description, test.description);
                match Document::parse(test.data.get()) {
                    Ok(doc) if schema.admits(doc.root()) == test.valid => tally.passed += 1,
                    Ok(_) => tally.failed.push(told),
                    Err(error) => tally.failed.push(format!("{told}: {error:?}")),
                }
            }
        }
    }
    tally
}

fn excepted(exceptions: Exceptions, file: &str, description: &str) -> bool {
    exceptions.iter().any(|(f, end)| *f == file && description.ends_with(end))
}

/// Schemas that reach for another document. Nothing is ever fetched for a `$ref`, so these are
/// refused when they are loaded, which is asserted.
fn needs_remote(schema: &Value) -> bool {
    let remote = schema.to_string().contains("http://localhost:1234/");
    remote && Schema::compile(schema.clone()).is_err()
}

fn with_dialect(mut schema: Value, dialect: &str) -> Value {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.entry("$schema").or_insert_with(|| dialect.into());
    }
    schema
}

fn judge(drafts: &[(&str, &str, Exceptions)]) {
    for (folder, dialect, exceptions) in drafts {
        let Some(folder) = shared(&format!("suites/json-schema/tests/{folder}")) else { return };
        let tally = run(&folder, dialect, exceptions);
        println!("{}: {} passed, left out {:?}", folder.display(), tally.passed, tally.left_out);
        assert!(
            tally.failed.is_empty(),
            "{}: {} fail:\n{}",
            folder.display(),
            tally.failed.len(),
            tally.failed.join("\n")
        );
    }
}

const D2020: &str = "https://json-schema.org/draft/2020-12/schema";
const D7: &str = "http://json-schema.org/draft-07/schema#";

/// `format` is asserted here: a tool that asks for a date means it.
const FORMAT_IS_ASSERTED: Exceptions = &[("format.json", "is only an annotation by default")];

/// Internationalised names are taken as they are: judging them takes the tables of IDNA.
const NO_IDNA: Exceptions = &[("idn-email.json", "*"), ("idn-hostname.json", "*")];

#[test]
fn json_schema_test_suite() {
    judge(&[("draft2020-12", D2020, FORMAT_IS_ASSERTED), ("draft7", D7, FORMAT_IS_ASSERTED)]);
}

#[test]
fn json_schema_test_suite_optional() {
    judge(&[("draft2020-12/optional", D2020, &[]), ("draft7/optional", D7, &[])]);
}

#[test]
fn json_schema_test_suite_formats() {
    judge(&[
        ("draft2020-12/optional/format", D2020, NO_IDNA),
        ("draft7/optional/format", D7, NO_IDNA),
    ]);
}
