//! The machine that figures come from: a figure without it says little.

use std::{fs, process::Command};

use serde_json::{Value, json};

/// What is known of this machine, and how busy it was.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    day: String,
    processor: String,
    cores: usize,
    memory: String,
    system: String,
    programs: Vec<(&'static str, String)>,
    load: f64,
}

impl Machine {
    pub(super) fn now() -> Self {
        let versions = [("rustc", "--version"), ("node", "--version"), ("python3", "--version")];
        let programs = versions.map(|(program, flag)| (program, said(program, &[flag])));
        Self {
            day: said("date", &["-u", "+%F"]),
            processor: field("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory: gigabytes(&field("/proc/meminfo", "MemTotal")),
            system: said("uname", &["-sr"]),
            programs: programs.to_vec(),
            load: load(),
        }
    }

    /// One paragraph; `after` is the load when everything had been measured.
    pub(super) fn told(&self) -> String {
        let programs = self.programs.iter().map(|(name, version)| {
            if version.contains(char::is_alphabetic) && !version.starts_with('v') {
                version.clone()
            } else {
                format!("{name} {version}")
            }
        });
        format!(
            "{}: {} ({} cores), {} of memory, {}; {}. Load average {:.1} before, {:.1} after.",
            self.day,
            self.processor,
            self.cores,
            self.memory,
            self.system,
            programs.collect::<Vec<_>>().join(", "),
            self.load,
            load(),
        )
    }

    pub(super) fn json(&self) -> Value {
        let programs: serde_json::Map<String, Value> = self
            .programs
            .iter()
            .map(|(name, version)| ((*name).to_owned(), Value::from(version.as_str())))
            .collect();
        json!({
            "day": self.day, "processor": self.processor, "cores": self.cores,
            "memory": self.memory, "system": self.system, "programs": programs,
            "loadBefore": self.load, "loadAfter": load(),
        })
    }
}

/// The load average of the last minute; 0 where the system does not tell.
fn load() -> f64 {
    let told = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    told.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// The value of the first line `NAME : VALUE`.
fn field(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    line.and_then(|line| line.split_once(':'))
        .map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

/// `24696532 kB` as `24 GB`.
fn gigabytes(told: &str) -> String {
    let kilobytes = told.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    kilobytes.map_or_else(|| told.to_owned(), |number| format!("{:.0} GB", number / 1_048_576.0))
}

/// The first line that a program prints.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = text.ok().and_then(|text| text.lines().next().map(str::to_owned));
    line.unwrap_or_else(|| "not there".to_owned())
}
