//! Gathers the parts of an opening for a turn, or for a dry run of it, which runs no command and asks no server.

use super::NOT_FETCHED;
use super::instructions::instructions;
use super::message::NewMessage;
use super::next_question::form_message;
use super::opening::{OpeningParts, prompt_message};
use super::skills::{catalogue, find_skills, named_skill};
use super::turn::Turn;
use super::{Masking, TurnRequest, TurnStart};
use lepo_base::error::Result;
use lepo_base::role::Role;

/// Replaces the output of a command.
const NOT_RUN: &str = "(not run)";

/// Returns the parts that precede the user's own commands.
pub(super) fn parts_before_commands(turn: &mut Turn<'_>, ask: &mut TurnRequest) -> Result<OpeningParts> {
    let prompt = ask.system_prompt.take().filter(|_| ask.start == TurnStart::New);
    let mut parts = OpeningParts {
        prompt: prompt.map(|prompt| prompt_message(&turn.env.masking, prompt)),
        ..OpeningParts::default()
    };
    find_skills(turn)?;
    if matches!(ask.start, TurnStart::New | TurnStart::Under(_)) {
        parts.catalogue = catalogue(turn);
        parts.instructions = instructions(turn);
    }
    Ok(parts)
}

/// Adds the skill that the question names, and the form of its answer.
pub(super) fn add_last_parts(parts: &mut OpeningParts, turn: &mut Turn<'_>, ask: &mut TurnRequest) {
    parts.skill = ask.skill.take().and_then(|skill| named_skill(turn, skill));
    if ask.start.is_question() {
        parts.form = form_message(turn.schema.as_deref(), turn.code_only, &turn.env.masking);
    }
}

/// Returns the messages of a server's resource or prompt with this text.
pub(super) fn served_message(masking: &Masking, role: Role, text: String) -> NewMessage {
    let screened = masking.screen(text.as_bytes(), "what an MCP server gave").into_owned();
    NewMessage::new(role, false, text, screened)
}

/// Adds messages for commands that are not run, and for servers that are not asked.
pub(super) fn add_unknown_parts(parts: &mut OpeningParts, masking: &Masking, ask: &TurnRequest) {
    let unknown = |role, text: String| {
        let screened = masking.screen_uncounted(&text).into_owned();
        NewMessage::new(role, false, text, screened)
    };
    let outputs = ask.runs.iter().map(|run| unknown(Role::System, format!("$ {run}\n{NOT_RUN}")));
    parts.outputs = outputs.collect();
    let resources = ask.served.resources.iter();
    let resources = resources.map(|address| unknown(Role::System, format!("{address}:\n{NOT_FETCHED}")));
    let prompt = ask.served.prompt.iter();
    let prompt = prompt.map(|prompt| {
        unknown(Role::User, format!("prompt {}/{}:\n{NOT_FETCHED}", prompt.server, prompt.name))
    });
    parts.served = resources.chain(prompt).collect();
}
