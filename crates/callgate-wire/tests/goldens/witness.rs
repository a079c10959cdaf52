//! An independent witness: the bodies of the goldens, read by the providers' own typed SDKs, and
//! their response types built from the replies that we decode.
//!
//! `CALLGATE_WITNESS_PYTHON` names a Python with `tests/witness/requirements.txt` installed. Without
//! it the test says that it did not run; in CI (`CI=true`) that is a failure.

use std::{env, fs, path::Path, process::Command};

use crate::{continuation, dialects, requests};

#[test]
fn the_providers_sdks_take_our_bodies() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let bodies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("witness");
    // What an older version of the goldens left there.
    let _ = fs::remove_dir_all(&bodies);
    for dialect in dialects() {
        let folder = bodies.join(dialect.name);
        fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, request: &callgate_wire::Request| {
            let post = dialect.codec.encode(&dialect.addressed(request), false);
            fs::write(folder.join(format!("{name}.json")), post.body).unwrap();
        };
        for (name, request) in requests::all() {
            write(name, &request);
        }
        for from in dialects() {
            write(&format!("begun_on_{}", from.name), &continuation::begun_on(&from));
        }
    }
    let Some(python) = env::var_os("CALLGATE_WITNESS_PYTHON") else {
        let in_ci = env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "set CALLGATE_WITNESS_PYTHON: in CI the witness has to be heard");
        println!("not run: CALLGATE_WITNESS_PYTHON is not set (see tests/witness)");
        return;
    };
    let output = Command::new(python)
        .arg(here.join("witness/witness.py"))
        .args([&bodies, &here.join("goldens/replies")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    println!("{said}");
}
