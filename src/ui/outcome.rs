//! The result of a group, once it is over: the bubbs to read, their headings, and their places.

use crate::bubb::Name;
use crate::conv::Wanted;
use crate::error::Result;
use crate::store::Store;
use crate::term::say;
use crate::turn::{GroupOutcome, Report};

/// The name that a conclusion stands under.
pub(super) const CONCLUSION: &str = "conclusion";

/// The heading of a reply, in a pipe and in a file.
pub(super) fn heading(name: &str) -> String {
    format!("## {name}")
}

/// The bubbs to read of an outcome, each under its heading; with `quiet`, of a debate the conclusion alone.
pub fn bubbs_to_read(outcome: &GroupOutcome, quiet: bool) -> Vec<(Option<String>, Name)> {
    let head = |name: &str| Some(heading(name));
    match outcome {
        GroupOutcome::Polled(polled) => {
            let answered = |(name, report): &(String, Report)| Some((head(name), report.answer?.name));
            polled.replies.iter().filter_map(answered).collect()
        }
        GroupOutcome::Debated(debated) => {
            let conclusion = debated.report.answer.iter().map(|answer| answer.name);
            if quiet {
                return conclusion.map(|bubb| (None, bubb)).collect();
            }
            let speeches = debated.speeches.iter().map(|speech| (head(&speech.name), speech.bubb));
            speeches.chain(conclusion.map(|bubb| (head(CONCLUSION), bubb))).collect()
        }
    }
}

/// Tells where each answer is, and which of them is now `@`.
pub fn tell_ids(store: &Store, outcome: &GroupOutcome) -> Result<()> {
    let GroupOutcome::Polled(polled) = outcome else { return Ok(()) };
    let forest = store.forest_for(&[Wanted::Tip])?;
    let newest = forest.newest().map(|ix| forest.name(ix).id);
    for (name, report) in &polled.replies {
        if let Some(answered) = report.answer {
            let id = answered.name.id;
            say(&format!("{id}  {name}{}", if Some(id) == newest { "  @" } else { "" }));
        }
    }
    Ok(())
}
