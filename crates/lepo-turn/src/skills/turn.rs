//! Skills in a turn: offered to a model with native tools, given when it asks, and kept before its answer.

use std::path::PathBuf;

use super::find::{Skill, Skills};
use super::told::{given, is_given, is_of, kept_of, opening};
use super::tool::{TOOL, tool};
use crate::native::call_text;
use crate::path::Opening;
use crate::turn::Turn;
use crate::{Event, Notice};
use lepo_base::error::Result;
use lepo_model::{ToolCall, ToolSpec};
use lepo_store::bubb::{BubbId, Kind};
use lepo_tool::covers_home;

/// Finds the skills for a model that can ask for them; says what is left out.
pub(crate) fn find_skills(turn: &mut Turn<'_>) -> Result<()> {
    let speaks = turn.env.configured.repository_speaks(turn.config).is_ok();
    let native = turn.takes_native_tools();
    let found = if speaks && native { turn.env.configured.skills()? } else { None };
    let Some(Skills { counting, untrusted, warnings }) = found else { return Ok(()) };
    warnings.into_iter().for_each(|warning| turn.say_once(warning));
    if !untrusted.is_empty() {
        turn.say_once(Notice::SkillsNotTrusted(untrusted.len()));
    }
    turn.skills.offered = counting;
    Ok(())
}

/// The catalogue that is due before a question.
pub(crate) fn catalogue(turn: &Turn<'_>) -> Option<Opening> {
    let native = turn.takes_native_tools();
    let speaks = turn.env.configured.repository_speaks(turn.config).is_ok() && turn.env.settings().skills;
    let path = &turn.record.transcript.entries;
    if native && speaks { opening(&turn.skills.offered, path, &turn.env.masking) } else { None }
}

/// The instructions of a skill that the user named, unless they stand in the conversation.
pub(crate) fn named_skill(turn: &mut Turn<'_>, skill: Skill) -> Option<Opening> {
    let text = given(&skill);
    let is_told = is_given(&text, &turn.record.transcript.entries, &turn.env.masking);
    if !turn.skills.offered.iter().any(|offered| offered.name == skill.name) {
        turn.skills.offered.push(skill);
    }
    if is_told {
        return None;
    }
    let kept = turn.env.masking.kept(text.as_bytes(), "a skill").into_owned();
    Some(Opening { kind: Kind::System, hidden: true, text, kept })
}

/// The tool that gives skills.
pub(crate) fn skill_tool(turn: &Turn<'_>) -> Option<ToolSpec> {
    tool(&turn.skills.offered)
}

/// Answers a call of the tool; false if it is another one's.
pub(crate) fn gives_skill(turn: &mut Turn<'_>, call: &ToolCall) -> Result<bool> {
    if call.name != TOOL || turn.skills.offered.is_empty() {
        return Ok(false);
    }
    let name = call.arguments.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let skill = turn.skills.offered.iter().find(|skill| skill.name == name);
    let (text, note) = match skill {
        None => ("error: there is no skill of this name".to_string(), None),
        Some(skill) => {
            let text = given(skill);
            match is_given(&text, &turn.record.transcript.entries, &turn.env.masking) {
                true => {
                    (format!("The instructions of {name} stand above, as they are now: follow those."), None)
                }
                false => (text, Some(Notice::SkillGiven(name.to_string()))),
            }
        }
    };
    turn.add(Kind::Assistant, true, call_text(call).as_bytes())?;
    turn.add(Kind::Tool, true, text.as_bytes())?;
    if let Some(note) = note {
        turn.front.happens(Event::Notice(&note));
    }
    Ok(true)
}

/// The bubb that an answer follows, where the side branch began at `base`: what the tool gave on it is kept there, in
/// one bubb.
pub(crate) fn keep_skills(turn: &mut Turn<'_>, base: usize) -> Result<Option<BubbId>> {
    let transcript = &mut turn.record.transcript;
    let Some(text) = kept_of(transcript.entries.get(base..).unwrap_or_default()) else { return Ok(None) };
    if let Some((kept, id)) = &turn.skills.kept
        && *kept == text
    {
        return Ok(Some(*id));
    }
    let name = transcript.add_beside(base, Kind::System, text.as_bytes())?;
    turn.front.happens(Event::Bubb(&name, Some(text.as_bytes())));
    turn.skills.kept = Some((text, name.id));
    Ok(Some(name.id))
}

/// The bubb that was kept before the answer.
pub(crate) fn kept_skills(turn: &Turn<'_>) -> Option<BubbId> {
    turn.skills.kept.as_ref().map(|(_, id)| *id)
}

/// The folders of skills whose instructions stand in the conversation: held commands may read them. Those in the working
/// directory are as readable as that is.
pub(crate) fn readable_skills(turn: &Turn<'_>) -> Vec<PathBuf> {
    let root = turn.env.store.root();
    let read = turn.skills.offered.iter().filter(|skill| is_of(skill, &turn.record.transcript.entries));
    let folders = read.map(|skill| skill.folder.clone());
    folders.filter(|folder| !folder.starts_with(root) && !covers_home(folder)).collect()
}
