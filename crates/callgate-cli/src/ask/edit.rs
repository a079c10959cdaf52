//! Other arguments: in the person's editor, else on one line.

use std::{env, io, io::Write as _, process::Command};

use super::Terminal;
use crate::show::pretty::pretty;

/// The arguments as the person wants them; nothing when they left them as they were.
pub(super) async fn edited(
    terminal: &Terminal,
    editor: Option<&str>,
    arguments: &str,
) -> Option<String> {
    let text = match editor.map(str::to_owned) {
        None => terminal.line("arguments as JSON: ").await?,
        Some(editor) => {
            let before = pretty(arguments);
            let work = tokio::task::spawn_blocking(move || in_editor(&editor, &before));
            match work.await {
                Ok(Ok(text)) => text,
                Ok(Err(error)) => {
                    terminal.say(&format!("the editor did not do it: {error}\n"));
                    return None;
                }
                Err(_) => return None,
            }
        }
    };
    let text = text.trim();
    (!text.is_empty() && text != arguments && text != pretty(arguments)).then(|| text.to_owned())
}

/// `VISUAL`, else `EDITOR`.
pub(super) fn editor() -> Option<String> {
    ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

fn in_editor(editor: &str, text: &str) -> io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("callgate-").suffix(".json").tempfile()?;
    writeln!(file, "{text}")?;
    file.flush()?;
    // Such as `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(editor);
    let mut command = Command::new(program);
    command.args(words).arg(file.path());
    #[cfg(unix)]
    if let Ok(tty) = std::fs::File::open("/dev/tty") {
        command.stdin(tty);
    }
    let status = command.status()?;
    if !status.success() {
        return Err(io::Error::other(format!("{program} ended with {status}")));
    }
    // By its path: editors write a new file and put it in the old one's place.
    std::fs::read_to_string(file.path())
}
