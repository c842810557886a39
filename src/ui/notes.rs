//! Notes about a turn on stderr: the position of its question, what a failure leaves, and its branch.

use std::time::UNIX_EPOCH;

use crate::term::{StatusLine, print_status, warn};
use lepo_base::error::{Error, ExitKind, Result, quoted};
use lepo_base::hint::ResumeAction;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName, with_labels};
use lepo_store::conv::{Forest, ReadScope, RequestState};
use lepo_store::store::Store;
use lepo_tool::ToolRequest;
use lepo_turn::config::{Insts, Paths, is_as_made};
use lepo_turn::{Body, BranchMove, Configuration, TurnStart, being_answered};

/// Warns that the continued conversation is dated ahead, as its answers will be, too.
pub fn warn_of_ahead(forest: &Forest, begin: TurnStart) {
    let Some(at) = begin.id().and_then(|id| forest.find(id)).filter(|&at| forest.is_ahead(at)) else {
        return;
    };
    let id = forest.name(at).id;
    print_status(&StatusLine::warning(format!(
        "{id} is dated more than a day ahead, and so is what follows it; `lepo rebase {id} --root --redate` copies the \
         conversation with the current time"
    )));
}

/// Reports that a question skips a pending request at the newest tail, which it would continue by default.
pub fn note_skipped_request(store: &Store, forest: &Forest, begin: TurnStart) {
    let (TurnStart::Under(from), Some(newest)) = (begin, forest.newest()) else { return };
    let name = forest.name(newest);
    if being_answered(store, forest, newest).is_some() {
        print_status(&StatusLine::note(
            "another process is still answering the newest question: this one follows the message before it",
        ));
    } else if from != name.id {
        note_dropped(store, begin, &name);
    }
}

/// Reports that a merge left the branch of `--tail` with several ends: the question follows the greatest of them.
pub fn note_ends(store: &Store, branch: &str) -> Result<()> {
    if let [end, others @ ..] = &*store.branch_ends(branch)?
        && !others.is_empty()
    {
        let others: Vec<String> = others.iter().map(BubbId::to_string).collect();
        let name = quoted(branch);
        print_status(&StatusLine::note(format!(
            "a merge left branch {branch} with several ends: this continues {end}, not {}; `lepo branch -f {name} ID` \
             chooses one",
            others.join(", ")
        )));
    }
    Ok(())
}

/// Reports that a question skips the pending request at `tip`.
pub fn note_dropped(store: &Store, begin: TurnStart, tip: &BubbName) {
    if matches!(begin, TurnStart::Under(_)) && matches!(waiting_at(store, tip), Ok(Some(_))) {
        print_status(&StatusLine::note(format!("request {} was dropped: the conversation moved on", tip.id)));
    }
}

/// Returns the request that is pending at this bubb, if it is one.
pub fn waiting_at(store: &Store, name: &BubbName) -> Result<Option<ToolRequest>> {
    let Some(request) = name.hidden.then(|| read_request(store, name)).flatten() else { return Ok(None) };
    let forest = store.forest_for(&[ReadScope::Since { id: name.id, judged: true }])?;
    let waits = forest.find(name.id).is_some_and(|ix| forest.request_state(ix) == RequestState::Pending);
    Ok(waits.then_some(request))
}

/// Notes that a conversation stays with its own system prompt: when another one is requested, or when the
/// configured one has changed since the conversation's last message.
pub fn note_system_prompt(configured: &Configuration, store: &Store, forest: &Forest, begin: TurnStart) {
    let Some(at) = begin.id().and_then(|id| forest.find(id)) else { return };
    let root = forest.up(at).last().map(|ix| forest.name(ix));
    let prompt = root.filter(|name| name.role == Role::System && name.hidden);
    let prompt = prompt.and_then(|name| store.text(&name).ok()).unwrap_or_default();
    let differs = match configured.cli_system_prompt() {
        Some(wanted) => wanted != prompt,
        None if prompt.is_empty() => false,
        None => changed_since(&configured.paths, forest.name(at).id.time())
            .is_some_and(|now| now.trim() != prompt.trim() && !(is_as_made(&now) && is_as_made(&prompt))),
    };
    if differs {
        print_status(&StatusLine::note(
            "this conversation keeps its own system prompt; -n starts one with the current prompt",
        ));
    }
}

/// Returns the configured system prompt if its file was changed after `time`, in milliseconds.
fn changed_since(paths: &Paths, time: u64) -> Option<String> {
    let path = paths.system_prompt_file();
    let changed = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let is_newer = changed.as_millis() as u64 > time;
    is_newer.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// Adds to a failure's hint that the question is stored: typed again, it would exist twice.
pub fn with_kept_question(mut error: Error, question: Option<BubbId>) -> Error {
    if question.is_none() || error.kind != ExitKind::Remote || error.suggests_retry() {
        return error;
    }
    let before = error.hint.take().map(|hint| hint.text("; ")).unwrap_or_default();
    error.hint(before.text("the question is kept: ").command(ResumeAction::Retry).text(" answers it"))
}

/// Prints the warnings about an instructions file and returns the instructions.
pub fn insts_with_warnings((insts, warnings): (Insts, Vec<String>)) -> Insts {
    for warning in warnings {
        print_status(&StatusLine::warning(warning));
    }
    insts
}

/// Reports that another process moved the branch that a turn started from.
pub fn note_branch(moved: &BranchMove, quiet: bool) {
    if let (BranchMove::Left(name), false) = (moved, quiet) {
        print_status(&StatusLine::note(format!(
            "branch {name} has moved in the meantime and was left unchanged"
        )));
    }
}

/// Returns the text of a bubb for a list, without a question's attachments. Warns and returns `None` if it is
/// unreadable.
pub fn text_or_warn(store: &Store, name: &BubbName) -> Option<String> {
    store.excerpt_text(name).inspect_err(warn).ok()
}

/// Like [`text_or_warn`], with a question's attachments as their labels.
pub fn labelled_or_warn(store: &Store, name: &BubbName) -> Option<String> {
    let text = store.glance(name).inspect_err(warn).ok()?;
    Some(match name.role {
        Role::User => with_labels(&text).into_owned(),
        Role::System | Role::Assistant | Role::Tool => text,
    })
}

/// The size limit of a request, in bytes.
const MOST_REQUEST: u64 = 16 << 20;

/// Parses the request that a bubb is, if it is one. A copy of a request asks for nothing.
pub fn read_request(store: &Store, name: &BubbName) -> Option<ToolRequest> {
    let may = name.hidden && matches!(name.role, Role::System | Role::Assistant);
    let text = may.then(|| store.text_within(name, MOST_REQUEST));
    let text = text?.inspect_err(warn).ok()??;
    let request = Body::read_named(name, &text).into_request();
    request.filter(|_| !store.journal().is_copy(name.id))
}
