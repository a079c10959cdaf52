//! `callgate token`: the tokens that callers of a server present.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use callgate::server::http::{Rate, Scope, Token, TokenEntry, TokensError, TokensFile};
use serde_json::{Value, json};

use self::cli::{Place, Scoped, Tokens, TokensVerb};
use crate::{exit::Exit, failure::Failure, input, out};

/// Where tokens are if nobody says otherwise, in a project.
const FILE: &str = ".callgate/tokens.json";

/// A day, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// What can be typed.
pub(crate) mod cli {
    use std::path::PathBuf;

    use clap::{Args, Subcommand, ValueEnum};

    use crate::cli::InDir;

    /// `callgate token`.
    #[derive(Debug, Args)]
    pub(crate) struct Tokens {
        #[command(subcommand)]
        pub(crate) what: TokensVerb,
    }

    /// What to do with tokens.
    #[derive(Debug, Subcommand)]
    pub(crate) enum TokensVerb {
        /// Make a token, keep its hash, and print it, once
        New {
            /// Its name: what logs and journals call whoever comes with it
            name: String,
            /// What it allows; may be given several times
            #[arg(long, value_enum, required = true, value_name = "SCOPE")]
            scope: Vec<Scoped>,
            /// Who it stands for, for rules and tiers: a JSON object, or @FILE
            #[arg(long, value_name = "JSON")]
            caller: Option<String>,
            /// How many days it is good for; else until it is revoked
            #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=36500))]
            days: Option<u64>,
            /// How many requests a second it may make, in the long run; else as the server says
            #[arg(long, value_name = "N", value_parser = per_second)]
            per_second: Option<f64>,
            /// How many requests at once, beside --per-second
            #[arg(long, value_name = "N", requires = "per_second", default_value_t = 100,
                  value_parser = clap::value_parser!(u32).range(1..))]
            burst: u32,
            #[command(flatten)]
            place: Place,
            /// As one JSON object
            #[arg(long)]
            json: bool,
        },
        /// List the tokens: names, scopes, ends
        List {
            #[command(flatten)]
            place: Place,
            /// As a JSON array
            #[arg(long)]
            json: bool,
        },
        /// Take a token away; a server that is at work knows within a second
        Revoke {
            /// Which
            name: String,
            #[command(flatten)]
            place: Place,
        },
    }

    impl TokensVerb {
        /// Whether JSON is wanted.
        pub(crate) fn is_json(&self) -> bool {
            match self {
                Self::New { json, .. } | Self::List { json, .. } => *json,
                Self::Revoke { .. } => false,
            }
        }
    }

    /// In which file.
    #[derive(Debug, Args)]
    pub(crate) struct Place {
        #[command(flatten)]
        pub(crate) project: InDir,
        /// The file; else .callgate/tokens.json in the project's folder
        #[arg(long, env = "CALLGATE_TOKENS_FILE", value_name = "FILE")]
        pub(crate) tokens_file: Option<PathBuf>,
    }

    /// What a token allows.
    #[derive(Debug, Clone, Copy, ValueEnum)]
    pub(crate) enum Scoped {
        /// Start, cancel and pause runs; call models and tools
        Run,
        /// Approve, reject, answer, resolve doubts
        Approve,
        /// See runs, their events, the catalog, metrics
        Read,
        /// Everything, and what concerns the server itself
        Admin,
    }

    fn per_second(text: &str) -> Result<f64, String> {
        match text.parse::<f64>() {
            Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
            _ => Err("a number above 0 is wanted, such as 5 or 0.2".to_owned()),
        }
    }

    pub(crate) const EXAMPLES: &str = "\
Only the SHA-256 of a token is kept: it is 256 random bits, and cannot be shown again.

Examples:
  callgate token new ci --scope run --scope read
  callgate token new ann --scope approve --caller '{\"id\": \"ann\", \"roles\": [\"lead\"]}' --days 90
  callgate serve --listen 0.0.0.0:7600 --tokens-file .callgate/tokens.json
  callgate token revoke ci
";
}

pub(super) fn go(tokens: &Tokens) -> Result<Exit, Failure> {
    match &tokens.what {
        TokensVerb::New { name, scope, caller, days, per_second, burst, place, json } => {
            let (hash, text) = Token::random()
                .map_err(|error| Failure::new(Exit::Internal, "random", error.to_string()))?;
            let now = now();
            let mut scopes: Vec<Scope> = scope.iter().map(|scope| Scope::from(*scope)).collect();
            scopes.sort_unstable();
            scopes.dedup();
            let entry = TokenEntry {
                name: name.clone(),
                hash,
                scopes,
                caller: input::caller(caller.as_deref())?,
                rate: per_second.map(|per_second| Rate { per_second, burst: *burst }),
                created_at: Some(now),
                expires_at: days.map(|days| now.saturating_add(days * DAY)),
            };
            let (path, told) = (file(place), public(&entry));
            TokensFile::add(&path, entry).map_err(|error| failure(&error))?;
            made(name, &text, &path, told, *json)?;
        }
        TokensVerb::List { place, json } => list(&file(place), *json)?,
        TokensVerb::Revoke { name, place } => {
            TokensFile::revoke(&file(place), name).map_err(|error| failure(&error))?;
            eprintln!("revoked {name}");
        }
    }
    Ok(Exit::Done)
}

/// The token goes to standard output, alone, so that it can be piped to where it is to be.
fn made(name: &str, text: &str, path: &Path, mut told: Value, json: bool) -> Result<(), Failure> {
    if json {
        told["token"] = text.into();
        return out::line(&told.to_string());
    }
    if io::stdout().is_terminal() {
        eprintln!("The token {name:?}, shown only now:");
    }
    out::line(text)?;
    eprintln!("Kept as a hash in {0}; serve with --tokens-file {0}", path.display());
    Ok(())
}

fn list(path: &Path, as_json: bool) -> Result<(), Failure> {
    let file = TokensFile::read(path).map_err(|error| failure(&error))?;
    if as_json {
        let all: Vec<Value> = file.tokens.iter().map(public).collect();
        return out::line(&Value::from(all).to_string());
    }
    let width = file.tokens.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    for entry in &file.tokens {
        let scopes: Vec<&str> = entry.scopes.iter().map(|scope| scope.as_str()).collect();
        let mut line = format!("{:width$}  {}", entry.name, scopes.join(" "));
        if let Some(at) = entry.expires_at {
            line.push_str(&match at.checked_sub(now()) {
                None => "  lapsed".to_owned(),
                Some(left) => format!("  {} days left", left.div_ceil(DAY)),
            });
        }
        if !entry.caller.is_null() {
            line.push_str(&format!("  for {}", entry.caller));
        }
        out::line(&line)?;
    }
    Ok(())
}

/// What may be shown of a token: all but its hash.
fn public(entry: &TokenEntry) -> Value {
    let mut told = json!({ "name": entry.name, "scopes": entry.scopes });
    let more = [
        ("caller", entry.caller.clone()),
        ("rate", json!(entry.rate)),
        ("createdAt", json!(entry.created_at)),
        ("expiresAt", json!(entry.expires_at)),
    ];
    for (name, value) in more.into_iter().filter(|(_, value)| !value.is_null()) {
        told[name] = value;
    }
    told
}

fn file(place: &Place) -> PathBuf {
    place.tokens_file.clone().unwrap_or_else(|| place.project.dir.join(FILE))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX)
}

fn failure(error: &TokensError) -> Failure {
    let message = error.to_string();
    match error {
        TokensError::File { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Failure::configuration("no_tokens", message)
                .hint("callgate token new NAME --scope run makes the first one.")
        }
        TokensError::File { .. } => Failure::new(Exit::Internal, "io", message),
        TokensError::Taken(_) => Failure::configuration("token_taken", message),
        TokensError::Unknown(_) => {
            Failure::configuration("no_such_token", message).hint("callgate token list shows them.")
        }
        _ => Failure::configuration("bad_token", message),
    }
}

impl From<Scoped> for Scope {
    fn from(scope: Scoped) -> Self {
        match scope {
            Scoped::Run => Self::Run,
            Scoped::Approve => Self::Approve,
            Scoped::Read => Self::Read,
            Scoped::Admin => Self::Admin,
        }
    }
}
