//! Which participant of a debate or of a parallel question an answer is from: the hidden bubb before it,
//! `SELECT: NAME`, says so.

use super::Store;
use crate::bubb::{Kind, Name};
use crate::conv::Forest;

impl Store {
    /// The name of the participant whose answer this is; none for any other bubb.
    pub fn speaker(&self, forest: &Forest, name: &Name) -> Option<String> {
        self.speaker_behind(name, &forest.name(forest.find(name.prev?)?))
    }

    /// The same, told by the bubb before it.
    pub fn speaker_behind(&self, name: &Name, before: &Name) -> Option<String> {
        if name.kind != Kind::Assistant || name.prev != Some(before.id) {
            return None;
        }
        if before.kind != Kind::System || !before.hidden {
            return None;
        }
        let text = self.glance(before).ok()?;
        let speaker = text.strip_prefix("SELECT: ")?;
        let is_name = !speaker.is_empty() && !speaker.chars().any(char::is_control) && speaker.len() < 200;
        is_name.then(|| speaker.to_string())
    }
}
