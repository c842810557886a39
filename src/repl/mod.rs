//! A session: turns in a row, at a prompt.

mod aftermath;
mod by_name;
mod commands;
mod complain;
mod complete;
mod decide;
mod entered;
mod find;
mod keys;
mod mentions;
mod menu;
mod news;
mod paths;
mod reader;
mod served;
mod session;
mod slash;
mod tokens;

pub use session::{SessionOptions, run_session};
