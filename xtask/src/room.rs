//! Room on the disk, looked at before a build fills it.

use crate::root;

/// What is asked for: a clean clone's `target` has 11 GB after `cargo xtask test` without incremental
/// state, as in CI; with it there are some more.
const TEST: u64 = 16 * GIB;
const GIB: u64 = 1 << 30;

/// Says so where a whole test run may not fit. It is no more than a warning: most of it may be
/// there already.
pub(crate) fn warn_before_tests() {
    if let Some(free) = free().filter(|free| *free < TEST) {
        eprintln!("{}", warning(free));
    }
}

fn warning(free: u64) -> String {
    format!(
        "xtask: {:.1} GiB are free where `target` is, and a test run that starts from nothing may take {}; \
         `cargo clean` removes what older builds left",
        free as f64 / GIB as f64,
        TEST / GIB,
    )
}

/// Bytes that we may still write beside the sources.
#[cfg(unix)]
fn free() -> Option<u64> {
    let disk = rustix::fs::statvfs(root()).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_has_both_figures_and_a_way_out() {
        let text = warning(3 * GIB / 2);
        assert!(text.contains("1.5 GiB are free"), "{text}");
        assert!(text.contains("may take 16"), "{text}");
        assert!(text.contains("cargo clean"), "{text}");
    }

    #[test]
    #[cfg(unix)]
    fn this_disk_is_asked() {
        assert!(free().is_some());
    }
}
