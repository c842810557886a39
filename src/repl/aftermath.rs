//! Before and after a turn of a session: the files that go with its question, and the request that a stopped one left.

use super::session::Session;
use crate::bubb::{BubbId, Kind, Name};
use crate::conv::Ix;
use crate::error::Result;
use crate::term::say;
use crate::turn::attach::Looked;
use crate::turn::{Context, Part, Question, join_parts};
use crate::ui;

impl Session<'_> {
    /// A question with the files that wait for it.
    pub(super) fn with_files(&self, text: String) -> Result<Question> {
        let part =
            Part { from: "the question".into(), content: Looked::Other(text.into_bytes()), fenced: false };
        let contexts = self
            .contexts
            .iter()
            .map(|(path, bytes)| Context { path: path.clone(), content: Looked::Other(bytes.clone()) });
        join_parts(vec![part], contexts.collect(), self.files.clone())
    }

    /// Says what a stopped turn left: a request that waits, or a part of an answer.
    pub(super) fn tell_stopped(&mut self, user: Option<BubbId>) -> Result<()> {
        let forest = self.forest()?;
        let Some(user) = user.and_then(|id| forest.find(id)) else {
            say("stopped");
            return Ok(());
        };
        let of_this = |ix: &Ix| *ix != user && forest.up(*ix).any(|above| above == user);
        let left: Vec<Ix> = forest.all().rev().take_while(|ix| *ix > user).filter(of_this).collect();
        let pending = forest.pending(|ix| {
            let name = forest.name(ix);
            left.contains(&ix).then(|| ui::request(&self.store, &name)).flatten().map(|_| name.id)
        });
        if let Some((_, id)) = pending.first() {
            self.waiting = Some(*id);
            say(&format!("stopped; request {id} waits: /approve or /deny it"));
        } else if left.iter().any(|ix| is_partial(&forest.name(*ix))) {
            say("stopped; the partial answer is kept (lepo show -a); /retry answers again");
        } else {
            say("stopped; /retry answers again");
        }
        Ok(())
    }
}

/// A hidden answer, as one that was cut short is.
fn is_partial(name: &Name) -> bool {
    name.hidden && name.kind == Kind::Assistant
}
