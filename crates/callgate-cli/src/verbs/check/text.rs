//! The report for a person: mistakes a line each, then findings by tool, then what it came to.

use std::io::{self, Write as _};

use callgate::contract::lint::{Finding, Level};

use super::{counted, report::Report};
use crate::{
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

pub(super) fn say(report: &Report) -> Result<(), Failure> {
    let paint = Paint::stdout();
    for mistake in &report.mistakes {
        out::line(&safe(&mistake.to_string()))?;
    }
    let mut text = String::new();
    let mut last: Option<(&str, Option<&str>)> = None;
    for finding in &report.findings {
        let of = (finding.file.as_str(), finding.tool.as_deref());
        if last != Some(of) {
            if last.is_some() || !report.mistakes.is_empty() {
                text.push('\n');
            }
            text.push_str(&heading(finding, paint));
            last = Some(of);
        }
        text.push_str(&told(finding, paint));
    }
    if let Some(fixed) = report.fixed {
        let (findings, files) =
            (words::count(fixed.findings, "finding"), words::count(fixed.files, "file"));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("mended {findings} in {files}\n"));
    }
    if !text.is_empty() {
        if report.fixed.is_none() {
            text.push('\n');
        }
        out::line(text.trim_end_matches('\n'))?;
        if report.mistakes.is_empty() {
            out::line("")?;
        }
    }
    summary(report)
}

fn heading(finding: &Finding, paint: Paint) -> String {
    let file = safe(&finding.file);
    match &finding.tool {
        Some(tool) => format!("{} {}\n", paint.bold(safe(tool)), paint.dim(file)),
        None => format!("{}\n", paint.bold(file)),
    }
}

fn told(finding: &Finding, paint: Paint) -> String {
    let level = format!("{:<7}", finding.level.word());
    let level = match finding.level {
        Level::Error => paint.red(level),
        Level::Warning => paint.yellow(level),
        Level::Note => paint.cyan(level),
    };
    let place = format!("{}:{}", finding.line, finding.column);
    let mendable = if finding.fix.is_some() { " (--fix mends it)" } else { "" };
    format!(
        "  {level} {} {}: {}\n          {} {}{mendable}\n",
        paint.dim(place),
        paint.bold(finding.rule),
        safe(&finding.message),
        paint.dim("->"),
        safe(&finding.suggestion),
    )
}

fn summary(report: &Report) -> Result<(), Failure> {
    let paint = Paint::stderr();
    if !report.mistakes.is_empty() {
        let mut line = words::count(report.mistakes.len(), "mistake");
        if let Some(findings) = counted(report) {
            line = format!("{line}; {findings}");
        }
        let _ = writeln!(io::stderr(), "{}", paint.red(line));
        return Ok(());
    }
    let mut judged = Vec::new();
    if report.contracts > 0 || report.tools == 0 {
        judged.push(words::count(report.contracts, "contract"));
    }
    if report.tools > 0 {
        judged.push(words::count(report.tools, "tool"));
    }
    let mut line = format!("{}, no mistakes", judged.join(" and "));
    if let Some(findings) = counted(report) {
        line = format!("{line}; {findings}");
    }
    if report.fixable() > 0 {
        line = format!("{line}; --fix mends {}", report.fixable());
    }
    out::line(&line)
}

/// Nothing in it moves a terminal's cursor, hides, or turns the direction of writing.
fn safe(text: &str) -> String {
    words::clean(text)
        .chars()
        .map(|c| match c {
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
            c => c,
        })
        .collect()
}
