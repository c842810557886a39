//! Files of a working directory that run automatically because the home directory, or the one of settings, names them:
//! through a link, or because the working directory is a part of it.

use std::path::{Path, PathBuf};

use lepo_base::env;

use super::autorun::{AutorunTrigger, named_files};
use super::homes::homes;
use super::own_paths::{ResolvedPath, resolve};

/// Most entries of a directory to examine for links.
const MOST_ENTRIES: usize = 500;

/// Files and directories to which names in the home directory lead, each with its occasion; without links.
#[derive(Debug, Clone, Default)]
pub struct HomeFiles(Vec<(PathBuf, AutorunTrigger)>);

impl HomeFiles {
    /// Finds those inside `dir`, and the directories around it.
    pub fn read(dir: &Path) -> HomeFiles {
        let variables = ["XDG_CONFIG_HOME", "ZDOTDIR"].map(|name| env::var(name).map(PathBuf::from));
        let mut bases: Vec<PathBuf> =
            variables.into_iter().flatten().filter(|base| base.is_absolute()).collect();
        bases.extend(homes().into_iter().flat_map(|home| [home.join(".config"), home]));
        HomeFiles::from_bases(dir, &bases)
    }

    fn from_bases(dir: &Path, bases: &[PathBuf]) -> HomeFiles {
        let mut found = Vec::new();
        let Ok(dir) = dir.canonicalize() else { return HomeFiles::default() };
        for (base, (name, when)) in
            bases.iter().flat_map(|base| named_files().map(move |named| (base, named)))
        {
            let Some(path) = target(&base.join(name)) else { continue };
            let is_dir = name.ends_with('/');
            // A directory of settings may have a link for each file.
            let entries = is_dir.then(|| std::fs::read_dir(&path).ok()).flatten().into_iter().flatten();
            let links = entries.take(MOST_ENTRIES).flatten().filter_map(|entry| {
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                is_link.then(|| target(&entry.path())).flatten()
            });
            found.extend(links.filter(|path| path.starts_with(&dir)).map(|path| (path, when)));
            if path.starts_with(&dir) || is_dir && dir.starts_with(&path) {
                found.push((path, when));
            }
        }
        HomeFiles(found)
    }

    /// Returns the occasion on which a file runs automatically. Its path has no links.
    pub fn runs_when(&self, path: &Path) -> Option<AutorunTrigger> {
        self.0.iter().filter(|(known, _)| path.starts_with(known)).map(|(_, when)| *when).min()
    }
}

/// Resolves the links in a path; only its last component may be missing.
fn target(path: &Path) -> Option<PathBuf> {
    match resolve(path, &|_| false).ok()? {
        ResolvedPath::Existing(path) | ResolvedPath::Missing { path, is_last: true } => Some(path),
        ResolvedPath::Missing { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_known_by_the_name_in_the_home_directory_that_leads_to_it() {
        let temp_dir = tempfile::tempdir().unwrap();
        let home = temp_dir.path().canonicalize().unwrap();
        for path in ["dots/shell", "dots/fish/a.fish", "dots/own.desktop", ".config/autostart/x", "app/src/x"]
        {
            std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            std::fs::write(home.join(path), "").unwrap();
        }
        std::fs::create_dir_all(home.join(".config/fish")).unwrap();
        symlink("dots/shell", home.join(".bashrc")).unwrap();
        symlink("dots/not-yet", home.join(".profile")).unwrap();
        symlink("../../dots/fish", home.join(".config/fish/conf.d")).unwrap();
        symlink(home.join("dots/own.desktop"), home.join(".config/autostart/own.desktop")).unwrap();
        for (dir, path, when) in [
            ("dots", "dots/shell", Some("you start a shell")),
            ("dots", "dots/fish/new.fish", Some("you start fish")),
            ("dots", "dots/own.desktop", Some("you log in")),
            ("dots", "dots/not-yet", Some("you log in")),
            ("dots", "dots/other", None),
            (".config/fish", ".config/fish/config.fish", Some("you start fish")),
            (".config/autostart", ".config/autostart/new.desktop", Some("you log in")),
            ("", "dots/shell", Some("you start a shell")),
            ("app", "app/src/x", None),
        ] {
            let files = HomeFiles::from_bases(&home.join(dir), &[home.clone(), home.join(".config")]);
            let found = files.runs_when(&home.join(path)).map(|occasion| occasion.when);
            assert_eq!(found, when, "{path} in {dir}");
        }
    }
}
