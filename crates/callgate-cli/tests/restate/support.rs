//! What the helpers for Restate's own process need, and processes of ours.

#[path = "../../../callgate-restate/tests/live/support/restate.rs"]
#[allow(dead_code, reason = "the engine's own tests use more of it")]
pub(crate) mod restate;

use std::{
    net::TcpListener,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// The longest that anything is waited for: the machine may be slow.
pub(crate) const LONG: Duration = Duration::from_secs(180);

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
