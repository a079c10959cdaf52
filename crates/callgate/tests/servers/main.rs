//! Projects with MCP servers, as far as no server is started: what the lock makes of them.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic as its body may")]

use std::{fs, path::Path, time::Instant};

use callgate::{
    Error, Project,
    backend::{
        lock::Lock,
        mcp::{Listing, RawTool, State},
    },
    contract::{
        Mistake,
        tier::{Tier, TierPolicy},
    },
};
use serde_json::{Value, json};

/// A project's files in a temporary folder.
struct Files(tempfile::TempDir);

impl Files {
    /// With these servers in agent.json. The program of a server is not there: whoever starts one
    /// fails.
    fn new(servers: &Value) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write("agent.json", &json!({"name": "a", "tools": [], "mcpServers": servers}))
    }

    fn dir(&self) -> &Path {
        self.0.path()
    }

    fn write(self, name: &str, value: &Value) -> Self {
        let path = self.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{value:#}")).unwrap();
        self
    }

    /// Adds a contract for a tool of a server.
    fn contract(self, name: &str, server: &str, tool: &str, more: &Value) -> Self {
        let mut file = json!({"name": name, "input": input(10), "backend": {"mcp": {"server": server, "tool": tool}}});
        for (member, value) in more.as_object().unwrap() {
            file[member] = value.clone();
        }
        let text = fs::read_to_string(self.dir().join("agent.json")).unwrap();
        let mut agent: Value = serde_json::from_str(&text).unwrap();
        agent["tools"] = json!(["tools/*.json"]);
        self.write("agent.json", &agent).write(&format!("tools/{name}.json"), &file)
    }

    /// Pins tools of a server.
    fn pin(self, server: &str, tools: &[Value]) -> Self {
        let mut lock = Lock::load(self.dir()).unwrap();
        lock.accept(server, &listing(tools));
        lock.save(self.dir()).unwrap();
        self
    }

    fn open(&self) -> Result<Project, Error> {
        Project::open(self.dir())
    }

    fn mistakes(&self) -> Vec<Mistake> {
        match self.open() {
            Err(Error::Contracts(mistakes)) => mistakes,
            Err(other) => panic!("{other}"),
            Ok(project) => panic!("opened with {:?}", project.catalog().names()),
        }
    }
}

fn listing(tools: &[Value]) -> Listing {
    let raw = |tool: &Value| RawTool {
        name: tool["name"].as_str().unwrap().into(),
        definition: tool.to_string().into(),
    };
    Listing {
        tools: tools.iter().map(raw).collect(),
        faults: Vec::new(),
        revision: 1,
        ttl: None,
        read: Instant::now(),
    }
}

fn input(longest: u32) -> Value {
    json!({"type": "object", "properties": {"to": {"type": "string", "maxLength": longest}},
           "required": ["to"], "additionalProperties": false})
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": input(10), "annotations": {"readOnlyHint": true}})
}

fn nowhere() -> Value {
    json!({"command": "/nowhere/no-such-program", "timeout": 5000})
}

#[test]
fn the_catalog_comes_from_the_lock_and_nothing_is_started() {
    let project = Files::new(&json!({"s": nowhere(), "off": {"command": "x", "disabled": true}}))
        .write(
            ".mcp.json",
            &json!({"mcpServers": {"web": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}),
        )
        .pin("s", &[tool("b"), tool("a.dotted")])
        .pin("off", &[tool("hidden")])
        .pin("web", &[tool("a")])
        .pin("gone", &[tool("x")])
        .open()
        .unwrap();
    let names = project.catalog().names();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.contains(&"s__b") && names.contains(&"web__a"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("s__a_dotted_")), "{names:?}");
    let tool = project.catalog().get("s__b").unwrap();
    assert_eq!((tool.timeout.as_millis(), tool.annotations.read_only), (5000, true));
    assert!(tool.source.ends_with("callgate.lock"), "{}", tool.source);
    assert!(project.backend("s__b").is_some() && project.unpinned().is_empty());
    let servers: Vec<(&str, bool)> =
        project.servers().iter().map(|s| (&**s.name(), s.is_disabled())).collect();
    assert_eq!(servers, [("s", false), ("off", true), ("web", false)]);
    for server in project.servers() {
        assert_eq!(server.client().health().state, State::NotStarted, "{server:?}");
    }
}

#[test]
fn a_server_that_was_never_pinned_has_no_tools() {
    let files = Files::new(&json!({"s": nowhere()})).contract("store", "s", "store", &json!({}));
    let project = files.open().unwrap();
    assert!(project.catalog().is_empty());
    assert_eq!(project.unpinned().len(), 1);
    // Its contract cannot be judged yet, and says so to whoever checks.
    let unjudged: Vec<&Mistake> = project.unjudged().collect();
    let [waiting] = unjudged.as_slice() else { panic!("{unjudged:?}") };
    assert!(waiting.to_string().contains("not pinned yet"), "{waiting}");
    assert_eq!(waiting.pointer, "/backend/mcp/server");
}

#[test]
fn a_local_contract_replaces_what_it_narrows() {
    let rules = json!({"rules": [{"id": "short", "check": "size(input.to) < 5", "message": "too long"}],
        "tier": "approve", "input": input(8), "description": "Mine."});
    let project = Files::new(&json!({"s": nowhere()}))
        .pin("s", &[tool("store"), tool("read")])
        .contract("store", "s", "store", &rules)
        .open()
        .unwrap();
    assert_eq!(project.catalog().names(), ["s__read", "store"]);
    let store = project.catalog().get("store").unwrap();
    assert!(matches!(store.tier, TierPolicy::Always(Tier::Approve)));
    assert_eq!((store.rules.len(), &*store.description), (1, "Mine."));
    // From the pinned definition, where the file is silent.
    assert!(store.annotations.read_only && store.timeout.as_millis() == 5000);
    assert!(project.backend("store").is_some() && project.waiting().next().is_none());
}

#[test]
fn what_a_local_contract_may_not() {
    let files = || {
        Files::new(&json!({"store-server": nowhere(), "off": {"command": "x", "disabled": true}}))
            .pin("store-server", &[tool("store")])
    };
    for (server, name, more, pointer, words) in [
        (
            "store-server",
            "store",
            json!({"input": input(20)}),
            "/input",
            "such as {\"to\":\"xxxxxxxxxxx",
        ),
        ("store-server", "store", json!({"input": {"type": "object"}}), "/input", "never widen"),
        ("store-server", "stor", json!({}), "/backend/mcp/tool", "did you mean `store`?"),
        ("stor-server", "store", json!({}), "/backend/mcp/server", "did you mean `store-server`?"),
        (
            "store-server",
            "store",
            json!({"backend": {"mcp": {"server": "store-server"}}}),
            "/backend/mcp",
            "missing field `tool`",
        ),
    ] {
        let files = files().contract("mine", server, name, &more);
        let mistakes = files.mistakes();
        let found = mistakes.iter().find(|m| m.pointer == pointer);
        let found = found.unwrap_or_else(|| panic!("{more}: {mistakes:?}")).to_string();
        assert!(found.contains(words) && found.contains("tools/mine.json:"), "{found}");
    }
    // One for a disabled server is right, and not in use.
    let project = files().contract("mine", "off", "x", &json!({})).open().unwrap();
    assert_eq!(project.catalog().names(), ["store-server__store"]);
    assert!(project.waiting().next().unwrap().to_string().contains("disabled"));
    assert!(project.unjudged().next().is_none());
}

#[test]
fn names_are_nobodys_twice() {
    // A local tool that bears the name that a discovered one would have.
    let local =
        json!({"name": "s__store", "input": {"type": "object"}, "backend": {"command": ["cat"]}});
    let files = Files::new(&json!({"s": nowhere()})).pin("s", &[tool("store")]);
    let files = files.contract("x", "s", "store", &json!({})).write("tools/x.json", &local);
    let project = files.open().unwrap();
    let names = project.catalog().names();
    assert_eq!((names.len(), names[0]), (2, "s__store"), "{names:?}");
    assert!(names[1].starts_with("s__store_"), "{names:?}");
    assert!(project.catalog().get("s__store").unwrap().backend.contains_key("command"));
    // A rule may look something up with a discovered tool.
    let asks = json!({"rules": [{"id": "r", "message": "no", "lookup": {"tool": names[1], "input": {"to": "{to}"}}}]});
    let files = files.contract("y", "s", "store", &asks);
    let found = files.mistakes();
    // It replaces that very tool, so there is none to look up with.
    assert!(found[0].to_string().contains("no tool"), "{found:?}");
    let other = json!({"name": "z", "input": input(10), "backend": {"command": ["cat"]}, "rules": asks["rules"]});
    let files = Files(files.0).write("tools/z.json", &other);
    fs::remove_file(files.dir().join("tools/y.json")).unwrap();
    assert_eq!(files.open().unwrap().catalog().len(), 3);
}

#[test]
fn mistakes_of_servers_and_of_the_lock_are_told_with_the_others() {
    let files = Files::new(
        &json!({"a": {"comand": "x"}, "b": {"type": "sse", "url": "http://h/"}, "c": nowhere()}),
    )
    .write(".mcp.json", &json!({"mcpServers": {"c": {"command": "y"}}}))
    .write("callgate.lock", &json!({"version": 7}));
    let found: Vec<String> = files.mistakes().iter().map(ToString::to_string).collect();
    for words in [
        "agent.json:",
        "Did you mean \"command\"?",
        "HTTP+SSE",
        "the server \"c\" is in",
        "callgate.lock:2:",
        "the lock has version 7",
    ] {
        assert!(found.iter().any(|told| told.contains(words)), "no {words:?} in {found:#?}");
    }
}

#[test]
fn a_contract_judged_by_itself_needs_no_server() {
    let files = Files::new(&json!({})).contract("mine", "s", "store", &json!({}));
    let path = files.dir().join("tools/mine.json");
    assert_eq!(Project::check(&[path]).unwrap().names(), ["mine"]);
}

#[test]
fn a_journal_keeps_discovered_tools_as_they_are() {
    // A keyword that only its server knows, however like a slip of ours.
    let mut odd = tool("odd");
    odd["inputSchema"]["requird"] = json!(["x"]);
    let project = Files::new(&json!({"s": nowhere()})).pin("s", &[odd]).open().unwrap();
    let text = project.catalog().to_text();
    let again = callgate::contract::Catalog::from_text("journal", &text).unwrap();
    assert_eq!(again.to_text(), text);
    assert_eq!(
        again.get("s__odd").unwrap().fingerprint(),
        project.catalog().get("s__odd").unwrap().fingerprint()
    );
}
