//! `mcpServers` as people write them, in `agent.json` and in `.mcp.json`.
//!
//! The form is the one that Claude Code, Cursor, VS Code and others share:
//!
//! | member | meaning |
//! |---|---|
//! | `command`, `args`, `env`, `cwd` | a program that speaks over stdin and stdout (`type: "stdio"`) |
//! | `url`, `headers` | Streamable HTTP (`type: "http"` or `"streamable-http"`) |
//! | `oauth` | what the server's authorization needs |
//! | `disabled` | not offered, not started |
//! | `timeout` | how long a call may take, in milliseconds |
//!
//! and of our own `startupTimeout` (milliseconds until the first answer) and `era` (`auto`,
//! `legacy`, `modern`: which protocol to speak). Members that other programs keep there and that
//! promise nothing (`description`, `alwaysAllow`, …) are passed over; any other is a mistake, since
//! whoever wrote `includeTools` would believe that it held.
//!
//! `${VAR}` and `${VAR:-default}` stand in `command`, `args`, `env`, `url` and `headers`; they are
//! looked up when the server is started.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use callgate_contract::{
    Mistake,
    catalog::Source,
    document::{Kind, NodeRef},
};

use super::{Lifecycle, OAuthSettings, ServerConfig, Timeouts, Transport, oauth};
use crate::{
    registry::{nearest, pointer_to},
    template::Template,
};

/// A server as a file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// How it is reached.
    pub config: ServerConfig,
    /// `disabled`: it is neither offered nor started.
    pub is_disabled: bool,
    /// `timeout`: how long a call may take, where the file says so.
    pub timeout: Option<Duration>,
    /// `oauth`: what an HTTP server's authorization needs.
    pub oauth: Option<OAuthSettings>,
    /// Where it stands, for mistakes that are found later; without a message.
    pub place: Mistake,
}

/// The servers of a file, and what is wrong with the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServersFile {
    /// Servers in the file's order.
    pub servers: Vec<Declared>,
    /// Every mistake, with its place.
    pub mistakes: Vec<Mistake>,
}

/// The members of a server.
const KNOWN: [&str; 12] = [
    "args",
    "command",
    "cwd",
    "disabled",
    "env",
    "era",
    "headers",
    "oauth",
    "startupTimeout",
    "timeout",
    "type",
    "url",
];

/// What other programs keep beside them, and what would not change who is called, with what, or
/// what is offered.
const PASSED_OVER: [&str; 12] = [
    "$schema",
    "alwaysAllow",
    "author",
    "autoApprove",
    "comment",
    "description",
    "gallery",
    "icon",
    "name",
    "note",
    "trust",
    "version",
];

impl ServersFile {
    /// Reads a `.mcp.json`: an object with `mcpServers`. Relative folders start at `base_dir`.
    pub fn read(file: &str, text: &str, base_dir: &Path) -> Self {
        let source = match Source::parse(file, text) {
            Ok(source) => source,
            Err(mistake) => return Self { servers: Vec::new(), mistakes: vec![mistake] },
        };
        let root = source.doc.root();
        let mut read = Reader::new(&source, base_dir);
        if root.kind() != Kind::Object {
            read.wrong("", "expected an object with \"mcpServers\"".to_owned(), None);
            return read.found;
        }
        for (name, _) in root.members() {
            let hint = match name {
                "mcpServers" | "$schema" => continue,
                // VS Code's own file.
                "servers" => Some("Here they stand under \"mcpServers\".".to_owned()),
                other => {
                    nearest(other, ["mcpServers"]).map(|near| format!("Did you mean \"{near}\"?"))
                }
            };
            let message = format!("unknown field \"{name}\"");
            read.wrong(
                &pointer_to(name),
                message,
                hint.or(Some("Known is: mcpServers.".to_owned())),
            );
        }
        read.servers("/mcpServers");
        read.found
    }

    /// Reads the `mcpServers` that stand at a pointer of a larger file; none where there are none.
    pub fn read_at(source: &Source<'_>, pointer: &str, base_dir: &Path) -> Self {
        let mut read = Reader::new(source, base_dir);
        read.servers(pointer);
        read.found
    }
}

struct Reader<'s, 't> {
    source: &'s Source<'t>,
    base_dir: PathBuf,
    found: ServersFile,
}

impl<'s, 't> Reader<'s, 't> {
    fn new(source: &'s Source<'t>, base_dir: &Path) -> Self {
        // A relative folder means another one after a change of directory.
        let base_dir = std::path::absolute(base_dir).unwrap_or_else(|_| base_dir.to_owned());
        Self { source, base_dir, found: ServersFile::default() }
    }

    fn wrong(&mut self, pointer: &str, message: String, hint: Option<String>) {
        self.found.mistakes.push(self.source.mistake(pointer, message, hint));
    }

    fn servers(&mut self, pointer: &str) {
        let source = self.source;
        let Some(map) = source.doc.pointer(pointer) else { return };
        if map.kind() != Kind::Object {
            let message = format!("expected an object from names to servers, not {}", told(map));
            return self.wrong(pointer, message, None);
        }
        for (name, server) in map.members() {
            let at = format!("{pointer}{}", pointer_to(name));
            let before = self.found.mistakes.len();
            let declared = self.server(name, server, &at);
            if let Some(declared) = declared
                && self.found.mistakes.len() == before
            {
                self.found.servers.push(declared);
            }
        }
    }

    fn server(&mut self, name: &str, server: NodeRef<'_>, at: &str) -> Option<Declared> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.wrong(at, format!("{name:?} is no name for a server"), None);
        }
        if server.kind() != Kind::Object {
            let message = format!("a server is an object, not {}", told(server));
            let hint = "Write {\"command\": …, \"args\": […]} or {\"type\": \"http\", \"url\": …}.";
            self.wrong(at, message, Some(hint.to_owned()));
            return None;
        }
        self.fields(server, at);
        let transport = self.transport(server, at);
        let is_disabled = self.yes_or_no(server, at, "disabled").unwrap_or(false);
        let timeout = self.milliseconds(server, at, "timeout");
        let start = self.milliseconds(server, at, "startupTimeout");
        let lifecycle = self.lifecycle(server, at);
        let usual = Timeouts::default();
        let timeouts = Timeouts {
            start: start.unwrap_or(usual.start),
            idle: timeout.unwrap_or(usual.idle),
            max: usual.max.max(timeout.unwrap_or_default()),
        };
        let oauth = server.get("oauth").and_then(|node| {
            let read = OAuthSettings::read(&node.to_value());
            let wrong = |fault: oauth::Fault| {
                self.wrong(&format!("{at}/oauth{}", fault.pointer), fault.message, fault.hint);
            };
            read.map_err(wrong).ok()
        });
        let config = ServerConfig { name: name.into(), transport: transport?, timeouts, lifecycle };
        let place = self.source.mistake(at, String::new(), None);
        Some(Declared { config, is_disabled, timeout, oauth, place })
    }

    fn fields(&mut self, server: NodeRef<'_>, at: &str) {
        for (field, _) in server.members() {
            if KNOWN.contains(&field) || PASSED_OVER.contains(&field) {
                continue;
            }
            let hint = match field {
                "httpUrl" | "serverUrl" | "uri" | "endpoint" => "Write \"url\".".to_owned(),
                "transport" | "transportType" => "Write \"type\".".to_owned(),
                "enabled" => {
                    "Write \"disabled\": true for a server that is not to be used.".to_owned()
                }
                "environment" => "Write \"env\".".to_owned(),
                _ => match nearest(field, KNOWN) {
                    Some(near) => format!("Did you mean \"{near}\"?"),
                    None => format!("Known are: {}.", KNOWN.join(", ")),
                },
            };
            let pointer = format!("{at}{}", pointer_to(field));
            self.wrong(&pointer, format!("unknown field \"{field}\""), Some(hint));
        }
    }

    fn transport(&mut self, server: NodeRef<'_>, at: &str) -> Option<Transport> {
        let has = |name| server.get(name).is_some();
        let kind = match server.get("type").map(|node| (node.string(), node)) {
            None if has("command") && has("url") => {
                let message = "a server has either \"command\" or \"url\"".to_owned();
                self.wrong(at, message, Some("Take one of them out.".to_owned()));
                return None;
            }
            None if has("url") => Wire::Http,
            None if has("command") => Wire::Stdio,
            None => {
                let message = "the server has neither \"command\" nor \"url\"".to_owned();
                let hint = "A program needs \"command\", an HTTP server \"url\".";
                self.wrong(at, message, Some(hint.to_owned()));
                return None;
            }
            Some((Some("stdio"), _)) => Wire::Stdio,
            Some((Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), _)) => {
                Wire::Http
            }
            Some((Some("sse"), _)) => {
                let message = "the transport HTTP+SSE of 2024-11-05 is not supported".to_owned();
                let hint = "Write \"type\": \"http\" with the server's Streamable HTTP address, often /mcp in the place of /sse.";
                self.wrong(&format!("{at}/type"), message, Some(hint.to_owned()));
                return None;
            }
            Some((_, node)) => {
                let message = format!("{} is no transport", told(node));
                let hint =
                    "The transports are \"stdio\" and \"http\" (also written \"streamable-http\").";
                self.wrong(&format!("{at}/type"), message, Some(hint.to_owned()));
                return None;
            }
        };
        let (needs, strange): (&str, &[&str]) = match kind {
            Wire::Stdio => ("command", &["url", "headers", "oauth"]),
            Wire::Http => ("url", &["command", "args", "env", "cwd"]),
        };
        for field in strange.iter().filter(|field| has(field)) {
            let message = format!("\"{field}\" means nothing for a server with \"{needs}\"");
            self.wrong(&format!("{at}/{field}"), message, Some("Take it out.".to_owned()));
        }
        match kind {
            Wire::Stdio => self.stdio(server, at),
            Wire::Http => self.http(server, at),
        }
    }

    fn stdio(&mut self, server: NodeRef<'_>, at: &str) -> Option<Transport> {
        let command = self.text(server, at, "command", true);
        let args = self.texts(server, at, "args");
        let env = self.map(server, at, "env");
        for name in env.keys().filter(|name| name.is_empty() || name.contains(['=', '\0'])) {
            let message = format!("\"{name}\" cannot be the name of an environment variable");
            self.wrong(&format!("{at}/env{}", pointer_to(name)), message, None);
        }
        let cwd = self.text(server, at, "cwd", false);
        let cwd = cwd.map_or_else(|| self.base_dir.clone(), |cwd| self.base_dir.join(cwd));
        let command = command?;
        // A bare name is looked up in PATH. With a folder in it, it starts where the file is.
        let command = if command.contains('/') && !command.starts_with("${") {
            self.base_dir.join(&command).to_string_lossy().into_owned()
        } else {
            command
        };
        Some(Transport::Stdio { command, args, env, cwd: Some(cwd) })
    }

    fn http(&mut self, server: NodeRef<'_>, at: &str) -> Option<Transport> {
        let url = self.text(server, at, "url", true);
        let headers = self.map(server, at, "headers");
        for name in headers.keys().filter(|name| !is_token(name)) {
            let message = format!("\"{name}\" cannot be the name of a header");
            self.wrong(&format!("{at}/headers{}", pointer_to(name)), message, None);
        }
        let url = url?;
        if !["http://", "https://", "${"].iter().any(|start| url.starts_with(start)) {
            let message = format!(
                "\"{url}\" does not begin with http://, https:// or a variable such as ${{BASE_URL}}"
            );
            self.wrong(&format!("{at}/url"), message, None);
        }
        Some(Transport::Http { url, headers })
    }

    fn lifecycle(&mut self, server: NodeRef<'_>, at: &str) -> Lifecycle {
        match server.get("era").map(|node| (node.string(), node)) {
            None | Some((Some("auto"), _)) => Lifecycle::Auto,
            Some((Some("legacy"), _)) => Lifecycle::Legacy,
            Some((Some("modern"), _)) => Lifecycle::Modern,
            Some((_, node)) => {
                let message = format!("{} is no era", told(node));
                let hint = "The eras are \"auto\", \"legacy\" (up to 2025-11-25) and \"modern\" (from 2026-07-28 on).";
                self.wrong(&format!("{at}/era"), message, Some(hint.to_owned()));
                Lifecycle::Auto
            }
        }
    }

    fn text(&mut self, server: NodeRef<'_>, at: &str, field: &str, must: bool) -> Option<String> {
        let pointer = format!("{at}/{field}");
        let Some(node) = server.get(field) else {
            if must {
                self.wrong(at, format!("the field \"{field}\" is missing"), None);
            }
            return None;
        };
        let Some(text) = node.string() else {
            let hint = (node.kind() == Kind::Array && field == "command")
                .then(|| "Write the program in \"command\" and its words in \"args\".".to_owned());
            self.wrong(&pointer, format!("expected a text, not {}", told(node)), hint);
            return None;
        };
        if text.is_empty() {
            self.wrong(&pointer, "the text is empty".to_owned(), None);
            return None;
        }
        self.template(&pointer, text).then(|| text.to_owned())
    }

    fn texts(&mut self, server: NodeRef<'_>, at: &str, field: &str) -> Vec<String> {
        let Some(list) = server.get(field) else { return Vec::new() };
        let pointer = format!("{at}/{field}");
        if list.kind() != Kind::Array {
            self.wrong(&pointer, format!("expected a list of texts, not {}", told(list)), None);
        }
        let mut texts = Vec::new();
        for (i, item) in list.elements().enumerate() {
            let pointer = format!("{pointer}/{i}");
            match item.string() {
                Some(text) if self.template(&pointer, text) => texts.push(text.to_owned()),
                Some(_) => {}
                None => {
                    let hint = format!("Write \"{}\".", item.raw());
                    let hint = (item.kind() == Kind::Number).then_some(hint);
                    self.wrong(&pointer, format!("expected a text, not {}", told(item)), hint);
                }
            }
        }
        texts
    }

    fn map(&mut self, server: NodeRef<'_>, at: &str, field: &str) -> BTreeMap<String, String> {
        let Some(map) = server.get(field) else { return BTreeMap::new() };
        let pointer = format!("{at}/{field}");
        if map.kind() != Kind::Object {
            self.wrong(&pointer, format!("expected an object of texts, not {}", told(map)), None);
        }
        let mut texts = BTreeMap::new();
        for (name, value) in map.members() {
            let pointer = format!("{pointer}{}", pointer_to(name));
            match value.string() {
                Some(text) if self.template(&pointer, text) => {
                    texts.insert(name.to_owned(), text.to_owned());
                }
                Some(_) => {}
                None => {
                    let hint = matches!(value.kind(), Kind::Number | Kind::True | Kind::False)
                        .then(|| format!("Write \"{}\".", value.raw()));
                    self.wrong(&pointer, format!("expected a text, not {}", told(value)), hint);
                }
            }
        }
        texts
    }

    /// Whether a text's variables can be read.
    fn template(&mut self, pointer: &str, text: &str) -> bool {
        match Template::parse_variables(text) {
            Ok(_) => true,
            Err(error) => {
                self.wrong(pointer, error.to_string(), None);
                false
            }
        }
    }

    fn yes_or_no(&mut self, server: NodeRef<'_>, at: &str, field: &str) -> Option<bool> {
        let node = server.get(field)?;
        match node.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => {
                let message = format!("expected true or false, not {}", told(node));
                self.wrong(&format!("{at}/{field}"), message, None);
                None
            }
        }
    }

    fn milliseconds(&mut self, server: NodeRef<'_>, at: &str, field: &str) -> Option<Duration> {
        let node = server.get(field)?;
        let pointer = format!("{at}/{field}");
        let Some(ms) = node.number().and_then(|text| text.parse::<u64>().ok()) else {
            let message = format!("expected a number of milliseconds, not {}", told(node));
            self.wrong(&pointer, message, None);
            return None;
        };
        // Some programs count seconds here; nobody means to wait for 60 ms.
        if ms < LEAST_MS {
            let message = format!("{ms} milliseconds are too short for a server");
            self.wrong(&pointer, message, Some(format!("For {ms} seconds write {}.", ms * 1000)));
            return None;
        }
        Some(Duration::from_millis(ms))
    }
}

/// The shortest time that a file may give a server.
const LEAST_MS: u64 = 1000;

#[derive(Clone, Copy)]
enum Wire {
    Stdio,
    Http,
}

/// A value as it is quoted in a mistake.
fn told(node: NodeRef<'_>) -> String {
    match node.kind() {
        Kind::Object => "an object".to_owned(),
        Kind::Array => "a list".to_owned(),
        _ => node.raw().chars().take(60).collect(),
    }
}

/// A header's name (RFC 9110, token).
fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(server: &str) -> ServersFile {
        let text = format!("{{\"mcpServers\": {{\"s\": {server}}}}}");
        ServersFile::read(".mcp.json", &text, Path::new("/project"))
    }

    fn one(server: &str) -> Declared {
        let mut file = read(server);
        assert_eq!(file.mistakes, [], "{server}");
        assert_eq!(file.servers.len(), 1, "{server}");
        file.servers.remove(0)
    }

    fn stdio(command: &str, args: &[&str], env: &[(&str, &str)], cwd: &str) -> Transport {
        Transport::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|&a| a.to_owned()).collect(),
            env: env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            cwd: Some(cwd.into()),
        }
    }

    fn http(url: &str, headers: &[(&str, &str)]) -> Transport {
        Transport::Http {
            url: url.to_owned(),
            headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        }
    }

    #[test]
    fn what_the_ecosystem_writes() {
        let rows = [
            (
                r#"{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}"#,
                stdio(
                    "npx",
                    &["-y", "@modelcontextprotocol/server-filesystem", "."],
                    &[],
                    "/project",
                ),
            ),
            (
                r#"{"type": "stdio", "command": "uvx", "args": [], "env": {"KEY": "${KEY}", "LOG": "${LOG:-off}"}, "cwd": "sub"}"#,
                stdio("uvx", &[], &[("KEY", "${KEY}"), ("LOG", "${LOG:-off}")], "/project/sub"),
            ),
            (
                r#"{"command": "./server.py", "cwd": "/srv"}"#,
                stdio("/project/./server.py", &[], &[], "/srv"),
            ),
            (
                r#"{"command": "${HOME}/bin/server"}"#,
                stdio("${HOME}/bin/server", &[], &[], "/project"),
            ),
            (r#"{"url": "https://h.example/mcp"}"#, http("https://h.example/mcp", &[])),
            (
                r#"{"type": "http", "url": "${BASE:-http://127.0.0.1:3000}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}"#,
                http("${BASE:-http://127.0.0.1:3000}/mcp", &[("Authorization", "Bearer ${TOKEN}")]),
            ),
            (r#"{"type": "streamable-http", "url": "http://h/"}"#, http("http://h/", &[])),
            (
                r#"{"type": "streamableHttp", "url": "http://h/", "alwaysAllow": ["x"], "description": "d"}"#,
                http("http://h/", &[]),
            ),
        ];
        for (server, transport) in rows {
            let declared = one(server);
            assert_eq!(declared.config.transport, transport, "{server}");
            assert!(!declared.is_disabled && declared.timeout.is_none());
            assert_eq!((declared.place.file.as_str(), &*declared.config.name), (".mcp.json", "s"));
        }
    }

    #[test]
    fn times_and_eras() {
        let declared = one(
            r#"{"command": "x", "disabled": true, "timeout": 900000, "startupTimeout": 90000, "era": "legacy"}"#,
        );
        assert!(declared.is_disabled);
        assert_eq!(declared.timeout, Some(Duration::from_secs(900)));
        let Timeouts { start, idle, max } = declared.config.timeouts;
        assert_eq!((start.as_secs(), idle.as_secs(), max.as_secs()), (90, 900, 900));
        assert_eq!(declared.config.lifecycle, Lifecycle::Legacy);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let rows = [
            ("7", "/mcpServers/s", "is an object, not 7"),
            ("{}", "/mcpServers/s", "neither \"command\" nor \"url\""),
            (r#"{"command": "x", "url": "http://h/"}"#, "/mcpServers/s", "either"),
            (r#"{"type": "stdio", "url": "http://h/"}"#, "/mcpServers/s/url", "means nothing"),
            (r#"{"type": "stdio"}"#, "/mcpServers/s", "\"command\" is missing"),
            (
                r#"{"type": "http", "url": "http://h/", "args": []}"#,
                "/mcpServers/s/args",
                "means nothing",
            ),
            (
                r#"{"type": "sse", "url": "http://h/sse"}"#,
                "/mcpServers/s/type",
                "Write \"type\": \"http\"",
            ),
            (r#"{"type": "websocket", "url": "ws://h/"}"#, "/mcpServers/s/type", "is no transport"),
            (r#"{"type": 3, "url": "http://h/"}"#, "/mcpServers/s/type", "3 is no transport"),
            (r#"{"command": ["npx", "-y"]}"#, "/mcpServers/s/command", "its words in \"args\""),
            (r#"{"command": ""}"#, "/mcpServers/s/command", "empty"),
            (r#"{"command": "x", "args": "-y"}"#, "/mcpServers/s/args", "a list of texts"),
            (r#"{"command": "x", "args": ["a", 8080]}"#, "/mcpServers/s/args/1", "Write \"8080\"."),
            (r#"{"command": "x", "env": {"PORT": 1}}"#, "/mcpServers/s/env/PORT", "Write \"1\"."),
            (
                r#"{"command": "x", "env": {"A=B": "1"}}"#,
                "/mcpServers/s/env/A=B",
                "environment variable",
            ),
            (r#"{"command": "x", "env": []}"#, "/mcpServers/s/env", "object of texts"),
            (r#"{"command": "x ${KEY", "env": {}}"#, "/mcpServers/s/command", "does not end"),
            (
                r#"{"command": "x", "env": {"A": "${env:KEY}"}}"#,
                "/mcpServers/s/env/A",
                "names no environment variable",
            ),
            (r#"{"comand": "x"}"#, "/mcpServers/s/comand", "Did you mean \"command\"?"),
            (r#"{"httpUrl": "http://h/"}"#, "/mcpServers/s/httpUrl", "Write \"url\""),
            (
                r#"{"url": "http://h/", "transport": "http"}"#,
                "/mcpServers/s/transport",
                "Write \"type\"",
            ),
            (
                r#"{"command": "x", "enabled": false}"#,
                "/mcpServers/s/enabled",
                "\"disabled\": true",
            ),
            (
                r#"{"command": "x", "includeTools": ["a"]}"#,
                "/mcpServers/s/includeTools",
                "Known are",
            ),
            (r#"{"url": "h.example/mcp"}"#, "/mcpServers/s/url", "does not begin with http"),
            (
                r#"{"url": "http://h/", "headers": {"a b": "x"}}"#,
                "/mcpServers/s/headers/a b",
                "name of a header",
            ),
            (r#"{"command": "x", "disabled": "yes"}"#, "/mcpServers/s/disabled", "true or false"),
            (
                r#"{"command": "x", "timeout": 60}"#,
                "/mcpServers/s/timeout",
                "For 60 seconds write 60000.",
            ),
            (r#"{"command": "x", "timeout": "60s"}"#, "/mcpServers/s/timeout", "milliseconds"),
            (r#"{"url": "http://h/", "oauth": true}"#, "/mcpServers/s/oauth", "expected an object"),
            (r#"{"command": "x", "era": "new"}"#, "/mcpServers/s/era", "is no era"),
        ];
        for (server, pointer, words) in rows {
            let file = read(server);
            let found = file.mistakes.iter().find(|m| m.pointer == pointer);
            let found =
                found.unwrap_or_else(|| panic!("{server}: {:?}", file.mistakes)).to_string();
            assert!(
                found.contains(words) && found.starts_with(".mcp.json:1:"),
                "{server}: {found}"
            );
            assert_eq!(file.servers, [], "{server}");
        }
    }

    #[test]
    fn a_file_as_a_whole() {
        let read = |text: &str| ServersFile::read(".mcp.json", text, Path::new("/p"));
        assert_eq!(read("{}"), ServersFile::default());
        for (text, words) in [
            ("[]", "expected an object"),
            ("{", ""),
            (r#"{"mcpServers": []}"#, "from names to servers"),
            (r#"{"servers": {}}"#, "under \"mcpServers\""),
            (r#"{"mcpServer": {}}"#, "Did you mean \"mcpServers\"?"),
            (r#"{"mcpServers": {"": {"command": "x"}}}"#, "is no name for a server"),
        ] {
            let file = read(text);
            assert_eq!(file.mistakes.len(), 1, "{text}: {file:?}");
            assert!(file.mistakes[0].to_string().contains(words), "{text}: {}", file.mistakes[0]);
        }
        // One bad server leaves the others.
        let file = read(r#"{"mcpServers": {"a": {"command": 1}, "b": {"command": "x"}}}"#);
        assert_eq!((file.servers.len(), file.mistakes.len()), (1, 1));
    }
}
