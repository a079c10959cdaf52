//! A Restate server, workers in this process and in others, and agents to drive.

pub(crate) mod agent;
pub(crate) mod restate;
pub(crate) mod worker;

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// The longest that anything is waited for: the machine may be slow.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A program that the system ends when this process is ended in whatever way, where it can.
pub(crate) fn bound(program: &Path) -> Command {
    let setpriv = Path::new("/usr/bin/setpriv");
    if setpriv.is_file() {
        let mut command = Command::new(setpriv);
        command.args(["--pdeathsig", "KILL"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// Ports of the loopback that are free now.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners: [TcpListener; N] =
        std::array::from_fn(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

pub(crate) fn loopback(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

/// Asks until there is an answer.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begun.elapsed() < LONG, "waited {LONG:?} for {what}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

/// Awaits with the longest patience.
pub(crate) async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(LONG, work).await;
    done.unwrap_or_else(|_| panic!("waited {LONG:?} for {what}"))
}
