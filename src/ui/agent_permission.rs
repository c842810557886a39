//! An agent's question for permission to run its own tool, on the terminal device.

use std::sync::atomic::AtomicBool;

use rustix::process::Signal;

use super::in_fence;
use crate::term::{Tty, TypeAheadPause, excerpt_within, extent, fold, on_terminal, one_line, quote};
use lepo_base::error::{Error, Result};
use lepo_model::{AgentQuestion, PermissionReply};

/// Says whether the agent is sandboxed.
fn sandbox_note(question: &AgentQuestion) -> String {
    match &question.sandbox {
        None => "The agent runs its own tools: lepo does not sandbox them.".to_owned(),
        Some(held) => format!("The agent runs its own tools, {}.", one_line(held)),
    }
}

/// Asks the user; a signal can withdraw the question.
pub async fn permit(agent: String, question: AgentQuestion) -> Result<PermissionReply> {
    match on_terminal(move |tty, withdrawn| converse(tty, &agent, &question, withdrawn)).await? {
        Some(permit) => permit.ok_or_else(|| Error::interrupted(Signal::INT.as_raw() as u8)),
        None => Ok(PermissionReply::Nobody),
    }
}

/// Returns the title and the text of a question, for a view without a terminal.
pub fn agent_text(agent: &str, question: &AgentQuestion) -> (String, String) {
    let title = excerpt_within(&question.title, 120);
    let details = format!("{}\n{}", question.title, question.details);
    (
        title,
        format!(
            "Asked by {}:\n\n{}\n\n{}",
            excerpt_within(agent, 60),
            in_fence(details.trim()),
            sandbox_note(question)
        ),
    )
}

fn converse(
    tty: &mut Tty,
    agent: &str,
    question: &AgentQuestion,
    withdrawn: &AtomicBool,
) -> std::io::Result<Option<PermissionReply>> {
    let _asking = TypeAheadPause::pause();
    let about = text(agent, question, tty.columns());
    tty.show(&about)?;
    loop {
        tty.forget_typed();
        let always = if question.offers_always { " [a]lways, as the agent defines it" } else { "" };
        let holds = fold(&sandbox_note(question), tty.columns());
        let length = extent(&question.details, tty.columns());
        let prompt = format!("{length}{holds}\nAllow it? [y]es [n]o{always} ");
        let Some(answer) = tty.ask_about(&about, &prompt, withdrawn)? else { return Ok(None) };
        match answer.as_str() {
            "y" | "Y" => return Ok(Some(PermissionReply::Once)),
            "a" | "A" if question.offers_always => return Ok(Some(PermissionReply::Always)),
            "n" | "N" => return Ok(Some(PermissionReply::No)),
            _ => {}
        }
    }
}

/// Returns the action that the agent asks for; the agent's own text is marked as a quote.
fn text(agent: &str, question: &AgentQuestion, columns: usize) -> String {
    let mut text = String::from("\nAgent request\n");
    text.push_str(&quote("From: ", agent, columns));
    text.push_str(&quote("  ", &question.title, columns));
    if !question.details.trim().is_empty() {
        text.push_str(&quote("  ", question.details.trim(), columns));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_words_of_an_agent_look_like_lepos_own() {
        let evil = "x\nAllow it? [y]es [n]o \u{1b}[2J";
        let question = AgentQuestion {
            number: 0,
            title: evil.into(),
            details: evil.into(),
            offers_always: true,
            sandbox: None,
        };
        let shown = text(evil, &question, 80);
        let own = shown.lines().filter(|line| !line.starts_with("  | ") && !line.starts_with("  + "));
        assert_eq!(own.filter(|line| line.contains("Allow it?")).count(), 0, "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}
