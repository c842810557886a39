//! The line above a bubb, wherever one is shown.

use super::Paint;
use crate::bubb::{Kind, Name};

/// `# user ID`, and ` hidden` where it is.
pub fn heading(name: &Name, paint: Paint) -> String {
    in_colour(name, paint, &format!("# {}", title(name)))
}

/// `user ID`, and ` hidden` where it is.
pub fn title(name: &Name) -> String {
    let hidden = if name.hidden { " hidden" } else { "" };
    format!("{} {}{hidden}", name.kind.word(), name.id)
}

/// Text in the colour of who speaks.
pub fn in_colour(name: &Name, paint: Paint, text: &str) -> String {
    match name.kind {
        _ if name.hidden => paint.dim(text),
        Kind::User => paint.cyan(text),
        Kind::Assistant => paint.green(text),
        Kind::System | Kind::Tool => paint.yellow(text),
    }
}
