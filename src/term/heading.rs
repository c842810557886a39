//! The line above a bubb, wherever one is shown.

use super::Paint;
use crate::bubb::{Kind, Name};

/// `# user ID`, and ` hidden` where it is.
pub fn heading(name: &Name, paint: Paint) -> String {
    let hidden = if name.hidden { " hidden" } else { "" };
    let text = format!("# {} {}{hidden}", name.kind.word(), name.id);
    match name.kind {
        _ if name.hidden => paint.dim(&text),
        Kind::User => paint.cyan(&text),
        Kind::Assistant => paint.green(&text),
        Kind::System | Kind::Tool => paint.yellow(&text),
    }
}
