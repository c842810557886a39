//! Asks all models at once: each answer is a branch after the same question.

use futures_util::future::join_all;

use super::participant::select_before;
use super::{GroupEvent, GroupTurn, Participant, ends_all};
use crate::answer_order::{AnswerOrder, OrderedAnswer};
use crate::assembly::{Purpose, Target, assemble};
use crate::attach::choose;
use crate::outcome::log_failure;
use crate::summary_cut::with_possible_remedy;
use crate::tools::ToolList;
use crate::{Notice, Outcome, TurnEvent, TurnRequest};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_store::bubb::BubbName;

/// The outcome of `--parallel`.
#[derive(Debug, Default)]
pub struct ParallelOutcome {
    /// An outcome for each model, in order.
    pub replies: Vec<(String, Outcome)>,
    /// The judge's name, and its verdict.
    pub judge: Option<(String, Outcome)>,
    /// Set if no model answered, or if an error ended the turn.
    pub error: Option<Error>,
}

/// Asks all of `panel` concurrently. The failure of a model is in its outcome.
///
/// # Errors
/// Returns the errors that occur before a model is asked.
pub async fn parallel(
    group: GroupTurn<'_>,
    panel: &mut [Participant],
    ask: TurnRequest,
) -> Result<ParallelOutcome> {
    let schema = ask.schema.clone();
    if panel.iter().all(|participant| participant.recorded.is_some()) {
        return Ok(recorded(group, panel));
    }
    let (path, tools) = &group.open(ask).await?;
    let schema = schema.as_deref();
    let (general, no_tools) = (group.insts.general.as_deref(), &ToolList::default());
    let order = &AnswerOrder::default();
    let asked = panel.iter_mut().enumerate().map(|(index, participant)| async move {
        let name = participant.display_name.clone();
        if let Some(hit) = participant.recorded.take() {
            group.view.on_event(GroupEvent::Spoken(&name, &hit.to_finished_answer()));
            return (name, hit.outcome());
        }
        let mut sent = path.messages.clone();
        let unsent = choose(sent.iter_mut().map(|message| &mut message.files), &participant.accepts);
        if !unsent.is_empty() {
            let notice = Notice::FilesNotSent(name.clone(), unsent);
            group.view.on_event(GroupEvent::In(&name, TurnEvent::Notice(&notice)));
        }
        let target = Target { form: participant.form, general, plans: None, web: false, searches: false };
        // A form in the conversation belongs to another turn's question.
        let purpose = Purpose::Answer { schema, code_only: false, may_call: false, has_form: false };
        let messages = assemble(&sent, &[], purpose, no_tools, target).messages;
        let (order, under) = (Some(OrderedAnswer { order, index }), path.tip());
        let spoken = participant.speak_in_order(order, &messages, schema, under, group).await;
        let mut outcome = Outcome {
            conv: path.ids().collect(),
            user: path.question(),
            model: Some(participant.name.clone()),
            tools: tools.clone(),
            ..Outcome::default()
        };
        match spoken {
            Ok(answered) => {
                let select = select_before(&answered, path.tip());
                outcome.conv.extend(select.iter().chain([&answered.name]).map(|name: &BubbName| name.id));
                outcome.answer = Some(answered);
                outcome.is_json = schema.is_some();
            }
            Err(error) => {
                let alone = [("-m", participant.name.clone())];
                let error = with_possible_remedy(error, &sent).resuming(|resume| {
                    if resume.is_retry() {
                        resume.name_models(&alone);
                    }
                });
                group.view.on_event(GroupEvent::Failed(&name, &error));
                outcome.error = Some(error);
            }
        }
        (name, outcome)
    });
    let replies = join_all(asked).await;
    let ended = replies.iter().find_map(|(_, outcome)| outcome.error.as_ref().filter(|e| ends_all(e)));
    let any_answered = replies.iter().any(|(_, outcome)| outcome.answer.is_some());
    let error = match ended {
        Some(error) => {
            let about_answers = if any_answered { "the answers that came are kept; " } else { "" };
            Some(
                error
                    .with_kind(error.kind)
                    .hint(Hint::from(about_answers).command(ResumeAction::RetryAll).text(" asks all again")),
            )
        }
        None if any_answered => None,
        None => {
            let none = format!("none of {} models answered", replies.len());
            Some(Error::remote(none).hint(Hint::from(ResumeAction::RetryAll).text(" asks them again")))
        }
    };
    log_failure(None, error.as_ref());
    Ok(ParallelOutcome { replies, judge: None, error })
}

/// Returns recorded answers: asks no model, and writes nothing.
fn recorded(group: GroupTurn<'_>, panel: &mut [Participant]) -> ParallelOutcome {
    let replies = panel.iter_mut().filter_map(|participant| {
        let hit = participant.recorded.take()?;
        group.view.on_event(GroupEvent::Spoken(&participant.name, &hit.to_finished_answer()));
        Some((participant.name.clone(), hit.outcome()))
    });
    ParallelOutcome { replies: replies.collect(), judge: None, error: None }
}
