//! A person at a terminal: questions, answers, Ctrl-C as it is typed.

use std::{
    io::{Read as _, Write as _},
    process::Child,
    sync::{Arc, Mutex},
    thread,
};

use pty_process::blocking::{Command, Pty};
use serde_json::json;

use crate::{
    binary::{callgate, until},
    project::{Project, calls, says},
};

/// The binary on a terminal of its own.
pub(crate) struct Sitting {
    pty: Pty,
    child: Child,
    seen: Arc<Mutex<String>>,
}

impl Sitting {
    pub(crate) fn at(project: &Project, arguments: &[&str], editor: Option<&str>) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        let plain = callgate(project.dir(), arguments).command;
        let mut command = Command::new(plain.get_program())
            .args(plain.get_args())
            .current_dir(project.dir())
            .env_clear()
            .env("TERM", "xterm");
        for (name, value) in plain.get_envs() {
            if let Some(value) = value {
                command = command.env(name, value);
            }
        }
        if let Some(editor) = editor {
            command = command.env("EDITOR", editor);
        }
        let child = command.spawn(pts).unwrap();
        let seen: Arc<Mutex<String>> = Arc::default();
        let mut reader =
            std::fs::File::from(std::os::fd::AsFd::as_fd(&pty).try_clone_to_owned().unwrap());
        let noted = seen.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // At the end of the last process on it, a terminal fails to be read.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                noted.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { pty, child, seen }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn sees(&self, what: &str) {
        let end = std::time::Instant::now() + crate::binary::PATIENCE;
        while !self.seen.lock().unwrap().contains(what) {
            let seen = self.seen.lock().unwrap();
            assert!(std::time::Instant::now() < end, "no {what:?} in\n{seen}");
            drop(seen);
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// What it ends with, and everything that was on the screen.
    pub(crate) fn ends(mut self) -> (i32, String) {
        let status = until("callgate to end", || self.child.try_wait().unwrap());
        // What it wrote last may still be on its way here.
        until("the last words", || Arc::strong_count(&self.seen).eq(&1).then_some(()));
        let seen = self.seen.lock().unwrap().clone();
        (status.code().unwrap_or(-1), seen)
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn asking() -> Project {
    Project::new(&json!([calls(&[("ask", json!({ "x": "a" }))]), says("Done.")])).tool(
        "ask",
        "tee given",
        &json!({ "tier": "approve", "annotations": { "destructive": true } }),
    )
}

fn given(project: &Project) -> Option<String> {
    std::fs::read_to_string(project.path("tools/given")).ok()
}

#[test]
fn a_person_decides() {
    let project = asking();
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("[a]bort the run?");
    sitting.types("y\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
    for part in [
        "approve?",
        "may destroy something",
        "Does ask.",
        "\"x\": \"a\"",
        "approved by The user",
        "Done.",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(seen.contains("\u{1b}["), "a terminal has colours: {seen}");
    assert_eq!(given(&project).as_deref(), Some(r#"{"x":"a"}"#));
}

#[test]
fn a_person_says_no() {
    let project = asking();
    let mut sitting = Sitting::at(&project, &["run", "Go.", "--color", "never"], None);
    sitting.sees("[a]bort the run?");
    sitting.types("n\n");
    sitting.sees("why, for the model");
    sitting.types("Not today\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("rejected by The user: Not today"), "{seen}");
    assert_eq!(given(&project), None);
}

#[test]
fn a_person_edits() {
    let project = asking();
    project.write_text("editor.sh", "echo '{\"x\": \"b\"}' > \"$1\"\n");
    let editor = format!("sh {}", project.path("editor.sh").display());
    let mut sitting = Sitting::at(&project, &["run", "Go."], Some(&editor));
    sitting.sees("[a]bort the run?");
    sitting.types("e\n");
    // Asked once more, about what was made of it.
    sitting.sees("\"x\": \"b\"");
    sitting.types("y\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("edited by The user") && seen.contains("admitted as edited"), "{seen}");
    assert_eq!(given(&project).as_deref(), Some(r#"{"x": "b"}"#));
}

#[test]
fn a_person_aborts() {
    let project = asking();
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("[a]bort the run?");
    sitting.types("a\n");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 130, "{seen}");
    assert_eq!(given(&project), None);
}

#[test]
fn ctrl_c_as_it_is_typed() {
    let project = asking();
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    sitting.sees("[a]bort the run?");
    sitting.types("\u{3}");
    assert_eq!(sitting.ends().0, 130);

    let shell = "echo $$ > pids; sleep 600 & echo $! >> pids; echo > ready; wait";
    let project = Project::new(&json!([calls(&[("hang", json!({}))]), says("Never said.")])).tool(
        "hang",
        shell,
        &json!({}),
    );
    let mut sitting = Sitting::at(&project, &["run", "Go."], None);
    until("the tool to start", || project.path("tools/ready").exists().then_some(()));
    sitting.types("\u{3}");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 130, "{seen}");
    crate::cancel::assert_gone(&project.path("tools/pids"));
}

#[test]
fn a_chat_with_a_person() {
    let project = Project::new(&json!([says("Hello."), says("Bye.")]));
    let mut sitting = Sitting::at(&project, &["chat"], None);
    sitting.sees("/quit or Ctrl-D ends");
    sitting.sees("> ");
    sitting.types("Hi.\n");
    sitting.sees("Hello.");
    sitting.types("See you.\n");
    sitting.sees("Bye.");
    sitting.types("\u{4}");
    let (code, seen) = sitting.ends();
    assert_eq!(code, 0, "{seen}");
}
