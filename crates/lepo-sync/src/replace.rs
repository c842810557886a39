//! Replaces files of the state.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lepo_base::error::{Error, Result};

/// Replaces a file atomically, readable by the user alone. If not `is_durable`, a power cut may tear it.
pub fn replace(path: &Path, bytes: &[u8], is_durable: bool) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(bytes)?;
        if is_durable {
            file.as_file().sync_all()?;
        }
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Error::store(format!("cannot write {}", path.display())).because(error))
}
