//! The only room that writes to a terminal, and it knows only values.
//!
//! Text of a model, a tool, a file name or a bubb reaches a terminal with every control character
//! made visible; files and pipes get the bytes as they are.

mod ask;
mod clean;
mod editor;
mod excerpt;
mod heading;
mod out;
mod paint;
mod progress;

pub use ask::{Tty, tty};
pub use clean::{Cleaner, clean};
pub use editor::edit;
pub use excerpt::excerpt;
pub use heading::heading;
pub use out::{Out, say};
pub use paint::{Color, Paint};
pub use progress::Progress;
