//! A page of HTML that shows conversations: one file without a network, safe for any content.
//!
//! Pure: it gets names and texts, and gives bytes. All text is taken as hostile. The page's script and style are
//! files beside this one; the page allows them by their hashes, and images in its own bytes, and nothing else.

mod article;
mod body;
mod chart;
#[cfg(test)]
mod contrast;
mod document;
mod escape;
mod link;
mod markdown;
mod outline;
mod page;
mod pick;
mod picture;

pub use body::{Body, body};
pub use chart::{Bar, Figures};
pub use document::document as html;
pub use page::{Message, Page};
pub use pick::{Picked, pick};

#[cfg(test)]
#[path = "../../lepo-store/src/conv/fixture.rs"]
mod fixture;
