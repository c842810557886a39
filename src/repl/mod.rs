//! A session: consecutive turns at a prompt.

mod around_turn;
mod ask;
mod commands;
mod complete;
mod confirm;
mod ctrl_c;
mod error_line;
mod find;
mod history;
mod keys;
mod late_reply;
mod leaving;
mod line_end;
mod mentions;
mod menu;
mod named_prompt;
mod paths;
mod peer_news;
mod prompt_entry;
mod reader;
mod rebase;
mod server_prompts;
mod session;
mod session_loop;
mod slash;
mod slash_spec;
mod tokens;
mod turn;
mod undo;
mod window;

pub use history::history_file;
pub use mentions::mentioned_files;
pub use session::SessionOptions;
pub use session_loop::run_session;
