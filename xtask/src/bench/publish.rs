//! Where a report is written.

use std::{fs, path::PathBuf};

use serde_json::json;

use crate::{failure::Failure, root};

use super::{
    Plan,
    machine::Machine,
    markdown, plot,
    report::{Block, Report},
};

/// The page that carries all headlines.
const PAGE: &str = "docs/benchmarks.md";

/// Writes everything and returns the file to look at.
pub(super) fn write(
    name: &str,
    report: &Report,
    machine: &Machine,
    plan: &Plan,
) -> Result<PathBuf, Failure> {
    let places = Places::of(plan.smoke);
    for folder in [&places.results, &places.pages] {
        fs::create_dir_all(folder)?;
    }
    let versions: serde_json::Map<String, serde_json::Value> =
        report.versions.iter().map(|(who, which)| (who.clone(), which.as_str().into())).collect();
    let raw = json!({
        "bench": name, "repeats": plan.repeats, "machine": machine.json(),
        "versions": versions, "rows": report.raw,
    });
    let text = serde_json::to_string_pretty(&raw).map_err(std::io::Error::from)?;
    fs::write(places.results.join(format!("{name}.json")), text + "\n")?;

    for block in report.headline.iter().chain(&report.details) {
        if let Block::Plot(drawn) = block {
            let file = places.pages.join(format!("{}.svg", drawn.file));
            fs::write(file, plot::svg(drawn))?;
        }
    }

    let page = places.pages.join(format!("{name}.md"));
    fs::write(&page, whole(name, report, machine))?;
    if !plan.smoke {
        let all = root().join(PAGE);
        let headline = format!(
            "### {}\n\n{}\nMore, with the method: [benchmarks/{name}.md](benchmarks/{name}.md).",
            report.title,
            markdown::blocks(&report.headline, "benchmarks/"),
        );
        fs::write(&all, markdown::section(&fs::read_to_string(&all)?, name, &headline))?;
    }
    Ok(page)
}

/// The benchmark's own page.
fn whole(name: &str, report: &Report, machine: &Machine) -> String {
    let versions = report.versions.iter().map(|(who, which)| format!("{who} {which}"));
    [
        format!("# {}\n", report.title),
        format!("Written by `cargo xtask bench {name}`. {}\n", machine.told()),
        markdown::blocks(&report.headline, ""),
        markdown::blocks(&report.details, ""),
        format!("## Method\n\n{}\n", report.method.join("\n\n")),
        format!("## Versions\n\n{}.\n", versions.collect::<Vec<_>>().join("; ")),
    ]
    .join("\n")
}

struct Places {
    results: PathBuf,
    pages: PathBuf,
}

impl Places {
    /// A smoke run's figures mean nothing: they never lie where real ones do.
    fn of(smoke: bool) -> Self {
        let root = root();
        if smoke {
            let folder = root.join("target/bench");
            Self { results: folder.clone(), pages: folder }
        } else {
            Self { results: root.join("bench/results"), pages: root.join("docs/benchmarks") }
        }
    }
}
