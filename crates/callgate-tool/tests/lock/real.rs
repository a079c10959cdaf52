//! The tools of thirteen public servers, pinned.

use std::{fs, path::Path};

use callgate_tool::{
    lock::{FILE, Lock, compare},
    mcp::Listing,
};
use serde_json::Value;

use crate::listing;

#[test]
fn the_tools_of_public_servers_are_pinned_and_read_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/mcp-tools");
    let Ok(entries) = fs::read_dir(&folder) else {
        assert!(
            !std::env::var("CI").is_ok_and(|ci| ci == "true"),
            "no tool lists in {}",
            folder.display()
        );
        println!("skipped: no tool lists in {}", folder.display());
        return;
    };
    let mut lists: Vec<(String, Listing)> = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "json") {
            continue;
        }
        let list: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let tools = list
            .pointer("/tools_list_response/result/tools")
            .or_else(|| list.pointer("/tools_list_response/tools"))
            .and_then(Value::as_array)
            .unwrap();
        lists.push((path.file_stem().unwrap().to_string_lossy().into_owned(), listing(tools)));
    }
    let mut lock = Lock::default();
    for (server, list) in &lists {
        lock.accept(server, list);
    }
    let text = lock.to_text();
    let again = Lock::read(FILE, &text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    assert_eq!(again.to_text(), text);
    let pinned: usize = again.servers().map(|(_, pins)| pins.len()).sum();
    assert!(pinned >= 166, "{pinned} tools");
    for (server, list) in &lists {
        let report = compare(&again, server, list);
        assert!(!report.drifted && report.unusable.is_empty(), "{server}: {report:?}");
    }
    println!("{pinned} tools of {} servers in {} bytes", lists.len(), text.len());
}
