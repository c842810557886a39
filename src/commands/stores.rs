//! The list of stores that the user's lepo has written to: one path per line, in the state folder.

use crate::commands::user_env::own_paths;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;
use lepo_store::store::Store;
use lepo_turn::config::Paths;

pub struct KnownStores {
    file: PathBuf,
    home: Option<PathBuf>,
}

pub struct KnownStore {
    pub store: Store,
    /// Path of its project for display: `~/src/lepo`.
    pub project: String,
}

impl KnownStores {
    pub fn load() -> Result<KnownStores> {
        Ok(KnownStores::at(&own_paths()?))
    }

    pub fn at(paths: &Paths) -> KnownStores {
        KnownStores { file: paths.state.join("stores"), home: paths.home.clone() }
    }

    /// Returns the paths in the order of the first write, without duplicates.
    pub fn paths(&self) -> Result<Vec<PathBuf>> {
        let bytes = read_if_there(&self.file)?.unwrap_or_default();
        let mut paths: Vec<PathBuf> = Vec::new();
        for line in String::from_utf8_lossy(&bytes).lines().filter(|line| line.starts_with('/')) {
            let path = PathBuf::from(line);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// Adds a store to the list. Errors are ignored: the list then lacks the store.
    pub fn remember(&self, store: &Store) {
        let Ok(path) = store.path().canonicalize() else { return };
        let Some(line) = path.to_str().filter(|path| !path.contains(['\n', '\r'])) else { return };
        if self.paths().is_ok_and(|paths| paths.contains(&path)) {
            return;
        }
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.file);
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }

    /// Removes a store, given its path or the path of its project.
    pub fn forget(&self, named: &Path) -> Result<()> {
        let named = std::path::absolute(named).unwrap_or_else(|_| named.to_path_buf());
        let real = named.canonicalize().unwrap_or_else(|_| named.clone());
        let is_it =
            |path: &Path| [&named, &real].iter().any(|name| path == *name || path.parent() == Some(name));
        let paths = self.paths()?;
        let kept: String =
            paths.iter().filter(|path| !is_it(path)).map(|path| format!("{}\n", path.display())).collect();
        if paths.iter().all(|path| !is_it(path)) {
            return Err(Error::nothing(format!("{} is not on the list", named.display()))
                .hint("`lepo config stores` shows it"));
        }
        lepo_turn::config::replace_file(&self.file, kept.as_bytes())
    }

    /// Returns the existing stores, in reverse order of the first write.
    pub fn existing(&self) -> Result<Vec<KnownStore>> {
        let open = |path: PathBuf| {
            let store = Store::anywhere(&path).ok().flatten()?;
            Some(KnownStore { project: self.project(&path), store })
        };
        Ok(self.paths()?.into_iter().rev().filter_map(open).collect())
    }

    /// Returns the path of the project for display; for a store with a custom name, the path of the store.
    pub fn project(&self, store: &Path) -> String {
        let path = match store.parent() {
            Some(project) if store.ends_with(lepo_store::store::STORE) => project,
            _ => store,
        };
        let below = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(below) if !below.as_os_str().is_empty() => format!("~/{}", below.display()),
            _ => path.display().to_string(),
        }
    }
}
