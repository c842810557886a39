//! `--recorded` with several models: looks up each request separately.

use std::sync::Arc;

use super::DoArgs;
use super::recorded::{Asked, no_store, wish};
use crate::commands::Context;
use lepo_base::error::{Error, Result};
use lepo_store::store::Store;
use lepo_turn::recorded::{
    RecordStore, RecordedAnswer, RecordedOptions, ToolsRule, debate, find, missed, no_verdict, verdict,
};
use lepo_turn::{AnswerSchema, Configuration, DebateOutcome, GroupMode, Question, ToolResult};

pub enum Found {
    All(Arc<Store>, Told),
    /// Some of the answers, and the output of the user's own commands.
    Some(Vec<(String, RecordedAnswer)>, Vec<ToolResult>),
}

pub enum Told {
    /// The answers of all participants, and the judge's.
    Answers(Vec<(String, RecordedAnswer)>, Option<Box<RecordedAnswer>>),
    Debate(Box<DebateOutcome>),
}

/// Looks up the requests of a group turn. With `=only`, a miss is an error.
pub fn look_up(
    args: &DoArgs,
    mode: GroupMode,
    (question, schema): (Option<&Question>, Option<&AnswerSchema>),
    recorded: &RecordedOptions,
    configured: &Configuration,
    context: &Context<'_>,
) -> Result<Found> {
    let asked = Asked::read(args, question, recorded, (configured, false), context)?;
    let Some(store) = &asked.store else {
        return if recorded.only { Err(no_store()) } else { Ok(Found::Some(Vec::new(), asked.ran)) };
    };
    let record = RecordStore::of(store, &asked.forest);
    let of = |name: &str| {
        let wish = wish(&asked.past, configured, Some(name), schema, false);
        // Group turns have no tools.
        lepo_turn::recorded::Query { tools: ToolsRule::Are(None), ..wish }
    };
    let settings = &configured.settings;
    let names = &settings.many_participants;
    match (mode, &settings.many_orchestrator) {
        _ if names.is_empty() => Ok(Found::Some(Vec::new(), asked.ran)),
        (GroupMode::Debate, None) => Ok(Found::Some(Vec::new(), asked.ran)),
        (GroupMode::Debate, Some(orchestrator)) => {
            let voice = |name: &String| (name.clone(), of(name).options);
            let voices: Vec<_> = names.iter().map(voice).collect();
            match debate(&record, &asked.past, &voices, &voice(orchestrator))? {
                Some(debated) => Ok(Found::All(store.clone(), Told::Debate(Box::new(debated)))),
                None if recorded.only => Err(missed(&record, &of(orchestrator))),
                None => Ok(Found::Some(Vec::new(), asked.ran)),
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
                        return Ok(Found::All(store.clone(), Told::Answers(hits, None)));
                    };
                    let wish = of(judge);
                    match verdict(&record, &wish, hits.iter().map(|(_, hit)| hit.answer.id))? {
                        Some(verdict) => {
                            Ok(Found::All(store.clone(), Told::Answers(hits, Some(Box::new(verdict)))))
                        }
                        None if recorded.only => Err(no_verdict(judge)),
                        None if !asked.is_own => Ok(Found::Some(Vec::new(), asked.ran)),
                        None => Ok(Found::Some(hits, asked.ran)),
                    }
                }
                Some(error) if recorded.only => Err(error),
                // Answers from another store cannot share a tree with new ones.
                Some(_) if !asked.is_own => Ok(Found::Some(Vec::new(), asked.ran)),
                Some(_) => Ok(Found::Some(hits, asked.ran)),
            }
        }
    }
}
