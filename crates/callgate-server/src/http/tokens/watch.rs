//! The tokens that count now: the file is looked at again when it has changed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, Instant, SystemTime},
};

use super::{Token, TokenEntry, TokensError, TokensFile};
use crate::http::{Identity, Rate, Scope};

/// How long a look at the file is good for.
const LOOK: Duration = Duration::from_secs(1);

/// What tells one state of a file from the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    #[cfg(unix)]
    node: u64,
}

impl Stamp {
    /// Of a file; nothing where it is not there.
    pub(in crate::http) fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            modified: found.modified().ok(),
            length: found.len(),
            #[cfg(unix)]
            node: std::os::unix::fs::MetadataExt::ino(&found),
        })
    }
}

/// A token that was shown and is one.
#[derive(Debug, Clone)]
pub(in crate::http) struct Known {
    pub(in crate::http) identity: Identity,
    pub(in crate::http) rate: Option<Rate>,
}

#[derive(Debug)]
struct Held {
    token: Token,
    expires_at: Option<u64>,
    known: Known,
}

/// All tokens of a door.
#[derive(Debug)]
pub(in crate::http) struct Tokens {
    single: Option<Held>,
    file: Option<Watched>,
}

#[derive(Debug)]
struct Watched {
    path: PathBuf,
    look: Duration,
    seen: Mutex<(Instant, Option<Stamp>)>,
    held: RwLock<Arc<[Held]>>,
}

impl Tokens {
    /// # Errors
    /// The file cannot be read.
    pub(in crate::http) fn new(
        single: Option<&Token>,
        file: Option<&Path>,
    ) -> Result<Self, TokensError> {
        let single = single.map(|token| Held {
            token: token.clone(),
            expires_at: None,
            known: Known {
                identity: Identity { name: "token".into(), ..Identity::local() },
                rate: None,
            },
        });
        let file = file.map(|path| Watched::open(path, LOOK)).transpose()?;
        Ok(Self { single, file })
    }

    /// Whether there are none, so that nobody is asked for one.
    pub(in crate::http) fn is_open(&self) -> bool {
        self.single.is_none() && self.file.is_none()
    }

    /// Whose token this is. Every token is compared, whichever fits.
    pub(in crate::http) fn find(&self, shown: &str) -> Option<Known> {
        let shown = Token::hashed(shown);
        let named = self.file.as_ref().map(Watched::held);
        let all = self.single.iter().chain(named.iter().flat_map(|held| held.iter()));
        let mut found = None;
        for held in all {
            if held.token.is(&shown) {
                found = Some(held);
            }
        }
        let held = found?;
        held.expires_at.is_none_or(|at| now() < at).then(|| held.known.clone())
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Watched {
    fn open(path: &Path, look: Duration) -> Result<Self, TokensError> {
        // The stamp first: what changes after it is seen at the next look.
        let stamp = Stamp::of(path);
        let held = held(TokensFile::read(path)?);
        Ok(Self {
            path: path.to_owned(),
            look,
            seen: Mutex::new((Instant::now(), stamp)),
            held: RwLock::new(held),
        })
    }

    fn held(&self) -> Arc<[Held]> {
        self.refresh();
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refresh(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0.elapsed() < self.look {
            return;
        }
        seen.0 = Instant::now();
        let stamp = Stamp::of(&self.path);
        if stamp == seen.1 {
            return;
        }
        let is_gone = stamp.is_none();
        seen.1 = stamp;
        let new = match TokensFile::read(&self.path) {
            Ok(file) => held(file),
            Err(error) if is_gone => {
                tracing::error!(%error, "the file of tokens is gone: nobody is let in by it");
                Arc::default()
            }
            Err(error) => {
                tracing::error!(%error, "the file of tokens cannot be read: the tokens before count");
                return;
            }
        };
        tracing::info!(tokens = new.len(), "the file of tokens was read again");
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = new;
    }
}

fn held(file: TokensFile) -> Arc<[Held]> {
    let of = |entry: TokenEntry| {
        let scopes: Arc<[Scope]> = entry.scopes.into();
        let identity = Identity { name: entry.name.into(), scopes, caller: entry.caller };
        let known = Known { identity, rate: entry.rate };
        Held { token: entry.hash, expires_at: entry.expires_at, known }
    };
    file.tokens.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn entry(name: &str, expires_at: Option<u64>) -> (TokenEntry, String) {
        let (hash, text) = Token::random().unwrap();
        let scopes = vec![Scope::Read];
        let (caller, rate, created_at) = (Value::Null, None, None);
        let name = name.to_owned();
        (TokenEntry { name, hash, scopes, caller, rate, created_at, expires_at }, text)
    }

    #[test]
    fn the_file_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        assert!(Tokens::new(None, Some(&path)).is_err());
        let (one, first) = entry("one", None);
        TokensFile::add(&path, one).unwrap();
        let watched = Watched::open(&path, Duration::ZERO).unwrap();
        let tokens = Tokens { single: None, file: Some(watched) };
        let name = |text: &str| tokens.find(text).map(|known| known.identity.name.to_string());
        assert_eq!(name(&first).as_deref(), Some("one"));
        assert_eq!(name("callgate_wrong"), None);
        let (two, second) = entry("two", None);
        assert_eq!(name(&second), None);
        TokensFile::add(&path, two).unwrap();
        assert_eq!(name(&second).as_deref(), Some("two"));
        TokensFile::revoke(&path, "one").unwrap();
        assert_eq!((name(&first), name(&second).as_deref()), (None, Some("two")));
        // A slip in an editor locks nobody out; a file that is gone does.
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert_eq!(name(&second).as_deref(), Some("two"));
        fs::remove_file(&path).unwrap();
        assert_eq!(name(&second), None);
        assert!(!tokens.is_open());
        fs::write(&path, text).unwrap();
        assert_eq!(name(&second).as_deref(), Some("two"));
    }

    #[test]
    fn a_token_lapses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let (old, lapsed) = entry("old", Some(1));
        let (new, good) = entry("new", Some(u64::MAX));
        TokensFile::add(&path, old).unwrap();
        TokensFile::add(&path, new).unwrap();
        let single = Token::new("correct horse battery").unwrap();
        let tokens = Tokens::new(Some(&single), Some(&path)).unwrap();
        assert!(tokens.find(&lapsed).is_none());
        assert!(tokens.find(&good).is_some_and(|known| !known.identity.may(Scope::Run)));
        let all = tokens.find("correct horse battery").unwrap();
        assert!(all.identity.may(Scope::Admin) && &*all.identity.name == "token");
    }
}
