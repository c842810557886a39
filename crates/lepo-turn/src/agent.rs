//! Actions of an agent on the way to its answer: its tool calls, kept as a side branch as they end, and its
//! questions for permission.

use std::sync::Arc;

use serde_json::json;

use super::answer_place::AnswerPlace;
use super::masking_cut::cut;
use super::path::PathEntry;
use super::transcript::write_bubb;
use super::turn::Turn;
use super::{Event, Front, Interrupt, Masking, Notice};
use lepo_base::error::Result;
use lepo_model::{AgentCall, AgentQuestion, Answer, Permit, spec};
use lepo_store::bubb::{BubbId, Kind};
use lepo_store::store::Store;

/// Bytes of a result that are kept at most.
const LONGEST: usize = 1 << 20;

/// The side branch of one answer.
pub(super) struct Beside<'s> {
    store: &'s Arc<Store>,
    masking: &'s Masking,
    model: &'s str,
    asks: bool,
    /// The bubb that the next one follows.
    pub tip: Option<BubbId>,
    /// The session of the agent that answers.
    pub session: Option<String>,
}

impl<'s> Beside<'s> {
    /// Nothing yet, beside an answer at this place.
    pub fn of(place: &AnswerPlace<'s>) -> Beside<'s> {
        let (store, masking, model) = (place.store, place.masking, place.model);
        Beside { store, masking, model, asks: place.asks, tip: place.tip, session: None }
    }

    /// Takes an event of an agent; others say nothing here.
    pub async fn happens(
        &mut self,
        event: lepo_model::Event,
        answer: &mut Answer<'_>,
        front: &mut dyn Front,
        interrupt: &Interrupt,
    ) -> Result<()> {
        match event {
            lepo_model::Event::AgentSession(session) => self.session = Some(session),
            lepo_model::Event::Working(title) => {
                front.happens(Event::Progress(&format!("{}: {title}", self.model)));
            }
            lepo_model::Event::AgentCall(call) => self.keep(&call, front)?,
            lepo_model::Event::AgentAsks(question) => {
                let permit = self.permit(&question, front, interrupt).await?;
                answer.permit(question.number, permit);
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks the person. Where there are no tools, everything is refused.
    async fn permit(
        &self,
        question: &AgentQuestion,
        front: &mut dyn Front,
        interrupt: &Interrupt,
    ) -> Result<Permit> {
        if !self.asks {
            return Ok(Permit::No);
        }
        let permit = interrupt.or(front.permit(self.model, question)).await?;
        if permit == Permit::Nobody {
            front.happens(Event::Notice(&Notice::AgentRefused(self.model.to_string())));
        }
        Ok(permit)
    }

    /// Keeps a call and its result. It is none of lepo's requests: nobody can ever approve it.
    fn keep(&mut self, call: &AgentCall, front: &mut dyn Front) -> Result<()> {
        let asked = json!({ "arguments": call.input, "name": call.title }).to_string();
        let (result, rest) = cut(self.masking, &call.result, LONGEST);
        let result = match rest.len() {
            0 => result.to_string(),
            more => format!("{result}\n[… {more} bytes left out …]"),
        };
        for (kind, text) in [(Kind::Assistant, asked), (Kind::Tool, result)] {
            let kept = self.masking.kept(text.as_bytes(), "what an agent did");
            let name = write_bubb(self.store, (kind, true), self.tip, 0, &kept)?;
            self.tip = Some(name.id);
            front.happens(Event::Bubb(&name, Some(text.as_bytes())));
        }
        Ok(())
    }
}

/// The session of the agent that ends at the last answer of the conversation.
pub(super) fn agent_session(turn: &Turn<'_>) -> Option<String> {
    if !spec(turn.config).own_tools {
        return None;
    }
    let transcript = &turn.record.transcript;
    let is_answer = |entry: &PathEntry| entry.kind == Kind::Assistant && !entry.hidden;
    let last = transcript.entries.iter().rposition(is_answer)?;
    turn.env.store.journal().agent_session(*transcript.path.get(last)?, &turn.config.name)
}
