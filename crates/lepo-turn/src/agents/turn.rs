//! Instructions in a turn: told before its question, and agreed to with a request that does more than reading.

use std::path::Path;

use super::agreed::{ToldFile, unagreed};
use super::bounded::in_note;
use super::find::Instructions;
use crate::config::Trust;
use crate::flow::Turn;
use crate::transcript::Opening;
use crate::{Configured, Event};
use lepo_base::error::Result;
use lepo_base::hash::hash_of;
use lepo_base::record::HashFile;
use lepo_base::work_tree::WorkTree;
use lepo_model::{ModelConfig, PathForm, spec};
use lepo_tool::{Proposal, ToolMode};
use std::os::unix::ffi::OsStrExt;

/// The name of the record of repositories in which instructions were told of.
const TOLD: &str = "agents-told";

impl Configured {
    /// The folder whose repository speaks to this model; or the reason why none does. Requests to a program or to the
    /// embedded model carry no tools, and a program reads the files itself.
    pub fn repository_speaks(&self, config: &ModelConfig) -> std::result::Result<&Path, &'static str> {
        let Some(dir) = self.start_dir() else { return Err("lepo was not started in a folder") };
        if self.settings.tool_call_mode == ToolMode::Off {
            return Err("tools are off");
        }
        match spec(config).path {
            PathForm::Messages | PathForm::Prompted => Ok(dir),
            PathForm::Program => Err("the model is a program, which reads such files itself"),
            PathForm::Plain => Err("the model is the embedded one, which can call no tools"),
        }
    }

    /// The instructions of the repository for this model; none where they do not go along.
    pub fn instructions(&self, config: &ModelConfig) -> Option<Instructions> {
        let dir = self.repository_speaks(config).ok().filter(|_| self.settings.agents)?;
        Some(Instructions::of(dir))
    }
}

impl Instructions {
    /// A line for each file that is left out.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.left_out.iter().map(|(path, why)| format!("note: {} is left out: {why}", in_note(path.as_ref())))
    }

    /// The line that is said the first time in a repository.
    fn news(&self, state: &Path) -> Option<String> {
        let first = self.files.first()?;
        let hash = hash_of(&[self.root.as_ref()?.as_os_str().as_bytes()]);
        let record = HashFile::at(state.join(TOLD));
        if record.has(&hash).unwrap_or(true) {
            return None;
        }
        // If it cannot be kept, it is said again.
        let _ = record.keep(&[hash]);
        let named = match self.files.len() {
            1 => format!("{} goes", first.path),
            more => format!("{} and {} more go", first.path, more - 1),
        };
        Some(format!(
            "note: {named} with your questions here; turn it off: --no-agents, or lepo config agents false"
        ))
    }
}

impl Turn<'_> {
    /// The bubb of instructions that is due before a question. What is left out of it is said.
    pub(crate) fn instructions(&mut self) -> Option<Opening> {
        let found = self.env.configured.instructions(self.config)?;
        found.notes().for_each(|note| self.say_once(note));
        let opening = found.opening(&self.record.transcript.entries, &self.env.masking)?;
        if !self.env.configured.writes_nothing()
            && let Some(news) = found.news(&self.env.configured.paths.state)
        {
            self.front.happens(Event::Say(&news));
        }
        Some(opening)
    }

    /// Says something about the repository, once for all turns of a process.
    pub(crate) fn say_once(&mut self, note: String) {
        let mut said = self.env.said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if said.insert(note.clone()) {
            self.front.happens(Event::Say(&note));
        }
    }

    /// The record of what the user trusts.
    pub(crate) fn trust(&self) -> Trust {
        Trust::of(&self.env.configured.paths)
    }

    /// Instructions in this conversation that are to be agreed to with this request.
    pub(crate) fn unagreed(&self, proposal: &Proposal) -> Result<Vec<ToldFile>> {
        if self.env.settings().tool_call_mode != ToolMode::Auto || !proposal.is_more_than_reading() {
            return Ok(Vec::new());
        }
        let here = self.env.configured.start_dir().unwrap_or(self.env.store.root());
        let root = WorkTree::of(here).map(|tree| tree.root);
        let root = root.as_deref().unwrap_or(self.env.store.root());
        unagreed(&self.record.transcript.entries, root, (&self.trust(), &self.env.masking))
    }
}
