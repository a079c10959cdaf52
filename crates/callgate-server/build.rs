//! A release that was built before the inspector's page is built again with it.

use std::{env, path::Path};

fn main() {
    let page = Path::new("../../ui/dist");
    // Other builds read the page from the disk when it is asked for, and need no building.
    let is_within = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let watched = if is_within && page.is_dir() { "../../ui/dist" } else { "build.rs" };
    println!("cargo::rerun-if-changed={watched}");
}
