//! Files of a question while they are copied into the store: they are hashed, and their request is prepared,
//! during the wait for the disk.

use std::fs::File;

use super::{AttachedFile, NewFile};
use crate::Question;
use lepo_base::error::Result;
use lepo_store::bubb::{Attachment, with_attachments};
use lepo_store::store::{NewBlob, Store};

/// A file whose bytes are in the store, but whose blob does not have its final name yet.
pub struct FileUpload {
    /// Line of the file.
    pub line: Attachment,
    blob: NewBlob,
    /// The open file, for the request.
    file: File,
    longer_side: Option<u32>,
}

impl FileUpload {
    /// Copies a file into the store.
    pub(super) fn copy_in(file: &NewFile, store: &Store) -> Result<FileUpload> {
        let blob = file.begin_blob(store)?;
        let line = file.line(&blob.blob)?;
        let copy = blob.file().map_err(|error| file.unreadable(error))?;
        let longer_side = file.pixels.map(|(width, height)| width.max(height));
        Ok(FileUpload { line, blob, file: copy, longer_side })
    }

    /// Renames the blob to its final name; durable when this returns.
    pub fn publish(&mut self, store: &Store) -> Result<()> {
        self.blob.publish(store)
    }

    /// Returns the file as an attachment of its bubb, to be sent.
    pub fn attached(&self) -> AttachedFile {
        AttachedFile::open(self.line.clone(), self.file.try_clone().ok(), self.longer_side)
    }
}

/// Copies the files of a question into the store, without durability, and returns the text of its bubb.
pub fn begin_files(store: &Store, question: Question) -> Result<(String, Vec<FileUpload>)> {
    let files =
        question.files.iter().map(|file| FileUpload::copy_in(file, store)).collect::<Result<Vec<_>>>()?;
    let lines: Vec<Attachment> = files.iter().map(|file| file.line.clone()).collect();
    Ok((with_attachments(&question.text, &lines), files))
}

/// Stores a file, durably.
pub fn store_file(file: &NewFile, store: &Store) -> Result<Attachment> {
    let mut upload = FileUpload::copy_in(file, store)?;
    upload.publish(store)?;
    Ok(upload.line)
}

/// Stores the files of a question, durably, and returns the text of its bubb.
pub fn store_files(store: &Store, question: Question) -> Result<String> {
    let (text, mut files) = begin_files(store, question)?;
    files.iter_mut().try_for_each(|file| file.publish(store))?;
    Ok(text)
}
