//! Skills in a turn: offered to a model with native tools, given when it asks, and kept before its answer.

use std::path::PathBuf;

use super::find::{Skill, Skills};
use super::told::{TOOL, given, is_given, is_of, kept_of, opening};
use super::tool::tool;
use crate::flow::Turn;
use crate::native::call_text;
use crate::transcript::Opening;
use crate::{Configured, Event};
use lepo_base::error::Result;
use lepo_model::{ToolCall, ToolSpec, ToolWire, spec};
use lepo_store::bubb::{BubbId, Kind};
use lepo_tool::covers_home;

/// The skills of one turn.
#[derive(Default)]
pub(crate) struct TurnSkills {
    /// The skills that the model may ask for, or that the user named.
    offered: Vec<Skill>,
    /// Text that was kept before the answer, and its bubb.
    kept: Option<(String, BubbId)>,
}

impl Configured {
    /// The skills that there are, where they go along at all.
    pub fn skills(&self) -> Result<Option<Skills>> {
        match self.start_dir().filter(|_| self.settings.skills) {
            Some(dir) => Skills::of(dir, &self.paths).map(Some),
            None => Ok(None),
        }
    }
}

impl Turn<'_> {
    /// Finds the skills for a model that can ask for them; says what is left out.
    pub(crate) fn find_skills(&mut self) -> Result<()> {
        let speaks = self.env.configured.repository_speaks(self.config).is_ok();
        let native = spec(self.config).tools == ToolWire::Native && self.model.takes_tools();
        let found = if speaks && native { self.env.configured.skills()? } else { None };
        let Some(Skills { counting, untrusted, warnings }) = found else { return Ok(()) };
        warnings.into_iter().for_each(|warning| self.say_once(warning));
        match untrusted.len() {
            0 => {}
            1 => self.say_once(
                "note: a skill of the repository is not trusted; `lepo trust` shows it".to_string(),
            ),
            n => self.say_once(format!(
                "note: {n} skills of the repository are not trusted; `lepo trust` shows them"
            )),
        }
        self.skills.offered = counting;
        Ok(())
    }

    /// The catalogue that is due before a question.
    pub(crate) fn catalogue(&self) -> Option<Opening> {
        let native = spec(self.config).tools == ToolWire::Native && self.model.takes_tools();
        let speaks = self.env.configured.repository_speaks(self.config).is_ok() && self.env.settings().skills;
        let path = &self.record.transcript.entries;
        if native && speaks { opening(&self.skills.offered, path, &self.env.masking) } else { None }
    }

    /// The instructions of a skill that the user named, unless they stand in the conversation.
    pub(crate) fn named_skill(&mut self, skill: Skill) -> Option<Opening> {
        let text = given(&skill);
        let is_told = is_given(&text, &self.record.transcript.entries, &self.env.masking);
        if !self.skills.offered.iter().any(|offered| offered.name == skill.name) {
            self.skills.offered.push(skill);
        }
        if is_told {
            return None;
        }
        let kept = self.env.masking.kept(text.as_bytes(), "a skill").into_owned();
        Some(Opening { kind: Kind::System, hidden: true, text, kept })
    }

    /// The tool that gives skills.
    pub(crate) fn skill_tool(&self) -> Option<ToolSpec> {
        tool(&self.skills.offered)
    }

    /// Answers a call of the tool; false if it is another one's.
    pub(crate) fn gives_skill(&mut self, call: &ToolCall) -> Result<bool> {
        if call.name != TOOL || self.skills.offered.is_empty() {
            return Ok(false);
        }
        let name = call.arguments.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        let skill = self.skills.offered.iter().find(|skill| skill.name == name);
        let (text, note) = match skill {
            None => ("error: there is no skill of this name".to_string(), None),
            Some(skill) => {
                let text = given(skill);
                match is_given(&text, &self.record.transcript.entries, &self.env.masking) {
                    true => (
                        format!("The instructions of {name} stand above, as they are now: follow those."),
                        None,
                    ),
                    false => (text, Some(format!("the model reads the skill {name}"))),
                }
            }
        };
        self.add(Kind::Assistant, true, call_text(call).as_bytes())?;
        self.add(Kind::Tool, true, text.as_bytes())?;
        if let Some(note) = note {
            self.front.happens(Event::Say(&note));
        }
        Ok(true)
    }

    /// The bubb that an answer follows, where the side branch began at `base`: what the tool gave on it is kept there, in
    /// one bubb.
    pub(crate) fn keep_skills(&mut self, base: usize) -> Result<Option<BubbId>> {
        let transcript = &mut self.record.transcript;
        let Some(text) = kept_of(transcript.entries.get(base..).unwrap_or_default()) else { return Ok(None) };
        if let Some((kept, id)) = &self.skills.kept
            && *kept == text
        {
            return Ok(Some(*id));
        }
        let name = transcript.add_beside(base, Kind::System, text.as_bytes())?;
        self.front.happens(Event::Bubb(&name, Some(text.as_bytes())));
        self.skills.kept = Some((text, name.id));
        Ok(Some(name.id))
    }

    /// The bubb that was kept before the answer.
    pub(crate) fn kept_skills(&self) -> Option<BubbId> {
        self.skills.kept.as_ref().map(|(_, id)| *id)
    }

    /// The folders of skills whose instructions stand in the conversation: held commands may read them. Those in the working
    /// directory are as readable as that is.
    pub(crate) fn readable_skills(&self) -> Vec<PathBuf> {
        let root = self.env.store.root();
        let read = self.skills.offered.iter().filter(|skill| is_of(skill, &self.record.transcript.entries));
        let folders = read.map(|skill| skill.folder.clone());
        folders.filter(|folder| !folder.starts_with(root) && !covers_home(folder)).collect()
    }
}
