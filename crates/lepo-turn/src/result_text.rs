//! The text of a result: as much as fits, then a line for each blob with a complete output.

use std::io::{self, Read, Write};

use lepo_base::error::{Error, Result};
use lepo_store::store::Store;
use lepo_tool::CapturedStream;

use super::Masking;
use lepo_secrets::{LOOKED_AT, is_binary};

/// A result under construction.
pub(super) struct ResultBuilder<'m> {
    pub text: Vec<u8>,
    /// The lines of its blobs.
    pub blobs: Vec<String>,
    /// Masks the content of blobs.
    masking: &'m Masking,
}

impl<'m> ResultBuilder<'m> {
    pub fn new(text: Vec<u8>, masking: &'m Masking) -> ResultBuilder<'m> {
        ResultBuilder { text, blobs: Vec::new(), masking }
    }

    /// Appends a text; if it exceeds `limit` bytes, appends its start and end, and the line of a blob.
    pub fn add_capped(&mut self, store: &Store, text: &str, limit: usize) -> Result<()> {
        if text.len() <= limit {
            self.text.extend(text.bytes());
            return Ok(());
        }
        let failed = |error| Error::store("cannot keep what the server gave").because(error);
        let mut scratch = store.scratch_file()?;
        scratch.write_all(text.as_bytes()).map_err(failed)?;
        self.add_stream(store, &mut CapturedStream::new(scratch).map_err(failed)?, limit)
    }

    /// Appends the excerpt of a stream, and the line of a blob if the excerpt is incomplete.
    pub fn add_stream(&mut self, store: &Store, captured: &mut CapturedStream, limit: usize) -> Result<()> {
        let failed = |error: io::Error| Error::store("cannot read the output back").because(error);
        let mut section = captured.section(limit).map_err(failed)?;
        let is_text = std::str::from_utf8(&section.text).is_ok() && !section.text.contains(&0);
        // The two halves of a secret could not be recognised, so the excerpt is from the masked text.
        let kept_whole = section.cut || !is_text;
        let mut masked = match kept_whole && is_searched(captured).map_err(failed)? {
            true => self.masked(store, captured)?,
            false => None,
        };
        let captured = match masked.as_mut() {
            Some(masked) => {
                section = masked.section(limit).map_err(failed)?;
                masked
            }
            None => captured,
        };
        match is_text {
            true => self.text.extend(&section.text),
            // The bytes are only in the blob, since no text can represent them.
            false => self.text.extend(format!("[{} bytes that are not text]", captured.len()).bytes()),
        }
        if !self.text.ends_with(b"\n") {
            self.text.push(b'\n');
        }
        if section.cut || !is_text {
            self.blobs.push(store.write_blob(captured.rewound().map_err(failed)?)?.line());
        }
        Ok(())
    }

    /// Masks the complete output; `None` if it has no secret.
    fn masked(&self, store: &Store, captured: &mut CapturedStream) -> Result<Option<CapturedStream>> {
        let failed = |error: io::Error| Error::store("cannot keep the output of the command").because(error);
        let mut scratch = store.scratch_file()?;
        let from = captured.rewound().map_err(failed)?;
        let is_any = self.masking.screen_stream(from, &mut scratch, "a long output").map_err(failed)?;
        if is_any { CapturedStream::new(scratch).map(Some).map_err(failed) } else { Ok(None) }
    }

    /// Stores these bytes as a blob, and appends its line.
    pub fn add_blob(&mut self, store: &Store, bytes: &[u8]) -> Result<()> {
        self.blobs.push(blob_line(store, self.masking, bytes)?);
        Ok(())
    }

    /// Returns the text without its trailing newline, then each blob on a line.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.text.ends_with(b"\n") {
            self.text.pop();
        }
        for line in self.blobs {
            self.text.push(b'\n');
            self.text.extend(line.bytes());
        }
        self.text
    }
}

/// Stores data of a server as a blob, with masks if it is text, and returns its line.
pub(super) fn blob_line(store: &Store, masking: &Masking, bytes: &[u8]) -> Result<String> {
    let screened = masking.screen_file(bytes, "what an MCP server gave");
    Ok(store.write_blob(&mut screened.bytes())?.line())
}

/// Whether the output is text, by the rule of the search for secrets.
fn is_searched(captured: &mut CapturedStream) -> io::Result<bool> {
    let mut start = Vec::new();
    captured.rewound()?.take(LOOKED_AT as u64).read_to_end(&mut start)?;
    Ok(!is_binary(&start))
}
