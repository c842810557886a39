//! A session: turns in a row, at a prompt.

mod aftermath;
mod by_name;
mod commands;
mod complain;
mod complete;
mod decide;
mod entered;
mod find;
mod first_model;
mod grace;
mod keys;
mod leaving;
mod mentions;
mod menu;
mod news;
mod own_command;
mod paths;
mod reader;
mod served;
mod session;
mod slash;
mod title;
mod tokens;

pub use session::{SessionOptions, run_session};
