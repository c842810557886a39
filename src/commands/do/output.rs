//! `--output`: also writes the result to a file.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};

use super::document::DoDocument;
use crate::ui;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;

/// Writes the document, or the given bubbs: each below its heading, separated by blank lines, with any line
/// that resembles one of the `headings` escaped. `given` returns the unmasked text of a masked bubb.
pub fn write_output(
    file: &mut File,
    store: &Store,
    document: Option<&DoDocument<'_>>,
    (bubbs, headings): (&[(Option<String>, BubbName)], &[String]),
    unmasked: &dyn Fn(&BubbName) -> Result<Option<String>>,
) -> Result<()> {
    let failed = |error| Error::store("cannot write the --output file").because(error);
    if let Some(document) = document {
        let text = serde_json::to_string(document).map_err(|error| failed(error.into()))?;
        return empty(file).and_then(|()| writeln!(file, "{text}")).map_err(failed);
    }
    for (i, (heading, name)) in bubbs.iter().enumerate() {
        let from: Box<dyn Read> = match (heading, unmasked(name)?) {
            (Some(_), unmasked) => {
                let bytes =
                    unmasked.map_or_else(|| store.read_bubb(name), |unmasked| Ok(unmasked.into_bytes()))?;
                Box::new(Cursor::new(ui::set_apart(&bytes, headings).into_owned()))
            }
            (None, None) => Box::new(store.open_bubb(name)?),
            (None, Some(unmasked)) => Box::new(Cursor::new(unmasked.into_bytes())),
        };
        let before = if i == 0 { empty(file) } else { writeln!(file) };
        let heading = heading.iter().map(|heading| format!("{heading}\n\n")).collect::<String>();
        let written = before.and_then(|()| file.write_all(heading.as_bytes()));
        written.and_then(|()| copy_lines(from, file)).map_err(failed)?;
    }
    Ok(())
}

pub fn write_text(file: &mut File, text: &str) -> Result<()> {
    let written = empty(file).and_then(|()| file.write_all(text.as_bytes()));
    written.map_err(|error| Error::store("cannot write the --output file").because(error))
}

/// Truncates the file, only when there is something to write; a pipe cannot be truncated.
fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

/// Copies an answer as on stdout: adds a final newline unless there is one.
fn copy_lines(mut from: impl Read, to: &mut File) -> io::Result<()> {
    let mut buffer = [0; 8192];
    let mut last = b'\n';
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            count => {
                let piece = buffer.get(..count).unwrap_or_default();
                to.write_all(piece)?;
                last = piece.last().copied().unwrap_or(last);
            }
        }
    }
    if last == b'\n' { Ok(()) } else { writeln!(to) }
}
