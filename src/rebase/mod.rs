//! Rebases consecutive messages: selects those to copy, and plans the copies from a text in which the user edits them.

mod choose;
mod edited_line;
mod kept_texts;
mod line_messages;
mod text_edit;

pub use choose::{RebaseSelection, choose};
pub use edited_line::EditedLine;
pub use kept_texts::kept_texts;
pub use line_messages::EditableLine;
pub use text_edit::{
    edit_line, left_out_note, notes, plan_text, why_unchanged, write_edited_line, write_undoable,
};
