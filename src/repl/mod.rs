//! Turns in a row, at a prompt; and the view of one turn that it shares with `lepo do`.

mod complain;
mod complete;
mod consent;
mod entered;
mod keys;
mod reader;
mod state;
mod view;

pub use complain::complain;
pub use consent::ask;
pub use entered::{Entered, help};
pub use reader::Reader;
pub use state::{State, Step};
pub use view::{Shown, View};
