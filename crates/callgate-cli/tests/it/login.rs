//! `callgate mcp login` and `logout`: from the first refusal to a call that the login allows.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate, until},
    project::{Project, says},
};

/// The shop, ended with the test.
struct Shop {
    child: Child,
    base: String,
}

impl Shop {
    fn open() -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", include_str!("shop.py")]).stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut base = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut base).unwrap();
        Self { child, base: base.trim_end().to_owned() }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a browser does: GET, and the head of the answer.
fn get(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Logs in as a person does: reads the link, opens it, is led back.
fn login(project: &Project, more: &[&str]) -> (Ended, String) {
    let told = project.path("told");
    let arguments = [&["mcp", "login", "shop"], more].concat();
    let mut binary = callgate(project.dir(), &arguments);
    binary.command.stderr(File::create(&told).unwrap());
    let running = binary.start();
    let page = until("the link", || {
        let told = fs::read_to_string(&told).unwrap();
        let start = told.find("http://127.0.0.1:").filter(|_| told.contains("/authorize?"))?;
        let page: String =
            told[start..].chars().take_while(|c| !c.is_whitespace() && *c != '"').collect();
        told[start..].contains(['\n', '"']).then_some(page)
    });
    let answer = get(&page);
    let back = answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    assert!(get(back).contains("this window can be closed"));
    (running.ended(), fs::read_to_string(&told).unwrap())
}

fn run(project: &Project, arguments: &[&str]) -> Ended {
    let ended = callgate(project.dir(), arguments).run();
    assert!(!(ended.out.clone() + &ended.err).contains("secret-"), "{ended:?}");
    ended
}

#[test]
fn a_login_is_made_kept_widened_and_forgotten() {
    let shop = Shop::open();
    let servers = json!({"shop": {"type": "http", "url": format!("{}/mcp", shop.base)}});
    let project = Project::new(&json!([says("Done.")])).with("mcpServers", servers);
    let wanted = "run `callgate mcp login shop --scope \"read\"`";

    // Nobody is sent to a browser by anything else.
    run(&project, &["mcp", "ping", "shop"]).with(6).says(&[wanted]).tells_once();

    let (ended, _) = login(&project, &[]);
    let ended = ended.with(0);
    assert_eq!(
        ended.out.trim_end(),
        format!("logged in at shop, by {}, for read (until it expires)", shop.base)
    );
    let folder = project.path(".config/callgate/oauth");
    let kept = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(kept.path()).unwrap().contains("secret-0"));

    // What it allows, and what it does not.
    run(&project, &["mcp", "ping", "shop"]).with(0);
    let read = run(&project, &["mcp", "call", "shop", "read"]).with(0);
    assert!(read.out.contains("read done"), "{}", read.out);
    run(&project, &["mcp", "call", "shop", "read", "--json"]).with(0);
    let refused = run(&project, &["mcp", "call", "shop", "write"]).with(6);
    let envelope: Value = serde_json::from_str(refused.out.trim_end()).unwrap();
    let message = envelope["error"]["message"].as_str().unwrap();
    assert!(message.contains("callgate mcp login shop --scope \"write\""), "{message}");
    assert_eq!(envelope["error"]["executed"], json!(false), "{envelope}");

    let (ended, told) = login(&project, &["--scope", "write", "--json"]);
    let came: Value = serde_json::from_str(ended.with(0).out.trim_end()).unwrap();
    assert_eq!(came["scopes"], json!(["read", "write"]), "{came}");
    let notice: Value = serde_json::from_str(told.trim_end()).unwrap();
    assert_eq!(notice["notice"]["code"], "login", "{told}");
    run(&project, &["mcp", "call", "shop", "write"]).with(0);

    let forgotten = run(&project, &["mcp", "logout", "shop"]).with(0);
    assert!(forgotten.out.contains("is forgotten here"), "{}", forgotten.out);
    assert!(run(&project, &["mcp", "logout", "shop"]).with(0).out.contains("there was no login"));
    run(&project, &["mcp", "ping", "shop"]).with(6).says(&[wanted]);
}

#[test]
fn where_nobody_can_log_in() {
    let servers = json!({
        "program": {"command": "true"},
        "own": {"url": "https://h.example/", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "unset": {"url": "https://${NOWHERE}/"},
    });
    let project = Project::new(&json!([says("Done.")])).with("mcpServers", servers);
    for server in ["program", "own"] {
        let ended = run(&project, &["mcp", "login", server]).with(2).tells_once();
        ended.says(&[&format!("no login at the MCP server \"{server}\""), "\"url\""]);
    }
    run(&project, &["mcp", "login", "unset"]).with(2).says(&["NOWHERE is not set"]).tells_once();
    run(&project, &["mcp", "login", "other"]).with(2).says(&["no MCP server \"other\""]);
}

#[test]
fn nobody_comes_back() {
    let shop = Shop::open();
    let servers = json!({"shop": {"type": "http", "url": format!("{}/mcp", shop.base)}});
    let project = Project::new(&json!([says("Done.")])).with("mcpServers", servers);
    run(&project, &["mcp", "login", "shop", "--wait", "1"])
        .with(6)
        .says(&["/authorize?", "nobody came back from the login page within 1 s"]);
}
