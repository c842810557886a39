//! The participant of a debate or of a parallel question who wrote an answer, as recorded in the hidden bubb before
//! it, `SELECT: NAME`. The conclusion of a debate is the orchestrator's.

use super::handle::Store;
use crate::bubb::BubbName;
use crate::conv::Forest;
use lepo_base::role::Role;

const ORCHESTRATOR: &str = "orchestrator";

/// Maximum number of hidden bubbs, the orchestrator's texts, between the bids of a round and the conclusion.
const NEAR: usize = 4;

/// Whether the orchestrator's text ends a debate: a line of it is `END: …`, in any case and with any Markdown
/// decoration.
fn is_end(text: &str) -> bool {
    const DECORATION: &[char] = &['*', '#', '>', '_', '`', '-', ' '];
    text.lines().any(|line| {
        let (word, rest) = line.trim_start_matches(DECORATION).split_at_checked(3).unwrap_or_default();
        word.eq_ignore_ascii_case("END") && rest.trim_start_matches(DECORATION).starts_with([':', '：'])
    })
}

/// Whether the text consists of bids: `NAME: REQUEST` or `NAME: PASS`, a line per participant.
fn is_bids(text: &str) -> bool {
    text.contains(": REQUEST") || text.contains(": PASS")
}

/// Whether `name` is an answer directly after `before`, a hidden bubb of the system.
fn hidden_before(name: &BubbName, before: &BubbName) -> bool {
    let is_after = name.role == Role::Assistant && name.prev == Some(before.id);
    is_after && before.role == Role::System && before.hidden
}

#[doc(hidden)]
impl Store {
    /// Returns the participant who wrote this answer, or the author of a conclusion; `None` for any other bubb.
    pub fn speaker(&self, forest: &Forest, name: &BubbName) -> Option<String> {
        let before = forest.name(forest.find(name.prev?)?);
        self.speaker_after(name, &before).or_else(|| {
            let text = hidden_before(name, &before).then(|| self.glance(&before).ok())??;
            (is_end(&text) && follows_bids(self, forest, &before)).then(|| ORCHESTRATOR.to_string())
        })
    }

    /// Returns the participant who wrote this answer, as recorded in the bubb before it.
    pub fn speaker_after(&self, name: &BubbName, before: &BubbName) -> Option<String> {
        let text = hidden_before(name, before).then(|| self.glance(before).ok())??;
        let speaker = text.strip_prefix("SELECT: ")?;
        let is_name = !speaker.is_empty() && !speaker.chars().any(char::is_control) && speaker.len() < 200;
        is_name.then(|| speaker.to_string())
    }
}

fn follows_bids(store: &Store, forest: &Forest, name: &BubbName) -> bool {
    let Some(ix) = forest.find(name.id) else { return false };
    let above = forest.up(ix).skip(1).take(NEAR).map(|ix| forest.name(ix));
    let mut hidden = above.take_while(|above| above.role == Role::System && above.hidden);
    hidden.any(|above| store.glance(&above).is_ok_and(|text| is_bids(&text)))
}
