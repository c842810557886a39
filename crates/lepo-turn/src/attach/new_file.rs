//! A file for a question, before it is stored: recognised by its bytes, and measured by its header.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::{lookalike, read_bounded};
use lepo_base::error::{Error, Result, quoted};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::media::{MAGIC, Media};
use lepo_net::fetch::{FetchedFile, fetch};
use lepo_store::bubb::{Attachment, ContentHash, clean_name, thousands};
use lepo_store::store::{Blob, NewBlob, Store};

/// Maximum bytes of a file from the web.
const WEB: u64 = 100 << 20;

/// A file for a question; clones share its bytes.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// Media type of the file.
    pub media: Media,
    /// Sanitised name of the file.
    pub name: String,
    /// Length in bytes of the file.
    pub len: u64,
    /// Width and height of an image.
    pub pixels: Option<(u32, u32)>,
    data: Data,
}

#[derive(Debug, Clone)]
enum Data {
    File(Arc<File>),
    Bytes(Arc<Vec<u8>>),
}

/// A file whose type is known.
#[derive(Debug)]
pub enum FileContent {
    /// A file that can be attached.
    Media(NewFile),
    /// Any other file, perhaps text: all its bytes.
    Other(Vec<u8>),
}

impl NewFile {
    /// Opens a file to attach. A file of unknown type is an error.
    pub fn open(path: &Path) -> Result<NewFile> {
        known_type(&path.display().to_string(), NewFile::open_path(path)?)
    }

    /// Fetches the file at this URL.
    pub fn fetch(address: &str) -> Result<NewFile> {
        let FetchedFile { name, bytes, .. } = fetch(address, WEB)?;
        NewFile::read(&name, bytes)
    }

    /// Creates a file from the bytes of `name`, which is not a path. Bytes of unknown type are an error.
    pub fn read(name: &str, bytes: Vec<u8>) -> Result<NewFile> {
        known_type(name, NewFile::of_bytes(name, bytes)?)
    }

    /// Opens a path: a file to attach, which is not read yet, or the bytes of another file.
    pub fn open_path(path: &Path) -> Result<FileContent> {
        let failed = |error| Error::usage(format!("cannot read {}", path.display())).because(error);
        let shown = path.display().to_string();
        let mut file = File::open(path).map_err(|error| with_lookalike(failed(error), path))?;
        let mut bytes = Vec::new();
        (&mut file).take(MAGIC as u64).read_to_end(&mut bytes).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if let (Some(media), true) = (Media::from_magic(&bytes), metadata.is_file()) {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            let pixels = pixels(media, &shown, BufReader::new(&file))?;
            let name = file_name(&shown, media);
            return Ok(FileContent::Media(NewFile {
                media,
                name,
                len: metadata.len(),
                pixels,
                data: Data::File(Arc::new(file)),
            }));
        }
        NewFile::of_bytes(&shown, read_bounded(&file, path, bytes)?)
    }

    /// Recognises the bytes of `name`, which is not a path.
    pub fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<FileContent> {
        let Some(media) = Media::from_magic(&bytes) else { return Ok(FileContent::Other(bytes)) };
        let pixels = pixels(media, name, Cursor::new(&bytes))?;
        let name = file_name(name, media);
        Ok(FileContent::Media(NewFile {
            media,
            name,
            len: bytes.len() as u64,
            pixels,
            data: Data::Bytes(Arc::new(bytes)),
        }))
    }

    /// Copies the file into the store.
    pub(super) fn begin_blob(&self, store: &Store) -> Result<NewBlob> {
        match &self.data {
            Data::Bytes(bytes) => store.copy_blob_in(&mut bytes.as_slice()),
            Data::File(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(0)).map_err(|error| self.unreadable(error))?;
                store.copy_blob_in(&mut file)
            }
        }
    }

    /// Returns the file's line in a question, and stores nothing.
    pub fn line_of(&self) -> Result<Attachment> {
        let hash = match &self.data {
            Data::Bytes(bytes) => ContentHash::from_content(bytes),
            Data::File(file) => {
                let mut file: &File = file;
                let mut bytes = Vec::new();
                let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
                read.map_err(|error| self.unreadable(error))?;
                ContentHash::from_content(&bytes)
            }
        };
        Ok(Attachment { media: self.media, len: self.len, name: self.name.clone(), hash })
    }

    /// Returns the file's line, after it was stored as this blob.
    pub(super) fn line(&self, blob: &Blob) -> Result<Attachment> {
        if blob.len != self.len {
            return Err(Error::usage(format!("{} changed while it was read", self.name)));
        }
        let (name, hash) = (self.name.clone(), blob.hash);
        Ok(Attachment { media: self.media, len: blob.len, name, hash })
    }

    /// Returns the error for a file that can no longer be read.
    pub(super) fn unreadable(&self, error: io::Error) -> Error {
        Error::usage(format!("cannot read {}", self.name)).because(error)
    }

    /// Returns the name of the file, its size and its pixels, for messages.
    pub fn about(&self) -> String {
        let pixels = self.pixels.map(|(w, h)| format!(", {w} x {h} pixels")).unwrap_or_default();
        format!("{} ({}, {} bytes{pixels})", self.name, self.media.mime(), thousands(self.len))
    }
}

fn known_type(name: &str, looked: FileContent) -> Result<NewFile> {
    let bytes = match looked {
        FileContent::Media(file) => return Ok(file),
        FileContent::Other(bytes) => bytes,
    };
    let what = "it is neither an image (PNG, JPEG, GIF, WebP) nor a PDF";
    let error = Error::usage(format!("{name} cannot be attached: {what}"));
    Err(match std::str::from_utf8(&bytes) {
        Ok(_) => error.hint(Hint::from("a text goes with ").command(HintCommand::Context)),
        Err(_) => error,
    })
}

/// Reads width and height from an image's header.
fn pixels(media: Media, name: &str, from: impl std::io::BufRead + Seek) -> Result<Option<(u32, u32)>> {
    if !media.is_image() {
        return Ok(None);
    }
    let size = imagesize::reader_size(from).map_err(|_| {
        Error::usage(format!(
            "{name} is damaged: its first bytes are those of {}, but its header is \
            invalid",
            media.mime()
        ))
    })?;
    if size.width == 0 || size.height == 0 {
        return Err(Error::usage(format!("{name} has no pixels: {} x {}", size.width, size.height)));
    }
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Ok(Some((side(size.width), side(size.height))))
}

/// Sanitises a name, and adds the extension of its type if it has no extension.
fn file_name(path: &str, media: Media) -> String {
    let name = clean_name(path).unwrap_or_else(|| "file".into());
    if name.contains('.') { name } else { format!("{name}.{}", media.extension()) }
}
/// Adds the name of a similar existing file to the error for a missing file.
fn with_lookalike(error: Error, path: &Path) -> Error {
    match lookalike(path).filter(|_| path.symlink_metadata().is_err()) {
        Some(alike) => {
            error.hint(format!("a file with a similar name exists: {}", quoted(&alike.display().to_string())))
        }
        None => error,
    }
}
