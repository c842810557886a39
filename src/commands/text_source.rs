//! A text that a command reads from a file, or from stdin for `-`.

use std::io::Read;
use std::path::Path;

use super::secret_finder::masked;
use lepo_base::error::{Error, Result};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextSource<'p> {
    Stdin,
    File(&'p Path),
}

impl<'p> TextSource<'p> {
    /// `-` is stdin.
    pub fn new(path: &'p (impl AsRef<Path> + ?Sized)) -> TextSource<'p> {
        match path.as_ref() {
            path if path == Path::new("-") => TextSource::Stdin,
            path => TextSource::File(path),
        }
    }

    /// Returns its name for messages.
    pub fn name(self) -> String {
        match self {
            TextSource::Stdin => "stdin".to_string(),
            TextSource::File(path) => path.display().to_string(),
        }
    }

    /// Returns its kind, for notices about secrets in it.
    pub fn kind(self) -> &'static str {
        match self {
            TextSource::Stdin => "stdin",
            TextSource::File(_) => "a file",
        }
    }

    pub fn read(self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = match self {
            TextSource::Stdin => std::io::stdin().lock().read_to_end(&mut bytes),
            TextSource::File(path) => {
                std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
            }
        };
        read.map_err(|error| {
            let message = format!("cannot read {}", self.name());
            let failed =
                if self == TextSource::Stdin { Error::store(message) } else { Error::usage(message) };
            failed.because(error)
        })?;
        Ok(bytes)
    }

    /// Reads the text of a message, without secrets; if it is empty, the error has the hint `remedy`.
    pub fn read_message(self, remedy: &str) -> Result<Vec<u8>> {
        let bytes = self.read()?;
        if bytes.is_empty() {
            let empty = format!("{} is empty: a message needs at least one byte", self.name());
            return Err(Error::usage(empty).hint(remedy));
        }
        Ok(masked(&bytes, self.kind()).bytes().to_vec())
    }
}
