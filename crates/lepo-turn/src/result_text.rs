//! The text of a result: what fits, and at its end a line for each blob that holds the whole of something.

use std::io::{self, Read, Write};

use lepo_base::error::{Error, Result};
use lepo_store::store::Store;
use lepo_tool::Captured;

use super::Masking;
use lepo_secrets::{LOOKED_AT, is_binary};

/// A result that is being put together.
pub(super) struct ResultText<'m> {
    /// The text so far.
    pub text: Vec<u8>,
    /// The lines of its blobs.
    pub blobs: Vec<String>,
    /// Masks what goes into blobs.
    masking: &'m Masking,
}

impl<'m> ResultText<'m> {
    /// Begins with this text.
    pub fn new(text: Vec<u8>, masking: &'m Masking) -> ResultText<'m> {
        ResultText { text, blobs: Vec::new(), masking }
    }

    /// Adds a text; or its begin and end, and a line of the whole, where it is longer than `limit` bytes.
    pub fn add_capped(&mut self, store: &Store, text: &str, limit: usize) -> Result<()> {
        if text.len() <= limit {
            self.text.extend(text.bytes());
            return Ok(());
        }
        let failed = |error| Error::store("cannot keep what the server gave").because(error);
        let mut scratch = store.bubbs().scratch()?;
        scratch.write_all(text.as_bytes()).map_err(failed)?;
        self.add_stream(store, &mut Captured::new(scratch).map_err(failed)?, limit)
    }

    /// Adds what is left of a stream, and a line for the whole of it where something is missing.
    pub fn add_stream(&mut self, store: &Store, captured: &mut Captured, limit: usize) -> Result<()> {
        let failed = |error: io::Error| Error::store("cannot read the output back").because(error);
        let mut section = captured.section(limit).map_err(failed)?;
        let is_text = std::str::from_utf8(&section.text).is_ok() && !section.text.contains(&0);
        // A secret that is cut in two could not be found: the ends are those of the masked whole.
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
            // No text says what they are: they are in the blob alone.
            false => self.text.extend(format!("[{} bytes that are not text]", captured.len()).bytes()),
        }
        if !self.text.ends_with(b"\n") {
            self.text.push(b'\n');
        }
        if section.cut || !is_text {
            self.blobs.push(store.blobs().keep(captured.whole().map_err(failed)?)?.line());
        }
        Ok(())
    }

    /// The whole with masks; `None` if it has no secret.
    fn masked(&self, store: &Store, captured: &mut Captured) -> Result<Option<Captured>> {
        let failed = |error: io::Error| Error::store("cannot keep the output of the command").because(error);
        let mut scratch = store.bubbs().scratch()?;
        let from = captured.whole().map_err(failed)?;
        let is_any = self.masking.kept_stream(from, &mut scratch, "a long output").map_err(failed)?;
        if is_any { Captured::new(scratch).map(Some).map_err(failed) } else { Ok(None) }
    }

    /// Adds the line of a blob with these bytes.
    pub fn add_blob(&mut self, store: &Store, bytes: &[u8]) -> Result<()> {
        self.blobs.push(blob_line(store, self.masking, bytes)?);
        Ok(())
    }

    /// The whole: the text without the end of its last line, then each blob on a line.
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

/// Keeps what a server gave as a blob, a text with masks, and gives its line.
pub(super) fn blob_line(store: &Store, masking: &Masking, bytes: &[u8]) -> Result<String> {
    let kept = masking.kept_file(bytes, "what an MCP server gave");
    Ok(store.blobs().keep(&mut kept.bytes())?.line())
}

/// True if the whole is text by the rule of all that is searched for secrets.
fn is_searched(captured: &mut Captured) -> io::Result<bool> {
    let mut begun = Vec::new();
    captured.whole()?.take(LOOKED_AT as u64).read_to_end(&mut begun)?;
    Ok(!is_binary(&begun))
}
