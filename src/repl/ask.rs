//! A turn that starts at the prompt: with a question, or with the last one again.

use super::around_turn::{check_files, confirms_size, print_news, with_files};
use super::confirm::confirm;
use super::error_line::print_error;
use super::server_prompts::resources;
use super::session::{ReplSession, UndoStep, report_error};
use super::turn::turn;
use super::window::make_room;
use crate::term::print_status;
use crate::ui::{ChoicePrompt, PartialModel, PromptChoice, ViewEvent, ViewState, add_model};
use lepo_base::error::{Error, ExitKind, Result, quoted};
use lepo_model::ModelConfig;
use lepo_turn::{ResourceAddress, ServerContent, TurnRequest};

/// Runs a turn, answered by `model` if one is given; the session's model does not change.
pub(super) async fn ask_model(
    session: &mut ReplSession<'_>,
    state: ViewState,
    text: String,
    model: Option<ModelConfig>,
) -> Result<ViewState> {
    let Some(model) = model else { return ask(session, state, Some(text)).await };
    let before = session.model.replace(model);
    let asked = ask(session, state, Some(text)).await;
    session.model = before;
    asked
}

/// Runs a turn with `question`, or with the last one again.
pub(super) async fn ask(
    session: &mut ReplSession<'_>,
    state: ViewState,
    question: Option<String>,
) -> Result<ViewState> {
    let resources = question.as_deref().map(|text| resources(session, text)).unwrap_or_default();
    ask_with(session, state, question, resources).await
}

/// Like [`ask`], with these resources of MCP servers.
pub(super) async fn ask_with(
    session: &mut ReplSession<'_>,
    state: ViewState,
    question: Option<String>,
    resources: Vec<ResourceAddress>,
) -> Result<ViewState> {
    if let Err(error) = offer_model(session).await {
        return report_error(state.after(ViewEvent::Entered), &error);
    }
    let state = state.after(ViewEvent::Entered);
    if let (Some(text), Some(_)) = (&question, session.conversation.position.pending)
        && ChoicePrompt::new("", &[PromptChoice::Edit, PromptChoice::Always]).read(text).is_some()
    {
        let error = Error::nothing(format!("{} was not sent: a request is waiting", quoted(text.trim())));
        return report_error(state, &error.hint("/approve runs it, /deny refuses it"));
    }
    if question.is_some()
        && let Err(error) = print_news(session)
    {
        print_error(&error);
    }
    let mut next = match session.next_turn(question.is_none()) {
        Ok(next) => next,
        Err(error) => return report_error(state, &error),
    };
    if let Err(error) = check_files(session).await {
        return report_error(state, &error);
    }
    if let Some(text) = &question
        && let Err(error) = make_room(session, &mut next, text.len()).await
    {
        return report_error(state, &error);
    }
    let typed = question.clone();
    let question = match question.map(|text| with_files(session, text)).transpose() {
        Ok(question) => question,
        Err(error) => return report_error(state, &error),
    };
    if let Some(question) = &question
        && !confirms_size(session, question).await?
    {
        return report_error(
            state,
            &Error::usage("nothing was sent").hint("name fewer files, or other folders"),
        );
    }
    session.drop_waiting();
    // A retried question is still the same last question.
    if let Some(typed) = typed {
        session.undo_steps.push(UndoStep::Asked(session.tip(), typed));
    }
    session.served = ServerContent { resources, prompt: None };
    let ask = TurnRequest::new(next.start, question, &session.runs);
    turn(session, state, &next.forest, ask).await
}

/// Offers to add a model, once a session, if none is configured and none was found.
pub(super) async fn offer_model(session: &mut ReplSession<'_>) -> Result<()> {
    const QUESTION: &str = "No model is configured. Add one now? (Y/n): ";
    let settings = session.env.settings();
    let may_lack = session.model.is_none() && settings.models.is_empty() && settings.chosen_model().is_none();
    if session.offered_model || !may_lack || !session.reader.edits() {
        return Ok(());
    }
    if session.env.interrupt.or(session.env.configured.choose()).await.is_ok() {
        return Ok(());
    }
    session.offered_model = true;
    if !confirm(session, QUESTION).await? {
        return Ok(());
    }
    let configured = &session.env.configured;
    let adding = add_model(PartialModel::default(), true, &configured.settings, &configured.paths);
    match session.env.interrupt.or(adding).await {
        Ok(Some(name)) => session.env.use_model(&name),
        Ok(None) => Ok(()),
        Err(error) if matches!(error.kind, ExitKind::Signal(_)) => {
            print_status("nothing was added");
            session.env.interrupt.reset();
            Ok(())
        }
        Err(error) => {
            print_error(&error);
            Ok(())
        }
    }
}
