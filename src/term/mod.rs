//! Writes to the terminal; no other module does. Receives values only, and names no other module of the
//! program.
//!
//! Text from a model, a tool, a file name or a bubb reaches a terminal with control characters made visible;
//! files and pipes get the bytes unchanged.

mod ask;
mod attention;
mod burst;
mod clean;
mod early_rows;
mod echo_off;
mod editor;
mod escape_sequence;
mod excerpt;
mod fold;
mod full_screen;
mod hangul_keys;
mod heading;
mod links;
mod live_rows;
mod markdown;
mod messages;
mod offered_word;
mod out;
mod pager;
mod paint;
mod painted;
mod pane;
mod panics;
mod paste_marks;
mod progress;
pub mod quote;
mod relay;
mod screen_buffer;
mod status_line;
mod table;
mod terminal;
mod type_ahead;
mod typed;
mod wrap;

pub use ask::{Tty, on_terminal, tty};
pub use attention::{AnswerWait, set_attention_signal};
pub use burst::{has_input, has_more_input, notice_input};
pub use clean::{Cleaner, clean, one_line};
pub use editor::{EDITORS, edit, missing_wait, named_editor, run_editor, without_added_newline};
pub use excerpt::{cut, excerpt, excerpt_within, padded, width};
pub use fold::{fold, fold_foreign, folded_question};
pub use full_screen::{FullScreen, KeyPress};
pub use hangul_keys::{is_yes, latin_keys};
pub use heading::{full_heading, heading, in_colour, titled};
pub use live_rows::LiveRows;
pub use markdown::Markdown;
pub use messages::MessageWriter;
pub use offered_word::{BareWord, OfferedWord};
pub use out::{Out, copy_to_clipboard, page_status, print_status, print_status_dim, print_verbatim, warn};
pub use paint::{Color, Paint};
pub use painted::{PaintedLine, painted_lines};
pub use pane::wrap_line;
pub use panics::report_panics;
pub use progress::ProgressMeter;
pub use quote::{extent, quote};
pub use relay::Relay;
pub use status_line::{LineLevel, StatusLine};
pub use table::{Column, Fit, Table};
pub use terminal::{
    columns, erase_line, fitting, is_dumb, show, stderr_is_stdout, stderr_is_terminal, stdin_is_gone,
    stdout_is_read,
};
pub use type_ahead::{TypeAhead, TypeAheadPause};
pub use typed::{PASTED_AT, PASTED_BANG, is_command_word, key_text, pasted, take_entry, unmarked};
pub use wrap::Wrap;
