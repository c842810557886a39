//! Rebases consecutive messages: selects those to copy, and plans the copies from a text in which the user edits them.

mod choose;
mod edited_line;
mod line_messages;
mod saved_texts;
mod text_edit;

pub use choose::{RebaseSelection, choose};
pub use edited_line::EditedLine;
pub use line_messages::EditableLine;
pub use saved_texts::saved_texts;
pub use text_edit::{
    edit_line, left_out_note, notes, plan_text, why_unchanged, write_edited_line, write_undoable,
};
