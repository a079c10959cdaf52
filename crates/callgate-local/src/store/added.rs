//! Models that stay where their owner keeps them.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use super::StoreError;

/// Names and paths.
#[derive(Debug, Default)]
pub(super) struct Added(BTreeMap<String, PathBuf>);

impl Added {
    pub(super) fn read(folder: &Path) -> Result<Self, StoreError> {
        let path = list(folder);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(StoreError::io(&path, error)),
        };
        serde_json::from_str(&text).map(Self).map_err(|source| StoreError::Index { path, source })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        fs::create_dir_all(folder).map_err(|e| StoreError::io(folder, e))?;
        let path = list(folder);
        let text = serde_json::to_string_pretty(&self.0)
            .map_err(|source| StoreError::Index { path: path.clone(), source })?;
        super::checked::replace(&path, &text)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Path> {
        self.0.get(name).map(PathBuf::as_path)
    }

    pub(super) fn insert(&mut self, name: String, path: PathBuf) {
        self.0.insert(name, path);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.0.iter().map(|(name, path)| (name.as_str(), path.as_path()))
    }
}

fn list(folder: &Path) -> PathBuf {
    folder.join("added.json")
}
