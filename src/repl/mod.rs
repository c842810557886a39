//! A session: turns in a row, at a prompt.

mod aftermath;
mod ask;
mod by_name;
mod command_words;
mod commands;
mod complain;
mod complete;
mod confirm;
mod decide;
mod entered;
mod find;
mod first_model;
mod grace;
mod history;
mod keys;
mod leaving;
mod line_feed;
mod mentions;
mod menu;
mod news;
mod own_command;
mod past;
mod paths;
mod reader;
mod room;
mod run;
mod served;
mod session;
mod slash;
mod title;
mod tokens;
mod turn;
mod undo;

pub use history::history_file;
pub use run::run_session;
pub use session::SessionOptions;
