//! Turns in a row, at a prompt; and the view of one turn that it shares with `lepo do`.

mod consent;
mod prompt;
mod view;

pub use prompt::{complain, prompt};
pub use view::View;
