//! Restate servers: started, killed and started again on the same data and ports.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

use callgate_restate::{Admin, Client};

use super::{bound, free_ports, until};

/// The server's program; nothing where there is none, so that the test is skipped.
pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os("CALLGATE_RESTATE_SERVER").map(PathBuf::from);
    let found = named.filter(|path| path.is_file());
    if found.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "CALLGATE_RESTATE_SERVER names no program; `cargo xtask restate` brings one"
        );
        eprintln!("skipped: CALLGATE_RESTATE_SERVER names no program (cargo xtask restate)");
    }
    found
}

/// Where a server listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub ingress: u16,
    pub admin: u16,
    pub node: u16,
}

impl Ports {
    pub(crate) fn free() -> Self {
        let [ingress, admin, node] = free_ports();
        Self { ingress, admin, node }
    }
}

/// One server.
pub(crate) struct Restate {
    program: PathBuf,
    folder: PathBuf,
    pub ports: Ports,
    child: Option<Child>,
}

impl Restate {
    /// A server of its own, up and running. `folder` is for its data.
    pub(crate) async fn start(program: &Path, folder: &Path) -> Self {
        let ports = Ports::free();
        let mut restate = Self::of(program, folder, ports, &single(folder, ports));
        restate.up().await;
        restate
    }

    /// A small server of its own, not started.
    #[allow(dead_code, reason = "for the tests of the command line, which share this file")]
    pub(crate) fn alone(program: &Path, folder: &Path, ports: Ports) -> Self {
        Self::of(program, folder, ports, &single(folder, ports))
    }

    /// A server with this configuration, not started.
    pub(crate) fn of(program: &Path, folder: &Path, ports: Ports, config: &str) -> Self {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("restate.toml"), config).unwrap();
        Self { program: program.to_owned(), folder: folder.to_owned(), ports, child: None }
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.ingress)
    }

    pub(crate) fn admin(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.admin)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.ingress()).unwrap().admin(&self.admin()).unwrap()
    }

    /// Starts the process, without waiting for it.
    pub(crate) fn spawn(&mut self) {
        let log = |name: &str| {
            let path = self.folder.join(name);
            File::options().create(true).append(true).open(path).unwrap()
        };
        let child = bound(&self.program)
            .arg("--config-file")
            .arg(self.folder.join("restate.toml"))
            .arg("--no-logo")
            .env("DO_NOT_TRACK", "1")
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(log("out.log"))
            .stderr(log("err.log"))
            .spawn()
            .unwrap();
        self.child = Some(child);
    }

    /// Starts it and waits until it takes requests.
    pub(crate) async fn up(&mut self) {
        self.spawn();
        self.ready().await;
    }

    /// Waits until it takes requests.
    pub(crate) async fn ready(&mut self) {
        let (client, admin) = (self.client(), Admin::new(&self.admin()).unwrap());
        let child = &mut self.child;
        until("Restate to come up", || {
            let gone = child.as_mut().and_then(|child| child.try_wait().unwrap());
            assert!(gone.is_none(), "the server ended: {gone:?}");
            let (client, admin) = (client.clone(), &admin);
            async move { (client.is_up().await && admin.is_up().await).then_some(()) }
        })
        .await;
    }

    /// Its memory, resident.
    pub(crate) fn memory_mib(&self) -> u64 {
        let pid = self.child.as_ref().map_or(0, Child::id);
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) / 1024
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may be gone already; what counts is that it is.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Restate {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            for name in ["out.log", "err.log"] {
                let text = fs::read_to_string(self.folder.join(name)).unwrap_or_default();
                let begin = text.len().saturating_sub(4000);
                eprintln!("── {name} of the server:\n{}", &text[text.floor_char_boundary(begin)..]);
            }
        }
    }
}

/// A small server on one machine.
fn single(folder: &Path, ports: Ports) -> String {
    format!(
        "cluster-name = \"test\"\nnode-name = \"n1\"\nauto-provision = true\ndefault-num-partitions = 4\n{}",
        common(folder, ports)
    )
}

/// What all servers have: little memory, the loopback, free ports, no pings.
pub(crate) fn common(folder: &Path, ports: Ports) -> String {
    let Ports { ingress, admin, node } = ports;
    format!(
        r#"base-dir = "{}"
bind-ip = "127.0.0.1"
advertised-host = "127.0.0.1"
listen-mode = "tcp"
bind-address = "127.0.0.1:{node}"
advertised-address = "http://127.0.0.1:{node}"
disable-telemetry = true
rocksdb-total-memory-size = "128 MiB"
[ingress]
bind-address = "127.0.0.1:{ingress}"
[admin]
bind-address = "127.0.0.1:{admin}"
disable-web-ui = true
[admin.query-engine]
memory-size = "64 MiB"
[bifrost]
record-cache-memory-size = "16 MiB"
[worker.invoker]
memory-limit = "256 MiB"
concurrent-invocations-limit = 256
"#,
        folder.join("data").display()
    )
}
