//! Opens a page or a URL in the user's browser.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lepo_base::error::{Error, Result};
use lepo_base::search_path;
use lepo_base::sys::{DISPLAYS, OPENERS};

/// Writes a page to a temporary file that only the user can read; the file stays, because the browser reads
/// it later.
pub fn temporary(bytes: &[u8]) -> Result<PathBuf> {
    let failed = |error: std::io::Error| Error::store("cannot write a temporary file").because(error);
    let mut file = tempfile::Builder::new().prefix("lepo-").suffix(".html").tempfile().map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    let (_, path) = file.keep().map_err(|error| failed(error.error))?;
    Ok(path)
}

/// Opens a file with `$BROWSER`, or the system's opener.
pub fn in_browser(file: &Path) -> Result<()> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    for mut command in commands(file.as_os_str()) {
        match command.status() {
            Ok(status) if status.success() => return Ok(()),
            _ => {}
        }
    }
    Err(Error::remote(format!("no browser could be started for {}", file.display()))
        .hint("open that file, or name a program in BROWSER"))
}

pub fn has_browser() -> bool {
    let is_set = |name: &str| lepo_base::env::text(name).is_some_and(|value| !value.is_empty());
    DISPLAYS.is_empty() || is_set("BROWSER") || DISPLAYS.iter().any(|name| is_set(name))
}

/// Opens a URL; returns whether a program started. Does not wait for it, because it may be the browser
/// itself.
pub fn show_in_browser(address: &str) -> bool {
    commands(address.as_ref()).into_iter().any(|mut command| match command.spawn() {
        Ok(mut child) => {
            std::thread::spawn(move || child.wait());
            true
        }
        Err(_) => false,
    })
}

/// Returns the commands to try in order: the list in `$BROWSER`, then the system's openers.
fn commands(what: &OsStr) -> Vec<Command> {
    let browser = lepo_base::env::text("BROWSER").filter(|browser| !browser.is_empty());
    let named = browser.iter().flat_map(|list| list.split(':'));
    let command = |program: &str| {
        let words = shlex::split(program).unwrap_or_default();
        let (program, arguments) = words.split_first()?;
        let mut command = search_path::command(program);
        command.args(arguments).arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(command)
    };
    named.chain(OPENERS.iter().copied()).filter_map(command).collect()
}
