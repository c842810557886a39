//! The state for syncing a store, outside of it: settings, and the bare repository.
//!
//! The directory is named by the store's path and the identity of its directory, so that another project at this path
//! inherits nothing, and a copied store starts afresh.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::FlockOperation;

use super::git::Git;
use super::replace::replace;
use super::settings::SyncSettings;
use super::sync_record::SyncRecord;
use lepo_base::error::{Error, Result};
use lepo_base::hash::sha256_hex;

/// The file whose modification time is the end of the last successful sync.
const SYNCED: &str = "synced";

/// The file with the last commit known to be on the remote.
const PUSHED: &str = "pushed";

/// The identity of a store: its path and the identity of its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Birth time in nanoseconds since 1970; 0 if the file system has none.
    birth: u128,
}

impl Identity {
    /// Reads the identity of the store at `path`.
    pub fn read(path: &Path) -> Result<Identity> {
        let read = || -> std::io::Result<Identity> {
            let (path, meta) = (path.canonicalize()?, fs::metadata(path)?);
            let birth = meta.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
            Ok(Identity {
                path,
                device: meta.dev(),
                inode: meta.ino(),
                birth: birth.map_or(0, |since| since.as_nanos()),
            })
        };
        read().map_err(|error| Error::store(format!("cannot read {}", path.display())).because(error))
    }

    /// Returns 32 hexadecimal digits, unique to this store, that name its directory of state.
    pub fn key(&self) -> String {
        let text = format!("{}\0{}\0{}\0{}", self.path.display(), self.device, self.inode, self.birth);
        sha256_hex(text.as_bytes()).get(..32).unwrap_or_default().to_string()
    }
}

/// The open directory of state of a store.
pub struct SyncState {
    dir: PathBuf,
    /// The settings, written by `save`.
    pub settings: SyncSettings,
    /// The settings in the file, if it exists.
    saved: Option<SyncSettings>,
    /// Locked while this is open: syncs of a store run one after the other.
    _lock: File,
}

impl SyncState {
    /// Returns the directory of a store's state, below `data` (`$XDG_DATA_HOME/lepo`).
    fn dir_of(data: &Path, store: &Identity) -> PathBuf {
        data.join("sync").join(store.key())
    }

    /// Whether syncing is set up for a store.
    pub fn is_there(data: &Path, store: &Identity) -> bool {
        Self::dir_of(data, store).join("settings.json").exists()
    }

    /// Reads the settings of a store without waiting for a running sync.
    pub fn read(data: &Path, store: &Identity) -> Result<Option<SyncSettings>> {
        read_settings(&Self::dir_of(data, store))
    }

    /// Returns the bare repository of a store without waiting for a running sync.
    pub fn repository_of(data: &Path, store: &Identity) -> PathBuf {
        Self::dir_of(data, store).join("repository.git")
    }

    /// Returns the time of the last successful sync of a store.
    pub fn synced(data: &Path, store: &Identity) -> Option<SystemTime> {
        fs::metadata(Self::dir_of(data, store).join(SYNCED)).and_then(|meta| meta.modified()).ok()
    }

    /// Records that a sync has just succeeded: by the time of an empty file, which needs no wait for the disk.
    pub fn note_synced(&self) -> Result<()> {
        let path = self.dir.join(SYNCED);
        let write = || File::create(&path)?.set_modified(SystemTime::now());
        write().map_err(|error| Error::store(format!("cannot write {}", path.display())).because(error))
    }

    /// Reads the commit known to be on the remote of a store, without asking the remote.
    pub fn pushed(data: &Path, store: &Identity) -> Option<String> {
        let text = fs::read_to_string(Self::dir_of(data, store).join(PUSHED)).ok()?;
        let oid = text.trim_end();
        (oid.len() >= 40 && oid.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| oid.to_string())
    }

    /// Records the commit that is on the remote.
    pub fn note_pushed(&self, oid: &str) -> Result<()> {
        let path = self.dir.join(PUSHED);
        fs::write(&path, format!("{oid}\n"))
            .map_err(|error| Error::store(format!("cannot write {}", path.display())).because(error))
    }

    /// Forgets what is known about the remote, because another one replaces it.
    pub fn forget_remote(&self) -> Result<()> {
        SyncRecord::remove(&Git::at(&self.repository(), false))?;
        for file in [PUSHED, SYNCED] {
            let path = self.dir.join(file);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::store(format!("cannot remove {}", path.display())).because(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens the state of a store, creating it if it is missing, and waits for a running sync.
    pub fn open(data: &Path, store: &Identity) -> Result<SyncState> {
        let dir = Self::dir_of(data, store);
        let failed = |error| Error::store(format!("cannot write {}", dir.display())).because(error);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(failed)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(dir.join("lock"))
            .map_err(failed)?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        let saved = read_settings(&dir)?;
        Ok(SyncState { dir, settings: saved.clone().unwrap_or_default(), saved, _lock: lock })
    }

    /// Returns the path of the bare repository.
    pub fn repository(&self) -> PathBuf {
        self.dir.join("repository.git")
    }

    /// Saves the settings atomically, if they have changed.
    pub fn save(&mut self) -> Result<()> {
        if self.saved.as_ref() == Some(&self.settings) {
            return Ok(());
        }
        let path = self.dir.join("settings.json");
        let settings = serde_json::to_vec_pretty(&self.settings)
            .map_err(|error| Error::store(format!("cannot write {}", path.display())).because(error))?;
        replace(&path, &[&settings[..], b"\n"].concat(), true)?;
        self.saved = Some(self.settings.clone());
        Ok(())
    }
}

fn read_settings(dir: &Path) -> Result<Option<SyncSettings>> {
    let path = dir.join("settings.json");
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::usage(format!("cannot read {}", path.display()))
                .because(error)
                .hint("repair it, or remove it and run `lepo sync URL` again")
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::store(format!("cannot read {}", path.display())).because(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_kept_for_a_directory_and_not_for_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let (store, data) = (dir.path().join(".lepo"), dir.path().join("data"));
        fs::create_dir(&store).unwrap();
        let identity = Identity::read(&store).unwrap();
        assert!(!SyncState::is_there(&data, &identity));
        let mut state = SyncState::open(&data, &identity).unwrap();
        state.settings.url = "/srv/x".into();
        state.settings.mine.insert("laptop".into());
        state.save().unwrap();
        assert_eq!(SyncState::read(&data, &identity).unwrap(), Some(state.settings.clone()));
        fs::rename(&store, dir.path().join("elsewhere")).unwrap();
        fs::create_dir(&store).unwrap();
        assert!(!SyncState::is_there(&data, &Identity::read(&store).unwrap()));
        assert!(!SyncState::is_there(&data, &Identity::read(&dir.path().join("elsewhere")).unwrap()));
    }
}
