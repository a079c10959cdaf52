//! Standard output. Whoever reads it may have enough at any time; that is no error worth a word.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};

use crate::{failure::Failure, show::words};

/// Writes a line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::unread(),
        _ => Failure::io("cannot write to standard output", &error),
    })
}

/// Writes words of a model. A terminal is spared what would move its cursor.
pub(crate) fn answer(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() { line(&words::clean(text)) } else { line(text) }
}

/// A file in a folder that is to get its name when it is whole. It is readable as other files of
/// the user's are, which a temporary file usually is not.
pub(crate) fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".callgate-").suffix(".tmp");
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666))
    };
    builder.tempfile_in(folder)
}
