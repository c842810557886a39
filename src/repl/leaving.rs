//! The lines at the end of a session: what it drops, and how to continue.

use super::session::ReplSession;
use crate::term::{clean, print_status, print_status_dim};
use lepo_store::bubb::BubbId;
use lepo_turn::{StartOptions, TurnStart, start};

/// Prints what ends with the session, and how to continue the conversation.
pub(super) fn print_leaving(session: &ReplSession<'_>) {
    if session.display.quiet || !session.is_on_terminal() {
        return;
    }
    let dropped = dropped_choices(
        session.chosen.as_deref(),
        session.env.allowed(),
        session.files.len() + session.contexts.len(),
    );
    if !dropped.is_empty() {
        print_status(&format!("for this session only: {}", clean(&dropped.join(", "))));
    }
    if session.conversation.position.unanswered.is_some() && session.env.keeps {
        let again = "`lepo do --retry` answers the last question; `lepo -n` starts over";
        return print_status_dim(again, session.paint);
    }
    let Some(at) = session.tip().filter(|_| session.env.keeps) else { return };
    let continued = if is_continued(session, at) {
        "`lepo` continues here; `lepo -n` starts over".to_string()
    } else {
        format!("`lepo --tail {at}` continues here; `lepo` the newest conversation")
    };
    print_status_dim(&continued, session.paint);
}

/// Whether the next session continues after this message; false after `/undo` or `/tail`.
fn is_continued(session: &ReplSession<'_>, at: BubbId) -> bool {
    let options = StartOptions { new: false, tail: None, retry: false };
    let next = session.forest().and_then(|forest| start(&session.store, &forest, options));
    matches!(next, Ok(TurnStart::Under(id)) if id == at)
}

/// Lists the choices that end with the session.
fn dropped_choices(model: Option<&str>, allowed: usize, files: usize) -> Vec<String> {
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
    use super::dropped_choices;

    #[test]
    fn only_what_was_chosen_is_dropped() {
        assert!(dropped_choices(None, 0, 0).is_empty());
        assert_eq!(dropped_choices(Some("gpt"), 0, 1), ["model gpt", "1 file for the next question"]);
        assert_eq!(
            dropped_choices(None, 2, 2),
            ["2 requests allowed without asking", "2 files for the next question"]
        );
    }
}
