//! The loop of a session: reads entries and runs turns on one conv, whatever other processes add.

use super::around_turn::{add_stored_hint, print_news};
use super::ask::ask;
use super::confirm::confirm;
use super::error_line::{print_error, take_error_printed};
use super::leaving::print_leaving;
use super::mentions::ask_typed;
use super::named_prompt::{completion_words, enter_prompt};
use super::paths::pasted_file;
use super::peer_news::News;
use super::prompt_entry::PromptEntry;
use super::reader::PromptReader;
use super::session::{ReplSession, SIGINT, SessionOptions, SessionTokens, report_error};
use super::slash::decide;
use super::slash_spec::SessionStep;
use super::tokens::print_place;
use super::turn::find_waiting;
use crate::term::{AnswerWait, Out, Paint, print_status, show};
use crate::ui::{self, TurnView, ViewEvent, ViewState};
use lepo_base::error::{ExitKind, Result};
use lepo_store::bubb::BubbName;
use lepo_turn::config::EmptyLine;
use lepo_turn::{
    Conversation, NextTurn, Position, Rules, ServerContent, StartOptions, TurnEnv, TurnStart, run_own,
    unanswered,
};

/// Reads entries and runs turns until the user leaves.
pub async fn run_session(
    options: SessionOptions,
    env: &mut TurnEnv,
    out: &mut Out,
    paint: Paint,
) -> Result<()> {
    let (mut session, tip) = open_session(options, env, out, paint)?;
    if session.is_on_terminal() && !session.display.quiet {
        print_place(&mut session).await?;
    }
    if let Some(tip) = tip {
        find_waiting(&mut session, tip)?;
    }
    run_prompts(&mut session).await
}

/// Creates a session, and returns the bubb at its end, where a request may be pending.
fn open_session<'o>(
    options: SessionOptions,
    env: &'o mut TurnEnv,
    out: &'o mut Out,
    paint: Paint,
) -> Result<(ReplSession<'o>, Option<BubbName>)> {
    let SessionOptions { new, tail: address, show_past, display, runs, keeps } = options;
    let store = env.store.clone();
    let forest = store.forest_at(new, address.as_deref())?;
    let tail = address.as_deref().map(|address| store.find_bubb(&forest, address)).transpose()?;
    let options = StartOptions { new, tail, retry: false };
    let (mut position, begin) = Position::find(&store, &forest, options, address.as_deref())?;
    let tip = tail.map(|tail| tail.ix).or_else(|| forest.newest()).filter(|_| begin != TurnStart::New);
    let left = tip.filter(|_| tail.is_none()).and_then(|tip| unanswered(&store, &forest, tip));
    position.unanswered = left.map(|question| forest.name(question).id);
    let tip = tip.map(|ix| forest.name(ix));
    if show_past {
        ui::show_past(display, (out, paint), &store, &forest, begin)?;
    }
    if !display.quiet {
        position.branch.as_ref().map_or(Ok(()), |branch| ui::note_ends(&store, &branch.name))?;
        ui::warn_of_ahead(&forest, begin);
        if !show_past {
            ui::warn_incomplete_start(&forest, begin);
        }
        ui::note_system_prompt(&env.configured, &store, &forest, begin);
    }
    let news = News::new(&store)?;
    let settings = env.settings();
    let display = display.with_settings(settings);
    let how = (paint, keeps, settings.repl_keys);
    let reader = PromptReader::new(&env.configured.paths, store.clone(), completion_words(env)?, how);
    let session = ReplSession {
        env,
        store,
        display,
        out,
        paint,
        reader,
        conversation: Conversation::new(position, Rules::SESSION),
        model: None,
        undo_steps: Vec::new(),
        offered_model: false,
        chosen: None,
        tokens: SessionTokens::default(),
        files: Vec::new(),
        contexts: Vec::new(),
        served: ServerContent::default(),
        named_skill: None,
        unmasked: false,
        numbered: Vec::new(),
        runs,
        news,
        has_warned_full: false,
    };
    Ok((session, tip))
}

async fn run_prompts(session: &mut ReplSession<'_>) -> Result<()> {
    let mut state = ViewState::Idle;
    while state != ViewState::End {
        if session.reader.edits()
            && let Err(error) = print_news(session)
        {
            print_error(&error);
        }
        let entered = match entry(session).await {
            Ok(Some(text)) => match pasted(session, &text).await? {
                Some(attach) => attach,
                None if session.reader.has_pasted_bang => PromptEntry::Question(text),
                None => PromptEntry::read(&text),
            },
            Ok(None) => PromptEntry::Leave,
            Err(error) if error.kind == ExitKind::Signal(SIGINT) => PromptEntry::Leave,
            Err(error) => return Err(add_stored_hint(session, error)),
        };
        let asks = matches!(entered, PromptEntry::Question(_) | PromptEntry::Prompt(..));
        let mut wait = asks.then(AnswerWait::start);
        mark_output(session, None);
        state = match entered {
            // The user typed the empty line during an answer, and meant that answer.
            PromptEntry::Empty if session.reader.typed_ahead && session.reader.edits() => state,
            PromptEntry::Empty if session.env.settings().empty_line == EmptyLine::Stay => state,
            PromptEntry::Empty | PromptEntry::Leave => state.after(ViewEvent::Left),
            PromptEntry::Question(text) => ask_typed(session, state, text).await?,
            PromptEntry::Run(command) => run_own_command(session, state, &command).await?,
            PromptEntry::Command(command, argument) => match command.run(session, &argument).await {
                Ok(SessionStep::Prompt) => state,
                Ok(SessionStep::Turn(question)) => {
                    wait = Some(AnswerWait::start());
                    ask(session, state, question).await?
                }
                Ok(SessionStep::Decide(verdict)) => {
                    wait = Some(AnswerWait::start());
                    match decide(session, verdict).await {
                        Ok(state) => state,
                        Err(error) => report_error(state.after(ViewEvent::Entered), &error)?,
                    }
                }
                Ok(SessionStep::Leave) => state.after(ViewEvent::Left),
                Err(error) => {
                    print_error(&error);
                    state
                }
            },
            PromptEntry::Prompt(name, words) => match enter_prompt(session, state, &name, &words).await {
                Err(error) if error.kind == ExitKind::Usage => {
                    print_error(&error);
                    state
                }
                entered => entered?,
            },
            PromptEntry::Wrong(why) => {
                print_status(&why);
                state
            }
        };
        let is_stopped = session.env.interrupt.has_come();
        if is_stopped {
            session.reader.has_stopped();
        }
        let has_failed = take_error_printed();
        mark_output(session, Some(if is_stopped { 130 } else { u8::from(has_failed) }));
        if session.reader.edits() {
            wait.into_iter().for_each(AnswerWait::finish);
        }
        session.env.interrupt.reset();
    }
    print_leaving(session);
    Ok(())
}

/// Marks the beginning of the output of an entry, and with an exit code its end, by OSC 133: terminals jump from one to
/// the next.
fn mark_output(session: &ReplSession<'_>, code: Option<u8>) {
    if session.reader.edits() {
        show(&code.map_or("\x1b]133;C\x07".to_string(), |code| format!("\x1b]133;D;{code}\x07")));
    }
}

/// Returns the next entry. In the meantime servers list their offers, if completion asks for them.
async fn entry(session: &mut ReplSession<'_>) -> Result<Option<String>> {
    tokio::select! {
        biased;
        entry = session.reader.read(&session.env.interrupt) => entry,
        () = session.env.serve_catalogue() => Ok(None),
    }
}

/// Asks about an entry that is only the path of an image or a PDF: after a yes it is attached, else it is a
/// question.
async fn pasted(session: &mut ReplSession<'_>, text: &str) -> Result<Option<PromptEntry>> {
    const QUESTION: &str = "Attach this file to the next question? (Y/n): ";
    if !session.reader.edits() || pasted_file(text, session.env.configured.paths.home.as_deref()).is_none() {
        return Ok(None);
    }
    Ok(Some(match confirm(session, QUESTION).await? {
        true => PromptEntry::read(&format!("/attach {}", text.trim())),
        false => PromptEntry::Question(text.to_string()),
    }))
}

/// Runs the user's own command; the next question follows its output.
pub(super) async fn run_own_command(
    session: &mut ReplSession<'_>,
    state: ViewState,
    command: &str,
) -> Result<ViewState> {
    let state = state.after(ViewEvent::Entered);
    let NextTurn { forest, start } = session.next_turn(false)?;
    let running = async |env: &TurnEnv, conversation: &mut Conversation, view: &mut TurnView<'_>| {
        let output = run_own(env, &forest, start, command, view).await;
        output.map(|bubb| conversation.position.tip = Some(bubb))
    };
    match session.with_view(state, running).await {
        Ok(()) => Ok(state.after(ViewEvent::Done)),
        Err(error) if error.kind == ExitKind::Signal(SIGINT) => {
            print_status("stopped; nothing was kept");
            Ok(state.after(ViewEvent::Failed).after(ViewEvent::Reported))
        }
        Err(error) => report_error(state, &error),
    }
}
