//! Files of a question: recognised, checked against the limits of the model, stored, and loaded again for
//! each request.

mod attached_file;
mod bounded;
mod folder_summary;
mod gather;
mod incoming_file;
mod limits;
mod new_file;
mod same_name;
mod web_page;

pub use attached_file::{AttachedFile, UnsentFiles, choose, sent_text};
pub use bounded::{read_bounded, read_text};
pub use folder_summary::{FolderSummary, SkipReason, SkippedGroup};
pub use gather::FileGatherer;
pub use incoming_file::{FileUpload, begin_files, store_file, store_files};
pub use limits::check;
pub use new_file::{FileContent, NewFile};
pub use same_name::{composed, lookalike, same_name};
pub use web_page::web_page;
