//! How what a run waits for is told, and what to type about it.

use callgate::engine::{Pending, book::On};

use super::book::Book;
use crate::show::{paint::Paint, pretty::pretty, words};

/// In a few words.
pub(super) fn short(wait: &Pending) -> String {
    let (tool, call) = (words::clean(&wait.tool), words::clean(&wait.call));
    match &wait.on {
        On::Approval { .. } => format!("approval of {tool} ({call})"),
        On::Answer { question, .. } => {
            format!("an answer to \"{}\" ({call})", words::short(question, 200))
        }
        On::Doubt { .. } => format!("a word on what became of {tool} ({call})"),
    }
}

/// What to type.
pub(super) fn command(wait: &Pending, book: &Book) -> String {
    let (verb, rest) = match &wait.on {
        On::Approval { .. } => ("approve", ""),
        On::Answer { .. } => ("answer", " \"…\""),
        On::Doubt { .. } => ("resolve", " done|redo|fail"),
    };
    book.command(verb, &format!("{} {}{rest}", wait.run, wait.call))
}

/// With everything that is needed to decide.
pub(super) fn lines(wait: &Pending, book: &Book, paint: Paint) -> Vec<String> {
    let label = match &wait.on {
        On::Approval { .. } => "waits for approval:",
        On::Answer { .. } => "waits for an answer:",
        On::Doubt { .. } => "in doubt:",
    };
    let tool = words::clean(&wait.tool);
    let mut lines = vec![format!("{} {} ({})", paint.yellow(label), paint.bold(tool), wait.call)];
    match &wait.on {
        On::Answer { question, choices } => {
            lines.push(format!("  {}", words::clean(question)));
            let choices = choices.iter().zip(1..);
            lines.extend(choices.map(|(c, n)| format!("  {n}) {}", words::clean(c))));
        }
        On::Approval { .. } | On::Doubt { .. } => {
            let arguments = wait.arguments.as_deref().unwrap_or("{}");
            let shown = pretty(&words::clean(arguments));
            lines.extend(shown.lines().map(|line| format!("  {line}")));
        }
    }
    match &wait.on {
        On::Approval { because: Some(because), .. } => {
            lines.push(format!("  asked because {}", words::clean(because)));
        }
        On::Doubt { attempt, idempotency_key } => {
            let key = idempotency_key.as_deref().unwrap_or("unknown");
            lines.push(format!(
                "  begun (attempt {attempt}), its outcome is lost; idempotency key {key}"
            ));
        }
        On::Approval { .. } | On::Answer { .. } => {}
    }
    if let Some(at) = wait.expires_at {
        lines.push(format!("  lapses at {} UTC", super::time::stamp(at)));
    }
    lines.push(format!("  {}", paint.dim(command(wait, book))));
    lines
}
