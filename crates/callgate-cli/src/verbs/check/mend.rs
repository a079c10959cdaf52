//! `--fix`: files written again with what can be mended without a change of meaning.

use std::{collections::BTreeMap, fs};

use callgate::contract::lint::{Finding, Policy, fixed};

use super::{
    files::Files,
    report::{Fixed, Report},
};
use crate::failure::Failure;

/// A fix may uncover another or overlap one; more rounds than this would be a fault of a rule.
const ROUNDS: usize = 5;

/// Mends and judges again, until nothing is left to mend.
pub(super) fn mend(
    files: &mut Files,
    mut report: Report,
    policy: &Policy,
) -> Result<(Report, Fixed), Failure> {
    let mut done = Fixed::default();
    let mut touched: Vec<String> = Vec::new();
    for _ in 0..ROUNDS {
        let mut by_file: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in report.findings.iter().filter(|finding| finding.fix.is_some()) {
            by_file.entry(&finding.file).or_default().push(finding);
        }
        let mut round = 0;
        for (name, path, text) in files.catalogs.iter().flatten() {
            let Some(findings) = by_file.remove(name.as_str()) else { continue };
            let (now, count) = fixed(text, findings);
            if now == *text {
                continue;
            }
            fs::write(path, &now).map_err(|error| {
                Failure::io(&format!("cannot write {}", path.display()), &error)
            })?;
            round += count;
            if !touched.contains(name) {
                touched.push(name.clone());
            }
        }
        if round == 0 {
            break;
        }
        done.findings += round;
        files.read_again();
        report = Report::of(files, policy)?;
    }
    done.files = touched.len();
    Ok((report, done))
}
