//! A session: turns in a row, at a prompt.

mod commands;
mod complain;
mod complete;
mod entered;
mod keys;
mod paths;
mod reader;
mod session;
mod slash;

pub use session::{SessionOptions, run_session};
