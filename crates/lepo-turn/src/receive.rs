//! Receives an answer: displays and spools it as it arrives, and makes it a bubb at its end.

use std::pin::pin;
use std::time::Instant;

use super::agent_branch::AgentBranch;
use super::answer_context::{AnswerContext, CallStyle};
use super::answer_order::WritingTurn;
use super::call_filter::{CallFilter, ParsedCalls, calls_in_text};
use super::journal::usage_entry;
use super::model_reply::{AnswerEnd, ModelReply};
use super::native::sound_arguments;
use super::schema::AnswerSchema;
use super::send::report_cut;
use super::spool::AnswerSpool;
use super::stopped_answer::thinking_alone;
use super::turn_path::{write_bubb, write_bubb_at};
use super::{Interrupt, Notice, TurnEvent, View};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::role::Role;
use lepo_model::{AnswerStream, ProviderMessage, ToolCall, Usage, Utf8Decoder};
use lepo_net::runtime::blocking;
use lepo_secrets::restore;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::JournalRecord;

/// An answer that is being received, and its spool.
struct AnswerReceiver<'s> {
    spool: AnswerSpool<'s>,
    blank: bool,
    /// Leading white space: displayed with the text after it, or not at all.
    lead: String,
    /// Maximum bytes that may still arrive.
    room: usize,
    usage: Usage,
    /// The limit at which the provider ended the answer.
    cut: Option<&'static str>,
    start: Instant,
    first_ms: Option<u64>,
    /// Whether text is displayed only after the end, when it is known to be the answer.
    is_withheld: bool,
    tools: CallStyle,
    /// The calls by fields of the API.
    calls: Vec<ToolCall>,
    /// The answer as received, if it has calls.
    replay: Option<ProviderMessage>,
    /// The whole text, collected only if it may contain calls.
    full_text: String,
    /// Withholds streamed text that may turn out to be a tool call.
    filter: CallFilter,
    /// The text after the first call.
    text_after_call: String,
    /// Events of the agent.
    side_branch: AgentBranch<'s>,
    /// The bubb that the spool follows, as the answer will: a recovered part is then part of the talk.
    under: Option<BubbId>,
    /// The end of the side branch.
    tip: Option<BubbId>,
    model: &'s str,
    /// Thinking, as long as nothing else has arrived.
    thought: String,
    /// Whether nothing but thinking has arrived.
    is_thought: bool,
}

/// Receives an answer. If it is interrupted or calls tools, its text is stored as a hidden bubb.
pub async fn receive(
    mut answer: AnswerStream<'_>,
    context: AnswerContext<'_>,
    view: &mut dyn View,
    interrupt: &Interrupt,
) -> Result<ModelReply> {
    let mut receiving = AnswerReceiver::new(&context, view)?;
    let done = receive_events(&mut answer, &mut receiving, view, interrupt).await;
    view.on_event(TurnEvent::Pause);
    if done.is_err() {
        receiving.side_branch.stop(view)?;
    }
    drop(answer);
    receiving.store_thought(&done);
    receiving.spool.finish();
    let ending = receiving.ending(done, &context)?;
    let mut writing = match (&ending, context.order) {
        (AnswerEnd::Final, Some(order)) => Some(order.writing_turn().await),
        _ => None,
    };
    let time = writing.as_ref().and_then(WritingTurn::time);
    match &ending {
        AnswerEnd::Final => {
            receiving.show_held(view);
            let under = match context.before.filter(|_| !receiving.blank) {
                Some(text) => Some(write_before(&context, time, text, view).await?.id),
                None => context.under,
            };
            receiving.spool.put_under(under);
        }
        // As after a call, the answer follows later.
        AnswerEnd::Unfit(_) => {
            receiving.spool.put_under(receiving.tip);
            view.on_event(TurnEvent::NotFinal);
        }
        // Text after a call is displayed once its calls are separated from it.
        AnswerEnd::TextCalls(..) if !receiving.is_withheld && !receiving.text_after_call.is_empty() => {
            view.on_event(TurnEvent::Text(&receiving.text_after_call));
            view.on_event(TurnEvent::Pause);
        }
        // The next question follows it, so calls stay a side branch.
        AnswerEnd::Failed(_) | AnswerEnd::TextCalls(..) => {}
        AnswerEnd::Calls(..) => receiving.spool.put_under(receiving.tip),
    }
    let (tip, session) = (receiving.side_branch.tip, receiving.side_branch.session.take());
    if let AnswerEnd::Final | AnswerEnd::Calls(..) | AnswerEnd::Unfit(_) = ending {
        view.on_event(TurnEvent::Done);
    }
    let (usage, start, first_ms) = (receiving.usage, receiving.start, receiving.first_ms);
    let limit = receiving.cut;
    let truths = receiving.spool.truths().to_vec();
    let kept = match &ending {
        // The text around the calls becomes a bubb together with them.
        AnswerEnd::TextCalls(..) => None,
        _ if receiving.blank => None,
        ending => Some(receiving.publish(!matches!(ending, AnswerEnd::Final), tip, time)),
    };
    let name = kept.as_ref().and_then(|kept| kept.as_ref().ok());
    if let (Some(writing), Some(name)) = (&mut writing, name) {
        writing.note(name.id.time());
    }
    drop(writing);
    if let Some(name) = name {
        if context.before.is_some() && !truths.is_empty() {
            context.masking.note_unmasked(name.id, &restore(&context.store.text(name)?, &truths));
        }
        view.on_event(TurnEvent::Bubb(name, None));
    }
    let ms = start.elapsed().as_millis() as u64;
    context.store.journal().add(JournalRecord {
        bubb: name.map(|name| name.id),
        first_ms,
        agent_session: session,
        failed: matches!(&ending, AnswerEnd::Failed(error) if !matches!(error.kind, ErrorKind::Signal(_))),
        options: context.facts.options.clone(),
        schema: context.facts.schema.clone(),
        tools: context.facts.tools.clone(),
        ..usage_entry(ending.journal_label(kept.is_none()), context.model, usage, ms)
    });
    ending.into_reply(kept, (usage, limit), ms)
}

/// Writes the bubb that names the model, before the answer's `time`, if it has one. Runs in a separate
/// thread, as several replies may end at the same time.
async fn write_before(
    context: &AnswerContext<'_>,
    time: Option<u64>,
    text: &str,
    view: &mut dyn View,
) -> Result<BubbName> {
    let (store, under) = (context.store.clone(), context.under);
    let kept = context.masking.screen_uncounted(text).into_owned();
    let written = blocking(move || match time {
        Some(time) => write_bubb_at(&store, (Role::System, true), under, time.saturating_sub(1), &kept),
        None => write_bubb(&store, (Role::System, true), under, 0, &kept),
    });
    let written = written.await.map_err(|error| Error::store("the writer ended early").because(error))??;
    view.on_event(TurnEvent::Bubb(&written, Some(text.as_bytes())));
    Ok(written)
}

/// Handles events until the end mark.
async fn receive_events(
    answer: &mut AnswerStream<'_>,
    receiving: &mut AnswerReceiver<'_>,
    view: &mut dyn View,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut interrupted = pin!(interrupt.wait());
    loop {
        if !answer.ready() {
            view.on_event(TurnEvent::Pause);
            receiving.spool.write();
        }
        let event = tokio::select! {
            biased;
            signal = &mut interrupted => return Err(signal),
            event = answer.next() => event?,
        };
        match event {
            None => return Ok(()),
            Some(lepo_model::ChatEvent::Text(text)) => {
                receiving.text(&text, view);
                receiving.room = receiving.room.checked_sub(text.len()).ok_or_else(too_long)?;
            }
            Some(lepo_model::ChatEvent::WasThinking) => receiving.was_thinking(view)?,
            Some(lepo_model::ChatEvent::Thinking(text)) => {
                view.on_event(TurnEvent::Thinking(&text));
                if receiving.blank {
                    receiving.thought.push_str(&text);
                }
                receiving.room = receiving.room.checked_sub(text.len()).ok_or_else(too_long)?;
            }
            Some(lepo_model::ChatEvent::WebCall(call)) => view.on_event(TurnEvent::WebCall(&call)),
            Some(lepo_model::ChatEvent::Citation(citation)) => view.on_event(TurnEvent::Citation(&citation)),
            Some(lepo_model::ChatEvent::Usage(usage)) => receiving.usage = usage,
            Some(lepo_model::ChatEvent::Notice(notice)) => {
                view.on_event(TurnEvent::Notice(&Notice::Model(notice)))
            }
            Some(lepo_model::ChatEvent::Done(finish)) => {
                receiving.cut = finish.cut();
                report_cut(finish, view);
            }
            Some(lepo_model::ChatEvent::ToolCall(mut call)) if receiving.tools != CallStyle::None => {
                call.arguments = sound_arguments(call.arguments);
                receiving.calls.push(call);
                view.on_event(TurnEvent::NotFinal);
            }
            Some(lepo_model::ChatEvent::Replay(replay)) => receiving.replay = Some(replay),
            Some(other) => receiving.side_branch.on_event(other, answer, view, interrupt).await?,
        }
    }
}

impl<'s> AnswerReceiver<'s> {
    fn new(context: &AnswerContext<'s>, view: &dyn View) -> Result<AnswerReceiver<'s>> {
        Ok(AnswerReceiver {
            spool: AnswerSpool::new(context.store, context.under, context.masking)?,
            blank: true,
            lead: String::new(),
            room: context.limit as usize,
            usage: Usage::default(),
            cut: None,
            start: context.start,
            first_ms: None,
            is_withheld: context.schema.is_some() || !view.shows_partial_text(),
            tools: context.tools,
            calls: Vec::new(),
            replay: None,
            full_text: String::new(),
            filter: CallFilter::default(),
            text_after_call: String::new(),
            side_branch: AgentBranch::new(context),
            under: context.under,
            tip: context.tip,
            model: context.model,
            thought: String::new(),
            is_thought: false,
        })
    }

    fn text(&mut self, text: &str, view: &mut dyn View) {
        if self.first_ms.is_none() {
            self.first_ms = Some(self.start.elapsed().as_millis() as u64);
        }
        self.blank = self.blank && text.trim().is_empty();
        if !self.blank {
            self.thought = String::new();
        }
        if self.tools == CallStyle::InText {
            self.full_text.push_str(text);
        }
        match self.blank {
            _ if self.is_withheld => {}
            true => self.lead.push_str(text),
            false if self.lead.is_empty() => self.show(text, view),
            false => {
                let lead = std::mem::take(&mut self.lead);
                self.show(&(lead + text), view);
            }
        }
        self.spool.push(text);
    }

    /// Handles the end of thinking in the text: displayed text remains on the screen, but is not stored.
    fn was_thinking(&mut self, view: &mut dyn View) -> Result<()> {
        if !self.is_withheld && !self.blank {
            view.on_event(TurnEvent::Pause);
            let notice = lepo_model::ModelNotice::WasThinking(self.model.to_string());
            view.on_event(TurnEvent::Notice(&Notice::Model(notice)));
        }
        self.spool.begin_again(self.under)?;
        (self.blank, self.lead, self.full_text) = (true, String::new(), String::new());
        self.filter = CallFilter::default();
        Ok(())
    }

    /// If nothing but thinking has arrived, stores it like a partial answer.
    fn store_thought(&mut self, done: &Result<()>) {
        let is_ended = matches!(done, Err(error) if matches!(error.kind, ErrorKind::Signal(_)));
        self.is_thought = self.blank && self.calls.is_empty() && !self.thought.trim().is_empty() && !is_ended;
        if self.is_thought {
            self.blank = false;
            let thought = std::mem::take(&mut self.thought);
            self.spool.push(&thinking_alone(&thought));
        }
    }

    /// Displays text as it arrives, except text that may be a call.
    fn show(&mut self, text: &str, view: &mut dyn View) {
        let in_text = (self.tools == CallStyle::InText).then(|| self.filter.push(text));
        match in_text.as_deref().unwrap_or(text) {
            "" => {}
            shown => view.on_event(TurnEvent::Text(shown)),
        }
    }

    /// Determines how the answer ended; `done` is an error if it did not reach its end mark.
    fn ending(&mut self, done: Result<()>, context: &AnswerContext<'s>) -> Result<AnswerEnd> {
        if let Err(error) = done {
            return Ok(AnswerEnd::Failed(error));
        }
        if self.is_thought {
            return Ok(AnswerEnd::Failed(only_thinking(self.model)));
        }
        if !self.calls.is_empty() {
            return Ok(AnswerEnd::Calls(std::mem::take(&mut self.calls), self.replay.take()));
        }
        let ParsedCalls { text, text_after_call, calls } = calls_in_text(&self.full_text);
        if !calls.is_empty() {
            let is_more = text.len() > text_after_call.len() && !text_after_call.is_empty();
            self.text_after_call = if is_more { format!("\n\n{text_after_call}") } else { text_after_call };
            return Ok(AnswerEnd::TextCalls(text, calls));
        }
        let schema = context.schema.filter(|_| !self.blank);
        let fault = schema.map(|schema| self.fit(schema, context)).transpose()?.flatten();
        Ok(fault.map_or(AnswerEnd::Final, AnswerEnd::Unfit))
    }

    /// Checks the answer against the schema. Stores only its JSON if it matches; otherwise returns the fault.
    fn fit(&mut self, schema: &AnswerSchema, context: &AnswerContext<'s>) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        self.spool.read_back(|piece| bytes.extend_from_slice(piece))?;
        // Checks the unmasked answer, since a mask may not match.
        let given = self.spool.as_given(&String::from_utf8_lossy(&bytes));
        let json = match schema.judge(&given) {
            Ok(json) => json,
            Err(fault) => return Ok(Some(fault)),
        };
        if json != given {
            self.spool.replace(context.under, &context.masking.screen_uncounted(&json))?;
        }
        Ok(None)
    }

    /// Displays withheld text, read from the spool; a failed spool is an error here.
    fn show_held(&mut self, view: &mut dyn View) {
        if self.blank {
            return;
        }
        if !self.is_withheld {
            let rest = std::mem::take(&mut self.filter).finish();
            if !rest.is_empty() {
                view.on_event(TurnEvent::Text(&rest));
                view.on_event(TurnEvent::Pause);
            }
            return;
        }
        let (mut text, mut whole) = (Utf8Decoder::default(), String::new());
        let is_masked = !self.spool.truths().is_empty();
        let read = self.spool.read_back(|piece| {
            let piece = text.decode(piece);
            if is_masked { whole.push_str(&piece) } else { view.on_event(TurnEvent::Text(&piece)) }
        });
        if is_masked {
            view.on_event(TurnEvent::Text(&self.spool.as_given(&whole)));
        }
        if let Err(error) = read {
            self.spool.note_failure(error);
        }
        view.on_event(TurnEvent::Pause);
    }

    /// Publishes the answer: at this time, or else later than all bubbs of the turn, even if it follows an
    /// earlier one, so that file names reflect the order.
    fn publish(self, hidden: bool, tip: Option<BubbId>, time: Option<u64>) -> Result<BubbName> {
        match time {
            Some(time) => self.spool.publish_at(hidden, time),
            None => self.spool.publish(hidden, tip.map_or(0, |tip| tip.time() + 1)),
        }
    }
}

/// Returns the error for a model that sent only thinking.
fn only_thinking(model: &str) -> Error {
    Error::remote(format!("{model} gave no answer, only thinking, which is stored as a hidden message"))
        .ask_again()
}

fn too_long() -> Error {
    Error::remote(
        "the answer exceeded max_answer and was stopped; the received part is stored as a hidden message",
    )
    .hint("max_answer in config.toml is the limit, in bytes")
}
