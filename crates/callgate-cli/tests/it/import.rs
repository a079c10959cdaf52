//! `callgate import`: what is written, what is not and why, and that what is written works.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate},
    mcp::{lines, parsed, run, tells, tool},
    project::Project,
    server::{Answer, Server},
};

const PETS: &str = r#"# YAML as people write it.
openapi: 3.0
info: {title: Pets, version: 1.10.0}
servers: [{url: https://pets.example/v1}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-API-Key}
  schemas:
    Pet: &pet
      type: object
      required: [name]
      properties:
        name: {type: string, maxLength: 20}
        kind: {type: string, enum: [cat, dog, no]}
        weight: {type: number, maximum: 12345678901234567890123, example: 12345678901234567890123}
security: [{key: []}]
paths:
  /pets:
    get:
      operationId: listPets
      summary: Lists pets.
      parameters:
        - {name: limit, in: query, schema: {type: integer, maximum: 100}}
      responses:
        200:
          description: They.
          content:
            application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}}
    post:
      operationId: addPet
      summary: Adds a pet.
      requestBody:
        required: true
        content: {application/json: {schema: *pet}}
      responses: {'204': {description: Added.}}
  /pets/{id}:
    get:
      operationId: broken
      parameters: [{$ref: 'elsewhere.yaml#/id'}]
      responses: {default: {description: It.}}
"#;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn import(dir: &Path, arguments: &[&str]) -> Ended {
    callgate(dir, &[&["import"], arguments].concat()).run()
}

fn contract(dir: &Path, file: &str) -> Value {
    parsed(&fs::read_to_string(dir.join(file)).unwrap())
}

/// Every file below, with its text.
fn all(dir: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all(&path));
        } else {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn an_openapi_document_becomes_contracts() {
    let folder = folder(&[("pets.yaml", PETS)]);
    let dir = folder.path();
    let before = all(dir);
    let told = import(dir, &["openapi", "pets.yaml", "--dry-run"]).with(0).out;
    assert!(told.contains("would be imported") && told.contains("tools/addPet.json"), "{told}");
    assert_eq!(all(dir), before, "nothing is written");

    let told = import(dir, &["openapi", "pets.yaml"]).with(0);
    assert_eq!(told.err, "");
    for part in [
        "Pets 1.10.0: 2 of 3 operations imported into tools\n",
        "  listPets  GET /pets   tools/listPets.json\n",
        "  addPet    POST /pets  tools/addPet.json\n",
        "Not imported\n  GET /pets/{id}: `elsewhere.yaml#/id` points outside the document",
        "is held as 1.2345678901234568e+22 (at /components/schemas/Pet/properties/weight/maximum)",
        "Set where the tools run\n  API_KEY  the key",
        "Next\n  callgate check tools\n",
    ] {
        assert!(told.out.contains(part), "{part}: {}", told.out);
    }
    assert!(!told.out.contains("example)"), "examples are no schemas: {}", told.out);
    let list = contract(dir, "tools/listPets.json");
    assert_eq!(list["version"], "1.10.0");
    assert_eq!(list["annotations"], json!({"readOnly": true, "idempotent": true}));
    assert_eq!(list["backend"]["http"]["headers"]["X-API-Key"], "${API_KEY}");
    assert_eq!(list["output"]["items"]["properties"]["kind"]["enum"], json!(["cat", "dog", "no"]));
    let add = contract(dir, "tools/addPet.json");
    assert_eq!(add["input"]["required"], json!(["name"]));
    assert!(add.get("defer").is_none() && add.get("annotations").is_none(), "{add}");
    let text = fs::read_to_string(dir.join("tools/addPet.json")).unwrap();
    assert!(
        text.ends_with("}\n") && text.contains("\"enum\": [\"cat\", \"dog\", \"no\"]"),
        "{text}"
    );
    // It is what `check` reads.
    callgate(dir, &["check", "tools"]).run().with(0);
    // Readable as other files of the user's are.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |file: &str| fs::metadata(dir.join(file)).unwrap().permissions().mode();
    assert_eq!(mode("tools/addPet.json"), mode("pets.yaml"));
}

#[test]
fn options_of_openapi() {
    let folder = folder(&[("pets.yaml", PETS)]);
    let dir = folder.path();
    let base = ["openapi", "pets.yaml", "--base-url", "${PETS_URL}/v2", "--env-prefix", "PETS"];
    let more = ["--no-output", "--prefix", "pets_", "--out", "a/b", "--json"];
    let report = parsed(&import(dir, &[&base[..], &more].concat()).with(0).out);
    assert_eq!(report["kind"], "openapi");
    assert_eq!((&report["title"], &report["version"]), (&json!("Pets"), &json!("1.10.0")));
    assert_eq!((&report["out"], &report["written"]), (&json!("a/b"), &json!(true)));
    let contracts = report["contracts"].as_array().unwrap();
    let names: Vec<_> =
        contracts.iter().map(|c| (c["name"].as_str(), c["file"].as_str())).collect();
    assert_eq!(
        names,
        [
            (Some("pets_listPets"), Some("a/b/pets_listPets.json")),
            (Some("pets_addPet"), Some("a/b/pets_addPet.json"))
        ]
    );
    assert_eq!(contracts[0]["pointer"], "/paths/~1pets/get");
    assert_eq!(report["skipped"][0]["from"], "GET /pets/{id}");
    let variables: Vec<_> =
        report["environment"].as_array().unwrap().iter().map(|v| &v["name"]).collect();
    assert_eq!(variables, ["PETS_KEY", "PETS_URL"]);
    let list = contract(dir, "a/b/pets_listPets.json");
    assert_eq!(list["name"], "pets_listPets");
    assert_eq!(list["backend"]["http"]["url"], "${PETS_URL}/v2/pets");
    assert!(list.get("output").is_none());
    // Set variables are told as set.
    let report =
        callgate(dir, &["import", "openapi", "pets.yaml", "--json"]).env("API_KEY", "x").run();
    assert_eq!(parsed(&report.with(0).out)["environment"][0]["isSet"], true);
}

#[test]
fn only_what_is_named() {
    let folder = folder(&[("pets.yaml", PETS)]);
    let dir = folder.path();
    for (only, expected) in [
        (&["listPets"][..], &["listPets"][..]),
        (&["GET *"], &["listPets"]),
        (&["/pets"], &["listPets", "addPet"]),
        (&["*Pet"], &["addPet"]),
        (&["POST /pets", "list*"], &["listPets", "addPet"]),
    ] {
        let mut arguments = vec!["openapi", "pets.yaml", "--dry-run", "--json"];
        only.iter().for_each(|only| arguments.extend(["--only", *only]));
        let report = parsed(&import(dir, &arguments).with(0).out);
        let names: Vec<&str> = report["contracts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|contract| contract["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{only:?}");
    }
    // What a path says is meant as it is written, brackets and all.
    import(dir, &["openapi", "pets.yaml", "--only", "/pets/{id}"])
        .with(2)
        .tells_once()
        .says(&["no operation of Pets 1.10.0 could be imported"]);
    for (only, parts) in [
        ("lisPets", &["names no operation", "Did you mean \"listPets\"?"][..]),
        ("zzz*", &["names no operation", "--dry-run"]),
        ("[", &["is no pattern"]),
    ] {
        import(dir, &["openapi", "pets.yaml", "--only", only]).with(2).tells_once().says(parts);
    }
    assert!(!dir.join("tools").exists());
}

#[test]
fn documents_from_standard_input_and_as_json() {
    let folder = folder(&[]);
    let dir = folder.path();
    let json = r#"{"openapi": "3.1.0", "info": {"title": "P", "version": "1"}, "servers": [{"url": "http://h/"}],
        "paths": {"/p": {"get": {"operationId": "p"}}}}"#;
    for text in [PETS, json, &format!("\u{feff}{json}"), &json.replace('\n', "\t")] {
        let ended = callgate(dir, &["import", "openapi", "-", "--dry-run"]).input(text).run();
        ended.with(0);
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let folder = folder(&[
        ("tab.yaml", "openapi: 3.1\ninfo: {a: 1\npaths: {}\n"),
        ("twice.yml", "openapi: 3.1.0\npaths: {}\npaths: {}\n"),
        ("tag.yaml", "openapi: 3.1.0\npaths: !include paths.yaml\n"),
        ("cut.json", "{\"openapi\": \"3.1.0\",\n \"paths\": {"),
        ("old.yaml", "swagger: 2.0\npaths: {}\n"),
        ("text.yaml", "hello"),
        ("empty.yaml", ""),
        ("new.json", "{\"openapi\": \"4.0.0\", \"paths\": {}}"),
        ("none.json", "{\"openapi\": \"3.1.0\", \"info\": {}}"),
    ]);
    let dir = folder.path();
    fs::write(dir.join("latin.yaml"), b"openapi: 3.1.0 # \xe9\n").unwrap();
    for (file, parts) in [
        ("tab.yaml", &["tab.yaml:3:6: ", "read as YAML"][..]),
        ("twice.yml", &["twice.yml:3:", "\"paths\" is there twice"]),
        ("tag.yaml", &["tag.yaml:2:8: ", "!include"]),
        ("cut.json", &["cut.json:2:11: this is no JSON", "as YAML as well"]),
        ("old.yaml", &["old.yaml: this is Swagger 2.0"]),
        ("text.yaml", &["JSON object"]),
        ("empty.yaml", &["JSON object"]),
        ("new.json", &["\"4.0.0\""]),
        ("none.json", &["no `paths`"]),
        ("latin.yaml", &["cannot read latin.yaml", "no UTF-8 text, from byte 17 on"]),
        ("gone.yaml", &["cannot read gone.yaml"]),
        (".", &["cannot read ."]),
    ] {
        let ended = import(dir, &["openapi", file]).with(2).tells_once();
        for part in parts {
            assert!(ended.err.contains(part), "{file}: {part:?} in {}", ended.err);
        }
        let told = import(dir, &["openapi", file, "--json"]).with(2);
        assert!(parsed(&told.err)["error"]["code"].is_string(), "{}", told.err);
    }
    fs::write(dir.join("pets.yaml"), PETS).unwrap();
    import(dir, &["openapi", "pets.yaml", "--base-url", "pets.example"])
        .with(2)
        .tells_once()
        .says(&["--base-url \"pets.example\" is no URL", "https://"]);
    import(dir, &["openapi", "pets.yaml", "--out", "pets.yaml"])
        .with(2)
        .tells_once()
        .says(&["pets.yaml is no folder"]);
    // A name that providers do not take is none.
    let report =
        import(dir, &["openapi", "pets.yaml", "--prefix", "my pets ", "--dry-run", "--json"])
            .with(2);
    let report = parsed(&report.out);
    assert!(
        report["skipped"][0]["why"].as_str().unwrap().contains("which providers do not take"),
        "{report}"
    );
}

#[test]
fn nothing_is_written_over_and_it_is_all_or_nothing() {
    let folder = folder(&[("pets.yaml", PETS)]);
    let dir = folder.path();
    import(dir, &["openapi", "pets.yaml"]).with(0);
    let first = all(dir);
    // Again, it is the same; and so it is in another layout.
    let laid_out = contract(dir, "tools/addPet.json").to_string();
    fs::write(dir.join("tools/addPet.json"), &laid_out).unwrap();
    let again = import(dir, &["openapi", "pets.yaml"]).with(0).out;
    assert_eq!(again.matches("(unchanged)").count(), 2, "{again}");
    assert_eq!(fs::read_to_string(dir.join("tools/addPet.json")).unwrap(), laid_out);

    // A contract that somebody worked on stays, and the other one does not come without it.
    fs::write(dir.join("tools/addPet.json"), "{\"name\": \"mine\"}").unwrap();
    fs::remove_file(dir.join("tools/listPets.json")).unwrap();
    let ended = import(dir, &["openapi", "pets.yaml"]).with(2).tells_once();
    assert_eq!(ended.out, "");
    ended.says(&[
        "nothing was written: a file is there and not the same: tools/addPet.json",
        "--force",
    ]);
    assert!(!dir.join("tools/listPets.json").exists());
    let told = import(dir, &["openapi", "pets.yaml", "--json"]).with(2);
    assert_eq!(parsed(&told.err)["error"]["conflicts"], json!(["tools/addPet.json"]));
    let dry = import(dir, &["openapi", "pets.yaml", "--dry-run"]).with(2);
    assert!(dry.out.contains("tools/addPet.json  (differs)"), "{}", dry.out);
    let dry = import(dir, &["openapi", "pets.yaml", "--dry-run", "--force"]).with(0);
    assert!(dry.out.contains("tools/addPet.json  (written over)"), "{}", dry.out);
    assert_eq!(fs::read_to_string(dir.join("tools/addPet.json")).unwrap(), "{\"name\": \"mine\"}");
    import(dir, &["openapi", "pets.yaml", "--only", "listPets"]).with(0);
    import(dir, &["openapi", "pets.yaml", "--force"]).with(0);
    assert_eq!(all(dir), first, "and nothing else is left behind");
}

#[test]
fn a_name_that_another_contract_has_is_told_before_it_breaks_the_project() {
    let project = Project::new(&json!([])).tool("addPet", "cat", &json!({}));
    fs::rename(project.path("tools/addPet.json"), project.path("tools/mine.json")).unwrap();
    project.write_text("pets.yaml", PETS);
    let dir = project.dir();
    import(dir, &["openapi", "pets.yaml"])
        .with(2)
        .tells_once()
        .says(&["have the same name: addPet (tools/mine.json)", "--prefix"]);
    import(dir, &["openapi", "pets.yaml", "--force"]).with(2);
    assert!(!project.path("tools/listPets.json").exists());
    // Elsewhere it is no harm, and told.
    let away = tempfile::tempdir().unwrap();
    let out = away.path().display().to_string();
    let told = import(dir, &["openapi", "pets.yaml", "--out", &out]).with(0).out;
    assert!(told.contains("addPet is the name of tools/mine.json as well"), "{told}");
    // With other names the project has all three.
    let told = import(dir, &["openapi", "pets.yaml", "--prefix", "crm_"]).with(0).out;
    assert!(!told.contains("agent.json"), "{told}");
    let listed = callgate(dir, &["tools", "list"]).run().with(0).out;
    for name in ["addPet", "crm_addPet", "crm_listPets"] {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name}: {listed}");
    }
    // Where agent.json does not name the files, that is what to do next.
    let told =
        import(dir, &["openapi", "pets.yaml", "--prefix", "x_", "--out", "more"]).with(0).out;
    assert!(told.contains("name them in agent.json: \"tools\": [\"more/*.json\"]"), "{told}");
}

#[test]
fn an_imported_operation_is_called() {
    let server = Server::start(|_, request| {
        if request.line.starts_with("POST") {
            Answer::status(204, &Value::Null)
        } else {
            Answer::json(&json!([{"name": "Rex", "kind": "dog"}]))
        }
    });
    let project = Project::new(&json!([])).with("tools", json!(["tools/*.json"]));
    project.write_text("pets.yaml", PETS);
    let base = format!("{}/v1", server.url);
    import(project.dir(), &["openapi", "pets.yaml", "--base-url", &base]).with(0);
    let call = |name: &str, arguments: &str, code: i32| {
        let all = ["tools", "call", name, arguments, "--json"];
        let ended = callgate(project.dir(), &all).env("API_KEY", "s3cret").run().with(code);
        parsed(&ended.out)
    };
    let envelope = call("listPets", r#"{"limit": 5}"#, 0);
    assert_eq!(envelope["result"], json!([{"name": "Rex", "kind": "dog"}]));
    let seen = server.seen();
    assert_eq!(seen[0].line, "GET /v1/pets?limit=5");
    assert!(
        seen[0].headers.to_ascii_lowercase().contains("x-api-key: s3cret"),
        "{}",
        seen[0].headers
    );
    call("addPet", r#"{"name": "Tom", "kind": "cat"}"#, 0);
    let seen = server.seen();
    assert_eq!(seen[1].line, "POST /v1/pets");
    assert_eq!(seen[1].body, json!({"name": "Tom", "kind": "cat"}));
    // The gate is before the service.
    for (name, arguments) in
        [("listPets", r#"{"limit": 101}"#), ("addPet", r#"{"name": "T", "kind": "cow"}"#)]
    {
        assert_eq!(call(name, arguments, 6)["error"]["kind"], "schema_mismatch");
    }
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn a_servers_tools_become_contracts_in_their_place() {
    let mut odd = tool("odd");
    odd["inputSchema"]["properties"]["to"]["maxLenght"] = json!(3);
    odd["annotations"] = json!({"destructiveHint": true});
    let broken = json!({"name": "broken", "inputSchema": {"type": "objekt"}});
    let project = crate::mcp::project(&[tool("store"), odd, broken]);

    let told = run(&project, &["import", "mcp", "notes"]).with(0).out;
    for part in [
        "the MCP server \"notes\": 2 of 3 tools imported into tools\n",
        "  notes__store  store  tools/notes__store.json\n",
        "Not imported\n  broken: ",
        "  odd: left out: unknown keyword \"maxLenght\"",
        "callgate lock   (pins what \"notes\" tells",
        "name them in agent.json",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!project.path("callgate.lock").exists(), "nothing is accepted by looking");
    let store = contract(project.dir(), "tools/notes__store.json");
    assert_eq!(store["backend"], json!({"mcp": {"server": "notes", "tool": "store"}}));
    assert!(store.get("annotations").is_none() && store.get("tier").is_none(), "{store}");
    let odd = contract(project.dir(), "tools/notes__odd.json");
    assert_eq!(odd["annotations"]["destructive"], true);

    let project = project.with("tools", json!(["tools/*.json"]));
    run(&project, &["lock"]).with(0);
    run(&project, &["check"]).with(0);
    let told = run(&project, &["import", "mcp", "mcp:notes"]).with(0).out;
    assert!(told.contains("(unchanged)") && !told.contains("callgate lock"), "{told}");
    // The contract is what is called, and narrows what the server takes.
    let shown = run(&project, &["tools", "show", "notes__store", "--json"]).with(0);
    assert_eq!(parsed(&shown.out)["description"], "Does store.");
    let calls = lines(&project, "server/calls");
    run(&project, &["tools", "call", "notes__store", r#"{"to": "Ann"}"#]).with(0);
    assert_eq!(lines(&project, "server/calls"), calls + 1);
    let mut narrower = store;
    narrower["input"]["properties"]["to"]["maxLength"] = json!(2);
    project.write("tools/notes__store.json", &narrower);
    run(&project, &["tools", "call", "notes__store", r#"{"to": "Ann"}"#]).with(6);
    assert_eq!(lines(&project, "server/calls"), calls + 1);

    // Several may stand for one tool, and that is told.
    let mut renamed = narrower;
    renamed["name"] = json!("keep");
    project.write("tools/notes__store.json", &renamed);
    let again = ["import", "mcp", "notes", "--only", "store", "--json", "--dry-run", "--force"];
    let report = parsed(&run(&project, &again).with(0).out);
    let note = report["contracts"][0]["notes"][0]["message"].as_str().unwrap().to_owned();
    assert!(
        note.starts_with("tools/notes__store.json stands for it as well, as \"keep\""),
        "{note}"
    );
    fs::remove_file(project.path("tools/notes__store.json")).unwrap();

    // Told where the server is not as it was accepted.
    let mut changed = tool("store");
    changed["description"] = json!("Does store, and more.");
    tells(&project, &[changed, tool("new")]);
    let report =
        run(&project, &["import", "mcp", "notes", "--dry-run", "--force", "--json"]).with(0);
    let report = parsed(&report.out);
    let note =
        |i: usize| report["contracts"][i]["notes"][0]["message"].as_str().unwrap().to_owned();
    assert!(note(0).contains("another than callgate.lock has"), "{report}");
    assert!(note(1).contains("not in callgate.lock yet"), "{report}");
}

#[test]
fn kept_lists_and_locks_say_the_same_as_the_server() {
    let project = crate::mcp::project(&[tool("store"), tool("read")]);
    run(&project, &["lock"]).with(0);
    run(&project, &["import", "mcp", "notes", "--out", "live"]).with(0);
    let starts = lines(&project, "server/starts");
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool("store"), tool("read")]}});
    project.write("list.json", &list);
    run(&project, &["import", "mcp", "callgate.lock", "--out", "locked"]).with(0);
    run(&project, &["import", "mcp", "list.json", "--server", "notes", "--out", "listed"]).with(0);
    let input =
        callgate(project.dir(), &["import", "mcp", "-", "--server", "notes", "--out", "piped"]);
    input.input(&list.to_string()).run().with(0);
    assert_eq!(lines(&project, "server/starts"), starts, "nothing is started for these");
    let texts = |folder: &str| {
        all(&project.path(folder)).into_iter().map(|(_, text)| text).collect::<Vec<_>>()
    };
    assert_eq!(texts("live").len(), 2);
    for folder in ["locked", "listed", "piped"] {
        assert_eq!(texts(folder), texts("live"), "{folder}");
    }
    // Without a server nobody does the work, and that is said.
    let told = run(&project, &["import", "mcp", "list.json", "--out", "bare"]).with(0).out;
    assert!(told.contains("--server NAME") && told.contains("bare/store.json"), "{told}");
    assert!(contract(project.dir(), "bare/store.json").get("backend").is_none());
    let told = run(&project, &["import", "mcp", "list.json", "--server", "other", "--dry-run"])
        .with(0)
        .out;
    assert!(told.contains("declare the server \"other\" under mcpServers"), "{told}");
    let only = ["import", "mcp", "callgate.lock", "--only", "notes__re*", "--dry-run", "--json"];
    let report = parsed(&run(&project, &only).with(0).out);
    assert_eq!(report["contracts"].as_array().unwrap().len(), 1);

    project.write_text("no.json", "{}");
    project.write("openai.json", &json!([{"type": "function", "name": "a"}]));
    for (arguments, code, parts) in [
        (&["notez"][..], 2, &["no MCP server \"notez\"", "no file either"][..]),
        (&["gone.json"], 2, &["cannot read gone.json"]),
        (&["no.json"], 2, &["no tools in it"]),
        (&["openai.json"], 2, &["is no tool of an MCP server", "callgate import openai"]),
        (&["callgate.lock", "--server", "x"], 2, &["nothing of a server \"x\"", "notes"]),
        (&["notes", "--server", "x"], 2, &["--server"]),
    ] {
        let ended = run(&project, &[&["import", "mcp"], arguments].concat());
        ended.with(code).tells_once().says(parts);
    }
    let lock = fs::read_to_string(project.path("callgate.lock")).unwrap();
    project.write_text("callgate.lock", &lock.replace("Does read", "Does more"));
    run(&project, &["import", "mcp", "callgate.lock"]).with(2);
}

#[test]
fn a_server_that_cannot_be_asked() {
    let project = Project::new(&json!([]))
        .with("mcpServers", json!({"gone": {"command": "no-such-program-of-ours"}}));
    run(&project, &["import", "mcp", "gone"]).with(6).tells_once().says(&["gone"]);
    assert!(!project.path("tools").exists());
}

/// The real tools of public servers: every one becomes a contract that loads.
#[test]
fn every_real_tool() {
    let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/mcp-tools");
    if !lists.is_dir() {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "{} is missing", lists.display());
        eprintln!("skipped: {} is not there", lists.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for list in fs::read_dir(lists).unwrap() {
        let list = list.unwrap().path();
        let name = list.file_stem().unwrap().to_str().unwrap();
        let out = format!("out/{name}");
        let file = list.display().to_string();
        let arguments = ["mcp", &file, "--server", name, "--out", &out, "--json"];
        let report = parsed(&import(folder.path(), &arguments).with(0).out);
        assert_eq!(report["skipped"], json!([]), "{name}");
        count += report["contracts"].as_array().unwrap().len();
        let checked = callgate(folder.path(), &["check", &out, "--json"]).run();
        assert_eq!(parsed(&checked.out)["mistakes"], json!([]), "{name}");
    }
    assert_eq!(count, 166);
}

#[test]
fn tools_of_requests_there_and_back() {
    // What every provider can be told.
    let input = json!({"type": "object", "properties": {"x": {"type": "string", "enum": ["a", "b"]}},
        "required": ["x"], "additionalProperties": false});
    let plain =
        |description: &str| json!({"annotations": {}, "input": input, "description": description});
    let project = Project::new(&json!([])).tool("search", "cat", &plain("Searches, always.")).tool(
        "add",
        "cat",
        &plain("Adds."),
    );
    let dir = project.dir();
    for (to, verb) in [
        ("openai", "openai"),
        ("openai-responses", "openai"),
        ("anthropic", "anthropic"),
        ("gemini", "gemini"),
        ("mcp", "mcp"),
    ] {
        let tools = callgate(dir, &["export", "--to", to]).run().with(0).out;
        let out = format!("from-{to}");
        let ended = callgate(dir, &["import", verb, "-", "--out", &out]).input(&tools).run();
        let told = ended.with(0).out;
        assert!(told.contains("2 of 2 tools imported"), "{to}: {told}");
        assert!(contract(dir, &format!("{out}/add.json")).get("backend").is_none(), "{to}");
        callgate(dir, &["compat", "tools", &out, "--max", "none"]).run().with(0);
        // A whole request is read as well, and one tool.
        let list = parsed(&tools);
        let request = if to == "mcp" { list.clone() } else { json!({"model": "m", "tools": list}) };
        project.write("request.json", &request);
        let told = import(dir, &[verb, "request.json", "--out", &out]).with(0).out;
        assert_eq!(told.matches("(unchanged)").count(), 2, "{to}: {told}");
        let one = callgate(dir, &["export", "add", "--to", to]).run().with(0).out;
        let ended = callgate(dir, &["import", verb, "-", "--out", &out]).input(&one).run();
        assert_eq!(ended.with(0).out.matches("(unchanged)").count(), 1, "{to}");
    }
}

#[test]
fn a_contract_without_a_backend_says_so_wherever_it_would_run() {
    let project = Project::new(&json!([])).with("tools", json!(["tools/*.json"]));
    let dir = project.dir();
    let definition = json!([{"name": "crm.search", "description": "Searches.", "input_schema":
        {"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": false}}]);
    project.write("tools-of-claude.json", &definition);
    let told = import(dir, &["anthropic", "tools-of-claude.json"]).with(0).out;
    assert!(told.contains("Next\n  give each contract a backend"), "{told}");
    for arguments in [&["check"][..], &["check", "tools"]] {
        let out = callgate(dir, arguments).run().with(2).out;
        assert!(
            out.contains("tools/crm.search.json:1:1: nobody does the work of this tool"),
            "{out}"
        );
    }
    callgate(dir, &["tools", "call", "crm.search"])
        .run()
        .with(2)
        .tells_once()
        .says(&["nobody does the work"]);
    // Nothing but running needs one.
    callgate(dir, &["test", "--from", "tools"]).run().with(0);
    callgate(dir, &["export", "--from", "tools", "--to", "typescript"]).run().with(0);
    callgate(dir, &["compat", "tools", "tools-of-claude.json", "--max", "none"]).run().with(0);

    // With one it runs at once.
    let backend = r#"{"command": ["sh", "-c", "echo \"{\\\"ran\\\": \\\"$TOOL\\\"}\""]}"#;
    import(dir, &["anthropic", "tools-of-claude.json", "--backend", backend]).with(2);
    import(dir, &["anthropic", "tools-of-claude.json", "--backend", backend, "--force"]).with(0);
    let ended = callgate(dir, &["tools", "call", "crm.search", "{}", "--json"]).run().with(0);
    assert_eq!(parsed(&ended.out)["result"]["ran"], "crm.search");
    project.write_text("backend.json", backend);
    import(dir, &["anthropic", "tools-of-claude.json", "--backend", "@backend.json"]).with(0);
    for (backend, part) in [
        ("{", "it is no JSON"),
        ("[]", "is an object"),
        ("{}", "a backend is one of"),
        (r#"{"comand": ["x"]}"#, "did you mean `command`"),
        (r#"{"command": []}"#, "needs a program"),
        ("@gone.json", "cannot read gone.json"),
    ] {
        import(dir, &["anthropic", "tools-of-claude.json", "--backend", backend])
            .with(2)
            .tells_once()
            .says(&[part]);
    }
}

#[test]
fn what_is_wrong_with_a_tool_costs_no_other() {
    let text = r#"{"model": "m", "messages": [], "tools": [
        {"type": "function", "function": {"name": "good", "parameters": {"type": "object", "properties": {"n": {"const": 12345678901234567890123}}}}},
        {"type": "function", "function": {"name": "good"}},
        {"type": "function", "function": {"parameters": {}}},
        {"type": "function", "function": {"name": "bad", "parameters": {"type": "objekt"}}},
        {"type": "function", "name": "flat", "description": "Takes nothing."},
        {"type": "function", "function": {"name": "../../up", "description": "\u200bx"}},
        {"type": "web_search"}
    ]}"#;
    let folder = folder(&[("request.json", text)]);
    let report = import(folder.path(), &["openai", "request.json", "--json"]).with(0);
    let report = parsed(&report.out);
    let files: Vec<&str> = report["contracts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["file"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["tools/good.json", "tools/flat.json", "tools/_._.._up.json"]);
    let skipped: Vec<(&str, &str)> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["from"].as_str().unwrap(), s["pointer"].as_str().unwrap()))
        .collect();
    assert_eq!(
        skipped,
        [
            ("good", "/tools/1"),
            ("(no name)", "/tools/2"),
            ("bad", "/tools/3"),
            ("web_search", "/tools/6")
        ]
    );
    let good = fs::read_to_string(folder.path().join("tools/good.json")).unwrap();
    assert!(good.contains("\"const\": 12345678901234567890123"), "every digit: {good}");
    let up = fs::read_to_string(folder.path().join("tools/_._.._up.json")).unwrap();
    assert!(up.contains("\\u200bx"), "what hides is shown: {up}");

    for (file, text, verb, parts) in [
        (
            "a.json",
            r#"[{"name": "a", "input_schema": {}}]"#,
            "openai",
            &["as anthropic takes it", "callgate import anthropic"][..],
        ),
        ("b.json", r#"{"name": "a", "input": {}}"#, "openai", &["is a contract already"]),
        ("c.json", r#"{"tools": 1}"#, "gemini", &["no tools in it"]),
        ("d.json", "[1", "openai", &["d.json:1:"]),
        (
            "e.json",
            r#"[{"type": "web_search"}]"#,
            "openai",
            &["no tool of e.json could be imported"],
        ),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
        import(folder.path(), &[verb, file]).with(2).tells_once().says(parts);
    }
    // Among others of its kind, a tool in another form costs only itself.
    let mixed = r#"[{"type": "function", "name": "a"}, {"name": "b", "input_schema": {}}]"#;
    fs::write(folder.path().join("g.json"), mixed).unwrap();
    let report = parsed(&import(folder.path(), &["openai", "g.json", "--json"]).with(0).out);
    assert_eq!(report["contracts"][0]["name"], "a");
    assert!(report["skipped"][0]["why"].as_str().unwrap().contains("callgate import anthropic"));
    // An empty list is no mistake.
    fs::write(folder.path().join("f.json"), "[]").unwrap();
    let told = import(folder.path(), &["openai", "f.json"]).with(0).out;
    assert!(told.contains("0 of 0 tools imported"), "{told}");
}
