//! Several processes on one journal, and one that dies. The other processes are this test again,
//! in a role.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use callgate_engine::{
    Journal,
    journal::{Filter, Inbox, JournalError, RunState, Sent},
};
use callgate_machine::event::Decision;

use crate::support::*;

/// No test waits longer for another process.
const LIMIT: Duration = Duration::from_secs(120);

struct Role {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Role {
    fn play(role: &str, folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::plays_a_role", "--ignored", "--nocapture"])
            .env("CALLGATE_TEST_ROLE", role)
            .env("CALLGATE_TEST_FOLDER", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// The next word that the role says, its marker left out.
    fn says(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "the other process ended");
            if let Some((_, word)) = line.split_once("role: ") {
                return word.trim().to_owned();
            }
        }
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "the other process of the tests here"]
fn plays_a_role() {
    let (Ok(role), Ok(folder)) =
        (std::env::var("CALLGATE_TEST_ROLE"), std::env::var("CALLGATE_TEST_FOLDER"))
    else {
        return;
    };
    let journal = open(Path::new(&folder));
    match &*role {
        "begin" => {
            let run = id("mine");
            let _lease = journal.claim_new(&run);
            block_on(journal.append(&records("mine", &[started("g")]))).unwrap();
            println!("role: begun");
            std::thread::sleep(LIMIT);
        }
        "claim" => {
            let _lease = block_on(journal.claim("r1")).unwrap();
            println!("role: claimed");
            std::thread::sleep(LIMIT);
        }
        "append" => {
            // As fast as it goes, until it is killed.
            for n in 0_u64.. {
                let run = format!("fast-{n}");
                for (step, batch) in batches(&run, n).iter().enumerate() {
                    block_on(journal.append(batch)).unwrap();
                    println!("role: {n} {step}");
                }
            }
        }
        name => {
            println!("role: ready");
            // All at once.
            let go = Path::new(&folder).join("go");
            let since = Instant::now();
            while !go.exists() && since.elapsed() < LIMIT {
                std::thread::yield_now();
            }
            for call in 0..20 {
                let message = Inbox::Decision {
                    call: format!("c{call}").into(),
                    binding: "b".into(),
                    decision: Decision::Approve,
                    by: Some(name.into()),
                };
                let by = match block_on(journal.send("r1", message)).unwrap() {
                    Sent::Kept(_) => name.to_owned(),
                    Sent::Already(first) => first.body.by().unwrap().to_string(),
                };
                println!("role: c{call} {by}");
            }
        }
    }
}

#[test]
fn a_lease_ends_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    block_on(journal.append(&records("r1", &[started("g")]))).unwrap();
    // This process began it; another may only have it once it is given back.
    drop(block_on(journal.claim("r1")).unwrap());

    let mut other = Role::play("claim", folder.path());
    assert_eq!(other.says(), "claimed");
    let held = |error| match error {
        JournalError::Held { pid, .. } => pid,
        error => panic!("{error}"),
    };
    assert_eq!(held(block_on(journal.claim("r1")).unwrap_err()), other.child.id());
    assert_eq!(held(block_on(journal.remove("r1")).unwrap_err()), other.child.id());
    assert_eq!(journal.driver("r1").unwrap(), Some(other.child.id()));
    // Others are free to read, and to leave a message.
    assert_eq!(journal.load("r1").unwrap().len(), 1);
    assert!(matches!(block_on(journal.send("r1", Inbox::Pause { by: None })), Ok(Sent::Kept(_))));

    other.child.kill().unwrap();
    other.child.wait().unwrap();
    assert_eq!(journal.driver("r1").unwrap(), None);
    let lease = block_on(journal.claim("r1")).unwrap();
    // And now it is ours.
    let third = open(folder.path());
    for journal in [&journal, &third] {
        assert_eq!(journal.driver("r1").unwrap(), Some(std::process::id()));
    }
    assert_eq!(held(block_on(third.claim("r1")).unwrap_err()), std::process::id());
    drop(lease);
    // Given back without anyone waiting for it: the next command comes after.
    block_on(journal.settle("r1", &[])).unwrap();
    assert_eq!((third.driver("r1").unwrap(), third.driver("r2").unwrap()), (None, None));
    drop(block_on(third.claim("r1")).unwrap());
}

#[test]
fn whoever_begins_a_run_drives_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    let mut other = Role::play("begin", folder.path());
    assert_eq!(other.says(), "begun");
    let refused = block_on(journal.claim("mine"));
    assert!(matches!(refused, Err(JournalError::Held { pid, .. }) if pid == other.child.id()));
    other.child.kill().unwrap();
    other.child.wait().unwrap();
    let _lease = block_on(journal.claim("mine")).unwrap();
    let next = record("mine", 1, answered("x"));
    block_on(journal.append(&[next])).unwrap();
}

/// Killed in the midst of it: what it was told is kept is kept, and nothing is torn.
#[test]
fn a_process_killed_while_it_writes_leaves_prefixes() {
    for kills in [3, 40] {
        let folder = tempfile::tempdir().unwrap();
        let mut other = Role::play("append", folder.path());
        let mut last = String::new();
        for _ in 0..kills {
            last = other.says();
        }
        other.child.kill().unwrap();
        other.child.wait().unwrap();
        let (run, step) = last.split_once(' ').unwrap();
        let (run, step): (u64, usize) = (run.parse().unwrap(), step.parse().unwrap());

        let journal = open(folder.path());
        for summary in journal.list(&Filter::default()).unwrap() {
            let n: u64 = summary.run.strip_prefix("fast-").unwrap().parse().unwrap();
            let expected = batches(&summary.run, n);
            let kept = journal.load(&summary.run).unwrap();
            assert_eq!(kept, flat(&expected)[..kept.len()]);
            let safe = if n < run {
                4
            } else if n == run {
                step + 1
            } else {
                0
            };
            assert!(kept.len() >= flat(&expected[..safe]).len());
            assert_eq!(summary.state == RunState::Answered, kept.len() == flat(&expected).len());
        }
        assert!(journal.summary(&format!("fast-{run}")).is_ok());
    }
}

#[test]
fn of_two_processes_that_decide_the_first_counts() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    block_on(journal.append(&records("r1", &[started("g")]))).unwrap();
    let mut roles = ["ann", "bob"].map(|name| Role::play(name, folder.path()));
    for role in &mut roles {
        assert_eq!(role.says(), "ready");
    }
    std::fs::write(folder.path().join("go"), "").unwrap();
    let [said_a, said_b] = roles.map(|mut role| (0..20).map(|_| role.says()).collect::<Vec<_>>());
    assert_eq!(said_a, said_b, "both were told the same");
    let kept: Vec<_> = journal
        .inbox("r1")
        .unwrap()
        .into_iter()
        .map(|message| {
            let by = message.body.by().unwrap().to_string();
            let Inbox::Decision { call, .. } = message.body else { panic!() };
            format!("{call} {by}")
        })
        .collect();
    let mut sorted = kept;
    sorted.sort_by_key(|word| word[1..word.find(' ').unwrap()].parse::<u32>().unwrap());
    assert_eq!(sorted, said_a, "and what they were told is what is kept");
}
