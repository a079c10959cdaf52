//! The size of what is released: the `callgate` program without the local model, stripped.
//!
//! A full run measures the release build. A smoke run has only the unoptimised one, whose size says
//! nothing: there it is looked at all the same, so that the reading does not rot.

use std::path::Path;

use serde_json::json;

use super::{
    Bench, Plan,
    numbers::short,
    report::{Block, Report, Table},
};
use crate::failure::Failure;

pub(super) const BENCH: Bench =
    Bench { name: "size", about: "the released program, section by section", run };

/// What the program may have, in megabytes of a million bytes.
const MOST: f64 = 30.0;
/// Sections below this are told together.
const SMALL: u64 = 200_000;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let program = format!("callgate{}", std::env::consts::EXE_SUFFIX);
    let file = plan.built(&["callgate-cli"])?.join(program);
    let bytes = std::fs::metadata(&file)?.len();
    let sections = sections(&file)?;

    let mut table = Table::new(["part", "MB"]);
    let (large, small): (Vec<_>, Vec<_>) = sections.iter().partition(|(_, size)| *size >= SMALL);
    for (name, size) in &large {
        table.row([format!("`{name}`"), megabytes(*size)]);
    }
    table.row(["all others".to_owned(), megabytes(small.iter().map(|(_, size)| *size).sum())]);
    table.row(["the file".to_owned(), megabytes(bytes)]);

    let mut failures = Vec::new();
    if !sections.iter().any(|(name, _)| name == ".text") {
        failures.push(format!("{} has no section `.text`", file.display()));
    }
    if !plan.smoke && bytes as f64 > MOST * 1e6 {
        let has = megabytes(bytes);
        failures.push(format!("the release has {has} MB, {} at most are the aim", short(MOST)));
    }
    Ok(Report {
        title: "Size",
        method: vec![
            "`cargo build --release -p callgate-cli`, as it is released: without the local model, \
             symbols stripped. Megabytes are of a million bytes."
                .to_owned(),
        ],
        versions: vec![("callgate".to_owned(), env!("CARGO_PKG_VERSION").to_owned())],
        headline: vec![Block::Text(format!(
            "The released program without the local model has {} MB ({} at most are the aim).",
            megabytes(bytes),
            short(MOST)
        ))],
        details: vec![Block::Table(table)],
        raw: json!({"bytes": bytes, "sections": sections}),
        failures,
    })
}

#[allow(clippy::cast_precision_loss)] // sizes are far below 2^52
fn megabytes(bytes: u64) -> String {
    short(bytes as f64 / 1e6)
}

/// The sections of an ELF file of 64 bits, little-endian, with their sizes in it, largest first
/// (System V ABI, chapter 4: `Elf64_Ehdr`, `Elf64_Shdr`).
fn sections(file: &Path) -> Result<Vec<(String, u64)>, Failure> {
    let bytes = std::fs::read(file)?;
    read(&bytes)
        .ok_or_else(|| Failure::Wrong(format!("{} is no ELF file of 64 bits", file.display())))
}

fn read(bytes: &[u8]) -> Option<Vec<(String, u64)>> {
    /// Of a section that has no bytes in the file, such as `.bss`.
    const NOBITS: u64 = 8;
    let number = |at: usize, width: usize| -> Option<u64> {
        let bytes = bytes.get(at..at + width)?;
        Some(bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    };
    let place = |at: usize, width: usize| usize::try_from(number(at, width)?).ok();
    // Magic, 64 bits, little-endian.
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, entry, count, names) =
        (place(0x28, 8)?, place(0x3A, 2)?, place(0x3C, 2)?, place(0x3E, 2)?);
    let names = place(table.checked_add(names * entry)?.checked_add(0x18)?, 8)?;
    let mut sections = Vec::new();
    for i in 0..count {
        let at = table.checked_add(i * entry)?;
        let name = bytes.get(names.checked_add(place(at, 4)?)?..)?;
        let name = &name[..name.iter().position(|byte| *byte == 0)?];
        if number(at + 4, 4)? != NOBITS {
            sections.push((String::from_utf8_lossy(name).into_owned(), number(at + 0x20, 8)?));
        }
    }
    sections.sort_by_key(|section| std::cmp::Reverse(section.1));
    Some(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
    fn the_sections_of_this_program_are_read() {
        let file = std::env::current_exe().expect("this program has a file");
        let sections = sections(&file).expect("it is an ELF file");
        let text = sections.iter().find(|(name, _)| name == ".text").expect("it has code");
        assert!(text.1 > 10_000, "{sections:?}");
        assert!(sections.iter().all(|(name, _)| name != ".bss"), "{sections:?}");
        let all: u64 = sections.iter().map(|(_, size)| size).sum();
        assert!(all <= std::fs::metadata(&file).expect("a file").len(), "{sections:?}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(read(b"").is_none());
        assert!(read(b"#!/bin/sh\n").is_none());
        assert!(read(b"\x7fELF\x02\x01 and nothing more").is_none());
    }
}
