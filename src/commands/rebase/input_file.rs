//! The files that options of `rebase` name; `-` is stdin.

use std::io::Read;
use std::path::Path;

use lepo_base::error::{Error, Result};

/// Reads a file, or stdin for `-`.
pub fn read(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match is_stdin(file) {
        true => std::io::stdin().lock().read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| Error::usage(format!("cannot read {}", name_of(file))).because(error))?;
    Ok(bytes)
}

pub fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the file's name for messages.
pub fn name_of(file: &Path) -> String {
    if is_stdin(file) { "stdin".into() } else { file.display().to_string() }
}
