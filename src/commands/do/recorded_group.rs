//! `--recorded` with several models: looks up each request separately.

use std::sync::Arc;

use super::DoArgs;
use super::recorded::{RecordLookup, no_store, wish};
use crate::commands::Context;
use lepo_base::error::{Error, Result};
use lepo_store::store::Store;
use lepo_turn::recorded::{
    RecordStore, RecordedAnswer, RecordedOptions, ToolHashes, ToolsRule, debate, find, missed, no_verdict,
    verdict,
};
use lepo_turn::{AnswerSchema, Configuration, DebateOutcome, GroupMode, Question, ToolResult};

pub enum GroupLookup {
    All(Arc<Store>, RecordedGroup),
    /// Some of the answers, and the output of the user's own commands.
    Some(Vec<(String, RecordedAnswer)>, Vec<ToolResult>),
}

pub enum RecordedGroup {
    /// The answers of all participants, and the judge's.
    Answers(Vec<(String, RecordedAnswer)>, Option<Box<RecordedAnswer>>),
    Debate(Box<DebateOutcome>),
}

/// Looks up the requests of a group turn. With `=only`, a miss is an error.
pub fn find_recorded(
    args: &DoArgs,
    mode: GroupMode,
    (question, schema): (Option<&Question>, Option<&AnswerSchema>),
    recorded: &RecordedOptions,
    configured: &Configuration,
    context: &Context<'_>,
) -> Result<GroupLookup> {
    let asked = RecordLookup::read(args, question, recorded, (configured, false), context)?;
    let Some(store) = &asked.store else {
        return if recorded.only { Err(no_store()) } else { Ok(GroupLookup::Some(Vec::new(), asked.ran)) };
    };
    let record = RecordStore::new(store, &asked.forest);
    let of = |name: &str| {
        let wish = wish(&asked.past, configured, Some(name), schema, false);
        // Group turns have no tools.
        lepo_turn::recorded::Query { tools: ToolsRule::Are(ToolHashes::default()), ..wish }
    };
    let settings = &configured.settings;
    let names = &settings.many_participants;
    match (mode, &settings.many_orchestrator) {
        _ if names.is_empty() => Ok(GroupLookup::Some(Vec::new(), asked.ran)),
        (GroupMode::Debate, None) => Ok(GroupLookup::Some(Vec::new(), asked.ran)),
        (GroupMode::Debate, Some(orchestrator)) => {
            let voice = |name: &String| (name.clone(), of(name).options);
            let voices: Vec<_> = names.iter().map(voice).collect();
            match debate(&record, &asked.past, &voices, &voice(orchestrator))? {
                Some(debated) => {
                    Ok(GroupLookup::All(store.clone(), RecordedGroup::Debate(Box::new(debated))))
                }
                None if recorded.only => Err(missed(&record, &of(orchestrator))),
                None => Ok(GroupLookup::Some(Vec::new(), asked.ran)),
            }
        }
        (GroupMode::Parallel, _) => {
            let (mut hits, mut first_miss): (Vec<(String, RecordedAnswer)>, Option<Error>) =
                (Vec::new(), None);
            for name in names {
                let wish = of(name);
                match find(&record, &wish)? {
                    Some(hit) => hits.push((name.clone(), hit)),
                    None => first_miss = first_miss.or_else(|| Some(missed(&record, &wish))),
                }
            }
            match first_miss {
                None => {
                    let Some(judge) = &args.group.judge else {
                        return Ok(GroupLookup::All(store.clone(), RecordedGroup::Answers(hits, None)));
                    };
                    let wish = of(judge);
                    match verdict(&record, &wish, hits.iter().map(|(_, hit)| hit.answer.id))? {
                        Some(verdict) => Ok(GroupLookup::All(
                            store.clone(),
                            RecordedGroup::Answers(hits, Some(Box::new(verdict))),
                        )),
                        None if recorded.only => Err(no_verdict(judge)),
                        None if !asked.is_own => Ok(GroupLookup::Some(Vec::new(), asked.ran)),
                        None => Ok(GroupLookup::Some(hits, asked.ran)),
                    }
                }
                Some(error) if recorded.only => Err(error),
                // Answers from another store cannot share a tree with new ones.
                Some(_) if !asked.is_own => Ok(GroupLookup::Some(Vec::new(), asked.ran)),
                Some(_) => Ok(GroupLookup::Some(hits, asked.ran)),
            }
        }
    }
}
