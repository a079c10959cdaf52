//! Prompt prefixes on disk, so that the next process starts warm.
//!
//! Reading nine hundred tokens of tools and examples takes a 1.5B model ten seconds; reading their
//! keys and values back from disk takes a tenth of one. A file's name says which model and which
//! tokens it is for, its checksum whether it is whole: a torn, foreign or changed file is
//! evaluated anew and written over, never believed.
//!
//! Numbers are kept as `f32`, as they are in memory: a warm start then says exactly what a cold one
//! would have said. Half of the space would be saved by `f16`, at the price of replies that depend
//! on whether a file was there.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use crate::model::Kv;

/// Format and version. Anything else is another format's file.
const MAGIC: &[u8; 8] = b"cgkv\0\0\0\x01";
const EXTENSION: &str = "kv";

/// Prefixes of one model, in one folder with those of others, under one cap.
#[derive(Debug, Clone)]
pub(crate) struct PrefixCache {
    folder: PathBuf,
    model: [u8; 32],
    /// Bytes of all files together.
    cap: u64,
}

impl PrefixCache {
    /// `model` identifies the weights; other weights' numbers are never read.
    pub(crate) fn new(folder: PathBuf, model: [u8; 32], cap: u64) -> Self {
        Self { folder, model, cap }
    }

    /// The numbers for exactly these tokens, or nothing.
    pub(crate) fn load(&self, tokens: &[u32], floats_per_token: usize) -> Option<Vec<f32>> {
        let path = self.path(tokens);
        let mut file = File::open(&path).ok()?;
        let numbers = self.read(&mut file, tokens.len() * floats_per_token);
        match &numbers {
            // The modification time is the time of last use: that is what eviction goes by.
            Some(_) => drop(file.set_modified(SystemTime::now())),
            None => {
                tracing::warn!(path = %path.display(), "a stored prompt prefix is damaged; it is made anew");
                let _ = fs::remove_file(&path);
            }
        }
        numbers
    }

    /// Writes under another name and renames, so that no reader ever sees half a file.
    pub(crate) fn store(&self, tokens: &[u32], kv: &Kv) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.path(tokens);
        let temporary = self.folder.join(format!("{}.{}.tmp", name(&path), std::process::id()));
        let written = self.write(&temporary, tokens.len(), kv);
        let renamed = written.and_then(|()| fs::rename(&temporary, &path));
        if renamed.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        renamed?;
        self.evict(&path)
    }

    fn write(&self, path: &Path, tokens: usize, kv: &Kv) -> io::Result<()> {
        let mut out = Summed { inner: BufWriter::new(File::create(path)?), sum: Sha256::new() };
        out.write_all(MAGIC)?;
        out.write_all(&self.model)?;
        let mut failed = Ok(());
        let mut bytes = Vec::new();
        kv.export(tokens, |numbers| {
            bytes.clear();
            bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
            if failed.is_ok() {
                failed = out.write_all(&bytes);
            }
        })
        .map_err(io::Error::other)?;
        failed?;
        let sum = out.sum.finalize();
        out.inner.write_all(&sum)?;
        out.inner.flush()
    }

    fn read(&self, file: &mut File, floats: usize) -> Option<Vec<f32>> {
        let head = MAGIC.len() + self.model.len();
        let wanted = head + floats * size_of::<f32>() + 32;
        if file.metadata().ok()?.len() != wanted as u64 {
            return None;
        }
        let mut bytes = Vec::with_capacity(wanted);
        file.read_to_end(&mut bytes).ok()?;
        let (body, sum) = bytes.split_last_chunk::<32>()?;
        let whole = Sha256::digest(body).as_slice() == sum;
        let ours = body.starts_with(MAGIC) && body.get(MAGIC.len()..head)? == self.model;
        if !(whole && ours) {
            return None;
        }
        let numbers = body.get(head..)?.as_chunks::<4>().0;
        Some(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
    }

    /// Removes what was unused for longest until the rest fits. The newest file always stays.
    fn evict(&self, newest: &Path) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "tmp") && is_old(&path) {
                // Of a process that was killed while writing.
                let _ = fs::remove_file(&path);
            }
            if path.extension().is_some_and(|e| e == EXTENSION)
                && let Ok(meta) = path.metadata()
            {
                files.push((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), path));
            }
        }
        files.sort_unstable();
        let mut total: u64 = files.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in files {
            if total <= self.cap {
                break;
            }
            // Another process may have been faster; what is gone is gone.
            if path != newest && fs::remove_file(&path).is_ok() {
                total -= len;
            }
        }
        Ok(())
    }

    fn path(&self, tokens: &[u32]) -> PathBuf {
        let mut sum = Sha256::new();
        sum.update(self.model);
        for token in tokens {
            sum.update(token.to_le_bytes());
        }
        let id: String = sum.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect();
        self.folder.join(format!("{id}.{EXTENSION}"))
    }
}

fn is_old(path: &Path) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > Duration::from_secs(3600))
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

struct Summed<W> {
    inner: W,
    sum: Sha256,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Architecture, Config};

    fn config() -> Config {
        Config {
            architecture: Architecture::Llama,
            layers: 2,
            heads: 2,
            kv_heads: 2,
            embedding: 8,
            head: 4,
            context: 64,
            rope_base: 10_000.0,
            epsilon: 1e-5,
        }
    }

    fn filled(tokens: &[u32]) -> (Kv, Vec<f32>) {
        let mut kv = Kv::new(&config()).unwrap();
        let count = kv.floats_per_token() * tokens.len();
        let numbers: Vec<f32> = (0u16..).map(f32::from).take(count).collect();
        kv.import(tokens, &numbers, 64).unwrap();
        (kv, numbers)
    }

    fn cache(folder: &Path, cap: u64) -> PrefixCache {
        PrefixCache::new(folder.to_owned(), [7; 32], cap)
    }

    #[test]
    fn numbers_return_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), u64::MAX);
        let (kv, numbers) = filled(&[1, 2, 3]);
        cache.store(&[1, 2, 3], &kv).unwrap();
        assert_eq!(cache.load(&[1, 2, 3], kv.floats_per_token()), Some(numbers));
        assert_eq!(cache.load(&[1, 2, 4], kv.floats_per_token()), None);
        let other = PrefixCache::new(folder.path().to_owned(), [8; 32], u64::MAX);
        assert_eq!(other.load(&[1, 2, 3], kv.floats_per_token()), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_torn_or_changed_file_is_not_believed_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), u64::MAX);
        let (kv, _) = filled(&[1, 2, 3]);
        let path = cache.path(&[1, 2, 3]);
        let mut whole = Vec::new();
        let damages: [fn(&mut Vec<u8>); 4] = [
            |bytes| bytes.truncate(bytes.len() / 2),
            |bytes| bytes.clear(),
            |bytes| bytes[60] ^= 1,
            |bytes| bytes[0] ^= 1,
        ];
        for damage in damages {
            cache.store(&[1, 2, 3], &kv).unwrap();
            whole.clear();
            File::open(&path).unwrap().read_to_end(&mut whole).unwrap();
            damage(&mut whole);
            fs::write(&path, &whole).unwrap();
            assert_eq!(cache.load(&[1, 2, 3], kv.floats_per_token()), None);
            assert!(!path.exists());
        }
    }

    #[test]
    fn what_was_unused_for_longest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let (kv, _) = filled(&[1, 2, 3]);
        let one = cache(folder.path(), u64::MAX);
        one.store(&[1, 2, 3], &kv).unwrap();
        let size = one.path(&[1, 2, 3]).metadata().unwrap().len();
        let two = cache(folder.path(), 2 * size);
        let age = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        two.store(&[1, 2, 4], &kv).unwrap();
        age(&two.path(&[1, 2, 3]), 10);
        age(&two.path(&[1, 2, 4]), 20);
        assert!(two.load(&[1, 2, 3], kv.floats_per_token()).is_some(), "and is young again");
        two.store(&[1, 2, 5], &kv).unwrap();
        assert!(two.path(&[1, 2, 3]).exists());
        assert!(!two.path(&[1, 2, 4]).exists());
        assert!(two.path(&[1, 2, 5]).exists());
    }
}
