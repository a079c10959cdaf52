//! `--name value`, and what stands where nothing is said.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use crate::{Failed, clients::Work, provider::Pace};

/// What was typed.
#[derive(Debug, Default)]
pub(crate) struct Arguments(BTreeMap<String, String>);

const NAMES: [&str; 12] = [
    "callgate",
    "clients",
    "seconds",
    "millis",
    "latency-ms",
    "gap-ms",
    "pieces",
    "calls-every",
    "to",
    "model",
    "stream",
    "tools",
];

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Failed> {
        let mut all = BTreeMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").filter(|name| NAMES.contains(name));
            let name =
                name.ok_or_else(|| format!("{word:?} is none of --{}", NAMES.join(", --")))?;
            let value = words.next().ok_or_else(|| format!("--{name} wants a value"))?;
            all.insert(name.to_owned(), value);
        }
        Ok(Self(all))
    }

    fn get<T: FromStr>(&self, name: &str, default: T) -> Result<T, Failed> {
        match self.0.get(name) {
            None => Ok(default),
            Some(text) => {
                text.parse().map_err(|_| format!("--{name}: {text:?} will not do").into())
            }
        }
    }

    /// Milliseconds.
    fn ms(&self, name: &str, default: u64) -> Result<Duration, Failed> {
        self.get(name, default).map(Duration::from_millis)
    }

    pub(crate) fn address(&self, name: &str) -> Result<SocketAddr, Failed> {
        let text = self.0.get(name).ok_or_else(|| format!("--{name} ADDRESS is missing"))?;
        text.parse().map_err(|error| format!("--{name}: {error}").into())
    }

    pub(crate) fn callgate(&self) -> Result<PathBuf, Failed> {
        let path =
            self.0.get("callgate").ok_or("--callgate PATH is missing: the binary to load")?;
        Ok(PathBuf::from(path))
    }

    /// How the provider answers: 200 ms to the first token, then 20 pieces, one every 100 ms.
    pub(crate) fn pace(&self) -> Result<Pace, Failed> {
        Ok(Pace {
            latency: self.ms("latency-ms", 200)?,
            gap: self.ms("gap-ms", 100)?,
            pieces: self.get("pieces", 20)?,
            calls_every: self.get("calls-every", 4)?,
        })
    }

    pub(crate) fn work(&self, to: SocketAddr) -> Result<Work, Failed> {
        Ok(Work {
            to,
            model: self.get("model", "compat:load".to_owned())?,
            clients: self.get("clients", 1000)?,
            time: self.ms("millis", self.get::<u64>("seconds", 60)? * 1000)?,
            pieces: self.pace()?.pieces,
            stream: self.get("stream", true)?,
            tools: self.get("tools", true)?,
        })
    }
}
