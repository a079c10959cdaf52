#![cfg(unix)]

use std::time::Instant;

use callgate_contract::{Content, ErrorKind, Output};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

/// Long enough for any machine; no test waits for it.
const LONG: Duration = Duration::from_secs(120);

fn env(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("tok-4711-secret".into()),
        "EMPTY" => Some(String::new()),
        "UNRELATED" => Some("not for the tool".into()),
        name => std::env::var(name).ok(),
    }
}

fn command(spec: Value, folder: &Path) -> Command {
    let spec = serde_json::from_value(spec).unwrap();
    let mut command = Command::new(spec, folder, Arc::new(env)).unwrap();
    command.grace = Duration::from_millis(300);
    command
}

fn shell(script: &str) -> Command {
    command(
        json!({ "command": ["sh", "-c", script], "env": { "API": "${TOKEN}" } }),
        Path::new("/"),
    )
}

async fn run_with(
    command: &Command,
    arguments: &str,
    timeout: Duration,
    cancel: &CancellationToken,
) -> Invoked {
    let call = Call {
        run: "run_1",
        call: "call_1",
        arguments,
        idempotency_key: "key_1",
        attempt: 2,
        timeout,
        cancel,
        trace: None,
    };
    command.run(call).await
}

async fn run(command: &Command, arguments: &str) -> Invoked {
    run_with(command, arguments, LONG, &CancellationToken::new()).await
}

/// Whether a process exists and is not merely waiting to be reaped by a lazy init.
fn lives(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

/// Nothing where the shell had opened the file and was ended before it wrote.
fn pid_in(path: &Path) -> Option<i32> {
    std::fs::read_to_string(path).unwrap().trim().parse().ok()
}

async fn until_written(path: &Path) {
    while std::fs::read_to_string(path).map_or(true, |text| !text.ends_with('\n')) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_a_program_writes_becomes_the_result() {
    // script, arguments, output
    let rows = [
        (
            "cat",
            r#"{"id":9007199254740993,"p":1.10}"#,
            Output::json(r#"{"id":9007199254740993,"p":1.10}"#),
        ),
        ("cat >/dev/null; echo '{\"a\": 1.0}'", "{}", Output::json(r#"{"a": 1.0}"#)),
        ("echo 42", "{}", Output::json("42")),
        ("echo 4 degrees", "{}", Output::text("4 degrees\n")),
        ("printf '{\"a\":'", "{}", Output::text("{\"a\":")),
        ("true", "{}", Output::json("null")),
        // Does not read its arguments, and closes stdin at once.
        ("exec <&-; echo 1", "{}", Output::json("1")),
        // What is written to stderr is no failure by itself.
        ("echo warning >&2; echo 1", "{}", Output::json("1")),
        // A credential that a tool prints is masked.
        ("echo \"using $API\"", "{}", Output::text("using ${TOKEN}\n")),
    ];
    for (script, arguments, expected) in rows {
        let invoked = run(&shell(script), arguments).await;
        assert_eq!(invoked.result, Ok(expected), "{script}");
        assert_eq!(invoked.wire.as_deref(), Some(arguments), "{script}");
    }
}

#[tokio::test]
async fn arguments_larger_than_a_pipe_arrive_whole() {
    let arguments = format!("{{\"text\":\"{}\"}}", "x".repeat(1 << 20));
    let invoked = run(&shell("cat"), &arguments).await;
    assert_eq!(invoked.result.unwrap().structured.as_deref(), Some(arguments.as_str()));
    // And nobody waits for a program that does not take them.
    let invoked = run(&shell("echo 1"), &arguments).await;
    assert_eq!(invoked.result, Ok(Output::json("1")));
}

#[tokio::test]
async fn failures_are_told_in_the_programs_words() {
    // script, message
    let rows = [
        ("echo 'no such city' >&2; exit 3", "the tool failed (exit code 3): no such city"),
        ("echo oops; exit 1", "the tool failed (exit code 1): oops"),
        ("exit 7", "the tool failed (exit code 7) and said nothing"),
        ("printf '\\033[31mred\\033[0m\\a' >&2; exit 1", "the tool failed (exit code 1): red"),
        ("echo \"bad key $API\" >&2; exit 1", "the tool failed (exit code 1): bad key ${TOKEN}"),
        ("kill -9 $$", "the tool failed (ended by signal 9) and said nothing"),
        (
            "python3 -c 'import sys; d = {}; d[\"dir\"]'",
            "the tool failed (exit code 1): KeyError: 'dir'",
        ),
    ];
    for (script, message) in rows {
        let invoked = run(&shell(script), "{}").await;
        let failure = invoked.result.unwrap_err();
        assert_eq!(failure.message, message, "{script}");
        assert_eq!(failure.kind, ErrorKind::ToolError);
        assert_eq!(failure.executed, Executed::Yes);
        let raw = invoked.raw.unwrap();
        assert!(raw.contains("\"stderr\"") && !raw.contains("4711"), "{raw}");
    }
}

#[tokio::test]
async fn long_error_texts_keep_their_end() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1";
    let failure = run(&shell(script), "{}").await.result.unwrap_err();
    assert!(failure.message.ends_with("line 19999"), "{}", failure.message);
    assert!(failure.message.chars().count() < text_limit(), "{}", failure.message.len());
    assert!(failure.message.contains("characters cut]"));
}

fn text_limit() -> usize {
    crate::text::QUOTED + 100
}

#[tokio::test]
async fn too_much_output_ends_the_program() {
    let mut endless = shell("yes");
    endless.max_output = 10_000;
    let failure = run(&endless, "{}").await.result.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::ToolError);
    assert!(failure.message.contains("more than 10000 bytes"), "{}", failure.message);

    let mut exact = shell("printf 1234");
    exact.max_output = 4;
    assert_eq!(run(&exact, "{}").await.result, Ok(Output::json("1234")));
    exact.max_output = 3;
    assert!(run(&exact, "{}").await.result.is_err());
}

#[tokio::test]
async fn bytes_that_are_no_text_are_a_failure() {
    let failure = run(&shell("printf '\\377\\376'"), "{}").await.result.unwrap_err();
    assert!(failure.message.contains("neither JSON nor UTF-8"), "{}", failure.message);
    assert!(!failure.retryable);
}

#[tokio::test]
async fn the_environment_is_small_and_named() {
    let spec = json!({
        "command": ["python3", "-c", "import os, json; print(json.dumps(dict(os.environ)))"],
        "env": { "API": "Bearer ${TOKEN}", "MODE": "${EMPTY:-fast}", "PLAIN": "{x}" },
    });
    let output = run(&command(spec, Path::new("/")), "{}").await.result.unwrap();
    let seen: Map<String, Value> = serde_json::from_str(&output.structured.unwrap()).unwrap();
    let expected = [
        ("API", "Bearer ${TOKEN}"), // masked on its way out, whole inside
        ("MODE", "fast"),
        ("PLAIN", "{x}"),
        ("CALLGATE_RUN_ID", "run_1"),
        ("CALLGATE_CALL_ID", "call_1"),
        ("CALLGATE_IDEMPOTENCY_KEY", "key_1"),
        ("CALLGATE_ATTEMPT", "2"),
    ];
    for (name, value) in expected {
        assert_eq!(seen[name], value, "{name}");
    }
    assert!(seen.contains_key("PATH"));
    assert!(!seen.contains_key("UNRELATED") && !seen.contains_key("CARGO_MANIFEST_DIR"));

    let reads = json!({ "command": ["sh", "-c", "test \"$API\" = tok-4711-secret"], "env": { "API": "${TOKEN}" } });
    assert!(run(&command(reads, Path::new("/")), "{}").await.result.is_ok());
}

#[tokio::test]
async fn what_cannot_start_says_why_and_did_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain.txt"), "").unwrap();
    let rows = [
        (json!({ "command": ["no-such-program-here"] }), "no-such-program-here is not installed"),
        (json!({ "command": ["./missing.sh"] }), "missing.sh is not installed"),
        (json!({ "command": ["./plain.txt"] }), "may not be executed"),
        (json!({ "command": ["true"], "cwd": "nowhere" }), "nowhere does not exist"),
        (
            json!({ "command": ["true"], "env": { "A": "${MISSING_KEY}" } }),
            "MISSING_KEY is not set",
        ),
    ];
    for (spec, words) in rows {
        let failure = run(&command(spec.clone(), folder.path()), "{}").await.result.unwrap_err();
        assert!(failure.message.contains(words), "{spec}: {}", failure.message);
        assert_eq!(failure.executed, Executed::No, "{spec}");
        assert!(!failure.retryable, "{spec}");
    }
}

#[tokio::test]
async fn programs_and_folders_start_at_the_contract() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("bin/here.sh");
    std::fs::create_dir_all(folder.path().join("bin")).unwrap();
    std::fs::create_dir_all(folder.path().join("data")).unwrap();
    std::fs::write(&script, "#!/bin/sh\nbasename \"$PWD\"\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let spec = json!({ "command": ["bin/here.sh"], "cwd": "data" });
    let output = run(&command(spec, folder.path()), "{}").await.result.unwrap();
    assert_eq!(output.content, [Content::Text { text: "data\n".into() }]);
}

/// A program with a child, both of which say where they are and never end by themselves.
fn family(folder: &Path, ignores_term: bool) -> Command {
    let trap = if ignores_term { "trap \"\" TERM; " } else { "" };
    let script = format!(
        "{trap}sh -c '{trap}echo $$ > grandchild; while :; do sleep 1; done' & \
         echo $$ > child; echo started; while :; do sleep 1; done"
    );
    command(json!({ "command": ["sh", "-c", script] }), folder)
}

async fn family_is_gone(folder: &Path) {
    for name in ["child", "grandchild"] {
        let Some(pid) = pid_in(&folder.join(name)) else { continue };
        let since = Instant::now();
        while lives(pid) {
            assert!(since.elapsed() < LONG, "{name} lives on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_cancelled_program_ends_with_its_children() {
    for ignores_term in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        let family = family(folder.path(), ignores_term);
        let canceller = async {
            until_written(&folder.path().join("child")).await;
            until_written(&folder.path().join("grandchild")).await;
            cancel.cancel();
        };
        let (invoked, ()) = tokio::join!(run_with(&family, "{}", LONG, &cancel), canceller);
        let failure = invoked.result.unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::Cancelled, Executed::Unknown));
        assert!(invoked.raw.unwrap().contains("started"));
        family_is_gone(folder.path()).await;

        let failure = run_with(&family, "{}", LONG, &cancel).await.result.unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::Cancelled, Executed::No));
    }
}

#[tokio::test]
async fn a_program_out_of_time_ends_with_its_children() {
    // However slow the machine: until both had the time to say where they are.
    for seconds in [2, 8, 32, 128] {
        let folder = tempfile::tempdir().unwrap();
        let family = family(folder.path(), false);
        let timeout = Duration::from_secs(seconds);
        let invoked = run_with(&family, "{}", timeout, &CancellationToken::new()).await;
        let failure = invoked.result.unwrap_err();
        assert_eq!((failure.kind, failure.executed), (ErrorKind::Timeout, Executed::Unknown));
        assert_eq!(failure.message, format!("the tool gave no result within {seconds} s"));
        if ["child", "grandchild"].iter().all(|name| folder.path().join(name).exists()) {
            return family_is_gone(folder.path()).await;
        }
    }
    panic!("the program never started");
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let family = family(folder.path(), true);
    let started = async {
        until_written(&folder.path().join("child")).await;
        until_written(&folder.path().join("grandchild")).await;
    };
    let cancel = CancellationToken::new();
    tokio::select! {
        _ = run_with(&family, "{}", LONG, &cancel) => panic!("it never ends by itself"),
        () = started => {}
    }
    family_is_gone(folder.path()).await;
}

#[tokio::test]
async fn a_program_that_ends_leaves_no_child_behind() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sh -c 'echo $$ > grandchild; while :; do sleep 1; done' & \
                  echo $$ > child; while ! test -s grandchild; do sleep 0.01; done; echo '{\"ok\":true}'";
    let leaver = command(json!({ "command": ["sh", "-c", script] }), folder.path());
    let invoked = run(&leaver, "{}").await;
    assert_eq!(invoked.result, Ok(Output::json("{\"ok\":true}")));
    family_is_gone(folder.path()).await;
}

#[tokio::test]
async fn a_program_is_told_the_trace() {
    let script = r#"printf '%s|%s' "$TRACEPARENT" "$TRACESTATE""#;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = callgate_wire::TraceContext::read(parent).unwrap().with_state("a=1");
    let own = json!({ "command": ["sh", "-c", script], "env": { "TRACEPARENT": "mine", "TRACESTATE": "mine" } });
    let own = command(own, Path::new("/"));
    let rows = [
        (&shell(script), Some(&trace), format!("{parent}|a=1")),
        (&shell(script), None, "|".to_owned()),
        (&own, Some(&trace), format!("{parent}|a=1")),
        (&own, None, "mine|mine".to_owned()),
    ];
    for (command, trace, expected) in rows {
        let cancel = CancellationToken::new();
        let call = Call {
            run: "run_1",
            call: "call_1",
            arguments: "{}",
            idempotency_key: "key_1",
            attempt: 1,
            timeout: LONG,
            cancel: &cancel,
            trace,
        };
        assert_eq!(command.run(call).await.result, Ok(Output::text(expected)));
    }
}
