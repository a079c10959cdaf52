//! Tokens on disk: one file a resource, for its owner alone.
//!
//! A file holds the token, who issued it and the client that it was issued to; the secret of a
//! client that was registered by hand is not in it. Files are replaced whole, so that a reader
//! never sees half of one, and two processes do not renew the same token at once ([`Guard`]).

use std::{
    env, fmt, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::error::OAuthError;

/// A token counts as expired this many seconds before it is, or at half of its life if that is less.
const MARGIN: u64 = 30;

/// The folder of token files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenStore {
    folder: PathBuf,
}

impl TokenStore {
    /// Token files in `folder`, which is made when the first one is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The user's own: `oauth` in `CALLGATE_CONFIG_DIR`, else in `XDG_CONFIG_HOME/callgate`, else
    /// in `~/.config/callgate`.
    ///
    /// # Errors
    /// None of them is set.
    pub fn user() -> Result<Self, OAuthError> {
        let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = named("CALLGATE_CONFIG_DIR")
            .or_else(|| named("XDG_CONFIG_HOME").map(|folder| folder.join("callgate")))
            .or_else(|| env::home_dir().map(|home| home.join(".config").join("callgate")))
            .ok_or(OAuthError::NoFolder)?;
        Ok(Self::new(folder.join("oauth")))
    }

    /// The file of a resource: its host for people, and a hash of all of it.
    pub(super) fn path(&self, resource: &Url) -> PathBuf {
        let host: String = resource
            .host_str()
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
            .take(80)
            .collect();
        let hash = Sha256::digest(resource.as_str());
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{host}-{hash}.json"))
    }

    pub(super) fn load(&self, resource: &Url) -> Result<Option<Entry>, OAuthError> {
        let path = self.path(resource);
        let failed = |source| OAuthError::Store { path: path.clone(), source };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // The error's place only: its text may quote what is in the file.
        let entry: Entry = serde_json::from_slice(&bytes).map_err(|error| {
            let place = format!(
                "line {}, column {} is not as written by callgate; log in again",
                error.line(),
                error.column()
            );
            failed(io::Error::new(io::ErrorKind::InvalidData, place))
        })?;
        // Two resources with one hash are none of our making.
        Ok(Some(entry).filter(|entry| entry.resource == resource.as_str()))
    }

    pub(super) fn save(&self, resource: &Url, entry: &Entry) -> Result<(), OAuthError> {
        let path = self.path(resource);
        self.write(&path, entry).map_err(|source| OAuthError::Store { path, source })
    }

    fn write(&self, path: &Path, entry: &Entry) -> io::Result<()> {
        self.make_folder()?;
        let mut file = tempfile(&self.folder, path)?;
        let written = serde_json::to_vec_pretty(entry)
            .map_err(io::Error::from)
            .and_then(|bytes| file.1.write_all(&bytes))
            .and_then(|()| file.1.sync_all())
            .and_then(|()| fs::rename(&file.0, path));
        if written.is_err() {
            let _ = fs::remove_file(&file.0);
        }
        written
    }

    pub(super) fn remove(&self, resource: &Url) -> Result<bool, OAuthError> {
        let path = self.path(resource);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(OAuthError::Store { path, source }),
        }
    }

    /// Waits until no other process renews the token of `resource`. Blocks the thread.
    pub(super) fn guard(&self, resource: &Url) -> Result<Guard, OAuthError> {
        let path = self.path(resource).with_extension("lock");
        let lock = || {
            self.make_folder()?;
            let file = fs::File::options().create(true).truncate(false).write(true).open(&path)?;
            file.lock()?;
            Ok(Guard { _file: file })
        };
        lock().map_err(|source| OAuthError::Store { path: path.clone(), source })
    }

    fn make_folder(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)
    }
}

/// A new file beside `path`, for its owner alone from its first moment on.
fn tempfile(folder: &Path, path: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let pid = std::process::id();
    for number in 0..100 {
        let temporary = folder.join(format!(".{name}.{pid}.{number}"));
        let mut options = fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many unfinished files beside it"))
}

/// While it lives, no other process renews the same token.
#[derive(Debug)]
pub(super) struct Guard {
    _file: fs::File,
}

/// What is kept of a login.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    /// What the token is for.
    pub(super) resource: String,
    /// Who issued it.
    pub(super) issuer: Option<String>,
    /// Who it was issued to.
    pub(super) client_id: String,
    /// The secret of a client that was registered on the spot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// Where the server said that its metadata is (RFC 9728), so that it is not searched for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metadata_url: Option<String>,
    /// Where that client's people are sent back to.
    pub(super) redirect_uri: String,
    /// What was granted.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
    /// When the token came, in seconds since 1970.
    pub(super) received_at: u64,
    /// None after the server refused to renew it.
    pub(super) token: Option<Token>,
}

/// A token as it was issued (RFC 6749, section 5.1). It has no `Debug`, so that it gets into no log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Token {
    pub(super) access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    /// Seconds of life from `received_at` on, where they were told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_in: Option<u64>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("resource", &self.resource)
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// The header's value.
    pub(super) fn bearer(&self) -> Option<String> {
        self.token.as_ref().map(|token| format!("Bearer {}", token.access_token))
    }

    /// Whether it is time for another token. One whose end nobody told is used until it is refused.
    pub(super) fn is_due(&self, now: u64) -> bool {
        let Some(life) = self.token.as_ref().and_then(|token| token.expires_in) else {
            return false;
        };
        let margin = MARGIN.min(life / 2);
        now.saturating_sub(self.received_at) >= life - margin
    }

    /// Whether the token is over, by what was told of it.
    pub(super) fn is_over(&self, now: u64) -> bool {
        let life = self.token.as_ref().and_then(|token| token.expires_in);
        life.is_some_and(|life| now.saturating_sub(self.received_at) >= life)
    }

    /// Whether it can be renewed without a person.
    pub(super) fn renewable(&self) -> bool {
        self.token.as_ref().is_some_and(|token| token.refresh_token.is_some())
    }
}
