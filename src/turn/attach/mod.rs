//! Files that go with a question: looked into, checked against what the model takes, kept in the store,
//! and found again for each request.

mod gather;
mod limits;
mod new_file;
mod sent;

pub use gather::Gathering;
pub use limits::check;
pub use new_file::{Looked, NewFile};
pub use sent::{Attached, LeftOut, choose, sent_text};

use super::Question;
use crate::bubb::with_attachments;
use crate::error::Result;
use crate::store::Store;

/// Keeps the files of a question in the store, durable when this returns. The text of its bubb.
pub fn keep_files(store: &Store, question: Question) -> Result<String> {
    let lines = question.files.iter().map(|file| file.keep(store)).collect::<Result<Vec<_>>>()?;
    Ok(with_attachments(&question.text, &lines))
}
