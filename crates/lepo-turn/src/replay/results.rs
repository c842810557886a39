//! Recorded results of tool requests: a replay returns them again, and runs nothing.

use std::collections::HashSet;

use crate::body::Body;
use crate::masking::Masking;
use lepo_base::error::Result;
use lepo_secrets::without_digits;
use lepo_store::bubb::BubbName;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, Store};
use lepo_tool::ToolRequest;

#[derive(Debug, Clone, Default)]
pub struct RecordedResults {
    results: Vec<(String, Vec<u8>, Option<i32>)>,
}

impl RecordedResults {
    /// Reads the requests after this question, newest first.
    pub fn after(
        store: &Store,
        forest: &Forest,
        facts: &JournalIndex,
        question: Ix,
    ) -> Result<RecordedResults> {
        let mut side_branch: HashSet<Ix> = HashSet::from([question]);
        let mut requests: Vec<(Ix, String)> = Vec::new();
        let mut results = Vec::new();
        for ix in forest.all() {
            let name: BubbName = forest.name(ix);
            let Some(prev) = forest.prev(ix).filter(|prev| name.hidden && side_branch.contains(prev)) else {
                continue;
            };
            side_branch.insert(ix);
            let bytes = store.read_bubb(&name)?;
            let text = String::from_utf8_lossy(&bytes);
            if let Some(request) = Body::read_named(&name, &text).into_request() {
                requests.push((ix, same(&action(&request))));
            } else if let Some((_, request)) = requests.iter().find(|(request, _)| *request == prev) {
                let exit = facts.get(name.id).and_then(|fact| fact.exit);
                results.push((request.clone(), bytes, exit));
            }
        }
        results.reverse();
        Ok(RecordedResults { results })
    }

    /// Returns the result of a recorded request that is equal to this one, as it would be written now.
    pub fn find(&self, request: &ToolRequest, masking: &Masking) -> Option<(&[u8], Option<i32>)> {
        let action_text = same(&masking.masked(&action(request)));
        let found = self.results.iter().find(|(request, ..)| *request == action_text)?;
        Some((&found.1, found.2))
    }
}

/// Returns the action of a request, without the explanation for the user.
fn action(request: &ToolRequest) -> String {
    let mut action = request.to_json();
    if let (ToolRequest::Command(_), Some(action)) = (request, action.as_object_mut()) {
        action.shift_remove("why");
    }
    action.sort_all_objects();
    action.to_string()
}

/// Returns the text to compare, without the digits of masks, which differ between machines.
fn same(action: &str) -> String {
    without_digits(action).into_owned()
}
