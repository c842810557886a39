//! Around a turn of a session: news before it, the files of its question, and the request that an interrupted turn
//! leaves.

use std::sync::Arc;

use super::confirm::confirm;
use super::session::ReplSession;
use crate::term::{StatusLine, print_status};
use crate::ui::StopPoint;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_model::known_window;
use lepo_turn::attach::FileContent;
use lepo_turn::{ContextFile, Outcome, Question, QuestionPart, join_parts};

/// Approximate bytes of text for one token.
const BYTES_OF_TOKEN: u64 = 4;

pub(super) fn with_files(session: &ReplSession<'_>, text: String) -> Result<Question> {
    let part = QuestionPart {
        from: "the question".into(),
        content: FileContent::Other(text.into_bytes()),
        is_fenced: false,
        is_typed: true,
    };
    let contexts = session
        .contexts
        .iter()
        .map(|(path, bytes)| ContextFile { path: path.clone(), content: FileContent::Other(bytes.clone()) });
    let question = join_parts(vec![part], contexts.collect(), session.files.clone())?;
    let bytes: usize = session.contexts.iter().map(|(_, bytes)| bytes.len()).sum();
    let tokens = (bytes as u64).div_ceil(BYTES_OF_TOKEN);
    Ok(Question { of_folders: tokens, of_files: tokens, ..question })
}

/// Asks for confirmation if the files of a question fill much of the model's window. If false, the question is not
/// sent.
pub(super) async fn confirms_size(session: &mut ReplSession<'_>, question: &Question) -> Result<bool> {
    if question.of_files == 0 {
        return Ok(true);
    }
    // If no model can be chosen, the turn reports it.
    let Ok(model) = session.model().await else { return Ok(true) };
    let window = known_window(&model, &session.env.configured.paths.state);
    match question.size_to_confirm(window) {
        Some(what) => {
            print_status(&what);
            confirm(session, "Send the files? (Y/n): ").await
        }
        None => Ok(true),
    }
}

/// Checks that the model accepts the attached files. If no model can be chosen, the turn reports it.
pub(super) async fn check_files(session: &mut ReplSession<'_>) -> Result<()> {
    if session.files.is_empty() {
        return Ok(());
    }
    match session.model().await {
        Ok(model) => session.env.configured.check_files(&session.files, &model),
        Err(_) => Ok(()),
    }
}

/// Adds to the error of a signal at the prompt a hint about what is stored.
pub(super) fn add_stored_hint(session: &ReplSession<'_>, error: Error) -> Error {
    match (error.kind, session.conversation.position.pending) {
        (ExitKind::Signal(_), Some(id)) => StopPoint::Request(id).explain(error),
        (ExitKind::Signal(_), None) if session.tip().is_some() => {
            error.hint("the conversation is kept: `lepo` continues it, `lepo -n` starts over")
        }
        _ => error,
    }
}

/// Reports what an interrupted turn leaves: a pending request or a partial answer.
pub(super) fn print_stopped(session: &mut ReplSession<'_>, outcome: &Outcome) -> Result<()> {
    match StopPoint::find(&session.store, outcome)? {
        StopPoint::Request(id) => {
            session.conversation.position.pending = Some(id);
            print_status(&format!("stopped; request {id} is waiting: /approve or /deny it"));
        }
        StopPoint::Partial => {
            print_status("stopped; the next question continues from here; /retry answers again")
        }
        StopPoint::Thinking => {
            print_status("stopped; the thinking is kept (lepo show -a); /retry answers again")
        }
        StopPoint::Question => print_status("stopped; /retry answers again"),
        StopPoint::Nothing => print_status("stopped"),
    }
    Ok(())
}

/// Prints what was added elsewhere, and who answered below the conversation, including users whose first answer arrived
/// during the session.
pub(super) fn print_news(session: &mut ReplSession<'_>) -> Result<()> {
    if let Some(store) = session.store.with_renewed_peers().map(Arc::new) {
        session.env.store = store.clone();
        session.store = store;
    }
    let Some(at) = session.tip().filter(|_| !session.display.quiet) else { return Ok(()) };
    if let Some(id) = session.news.elsewhere(&session.store, at, session.conversation.position.unanswered)? {
        print_status(&StatusLine::note(format!("continued elsewhere: /tail {id}; asking here forks")));
    }
    if session.store.peers().is_empty() {
        return Ok(());
    }
    let forest = session.forest()?;
    let Some(ix) = forest.find(at) else { return Ok(()) };
    let conv = forest.up(ix).map(|ix| forest.name(ix).id).collect();
    for (clone, name) in session.news.drain(&session.store, &conv, at)? {
        print_status(&format!("{clone} answered in this conversation: /tail {}", name.id));
    }
    Ok(())
}
