//! A judge of several answers to a question: it receives them without their models' names, and writes its own
//! answer as another branch next to them.

use super::participant::Participant;
use super::protocol::JUDGE;
use super::{GroupEvent, GroupTurn, ParallelOutcome, ends_all};
use crate::config::fill;
use crate::outcome::log_failure;
use crate::summary_cut::without_summary_hint;
use crate::{Notice, Outcome, TurnEvent};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::hash::sha256_hex;
use lepo_base::role::Role;
use lepo_model::ChatMessage;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::ReadScope;

/// The prompt if the inst is empty.
const BARE: &str = "{question}\n\n{answers}";

/// Labels an answer by a letter, or by several after the 26th.
fn letters(at: usize) -> String {
    let letter = |at: usize| char::from(b'A' + (at % 26) as u8);
    match at / 26 {
        0 => letter(at).to_string(),
        more => format!("{}{}", letter(more - 1), letter(at)),
    }
}

/// Sorts the answers by a hash, so that their order does not reveal their models.
fn in_hidden_order(mut answers: Vec<BubbName>) -> Vec<BubbName> {
    answers.sort_by_key(|answer| sha256_hex(answer.id.to_string().as_bytes()));
    answers
}

/// Has the answers judged. If the judge fails, the answers remain, and the outcome has the error.
pub(super) async fn judge(
    group: GroupTurn<'_>,
    judge: &mut Participant,
    mut polled: ParallelOutcome,
) -> Result<ParallelOutcome> {
    let answers = polled.replies.iter().filter_map(|(_, outcome)| Some(outcome.answer?.name)).collect();
    let answers: Vec<BubbName> = in_hidden_order(answers);
    let question =
        polled.replies.iter().find_map(|(_, outcome)| outcome.user.filter(|_| outcome.answer.is_some()));
    let (Some(question), true) = (question, answers.len() > 1) else {
        group.emit(TurnEvent::Notice(&Notice::NothingToJudge(judge.name.clone())));
        return Ok(polled);
    };
    let mut outcome = Outcome { user: Some(question), model: Some(judge.name.clone()), ..Outcome::default() };
    match verdict(group, judge, question, &answers, &mut outcome.conv).await {
        Ok(answered) => {
            outcome.conv.extend(answered.name.prev.into_iter().chain([answered.name.id]));
            outcome.answer = Some(answered);
        }
        Err(error) => {
            group.view.on_event(GroupEvent::Failed(&judge.display_name, &error));
            let kind = if ends_all(&error) { error.kind } else { ErrorKind::Remote };
            let failed = Error::new(kind, format!("the judge {} failed", judge.name));
            polled.error = Some(failed.hint("the answers are kept"));
            log_failure(Some(&judge.name), polled.error.as_ref());
            outcome.error = Some(error);
        }
    }
    polled.judge = Some((judge.name.clone(), outcome));
    Ok(polled)
}

async fn verdict(
    group: GroupTurn<'_>,
    judge: &mut Participant,
    question: BubbId,
    answers: &[BubbName],
    conv: &mut Vec<BubbId>,
) -> Result<crate::outcome::FinishedAnswer> {
    let store = &group.env.store;
    let forest = store.forest_for(&[ReadScope::Ids(vec![question])])?;
    let question_ix = forest.find(question).ok_or_else(|| Error::store("the question is gone"))?;
    conv.extend(forest.conv(question_ix).path.into_iter().map(|ix| forest.name(ix).id));
    let (mut labelled, mut before) = (Vec::new(), format!("{JUDGE}{}", judge.name));
    for (at, answer) in answers.iter().enumerate() {
        let letter = letters(at);
        labelled.push(format!("[{letter}]\n{}", store.text(answer)?.trim_end()));
        before.push_str(&format!("\n{letter}: {}", answer.id));
    }
    let text = store.text(&forest.name(question_ix))?;
    let labelled = labelled.join("\n\n");
    let inst = group.insts.judge.as_deref().unwrap_or(BARE);
    let prompt = fill(inst, &[("question", text.as_str()), ("answers", labelled.as_str())]);
    let messages = [ChatMessage::new(Role::User, prompt)];
    let spoken = judge.speak_after((&before, None), &messages, None, Some(question), group).await;
    spoken.map_err(without_summary_hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_letters() {
        let texts: Vec<String> = [0, 1, 25, 26, 27, 52].map(letters).into();
        assert_eq!(texts, ["A", "B", "Z", "AA", "AB", "BA"]);
    }
}
