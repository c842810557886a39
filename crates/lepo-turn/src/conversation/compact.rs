//! `lepo do --compact`: continues a conversation from a summary of it. The old conversation does not change.
//!
//! The new one has the same root, then the instructions that no summary replaces, the summary as a visible bubb, then
//! copies of the last turns, without their calls. Where there is nothing but calls to leave out, no summary is made. The
//! request for the summary has the same prefix as the requests before it, so that the server finds them in its cache.

use std::collections::HashSet;

use super::window_fill::{WindowFill, fill_in_time};
use crate::assembly::{Purpose, assemble};
use crate::body::{Body, SUMMARY};
use crate::config::{Insts, Trust};
use crate::folders::{StartNeeds, ask_about_start};
use crate::former_tools::tool_list;
use crate::journal::usage_entry;
use crate::message::Message;
use crate::send::send_whole;
use crate::servers::servers_ready;
use crate::skills::{called_instructions, find_skills};
use crate::steering::steers_alone;
use crate::stored_calls::finished_calls;
use crate::summary_cut::{KEEP, summary_cut};
use crate::tools::ToolOffer;
use crate::turn::{Turn, TurnResources};
use crate::turn_path::TurnPath;
use crate::unproven::unproven_messages;
use crate::{Notice, TurnEnv, TurnEvent, TurnRequest, TurnStart, View, record_used};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::hint::{Hint, HintCommand, ResumeAction};
use lepo_base::role::Role;
use lepo_model::{AgentContext, Gate, ModelConfig, Planner};
use lepo_store::bubb::{BubbId, BubbName, plural};
use lepo_store::conv::Forest;
use lepo_store::store::{
    CopyParent, CopyRequest, PlannedCopy, WriteBatch, now, plan_copies, plan_copies_of_now, write_copies,
};

/// The instruction for a summary.
const ASKED: &str = "Write a summary of the conversation so far, from which it can be gone on with when the \
    messages themselves are gone: what was asked, what was found out and decided, names of files, commands and \
    figures that matter, and what is still open. Write it as notes, in the language of the conversation, \
    without an introduction. Call no tools.";

/// The part to be summarised.
#[derive(Debug, Clone, Copy)]
pub struct Compaction<'c> {
    /// The end of the conversation.
    pub tail: BubbId,
    /// The number of last turns to copy.
    pub keep: usize,
    /// Further instructions for the summary.
    pub instruction: Option<&'c str>,
}

/// Summarises a conversation except its last turns; returns the tail of the new one. Writes nothing if it
/// fails or is interrupted.
pub async fn compact(
    env: &TurnEnv,
    config: &ModelConfig,
    insts: &Insts,
    forest: &Forest,
    compaction: Compaction<'_>,
    view: &mut dyn View,
) -> Result<BubbId> {
    let gate = Gate::new();
    gate.open();
    let mut model = env.configured.model(config, env.settings().http_idle, gate.clone())?;
    let start = TurnStart::Under(compaction.tail);
    let path = TurnPath::at(&env.store, forest, start, &env.masking)?;
    let called = finished_calls(&path.messages);
    let cut = match summary_cut(&path.messages, compaction.keep) {
        Some(cut) => cut,
        None if !called.is_empty() => return without_calls(env, forest, &path, &called),
        None => return Err(nothing_to_summarise(&path.messages, compaction.keep)),
    };
    let lasting = lasting(path.messages.get(..cut).unwrap_or_default());
    let ids: Vec<BubbId> = path.ids().collect();
    let skills = called_instructions(&path.messages);
    let mut servers = env.servers_of_turns().await;
    let resources = TurnResources { model: &mut model, gate, servers: &mut servers, view: &mut *view };
    let nothing = &mut TurnRequest::new(start, None, &[]);
    let mut turn = Turn::new(env, (config, insts), resources, path, forest, nothing);
    turn.forks = false;
    let summary = summary(&mut turn, cut, compaction.instruction).await;
    let is_own = steers_alone(&turn);
    env.configured.agent_sandboxes.report_leftovers(view);
    let summary = summary.map_err(nothing_written)?;
    let covered = ids.get(cut - 1).copied().unwrap_or(compaction.tail);
    let text = format!("{SUMMARY}{covered}]\n\n{}", summary.trim());
    let name = |at: usize| ids.get(at).and_then(|id| forest.find(*id)).map(|ix| forest.name(ix));
    let last = (cut..ids.len()).filter(|at| !called.contains(at)).filter_map(name).collect();
    let lasting = lasting.into_iter().filter_map(name).collect();
    let new = [skills.map(|text| (text, true)), Some((text, false))];
    write_compacted(env, ids.first().copied(), lasting, (new.into_iter().flatten().collect(), is_own?), last)
}

/// Copies a conversation without the calls on its path, from the first of them on.
fn without_calls(env: &TurnEnv, forest: &Forest, path: &TurnPath, called: &HashSet<usize>) -> Result<BubbId> {
    let ids: Vec<BubbId> = path.ids().collect();
    let first = called.iter().min().copied().unwrap_or_default();
    let name = |at: usize| ids.get(at).and_then(|id| forest.find(*id)).map(|ix| forest.name(ix));
    let last = (first..ids.len()).filter(|at| !called.contains(at)).filter_map(name).collect();
    let base = first.checked_sub(1).and_then(|at| ids.get(at)).copied();
    let trust = Trust::new(&env.configured.paths);
    let is_own = unproven_messages(&env.store, &trust, &path.loaded)?.is_empty();
    let skills = called_instructions(&path.messages).map(|text| (text, true));
    write_compacted(env, base, Vec::new(), (skills.into_iter().collect(), is_own), last)
}

/// Compacts the conversation that ends in `tail` if a question of `more` bytes would not fit; returns the new
/// tail.
pub async fn make_room(
    env: &TurnEnv,
    config: &ModelConfig,
    forest: &Forest,
    tail: BubbId,
    more: usize,
    view: &mut dyn View,
) -> Result<Option<BubbId>> {
    let filling = async { Ok(fill_in_time(env, config, forest, tail, more).await) };
    let fill = env.interrupt.or(filling).await?;
    if !fill.is_some_and(WindowFill::is_full) {
        return Ok(None);
    }
    view.on_event(TurnEvent::Notice(&Notice::Compacts));
    let insts = env.insts_without_warnings()?;
    let compaction = Compaction { tail, keep: KEEP, instruction: None };
    match compact(env, config, &insts, forest, compaction, view).await {
        // The conversation has only the last turns, so the question is sent unchanged.
        Err(error) if error.kind == ErrorKind::Usage => Ok(None),
        compacted => compacted.map(Some),
    }
}

/// Returns the indices of the texts that no summary replaces: the newest instructions of the repository, the newest
/// catalogue of skills, and instructions of skills. After the root they are found by the next turn, which
/// does not add them again.
fn lasting(covered: &[Message]) -> Vec<usize> {
    let below = |at: &usize| *at > 0;
    let instructions = covered.iter().rposition(|message| message.body == Body::Instructions);
    let catalogue = covered.iter().rposition(|message| message.body == Body::Catalogue);
    let is_skill = |message: &Message| message.body == Body::Skill;
    let skills = covered.iter().enumerate().filter(|(_, message)| is_skill(message)).map(|(at, _)| at);
    let mut lasting: Vec<usize> =
        instructions.into_iter().chain(catalogue).chain(skills).filter(below).collect();
    lasting.sort_unstable();
    lasting
}

/// Copies a chain of messages onto `base`.
fn chain_of_copies(
    env: &TurnEnv,
    base: Option<BubbId>,
    originals: Vec<BubbName>,
) -> Result<Vec<PlannedCopy>> {
    let under = |at: usize| at.checked_sub(1).map_or(CopyParent::Base, CopyParent::Copy);
    let copying = originals.into_iter().enumerate();
    let copying = copying.map(|(at, original)| CopyRequest { original, text: None, under: under(at) });
    plan_copies(&env.store, base, copying.collect())
}

/// Writes the lasting texts, the `new` messages of kind system, each hidden or visible, and copies of the last turns after
/// them; removes them on a failure. The new ones are proven as this user's (`is_own`) if all their sources are.
fn write_compacted(
    env: &TurnEnv,
    root: Option<BubbId>,
    lasting: Vec<BubbName>,
    (new, is_own): (Vec<(String, bool)>, bool),
    last: Vec<BubbName>,
) -> Result<BubbId> {
    let lasting = chain_of_copies(env, root, lasting)?;
    let mut base = lasting.last().map(|copy| copy.name.id).or(root);
    let mut added = Vec::new();
    for (text, hidden) in &new {
        let source = if *hidden { "a skill" } else { "the summary" };
        let screened = env.masking.screen(text.as_bytes(), source);
        let name = WriteBatch::name(Role::System, *hidden, base, now(), screened.bytes())?;
        base = Some(name.id);
        added.push((name, screened));
    }
    // Dated now, so that the new conversation is the newest.
    let copies = plan_copies_of_now(&env.store, base, &last, 0)?;
    let write = || {
        write_copies(&env.store, None, &lasting)?;
        for (name, screened) in &added {
            write_copies(&env.store, Some((*name, screened.bytes())), &[])?;
        }
        write_copies(&env.store, None, &copies)
    };
    if let Err(error) = write() {
        let new = |copies: &[PlannedCopy]| {
            let new = copies.iter().rev().filter(|copy| !copy.is_here);
            new.map(|copy| copy.name).collect::<Vec<_>>()
        };
        let added = added.iter().rev().map(|(name, _)| *name);
        let written: Vec<BubbName> = new(&copies).into_iter().chain(added).chain(new(&lasting)).collect();
        let _ = env.store.remove_bubbs(&written, &[]);
        return Err(error);
    }
    if is_own {
        env.store.journal().prove(added.iter().map(|(name, _)| name.id));
    }
    let end = copies.last().map(|copy| copy.name.id).or(base);
    let end = end.ok_or_else(|| Error::usage("no conversation to summarise"))?;
    record_used(&env.configured.paths, &env.store, &[end]);
    Ok(end)
}

/// Requests a summary of the path up to `cut`.
async fn summary(turn: &mut Turn<'_>, cut: usize, instruction: Option<&str>) -> Result<String> {
    turn.choose_files();
    // Tools are listed as in any turn, for the server's cache, but may not be called.
    let tools = turn.may_have_tools();
    ask_about_start(turn, StartNeeds { lists: tools, model: true, calls: &[] }).await?;
    if tools {
        turn.servers.start_all();
    }
    let planner = if tools { turn.planner() } else { Planner::Off };
    find_skills(turn)?;
    let offer = ToolOffer::new(tools, planner, turn.servers, true);
    if offer.calls {
        turn.view.on_event(TurnEvent::Waiting);
        servers_ready(turn).await?;
    }
    let tools = tool_list(turn, offer);
    let asked = match instruction {
        Some(more) => format!("{ASKED}\n\n{more}"),
        None => ASKED.to_string(),
    };
    let path = &turn.path;
    let purpose = Purpose::Summary { inst: &asked, covered: cut };
    let assembly = assemble(&path.messages, &path.call_groups, purpose, &tools, turn.target());
    let cache_key = turn.cache_key(&tools.specs);
    let agent = AgentContext { dir: Some(turn.env.store.root()), ..AgentContext::default() };
    let request = assembly.request(cache_key.as_deref(), agent);
    let start = std::time::Instant::now();
    let interrupt = &turn.env.interrupt;
    let work = send_whole(turn.model, turn.view, (&mut turn.path, &mut turn.outcome), request);
    let (text, usage) = interrupt.or(work).await.map_err(too_long_for_itself)?;
    let ms = start.elapsed().as_millis() as u64;
    turn.env.store.journal().add(usage_entry("summary", &turn.config.name, usage, ms));
    match text.trim().is_empty() {
        false => Ok(text),
        true => Err(Error::remote("the model wrote no summary")
            .hint(Hint::from("try again, or with another: ").command(HintCommand::OtherModel))),
    }
}

/// Adds to the error of an interrupted or failed summary that nothing was written, and how to retry.
fn nothing_written(error: Error) -> Error {
    match error.kind {
        ErrorKind::Signal(_) => {
            error.hint(Hint::from("nothing was written; to retry: ").command(ResumeAction::Compact))
        }
        ErrorKind::Remote if error.suggests_retry() => {
            error.hint(Hint::from("nothing was written; ask again: ").command(ResumeAction::Compact))
        }
        _ => error,
    }
}

fn too_long_for_itself(error: Error) -> Error {
    match error.kind {
        ErrorKind::Overflow => {
            error.hint(Hint::from("name a model with a larger window for the summary: ").either(
                Hint::default().bare(HintCommand::Lepo("do --compact -m NAME".into())),
                "/model NAME, then /compact",
            ))
        }
        _ => error,
    }
}

fn nothing_to_summarise(messages: &[Message], keep: usize) -> Error {
    let questions = plural(messages.iter().filter(|message| message.is_question()).count(), "question");
    Error::usage(format!("nothing to summarise: {questions}, and the last {keep} are kept"))
        .hint(Hint::default().either("--keep N keeps another number of questions", "ask more first"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::fixture::path;

    #[test]
    fn instructions_of_the_repository_and_of_skills_outlast_a_summary() {
        let (agents, list, skill) =
            ("[instructions of this repository]", "[skills of this conversation]", "[skill a, from /a]");
        for (text, expected) in [
            (format!("s1 P / u0 a / a0 b / s1 {skill} / u0 c"), vec![3]),
            (format!("s1 P / s1 {agents} 1 / s1 {list} / u0 a / a0 b / s1 {agents} 2 / u0 c"), vec![2, 5]),
            (format!("s1 {agents} / u0 a / a0 b"), vec![]),
            (format!("s1 P / u0 {agents} / s0 {agents} / a0 {skill}"), vec![]),
        ] {
            assert_eq!(lasting(&path(&text)), expected, "{text}");
        }
    }
}
