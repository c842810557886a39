//! Opening a page in the user's browser.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::sys::OPENERS;

/// A page in a file of its own, readable by its owner alone, which stays for the browser to read.
pub fn temporary(bytes: &[u8]) -> Result<PathBuf> {
    let failed = |error: std::io::Error| Error::store("cannot write a temporary file").because(error);
    let mut file = tempfile::Builder::new().prefix("lepo-").suffix(".html").tempfile().map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    let (_, path) = file.keep().map_err(|error| failed(error.error))?;
    Ok(path)
}

/// Opens a file with `$BROWSER`, or with what the system has for it.
pub fn in_browser(file: &Path) -> Result<()> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let browser = crate::env::text("BROWSER").filter(|browser| !browser.is_empty());
    // A list of programs, the first that is there counts.
    let named = browser.iter().flat_map(|list| list.split(':'));
    for program in named.chain(OPENERS.iter().copied()) {
        let words = shlex::split(program).unwrap_or_default();
        let Some((program, arguments)) = words.split_first() else { continue };
        let mut command = Command::new(program);
        command.args(arguments).arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => return Ok(()),
            _ => {}
        }
    }
    Err(Error::remote(format!("no browser could be started for {}", file.display()))
        .hint("open that file, or name a program in BROWSER"))
}
