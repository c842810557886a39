//! The words at the end of a session: what it drops, and how to continue.

use super::session::Session;
use crate::term::{clean, say, say_dim};

/// Says what ends with the session, and how to continue the conversation.
pub(super) fn tell_leaving(session: &Session<'_>) {
    if session.shown.quiet || !session.is_on_terminal() {
        return;
    }
    let dropped = dropped(
        session.chosen.as_deref(),
        session.env.allowed(),
        session.files.len() + session.contexts.len(),
    );
    if !dropped.is_empty() {
        say(&format!("for this session only: {}", clean(&dropped.join(", "))));
    }
    if session.at.is_some() && session.env.keeps {
        say_dim("`lepo` continues here; `lepo -n` starts over", session.paint);
    }
}

/// The choices of a session that are not kept.
fn dropped(model: Option<&str>, allowed: usize, files: usize) -> Vec<String> {
    let some = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {more}")),
    };
    let model = model.map(|name| format!("model {name}"));
    let allowed = some(allowed, "request allowed without asking", "requests allowed without asking");
    let files = some(files, "file for the next question", "files for the next question");
    [model, allowed, files].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::dropped;

    #[test]
    fn only_what_was_chosen_is_dropped() {
        assert!(dropped(None, 0, 0).is_empty());
        assert_eq!(dropped(Some("gpt"), 0, 1), ["model gpt", "1 file for the next question"]);
        assert_eq!(
            dropped(None, 2, 2),
            ["2 requests allowed without asking", "2 files for the next question"]
        );
    }
}
