//! The start of a group turn: the conv, the user's own commands, the question. All of it is durable before a
//! model is asked.

use super::GroupTurn;
use crate::attach::keep_files;
use crate::report::ToolUse;
use crate::transcript::Transcript;
use crate::{CommandRunner, TurnEvent, TurnRequest, TurnStart};
use lepo_base::error::Result;
use lepo_store::bubb::Kind;

/// The conv that all participants receive.
pub struct GroupOpening {
    /// The conv up to the question.
    pub transcript: Transcript,
    pub tools: Vec<ToolUse>,
}

/// Loads the conv, and adds the new bubbs to it.
pub(super) async fn open(group: GroupTurn<'_>, ask: TurnRequest) -> Result<GroupOpening> {
    let mut transcript = Transcript::at(&group.env.store, group.forest, ask.start, &group.env.masking)?;
    transcript.sends_unmasked = ask.unmasked;
    let mut opening = GroupOpening { transcript, tools: Vec::new() };
    if let Some(prompt) = ask.system_prompt.filter(|_| ask.start == TurnStart::New) {
        group.add_as(
            &mut opening.transcript,
            Kind::System,
            true,
            (&prompt, &group.env.masking.kept_prompt(&prompt)),
        )?;
    }
    let runner = CommandRunner::new(group.env);
    let mut ran = ask.ran.into_iter();
    for command in &ask.runs {
        let (transcript, mut tell) = (&mut opening.transcript, |event: TurnEvent<'_>| group.emit(event));
        let used = match ran.next() {
            Some(carried) => runner.keep_own(transcript, command, &carried, &mut tell)?,
            None => runner.run(transcript, command, &mut tell).await?,
        };
        opening.tools.push(used);
    }
    if let Some(question) = ask.question {
        let typed = question.typed.clone();
        let question = keep_files(&group.env.store, question)?;
        let kept = group.env.masking.screen_question(&question, &typed);
        let question = opening.transcript.sent_text(question, &kept);
        group.add_as(&mut opening.transcript, Kind::User, false, (&question, &kept))?;
        if let Some(question) = opening.transcript.tip() {
            opening.transcript.mark_answering(question);
        }
        let note = opening.transcript.tip().and_then(|id| group.env.masking.typed_secret_notice(id));
        let notes = group.env.masking.told_prompt().into_iter().chain(note);
        notes.for_each(|note| group.emit(TurnEvent::Notice(&note)));
    }
    Ok(opening)
}
