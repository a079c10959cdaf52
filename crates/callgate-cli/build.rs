//! A release keeps one of several functions that turned out equal, where the linker can: 0.3 MB.
//!
//! LLVM's linker does, which the toolchain brings for Linux on x86-64; so do mold and gold. Whether
//! the one at hand can is asked of it, by linking a program that does nothing.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

/// Folds functions with the same instructions even where somebody could compare their addresses. Rust
/// promises nothing of those; of what is in C, Chromium links SQLite and BoringSSL in this way.
const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Whoever works on the program does not wait for it.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") && can_fold().unwrap_or(false)
    {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
}

/// Links a program as this one will be linked. `None` where it could not be tried.
fn can_fold() -> Option<bool> {
    let folder = env::var_os("OUT_DIR")?;
    let source = Path::new(&folder).join("nothing.rs");
    fs::write(&source, "fn main() {}\n").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg("--target").arg(env::var_os("TARGET")?);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = std::ffi::OsString::from("-Clinker=");
        option.push(linker);
        rustc.arg(option);
    }
    rustc
        .arg(format!("-Clink-arg={FOLD}"))
        .arg("-o")
        .arg(source.with_extension("program"))
        .arg(source);
    let tried = rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    Some(tried.success())
}
