//! A worker in a process of its own: this test program, started again.

use std::{
    fs::File,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::Arc,
};

use callgate::Project;
use callgate_crash::project;
use callgate_restate::{FileBlobs, Worker};

use super::{bound, loopback, until};

const LISTEN: &str = "CALLGATE_TEST_WORKER_LISTEN";
const PROJECT: &str = "CALLGATE_TEST_WORKER_PROJECT";

/// The worker's process. No test: it does nothing unless its variables are set.
#[test]
#[ignore = "what other tests start"]
fn serve() {
    let (Ok(listen), Ok(folder)) = (std::env::var(LISTEN), std::env::var(PROJECT)) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let folder = PathBuf::from(folder);
        let agent = Project::open(&folder).unwrap().agent().model(project::MODEL).build().unwrap();
        let worker = Worker::new(agent.engine())
            .blobs(Arc::new(FileBlobs::new(folder.join("blobs"))))
            .listen(listen.parse().unwrap())
            .await
            .unwrap();
        println!("serving at {}", worker.url(None));
        std::future::pending::<()>().await;
    });
}

/// The process from outside.
pub(crate) struct Process {
    folder: PathBuf,
    listen: SocketAddr,
    env: Vec<(&'static str, String)>,
    child: Option<Child>,
    url: Option<String>,
}

impl Process {
    /// A worker of the crash scenario's project in `folder`, at a port, up and running.
    pub(crate) async fn start(folder: &Path, port: u16, server: &str) -> Self {
        let env = project::env(server).to_vec();
        let mut process =
            Self { folder: folder.to_owned(), listen: loopback(port), env, child: None, url: None };
        process.up().await;
        process
    }

    fn log(&self) -> PathBuf {
        self.folder.join(format!("worker-{}.log", self.listen.port()))
    }

    pub(crate) async fn up(&mut self) {
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let child = bound(&std::env::current_exe().unwrap())
            .args(["support::worker::serve", "--exact", "--ignored", "--nocapture"])
            .env(LISTEN, self.listen.to_string())
            .env(PROJECT, &self.folder)
            .envs(self.env.iter().cloned())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
        let (log, listen) = (self.log(), self.listen);
        let (child, before) = (&mut self.child, self.url.is_some());
        let url = until("the worker to listen", || {
            let gone = child.as_mut().and_then(|child| child.try_wait().unwrap());
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            assert!(gone.is_none(), "the worker ended: {gone:?}\n{said}");
            // A line of an earlier process is the same: what counts then is that it listens.
            let url = said.lines().rev().find_map(|line| line.split("serving at ").nth(1));
            let url = url.map(|url| url.trim().to_owned());
            async move {
                let is_up = !before || tokio::net::TcpStream::connect(listen).await.is_ok();
                url.filter(|_| is_up)
            }
        })
        .await;
        self.url = Some(url);
    }

    /// Its URL, as it printed it.
    pub(crate) fn url(&self) -> &str {
        self.url.as_deref().unwrap()
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

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
