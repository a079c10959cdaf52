//! The user's own pip, as a way to bring files.
//!
//! pip knows what we should not have to: which index this user may reach, through which proxy, with
//! which certificates.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{Cancel, StoreError};

const POLL: Duration = Duration::from_millis(100);

/// Brings one package's wheel into an empty folder; `seen` is told how many bytes lie there.
pub(super) fn download(
    pythons: &[PathBuf],
    requirement: &str,
    folder: &Path,
    cancel: &Cancel,
    mut seen: impl FnMut(u64),
) -> Result<PathBuf, StoreError> {
    let mut child = start(pythons, requirement, folder)?;
    let errors = child.stderr.take();
    // Read aside: a child that fills its pipe while nobody reads waits for ever.
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = errors {
            let _ = pipe.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if cancel.is_cancelled() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(StoreError::Cancelled);
            }
            Ok(None) => seen(bytes_under(folder)),
            Err(error) => return Err(StoreError::io(folder, error)),
        }
        thread::sleep(POLL);
    };
    let words = reader.join().unwrap_or_default();
    if !status.success() {
        return Err(fault(requirement, &words));
    }
    wheel_in(folder)?
        .ok_or_else(|| StoreError::Wheel { package: requirement.to_owned(), source: None })
}

fn start(pythons: &[PathBuf], requirement: &str, folder: &Path) -> Result<Child, StoreError> {
    for python in pythons {
        let started = Command::new(python)
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"])
            // The wheel lands in our folder and nowhere else, and only a wheel will do: a source
            // package would run its own code to be read.
            .args(["--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--dest"])
            .arg(folder)
            .arg(requirement)
            // pip's half-done files too, so that they go with the folder when pip is stopped.
            .envs(["TMPDIR", "TEMP", "TMP"].map(|key| (key, folder)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        match started {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io(python, error)),
        }
    }
    Err(StoreError::NoPython)
}

/// pip says everything in prose; these phrases have been the same for years.
fn fault(requirement: &str, words: &str) -> StoreError {
    const UNREACHABLE: [&str; 9] = [
        "NewConnectionError",
        "NameResolutionError",
        "Failed to establish a new connection",
        "Temporary failure in name resolution",
        "ConnectTimeout",
        "ReadTimeout",
        "Max retries exceeded",
        "Network is unreachable",
        "ProxyError",
    ];
    let package = requirement.to_owned();
    let says = |phrase: &str| words.contains(phrase);
    // The last line that says something, without pip's label.
    let last = words.lines().map(str::trim).rfind(|line| line.starts_with("ERROR:"));
    let last = last.or_else(|| words.lines().map(str::trim).rfind(|line| !line.is_empty()));
    let pip = last.unwrap_or("it gave no reason").trim_start_matches("ERROR:").trim().to_owned();
    if says("No module named pip") {
        StoreError::NoPip
    } else if says("No space left on device") {
        StoreError::io(Path::new(requirement), io::ErrorKind::StorageFull.into())
    } else if UNREACHABLE.iter().any(|phrase| says(phrase)) {
        StoreError::Network { package, pip }
    } else if says("No matching distribution found") {
        StoreError::Missing { package, pip }
    } else {
        StoreError::Pip { package, pip }
    }
}

fn wheel_in(folder: &Path) -> Result<Option<PathBuf>, StoreError> {
    for entry in fs::read_dir(folder).map_err(|e| StoreError::io(folder, e))? {
        let path = entry.map_err(|e| StoreError::io(folder, e))?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_under(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pips_prose_is_told_apart() {
        for (words, expected) in [
            ("/usr/bin/python3: No module named pip", "NoPip"),
            (
                "WARNING: Retrying after NewConnectionError\nERROR: No matching distribution found for x==1",
                "Network",
            ),
            (
                "ERROR: Could not find a version\nERROR: No matching distribution found for x==1",
                "Missing",
            ),
            ("OSError: [Errno 28] No space left on device", "Io"),
            ("ERROR: something new", "Pip"),
            ("", "Pip"),
        ] {
            let got = format!("{:?}", fault("x==1", words));
            assert!(got.starts_with(expected), "{words}: {got}");
        }
    }

    #[test]
    fn the_last_error_is_told_without_its_label() {
        let StoreError::Pip { pip, .. } = fault("x==1", "ERROR: first\nERROR: second\nnoise")
        else {
            panic!("another kind");
        };
        assert_eq!(pip, "second");
    }
}
