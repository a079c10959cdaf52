//! Keeping file paths inside a folder.
//!
//! A path is resolved first, link by link as the kernel would, and only then compared, component by
//! component: `/data/pub-old` is not inside `/data/pub`, and a link inside that leads outside is
//! outside. What does not exist yet is resolved through its nearest existing parent, so that a new
//! file behind a link is seen. Percent signs are plain characters.
//!
//! The verdict holds for the moment. Where others may change the tree, open the returned path
//! without following links (`O_NOFOLLOW`, `openat2` with `RESOLVE_BENEATH`) and not the one that
//! was asked for.

use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use thiserror::Error;

/// As many links as Linux follows in one path.
const MAX_LINKS: usize = 40;

/// A path that is refused.
#[derive(Debug, Error)]
pub enum Denied {
    /// It leads out of the folder.
    #[error("{} is outside of {}", path.display(), root.display())]
    Outside {
        /// The path as asked for.
        path: PathBuf,
        /// The folder.
        root: PathBuf,
    },
    /// Links that lead in a circle, or too many.
    #[error("{} goes through too many links", path.display())]
    Links {
        /// The path as asked for.
        path: PathBuf,
    },
    /// A path that no file system takes.
    #[error("{path:?} is not a path")]
    NotAPath {
        /// The path as asked for.
        path: PathBuf,
    },
    /// It cannot be seen whether something on the way is a link.
    #[error("{} cannot be examined", path.display())]
    Unreadable {
        /// The place on the way.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Tells links from everything else.
pub trait Links {
    /// Where the link at `path` leads; `None` for what is no link or does not exist.
    fn target(&self, path: &Path) -> io::Result<Option<PathBuf>>;
}

/// The links of the real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealLinks;

impl Links for RealLinks {
    fn target(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let found = match std::fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                    _ => Err(error),
                };
            }
        };
        found.is_symlink().then(|| std::fs::read_link(path)).transpose()
    }
}

impl<F: Fn(&Path) -> Option<PathBuf>> Links for F {
    fn target(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        Ok(self(path))
    }
}

/// The real path of `path`, if it lies in `root` (an absolute path) or is `root` itself.
///
/// A relative path starts at `root`.
///
/// ```
/// use callgate_tool::path::{RealLinks, contain};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let root = std::env::temp_dir();
/// assert!(contain(&root, "notes/new.txt".as_ref(), &RealLinks).is_ok());
/// assert!(contain(&root, "../etc/passwd".as_ref(), &RealLinks).is_err());
/// # Ok(())
/// # }
/// ```
pub fn contain(root: &Path, path: &Path, links: &dyn Links) -> Result<PathBuf, Denied> {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(Denied::NotAPath { path: path.to_owned() });
    }
    let real_root = resolve(Path::new("/"), root, links)?;
    let real = resolve(&real_root, path, links)?;
    if real.starts_with(&real_root) {
        Ok(real)
    } else {
        Err(Denied::Outside { path: path.to_owned(), root: root.to_owned() })
    }
}

/// `path` from `base` (which holds no links) with every link followed.
fn resolve(base: &Path, path: &Path, links: &dyn Links) -> Result<PathBuf, Denied> {
    let mut real = base.to_owned();
    let mut followed = 0;
    // What is still to be walked, the next step last.
    let mut ahead: Vec<Step> = steps(path);
    while let Some(step) = ahead.pop() {
        match step {
            Step::Root(root) => real = root,
            // After links: `link/..` is the parent of where the link leads.
            Step::Up => {
                real.pop();
            }
            Step::Down(name) => {
                real.push(name);
                let target = links
                    .target(&real)
                    .map_err(|source| Denied::Unreadable { path: real.clone(), source })?;
                if let Some(target) = target {
                    followed += 1;
                    if followed > MAX_LINKS {
                        return Err(Denied::Links { path: path.to_owned() });
                    }
                    real.pop();
                    ahead.append(&mut steps(&target));
                }
            }
        }
    }
    Ok(real)
}

enum Step {
    Root(PathBuf),
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> Vec<Step> {
    let mut steps: Vec<Step> = path
        .components()
        .filter_map(|component| match component {
            Component::Prefix(_) | Component::RootDir => {
                Some(Step::Root(Path::new(component.as_os_str()).to_owned()))
            }
            Component::CurDir => None,
            Component::ParentDir => Some(Step::Up),
            Component::Normal(name) => Some(Step::Down(name.to_owned())),
        })
        .collect();
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(path: &Path) -> Option<PathBuf> {
        let target = match path.to_str()? {
            "/data/pub/link" => "/etc",
            "/data/pub/rel" => "../pub-old",
            "/data/pub/in" => "a/b",
            "/data/pub/loop" => "loop",
            "/data/pub/file-out" => "/etc/passwd",
            "/alias" => "/data",
            _ => return None,
        };
        Some(target.into())
    }

    #[test]
    fn paths() {
        let rows = [
            ("a/b.txt", Some("/data/pub/a/b.txt")),
            ("./a/../b.txt", Some("/data/pub/b.txt")),
            ("", Some("/data/pub")),
            (".", Some("/data/pub")),
            ("/data/pub", Some("/data/pub")),
            ("/data/pub/ok", Some("/data/pub/ok")),
            ("a/%2e%2e/b", Some("/data/pub/a/%2e%2e/b")),
            ("in/c", Some("/data/pub/a/b/c")),
            ("in/../c", Some("/data/pub/a/c")),
            ("/alias/pub/x", Some("/data/pub/x")),
            ("../pub/x", Some("/data/pub/x")),
            ("~/x", Some("/data/pub/~/x")),
            ("..", None),
            ("../pub-old/x", None),
            ("/data/pub-old/x", None),
            ("../../etc/passwd", None),
            ("../../../../../../etc/passwd", None),
            ("link", None),
            ("link/passwd", None),
            ("link/new.txt", None),
            ("link/../etc/x", None),
            ("rel/x", None),
            ("file-out", None),
            ("loop/x", None),
            ("a\0b", None),
        ];
        for (path, expected) in rows {
            let verdict = contain(Path::new("/data/pub"), Path::new(path), &links);
            assert_eq!(verdict.as_deref().ok(), expected.map(Path::new), "{path}: {verdict:?}");
        }
        // The root itself may be reached through a link.
        let verdict = contain(Path::new("/alias/pub"), Path::new("x"), &links);
        assert_eq!(verdict.unwrap(), Path::new("/data/pub/x"));
    }

    #[cfg(unix)]
    #[test]
    fn real_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("pub");
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::create_dir(folder.path().join("other")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink("../other", root.join("out")).unwrap();
        std::os::unix::fs::symlink("a", root.join("in")).unwrap();
        let rows = [
            ("a/new", true),
            ("in/new", true),
            ("file/x", true),
            ("out/new", false),
            ("out", false),
        ];
        for (path, inside) in rows {
            let verdict = contain(&root, Path::new(path), &RealLinks);
            assert_eq!(verdict.is_ok(), inside, "{path}: {verdict:?}");
        }
    }
}
