//! Formats the line above a bubb.

use super::{Paint, clean, width};
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;

/// Formats `# user ID`, with ` hidden` if it is.
pub fn heading(name: &BubbName, paint: Paint) -> String {
    in_colour(name, paint, &format!("# {}", titled(name, &name.id.to_string(), false)))
}

/// Formats the heading with `title`, the participant's name and, as far as `columns` allow, the texts `about`
/// the bubb.
pub fn full_heading(
    (name, title): (&BubbName, &str),
    speaker: Option<&str>,
    about: &[String],
    columns: Option<usize>,
    paint: Paint,
) -> String {
    let mut line = format!("# {title}");
    if let Some(speaker) = speaker {
        line.push_str(&format!(" {}", clean(speaker)));
    }
    let mut room = columns.unwrap_or_default().saturating_sub(width(&line));
    let mut heading = in_colour(name, paint, &line);
    for (i, text) in about.iter().filter(|text| !text.is_empty()).enumerate() {
        let text = format!("{}{}", if i == 0 { "  " } else { " · " }, clean(text));
        let Some(left) = room.checked_sub(width(&text)) else { break };
        room = left;
        heading.push_str(&paint.dim(&text));
    }
    heading
}

/// Formats `user ID`, with ` (stopped)` for a stopped answer, and ` hidden` for another hidden message.
pub fn titled(name: &BubbName, id: &str, is_stopped: bool) -> String {
    let mark = match (is_stopped, name.hidden) {
        (true, _) => " (stopped)",
        (false, true) => " hidden",
        (false, false) => "",
    };
    format!("{} {id}{mark}", name.role.as_str())
}

/// Paints `text` in the colour of the bubb's kind; dim if hidden.
pub fn in_colour(name: &BubbName, paint: Paint, text: &str) -> String {
    match name.role {
        _ if name.hidden => paint.dim(text),
        Role::User => paint.cyan(text),
        Role::Assistant => paint.green(text),
        Role::System | Role::Tool => paint.yellow(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    #[test]
    fn what_there_is_room_for_stands_behind() {
        let name = BubbName::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-a0-01JB3Z0Q4N8V2K5T7W9X1Y3Z5B.md").unwrap();
        let paint = Paint::new(Color::Never, true, |_| None);
        let about = ["2h ago".to_string(), String::new(), "gpt".to_string()];
        let bare = "# assistant 01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";
        for (speaker, columns, behind) in [
            (None, None, ""),
            (Some("gemini"), None, " gemini"),
            (None, Some(80), "  2h ago · gpt"),
            (Some("gemini"), Some(80), " gemini  2h ago · gpt"),
            (None, Some(48), "  2h ago"),
            (None, Some(40), ""),
        ] {
            let shown = full_heading(
                (&name, &titled(&name, &name.id.to_string(), false)),
                speaker,
                &about,
                columns,
                paint,
            );
            assert_eq!(shown, format!("{bare}{behind}"), "{columns:?}");
        }
    }
}
