//! The result of a finished group turn: the bubbs to read, with their headings and ids.

use std::borrow::Cow;

use super::ShortIds;
use crate::term::{print_status, stderr_is_terminal};
use lepo_base::error::Result;
use lepo_store::bubb::BubbName;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::{GroupMode, GroupOutcome, Outcome, PanelNames, judge_name};

pub(super) const CONCLUSION: &str = "conclusion";

/// Returns the heading of a reply, in a pipe and in a file.
pub(super) fn heading(name: &str) -> String {
    format!("## {name}")
}

/// Returns all headings that the output of these models may have.
pub fn headings(mode: GroupMode, names: &PanelNames) -> Vec<String> {
    let names = names.speakers.iter().map(String::as_str);
    let conclusion = (mode == GroupMode::Debate).then_some(CONCLUSION);
    names.chain(conclusion).map(heading).collect()
}

/// Returns a reply for the text under its heading, in a pipe and in a file: a line of it that starts like a heading
/// gets a space first, so that no reply can speak in the name of another.
pub fn set_apart<'r>(reply: &'r [u8], headings: &[String]) -> Cow<'r, [u8]> {
    let is_start = |at: &usize| at.checked_sub(1).is_none_or(|before| b"\n\r".contains(&reply[before]));
    let begins = |at: &usize| headings.iter().any(|heading| reply[*at..].starts_with(heading.as_bytes()));
    let headings_at: Vec<usize> =
        memchr::memchr_iter(b'#', reply).filter(|at| is_start(at) && begins(at)).collect();
    if headings_at.is_empty() {
        return reply.into();
    }
    let mut apart = Vec::with_capacity(reply.len() + headings_at.len());
    let mut copied = 0;
    for at in headings_at {
        apart.extend_from_slice(&reply[copied..at]);
        apart.push(b' ');
        copied = at;
    }
    apart.extend_from_slice(&reply[copied..]);
    apart.into()
}

/// Returns the bubbs to read, each under its heading; of a debate with `quiet`, only the conclusion.
pub fn bubbs_to_read(outcome: &GroupOutcome, quiet: bool) -> Vec<(Option<String>, BubbName)> {
    let head = |name: &str| Some(heading(name));
    match outcome {
        GroupOutcome::Polled(polled) => {
            let answered = |(name, outcome): &(String, Outcome)| Some((head(name), outcome.answer?.name));
            let verdict = polled
                .judge
                .iter()
                .filter_map(|(name, outcome)| Some((head(&judge_name(name)), outcome.answer?.name)));
            polled.replies.iter().filter_map(answered).chain(verdict).collect()
        }
        GroupOutcome::Debated(debated) => {
            let conclusion = debated.outcome.answer.iter().map(|answer| answer.name);
            if quiet {
                return conclusion.map(|bubb| (None, bubb)).collect();
            }
            let speeches = debated.speeches.iter().map(|speech| (head(&speech.name), speech.bubb));
            speeches.chain(conclusion.map(|bubb| (head(CONCLUSION), bubb))).collect()
        }
    }
}

/// Prints the id of each answer, and which of them is now `@`.
pub fn print_ids(store: &Store, outcome: &GroupOutcome) -> Result<()> {
    let GroupOutcome::Polled(polled) = outcome else { return Ok(()) };
    let forest = store.forest_for(&[ReadScope::Tip])?;
    let newest = forest.newest().map(|ix| forest.name(ix).id);
    let judge = polled.judge.iter().map(|(name, outcome)| (format!("judge ({name})"), outcome));
    let replies = polled.replies.iter().map(|(name, outcome)| (name.clone(), outcome));
    let shorts = ShortIds::on_terminal(stderr_is_terminal(), forest.all().map(|ix| forest.name(ix).id));
    for (name, outcome) in replies.chain(judge) {
        if let Some(answered) = outcome.answer {
            let id = answered.name.id;
            let mark = if Some(id) == newest { "  @" } else { "" };
            print_status(&format!("{}  {name}{mark}", shorts.show(id)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_like_a_heading_is_set_apart() {
        let headings = ["a", "나"].map(heading);
        for (reply, shown) in [
            ("## a", " ## a"),
            ("x\n## a\n\n## a \n## 나\u{200b}\n", "x\n ## a\n\n ## a \n ## 나\u{200b}\n"),
            ("x\r## 나", "x\r ## 나"),
            (" ## a\n# a\n### a\n## b\n##a x ## a", " ## a\n# a\n### a\n## b\n##a x ## a"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&set_apart(reply.as_bytes(), &headings)), shown);
        }
        assert!(matches!(set_apart(b"## c", &headings), Cow::Borrowed(b"## c")));
    }
}
