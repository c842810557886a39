//! A recorded debate: looks up each speech and each reply of the orchestrator after the previous one.

use super::past_message::PastMessage;
use super::query::{OptionsRule, Query, RecordStore, ToolsRule};
use super::recorded_answer::usage;
use crate::Outcome;
use crate::group::{Bid, DebateOutcome, Speech, selected};
use crate::outcome::FinishedAnswer;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::conv::Ix;

/// A participant: the name of its model, and its options.
pub type ParticipantSpec = (String, OptionsRule);

/// Returns the newest complete debate of these models that follows these messages.
pub fn debate(
    record: &RecordStore<'_>,
    history: &[PastMessage],
    voices: &[ParticipantSpec],
    orchestrator: &ParticipantSpec,
) -> Result<Option<DebateOutcome>> {
    let bases = record.matching(history)?;
    if bases.is_empty() {
        return Ok(None);
    }
    for end in record.forest.all().rev() {
        let name = record.forest.name(end);
        if name.hidden || name.role != Role::Assistant || bases.contains(&end) {
            continue;
        }
        let mut path = Vec::new();
        let base = record.forest.up(end).find(|&ix| {
            let name = record.forest.name(ix);
            let is_base = bases.contains(&ix);
            if !is_base {
                path.push(ix);
            }
            is_base || !name.hidden && name.role != Role::Assistant
        });
        if base.is_some_and(|base| bases.contains(&base)) {
            path.reverse();
            if let Some(debated) = debated(record, &path, voices, orchestrator)? {
                return Ok(Some(debated));
            }
        }
    }
    Ok(None)
}

/// Parses a path as a debate.
fn debated(
    record: &RecordStore<'_>,
    path: &[Ix],
    voices: &[ParticipantSpec],
    orchestrator: &ParticipantSpec,
) -> Result<Option<DebateOutcome>> {
    let (mut debated, mut speaker): (DebateOutcome, Option<String>) = Default::default();
    for (at, &ix) in path.iter().enumerate() {
        let name = record.forest.name(ix);
        let text = record.store.text(&name)?;
        if name.hidden {
            if let Some(names) = bidders(&text) {
                let all = names.len() == voices.len() || debated.rounds > 0;
                if !all || names.iter().any(|name| voices.iter().all(|(voice, _)| voice != name)) {
                    return Ok(None);
                }
                debated.rounds += 1;
            }
            speaker = selected(&text).map(str::to_string);
            continue;
        }
        let fact = record.facts.get(name.id).unwrap_or_default();
        let is_by = |(voice, options): &ParticipantSpec| {
            let query = Query {
                history: &[],
                model: Some(voice.clone()),
                options: options.clone(),
                schema: None,
                tools: ToolsRule::Any,
            };
            query.difference(&fact).is_none()
        };
        let spoke = speaker.take().and_then(|speaker| voices.iter().find(|(voice, _)| *voice == speaker));
        match spoke {
            Some(voice) if is_by(voice) => {
                debated.speeches.push(Speech { name: voice.0.clone(), bubb: name });
            }
            None if at + 1 == path.len() && debated.rounds > 0 && is_by(orchestrator) => {
                let answered =
                    FinishedAnswer { name, usage: usage(&fact), cut: None, ms: fact.ms.unwrap_or_default() };
                debated.outcome = Outcome {
                    model: Some(orchestrator.0.clone()),
                    answer: Some(answered),
                    recorded: Some(name.id),
                    ..Outcome::default()
                };
            }
            _ => return Ok(None),
        }
    }
    let Some(end) = path.last().filter(|_| debated.outcome.answer.is_some()) else { return Ok(None) };
    debated.outcome.conv =
        record.forest.conv(*end).path.into_iter().map(|ix| record.forest.name(ix).id).collect();
    debated.outcome.user = record.forest.last_question(*end).map(|ix| record.forest.name(ix).id);
    Ok(Some(debated))
}

/// Returns the names in the lines that list who wants to speak.
fn bidders(text: &str) -> Option<Vec<&str>> {
    let bid = |line| {
        let (name, word): (&str, &str) = str::rsplit_once(line, ": ")?;
        [Bid::Request, Bid::Pass].iter().any(|bid| bid.as_str() == word).then_some(name)
    };
    text.lines().map(bid).collect::<Option<Vec<&str>>>().filter(|names| !names.is_empty())
}
