//! Fixtures in a folder: `fixtures/<tool>/generated.json` is ours to write, every other file there
//! is somebody's own and is only read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use callgate::contract::{
    Tool,
    fixture::{Fixture, Made, read, write},
};

use crate::{cli::Test, failure::Failure};

const GENERATED: &str = "generated.json";

/// What stands at the top of a file of ours.
const NOTE: &str = "Made by callgate test --update from the contract, and written anew by it. \
    Fixtures of your own go into other files beside this one.";

/// Where fixtures are kept, if they are.
pub(super) struct Kept(Option<PathBuf>);

/// What is kept of a tool.
#[derive(Default)]
pub(super) struct Files {
    /// Those that were made, the last time somebody asked for it.
    pub(super) generated: Option<Vec<Fixture>>,
    /// Those that people wrote, by file.
    pub(super) own: Vec<(String, Vec<Fixture>)>,
}

impl Kept {
    pub(super) fn at(test: &Test) -> Result<Self, Failure> {
        let folder = match (&test.fixtures, &test.from) {
            (Some(folder), _) => Some(folder.clone()),
            (None, None) => Some(test.project.dir.join("fixtures")),
            (None, Some(_)) => None,
        };
        if test.update && folder.is_none() {
            let message = "--update needs to know where: the tools come from a file, not a project";
            return Err(
                Failure::configuration("no_fixtures_folder", message).hint("Say --fixtures DIR.")
            );
        }
        Ok(Self(folder))
    }

    fn folder(&self, tool: &Tool) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(file_name(&tool.name)))
    }

    /// Reads what is kept of a tool. What is about to be written anew is not read: it may be the
    /// leavings of a merge.
    pub(super) fn of(&self, tool: &Tool, is_update: bool) -> Result<Files, Failure> {
        let Some(folder) = self.folder(tool).filter(|folder| folder.is_dir()) else {
            return Ok(Files::default());
        };
        let mut paths = Vec::new();
        let list = || -> io::Result<Vec<PathBuf>> {
            fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect()
        };
        for path in list().map_err(|error| unreadable(&folder, &error))? {
            let is_ours = path.file_name().is_some_and(|name| name == GENERATED);
            let is_json = path.is_file() && path.extension().is_some_and(|e| e == "json");
            if is_json && !(is_ours && is_update) {
                paths.push(path);
            }
        }
        paths.sort();
        let mut files = Files::default();
        let mut mistakes = Vec::new();
        for path in paths {
            let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
            let name = path.display().to_string();
            let name = name.strip_prefix("./").unwrap_or(&name);
            match read(name, &text) {
                Ok(fixtures) if path.file_name().is_some_and(|name| name == GENERATED) => {
                    files.generated = Some(fixtures);
                }
                Ok(fixtures) => files.own.push((name.to_owned(), fixtures)),
                Err(found) => mistakes.extend(found),
            }
        }
        if mistakes.is_empty() { Ok(files) } else { Err(Failure::mistakes(&mistakes)) }
    }

    /// Writes what was made of a tool, if it is not there to the letter. Says whether it did.
    pub(super) fn write(&self, tool: &Tool, made: &Made) -> Result<bool, Failure> {
        let Some(folder) = self.folder(tool) else { return Ok(false) };
        let path = folder.join(GENERATED);
        let text = write(&tool.name, NOTE, &made.fixtures);
        if fs::read_to_string(&path).is_ok_and(|have| have == text) {
            return Ok(false);
        }
        let done = fs::create_dir_all(&folder).and_then(|()| {
            // Whole or not at all: a file cut in the middle would be read as a mistake of yours.
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            io::Write::write_all(&mut file, text.as_bytes())?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
            }
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        });
        done.map_err(|error| Failure::io(&format!("cannot write {}", path.display()), &error))?;
        Ok(true)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::configuration("unreadable_file", format!("cannot read {}: {error}", path.display()))
}

/// A tool's name as the name of a folder: what is no letter, digit, `_`, `-` or inner `.` is written
/// `%` and its bytes.
fn file_name(tool: &str) -> String {
    let mut out = String::new();
    for (i, byte) in tool.bytes().enumerate() {
        let is_plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || (byte == b'.' && i > 0);
        if is_plain {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for (name, folder) in [
            ("get_ticket", "get_ticket"),
            ("API-patch.page", "API-patch.page"),
            ("..", "%2E."),
            ("../../etc", "%2E.%2F..%2Fetc"),
            ("a/b", "a%2Fb"),
            ("é", "%C3%A9"),
            ("a b", "a%20b"),
        ] {
            assert_eq!(file_name(name), folder);
        }
    }
}
