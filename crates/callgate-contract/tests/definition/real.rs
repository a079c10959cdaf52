//! The tools of thirteen public servers.

use std::{collections::BTreeSet, fs, path::Path};

use callgate_contract::{
    Catalog,
    definition::{Definition, FlagKind, names::catalog_names},
    surface::names::Named,
};
use serde_json::Value;

#[test]
fn every_tool_of_the_public_servers_is_a_contract() {
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
    let mut named = Vec::new();
    let mut flagged = Vec::new();
    let mut unproved: Vec<String> = Vec::new();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "json"));
    files.sort();
    for file in files {
        let list: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let server = file.file_stem().unwrap().to_string_lossy().into_owned();
        let tools = list
            .pointer("/tools_list_response/result/tools")
            .or_else(|| list.pointer("/tools_list_response/tools"))
            .and_then(Value::as_array)
            .unwrap();
        for tool in tools {
            let definition = Definition::read(&tool.to_string())
                .unwrap_or_else(|unusable| panic!("{server}: {unusable}"));
            assert_eq!(definition.notes(), [], "{server}/{}", definition.name());
            // What is pinned is a definition with the same fingerprint.
            let pinned = Definition::read(definition.text()).unwrap();
            assert_eq!(pinned.fingerprint(), definition.fingerprint());
            // A local contract in today's dialect may say the same, and close what is open.
            let closed = definition.tool("mine", &server, "mine.json", None);
            let mut schema = closed.input.value().clone();
            schema.as_object_mut().unwrap().remove("$schema");
            let file = serde_json::json!({"name": "mine", "input": schema}).to_string();
            let (catalog, mistakes) = Catalog::load_what_is_right([("mine.json", file.as_str())]);
            match catalog.get("mine") {
                None => unproved.push(format!("{server}/{}: {mistakes:?}", definition.name())),
                Some(local) => {
                    if let Err(faults) = local.narrowing(&closed) {
                        unproved.push(format!("{server}/{}: {}", definition.name(), faults[0]));
                    }
                }
            }
            for flag in definition.flags() {
                flagged.push(format!("{server}/{}: {flag:?}", definition.name()));
                assert_eq!(flag.kind, FlagKind::Instruction, "{flagged:?}");
            }
            named.push(Named {
                server: Some(server.as_str().into()),
                name: definition.name().clone(),
            });
        }
    }
    assert!(named.len() >= 166, "{} tools", named.len());
    let names = catalog_names(&named, &BTreeSet::new());
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), named.len());
    println!("{} tools, flagged:\n{}", named.len(), flagged.join("\n"));
    assert!(unproved.is_empty(), "{}", unproved.join("\n"));
    // The list of words is short enough that honest tools are seldom told.
    assert!(flagged.len() <= 2, "{}", flagged.join("\n"));
}
