//! The report in SARIF 2.1.0 (OASIS), as code hosts read it.

use std::path::Path;

use callgate::contract::{
    Mistake,
    lint::{Edit, Finding, Fix, Level, RULES, Rule},
    tool::hash,
};
use serde_json::{Value, json};

use super::report::Report;

/// The id under which mistakes stand: files that cannot be loaded at all.
const MISTAKE: &str = "mistake";

pub(super) fn log(report: &Report) -> Value {
    let mut rules: Vec<Value> = RULES.iter().map(descriptor).collect();
    rules.push(json!({
        "id": MISTAKE,
        "shortDescription": { "text": "A file that cannot be loaded." },
        "fullDescription": { "text": "Its syntax, a field or a schema is wrong; nothing runs with it." },
        "help": { "text": "Correct it as the message says." },
        "defaultConfiguration": { "level": "error" },
    }));
    let mistakes = report.mistakes.iter().map(|mistake| of_mistake(mistake, rules.len() - 1));
    let findings = report.findings.iter().map(|finding| of_finding(finding, report));
    let results: Vec<Value> = mistakes.chain(findings).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "callgate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.finds },
        "fullDescription": { "text": rule.why },
        "help": { "text": rule.instead },
        "defaultConfiguration": { "level": level(rule.level) },
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn of_mistake(mistake: &Mistake, index: usize) -> Value {
    let message = match &mistake.hint {
        Some(hint) => format!("{}. {hint}", mistake.message),
        None => mistake.message.clone(),
    };
    json!({
        "ruleId": MISTAKE,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": message },
        "locations": [location(&mistake.file, mistake.line, mistake.column, &mistake.pointer, None)],
        "partialFingerprints": { "callgate/v1": hash(&format!("{MISTAKE} {} {}", mistake.file, mistake.pointer)) },
    })
}

fn of_finding(finding: &Finding, report: &Report) -> Value {
    let index = RULES.iter().position(|rule| rule.id == finding.rule);
    let place = location(
        &finding.file,
        finding.line,
        finding.column,
        &finding.pointer,
        finding.tool.as_deref(),
    );
    // A tool's own place in a list moves when another is added; its name and what is below stay.
    let below = finding.pointer.split('/').skip_while(|token| token.parse::<usize>().is_err());
    let below: Vec<&str> = below.collect();
    let tool = finding.tool.as_deref().unwrap_or_default();
    let print = format!("{} {} {tool} {}", finding.rule, finding.file, below.join("/"));
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.level),
        "message": { "text": format!("{}. {}", finding.message, finding.suggestion) },
        "locations": [place],
        "partialFingerprints": { "callgate/v1": hash(&print) },
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    if let Some(fix) = &finding.fix {
        let mark = if report.marked.contains(&finding.file) { '\u{feff}'.len_utf8() } else { 0 };
        result["fixes"] = json!([of_fix(fix, &finding.file, mark)]);
    }
    result
}

fn of_fix(fix: &Fix, file: &str, mark: usize) -> Value {
    let replacement = |edit: &Edit| {
        json!({
            "deletedRegion": { "byteOffset": edit.start + mark, "byteLength": edit.end - edit.start },
            "insertedContent": { "text": edit.text },
        })
    };
    json!({
        "description": { "text": fix.does },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(file) },
            "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
        }],
    })
}

fn location(file: &str, line: usize, column: usize, pointer: &str, tool: Option<&str>) -> Value {
    let mut logical =
        json!({ "fullyQualifiedName": if pointer.is_empty() { "/" } else { pointer } });
    if let Some(tool) = tool {
        logical["name"] = json!(tool);
    }
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line, "startColumn": column },
        },
        "logicalLocations": [logical],
    })
}

/// A path as a URI reference (RFC 3986): relative as it is, absolute with its scheme.
fn uri(file: &str) -> String {
    let mut out = String::new();
    if Path::new(file).is_absolute() {
        out.push_str("file://");
    }
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            b'\\' if cfg!(windows) => out.push('/'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
