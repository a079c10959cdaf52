//! Large bodies, kept beside Restate: by hash, in a store that all workers reach.
//!
//! Restate refuses a message over 32 MiB and then tries again for ever (RT0003), and long before
//! that its memory pays for each copy that it keeps of a step. So whatever is written to it is
//! packed first: up to [`INLINE`] bytes of JSON go as they are, more goes to a [`Blobs`] store and
//! leaves its hash and length.

use std::{
    fmt::Write as _,
    future::Future,
    io,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// The most bytes of JSON that are written to Restate as they are.
pub const INLINE: usize = 256 * 1024;

/// Why a body could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The place failed.
    #[error("{doing} the body {name} failed: {source}")]
    Io {
        /// What was being done, such as "reading".
        doing: &'static str,
        /// The body's file or hash.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// It is not there.
    #[error(
        "the body {0} is not in this worker's store; all workers of a build need the same one (--blobs)"
    )]
    Missing(Arc<str>),
    /// It is there and is another.
    #[error("the body {0} is no longer what it was: its hash differs")]
    Damaged(Arc<str>),
    /// It is no JSON of what was expected.
    #[error("a recorded value cannot be read by this build: {0}")]
    Form(#[from] serde_json::Error),
}

/// Work of a store on its way.
pub type BlobFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BlobError>> + Send + 'a>>;

/// A store of bodies by their hash. Workers that share runs share it.
pub trait Blobs: Send + Sync {
    /// Keeps a body; keeping it twice is keeping it once. Returns when it is safe.
    fn put<'a>(&'a self, hash: &'a str, body: &'a str) -> BlobFuture<'a, ()>;

    /// The body of a hash, unchecked.
    fn get<'a>(&'a self, hash: &'a str) -> BlobFuture<'a, String>;
}

/// Bodies as files of a folder, named by their hash: for one machine, or for a folder that all
/// machines mount.
#[derive(Debug, Clone)]
pub struct FileBlobs {
    folder: PathBuf,
}

impl FileBlobs {
    /// The store in a folder; it is made when the first body comes.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(hash.get(..2).unwrap_or("xx")).join(hash)
    }
}

impl Blobs for FileBlobs {
    fn put<'a>(&'a self, hash: &'a str, body: &'a str) -> BlobFuture<'a, ()> {
        let (path, body) = (self.path(hash), body.to_owned());
        Box::pin(blocking("writing", hash, move || write(&path, body.as_bytes())))
    }

    fn get<'a>(&'a self, hash: &'a str) -> BlobFuture<'a, String> {
        let path = self.path(hash);
        Box::pin(async move {
            match blocking("reading", hash, move || std::fs::read_to_string(path)).await {
                Err(BlobError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    Err(BlobError::Missing(hash.into()))
                }
                other => other,
            }
        })
    }
}

async fn blocking<T: Send + 'static>(
    doing: &'static str,
    name: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, BlobError> {
    let done = tokio::task::spawn_blocking(work).await;
    let result = done.unwrap_or_else(|e| Err(io::Error::other(e)));
    result.map_err(|source| BlobError::Io { doing, name: name.to_owned(), source })
}

/// Writes a file whole or not at all, and has it on the disk before it returns.
fn write(path: &Path, body: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    if path.is_file() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Two workers may write the same body at the same time.
    let own = format!(".{}-{:?}", std::process::id(), std::thread::current().id());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(own);
    let half = folder.join(name);
    let mut file = std::fs::File::create(&half)?;
    file.write_all(body)?;
    file.sync_all()?;
    std::fs::rename(&half, path)?;
    // The name is safe once the folder is.
    std::fs::File::open(folder)?.sync_all()
}

/// A value as it is written to Restate: here, or by the hash of its JSON in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Packed {
    /// Its JSON.
    Here(Box<RawValue>),
    /// Where its JSON is.
    Blob(BlobRef),
}

/// A body in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlobRef {
    /// SHA-256 of the JSON, in hexadecimal.
    pub hash: Arc<str>,
    /// Its length.
    pub bytes: u64,
}

impl Packed {
    /// Packs a value. The same value is packed the same way each time: a replay has to write what
    /// the first attempt wrote.
    pub(crate) async fn of<T: Serialize>(value: &T, blobs: &dyn Blobs) -> Result<Self, BlobError> {
        let json = serde_json::value::to_raw_value(value)?;
        if json.get().len() <= INLINE {
            return Ok(Self::Here(json));
        }
        let hash: Arc<str> = hash(json.get().as_bytes()).into();
        blobs.put(&hash, json.get()).await?;
        Ok(Self::Blob(BlobRef { hash, bytes: json.get().len() as u64 }))
    }

    /// The value.
    pub(crate) async fn open<T: DeserializeOwned>(
        &self,
        blobs: &dyn Blobs,
    ) -> Result<T, BlobError> {
        match self {
            Self::Here(json) => Ok(serde_json::from_str(json.get())?),
            Self::Blob(body) => Ok(serde_json::from_str(&checked(body, blobs).await?)?),
        }
    }
}

async fn checked(body: &BlobRef, blobs: &dyn Blobs) -> Result<String, BlobError> {
    let text = blobs.get(&body.hash).await?;
    if hash(text.as_bytes()) == *body.hash {
        Ok(text)
    } else {
        Err(BlobError::Damaged(body.hash.clone()))
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn small_values_stay_and_large_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::new(folder.path().join("blobs"));
        let small = Packed::of(&"x", &blobs).await.unwrap();
        assert_eq!(serde_json::to_string(&small).unwrap(), r#"{"here":"x"}"#);
        // Quotes included, this is exactly the limit.
        let limit = "y".repeat(INLINE - 2);
        assert!(matches!(Packed::of(&limit, &blobs).await.unwrap(), Packed::Here(_)));
        let large = "z".repeat(INLINE - 1);
        let packed = Packed::of(&large, &blobs).await.unwrap();
        let written = serde_json::to_string(&packed).unwrap();
        assert!(written.len() < 200 && written.contains("\"bytes\":262145"), "{written}");
        let read: Packed = serde_json::from_str(&written).unwrap();
        assert_eq!(read.open::<String>(&blobs).await.unwrap(), large);
        // Again: the same name, no second file.
        assert_eq!(
            serde_json::to_string(&Packed::of(&large, &blobs).await.unwrap()).unwrap(),
            written
        );
    }

    #[tokio::test]
    async fn a_body_that_is_gone_or_changed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::new(folder.path());
        let packed = Packed::of(&"z".repeat(INLINE), &blobs).await.unwrap();
        let Packed::Blob(body) = &packed else { panic!("{packed:?}") };
        std::fs::write(blobs.path(&body.hash), "\"other\"").unwrap();
        let error = packed.open::<String>(&blobs).await.unwrap_err();
        assert!(matches!(&error, BlobError::Damaged(hash) if *hash == body.hash), "{error}");
        std::fs::remove_file(blobs.path(&body.hash)).unwrap();
        let error = packed.open::<String>(&blobs).await.unwrap_err();
        assert!(error.to_string().contains("--blobs"), "{error}");
    }
}
