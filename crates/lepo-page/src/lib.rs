//! Renders conversations as an HTML page: a single file that needs no network and is safe for any content.
//!
//! Pure: converts names and texts into bytes. All text is treated as hostile. The page's script and style are files in
//! this folder; the page's policy allows only them, by their hashes, and images in the page itself.

mod article;
mod body;
mod chart;
#[cfg(test)]
mod contrast;
mod document;
mod escape;
mod formulas;
mod markdown;
mod mathml;
mod outline;
mod page;
mod selection;
mod svg;

pub use body::{MessageBody, body};
pub use chart::{Bar, Figures};
pub use document::document as html;
pub use page::{Page, PageMessage};
pub use selection::{PageSelection, pick};

#[cfg(test)]
#[path = "../../lepo-store/src/conv/fixture.rs"]
mod fixture;
