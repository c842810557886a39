//! Skills in a turn: offered to a model with native tools, returned on request, and stored before the answer.

use std::path::PathBuf;

use super::find::{Skill, Skills};
use super::text::{called_instructions, is_given, is_of, opening, skill_text};
use super::tool::{TOOL, tool};
use crate::body::call_text;
use crate::message::NewMessage;
use crate::turn::Turn;
use crate::{Notice, TurnEvent};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_model::{ToolCall, ToolSpec};
use lepo_store::bubb::BubbId;
use lepo_tool::covers_home;

/// Finds the skills for a model that can request them, and reports skipped ones.
pub(crate) fn find_skills(turn: &mut Turn<'_>) -> Result<()> {
    let speaks = turn.env.configured.repository_speaks(turn.config).is_ok();
    let native = turn.takes_native_tools();
    let found = if speaks && native { turn.env.configured.skills()? } else { None };
    let Some(Skills { counting, untrusted, warnings }) = found else { return Ok(()) };
    warnings.into_iter().for_each(|warning| turn.notify_once(warning));
    if !untrusted.is_empty() {
        turn.notify_once(Notice::SkillsNotTrusted(untrusted.len()));
    }
    turn.skills.offered = counting;
    Ok(())
}

/// Finds the skills of a conversation for a question with tools off, without a word about skipped ones.
pub(crate) fn offer_former_skills(turn: &mut Turn<'_>) -> Result<()> {
    if let Some(Skills { counting, .. }) = turn.env.configured.skills()? {
        turn.skills.offered = counting;
    }
    Ok(())
}

/// Returns the catalogue to insert before a question.
pub(crate) fn catalogue(turn: &Turn<'_>) -> Option<NewMessage> {
    let native = turn.takes_native_tools();
    let speaks = turn.env.configured.repository_speaks(turn.config).is_ok() && turn.env.settings().skills;
    let path = &turn.path.messages;
    if native && speaks { opening(&turn.skills.offered, path, &turn.env.masking) } else { None }
}

/// Returns the instructions of a skill that the user named, unless the conversation contains them.
pub(crate) fn named_skill(turn: &mut Turn<'_>, skill: Skill) -> Option<NewMessage> {
    let text = skill_text(&skill);
    let is_told = is_given(&text, &turn.path.messages, &turn.env.masking);
    if !turn.skills.offered.iter().any(|offered| offered.name == skill.name) {
        turn.skills.offered.push(skill);
    }
    if is_told {
        return None;
    }
    let screened = turn.env.masking.screen(text.as_bytes(), "a skill").into_owned();
    Some(NewMessage::hidden(text, screened))
}

pub(crate) fn skill_tool(turn: &Turn<'_>) -> Option<ToolSpec> {
    tool(&turn.skills.offered)
}

/// Handles a call of the tool `skill`; returns false for another tool.
pub(crate) fn answer_skill_call(turn: &mut Turn<'_>, call: &ToolCall) -> Result<bool> {
    if call.name != TOOL || turn.skills.offered.is_empty() {
        return Ok(false);
    }
    let name = call.arguments.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let skill = turn.skills.offered.iter().find(|skill| skill.name == name);
    let (text, note) = match skill {
        None => ("error: there is no skill of this name".to_string(), None),
        Some(skill) => {
            let text = skill_text(skill);
            match is_given(&text, &turn.path.messages, &turn.env.masking) {
                true => {
                    (format!("The instructions of {name} stand above, as they are now: follow those."), None)
                }
                false => (text, Some(Notice::SkillGiven(name.to_string()))),
            }
        }
    };
    turn.add(Role::Assistant, true, call_text(&call.name, &call.arguments).as_bytes())?;
    turn.add(Role::Tool, true, text.as_bytes())?;
    if let Some(note) = note {
        turn.view.on_event(TurnEvent::Notice(&note));
    }
    Ok(true)
}

/// Returns the bubb that the answer follows, if the side branch started at `base`: the instructions that the
/// tool returned there are stored in a single bubb.
pub(crate) fn store_skills(turn: &mut Turn<'_>, base: usize) -> Result<Option<BubbId>> {
    let path = &mut turn.path;
    let Some(text) = called_instructions(path.messages.get(base..).unwrap_or_default()) else {
        return Ok(None);
    };
    if let Some((screened, id)) = &turn.skills.stored
        && *screened == text
    {
        return Ok(Some(*id));
    }
    let name = path.add_sibling(base, Role::System, text.as_bytes())?;
    turn.view.on_event(TurnEvent::Bubb(&name, Some(text.as_bytes())));
    turn.skills.stored = Some((text, name.id));
    Ok(Some(name.id))
}

pub(crate) fn skills_to_store(turn: &Turn<'_>) -> Option<BubbId> {
    turn.skills.stored.as_ref().map(|(_, id)| *id)
}

/// Returns the folders of skills whose instructions are in the conversation: sandboxed commands may read
/// them. Folders in the working directory are already as readable as that directory.
pub(crate) fn readable_skills(turn: &Turn<'_>) -> Vec<PathBuf> {
    let root = turn.env.store.root();
    let read = turn.skills.offered.iter().filter(|skill| is_of(skill, &turn.path.messages));
    let folders = read.map(|skill| skill.folder.clone());
    folders.filter(|folder| !folder.starts_with(root) && !covers_home(folder)).collect()
}
