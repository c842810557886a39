//! The instructions of a store (`_insts.toml`) are active if this user's lepo created the store and git does
//! not track the file. Otherwise they are a repository's text for models, and need trust.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::config::{Insts, Paths, RepoFile, Trust};
use lepo_base::error::{Error, Result};
use lepo_base::repository::has_repository;
use lepo_base::tracked::is_tracked;
use lepo_base::work_folder::identity_of;
use lepo_store::store::Store;

/// Name of the file.
pub const INSTS_FILE: &str = "_insts.toml";

/// The folder, in the state folder, with an empty file for each store that this user's lepo created.
const MADE: &str = "made";

/// Records that this user's lepo created the store. If this fails, its instructions need trust.
pub fn note_made(store: &Store, paths: &Paths) {
    let Ok(identity) = identity_of(&store.path()) else { return };
    let folder = paths.state.join(MADE);
    let created = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let mut file = OpenOptions::new();
    file.create(true).append(true).mode(0o600);
    let _ = created.and_then(|()| file.open(folder.join(identity)));
}

fn is_made_here(store: &Store, paths: &Paths) -> bool {
    let is_noted =
        identity_of(&store.path()).is_ok_and(|identity| paths.state.join(MADE).join(identity).exists());
    is_noted || store.path().starts_with(paths.scratch_stores())
}

/// Returns the instructions in effect, and a warning for each ignored part of their file.
pub(crate) fn insts_in_force(store: &Store, paths: &Paths) -> Result<(Insts, Vec<String>)> {
    let Some(bytes) = store.insts()? else { return Ok((Insts::default(), Vec::new())) };
    if let Some(file) = insts_of_repository(store, paths)?
        && !Trust::new(paths).covers(&file)?
    {
        return Ok((Insts::default(), vec![ignored_insts(store)]));
    }
    Insts::parse(&store.display_path().join(INSTS_FILE), &bytes)
}

/// Returns the warning that the file of a store's instructions is ignored.
pub fn ignored_insts(store: &Store) -> String {
    let why = "is ignored: it is not trusted; `lepo trust` shows what it would do";
    format!("{} {why}", store.display_path().join(INSTS_FILE).display())
}

/// Returns the file of a store's instructions, if it needs trust.
pub fn insts_of_repository(store: &Store, paths: &Paths) -> Result<Option<RepoFile>> {
    let Some(bytes) = store.insts()? else { return Ok(None) };
    if bytes == Insts::default_file_text().as_bytes() {
        return Ok(None);
    }
    // A file that only repeats the defaults needs no trust.
    let parsed = Insts::parse(Path::new(INSTS_FILE), &bytes);
    if parsed.is_ok_and(|(insts, _)| insts == Insts::default()) {
        return Ok(None);
    }
    let dir = store.path().canonicalize().map_err(|error| {
        Error::store(format!("cannot find the real path of {}", store.display_path().display()))
            .because(error)
    })?;
    let path = dir.join(INSTS_FILE);
    // A repository around the store's own tracks files in it, too.
    let mut roots = dir.ancestors().filter(|dir| has_repository(dir));
    let is_own = is_made_here(store, paths) && !roots.any(|root| is_tracked(root, &path));
    Ok((!is_own).then_some(RepoFile { path, bytes }))
}

/// Returns the file of a store's instructions, if it needs trust and is not trusted yet.
pub fn untrusted_insts(store: &Store, paths: &Paths) -> Result<Option<RepoFile>> {
    let Some(file) = insts_of_repository(store, paths)? else { return Ok(None) };
    Ok((!Trust::new(paths).covers(&file)?).then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::env::Env;

    #[test]
    fn the_file_counts_where_lepo_made_the_store_and_git_does_not_track_it() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let paths =
            Paths::from_env(&Env::from_pairs(&[("HOME", top.join("home").to_str().unwrap())])).unwrap();
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            let ran =
                git.arg("-C").arg(top.join("app")).args(args).stdout(std::process::Stdio::null()).status();
            assert!(ran.unwrap().success(), "{args:?}");
        };
        std::fs::create_dir(top.join("app")).unwrap();
        git(&["init", "-q"]);
        let open =
            || Store::make(&top.join("app"), Path::new(".lepo"), Insts::default_file_text()).unwrap().0;
        let file = top.join("app/.lepo/_insts.toml");
        let counts = |what: &str| {
            let (insts, warnings) = insts_in_force(&open(), &paths).unwrap();
            assert_eq!(
                insts.general.as_deref() == Some("Mine."),
                warnings.is_empty(),
                "{what}: {warnings:?}"
            );
            warnings.is_empty()
        };
        open();
        assert_eq!(untrusted_insts(&open(), &paths).unwrap(), None, "the default");
        std::fs::write(&file, "# only a comment\n").unwrap();
        assert_eq!(untrusted_insts(&open(), &paths).unwrap(), None, "it says what the default says");
        std::fs::write(&file, "general = 'Mine.'\n").unwrap();
        assert!(!counts("made by nobody known"));
        note_made(&open(), &paths);
        assert!(counts("made here"));
        git(&["add", "-f", ".lepo/_insts.toml"]);
        assert!(!counts("tracked"));
        // A repository of its own in the store takes nothing away from the one around it.
        let mut inner = std::process::Command::new("git");
        assert!(inner.args(["init", "-q"]).arg(top.join("app/.lepo")).status().unwrap().success());
        assert!(!counts("tracked by the repository around its own"));
        std::fs::remove_dir_all(top.join("app/.lepo/.git")).unwrap();
        let trusted = untrusted_insts(&open(), &paths).unwrap().unwrap();
        Trust::new(&paths).save(&[trusted]).unwrap();
        assert!(counts("trusted"));
        git(&["rm", "-q", "--cached", ".lepo/_insts.toml"]);
        std::fs::write(&file, "general = 'Mine.'\n# changed\n").unwrap();
        assert!(counts("made here, and not tracked any more"));
        // A renamed store is the same store; a copy is not.
        std::fs::rename(top.join("app"), top.join("moved")).unwrap();
        let moved = Store::make(&top.join("moved"), Path::new(".lepo"), "").unwrap().0;
        assert_eq!(untrusted_insts(&moved, &paths).unwrap(), None);
        assert!(
            std::process::Command::new("cp")
                .arg("-r")
                .arg(top.join("moved"))
                .arg(top.join("app"))
                .status()
                .unwrap()
                .success()
        );
        assert!(!counts("a copy"));
        // An invalid file without effect is not an error.
        std::fs::write(&file, "general = [").unwrap();
        assert!(!counts("a mistake"));
    }
}
