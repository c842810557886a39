//! A participant of a group turn: a configured model, and its client.

use std::cell::RefCell;
use std::time::Instant;

use super::{GroupEvent, GroupTurn, GroupView, select_line};
use crate::answer_context::{AnswerContext, CallStyle};
use crate::answer_order::OrderedAnswer;
use crate::journal::{failure_entry, usage_entry};
use crate::model_reply::ModelReply;
use crate::outcome::FinishedAnswer;
use crate::receive::receive;
use crate::recorded::{RecordedAnswer, RequestFacts, ToolHashes, schema_hash};
use crate::schema::{AnswerSchema, KEPT, complaint, unfit};
use crate::send::full_text;
use crate::summary_cut::without_summary_hint;
use crate::{Notice, TurnEvent, View};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::role::Role;
use lepo_model::ModelConfig;
use lepo_model::{
    AgentContext, AnswerStream, ChatMessage, ChatRequest, ConversationFormat, FileSupport, Model, Schema,
    Usage, spec,
};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::JournalRecord;
use lepo_tool::without_thinking;

/// A participant of a group turn.
pub struct Participant {
    /// Configured name.
    pub name: String,
    /// The name under which its reply is displayed.
    pub display_name: String,
    /// The format in which it receives a conversation.
    pub(super) form: ConversationFormat,
    /// The files that it accepts.
    pub(super) accepts: FileSupport,
    /// Its recorded answer to this question, if there is one: then it is not asked.
    pub recorded: Option<RecordedAnswer>,
    pub(super) config: ModelConfig,
    /// Its options, for the journal.
    facts: RequestFacts,
    /// A model that cannot be asked (no key, not installed) fails like a model that does not answer.
    pub(super) model: Result<Model>,
}

/// A short reply, which is not in a bubb yet.
pub struct ShortReply {
    /// The whole reply.
    pub text: String,
    /// The bubb that the request followed.
    under: Option<BubbId>,
    usage: Usage,
    ms: u64,
}

impl ShortReply {
    /// Returns the reply without the thinking.
    pub fn visible_text(&self) -> String {
        without_thinking(&self.text)
    }

    /// Returns the reply as the answer in a bubb.
    pub fn to_finished_answer(&self, name: BubbName) -> FinishedAnswer {
        FinishedAnswer { name, usage: self.usage, cut: None, ms: self.ms }
    }
}

impl Participant {
    /// Creates the participant of this configuration.
    pub fn new(config: &ModelConfig, accepts: FileSupport, model: Result<Model>) -> Participant {
        let facts = RequestFacts::new(config, None, &ToolHashes::default());
        Participant {
            name: config.name.clone(),
            display_name: config.name.clone(),
            form: spec(config).path,
            accepts,
            config: config.clone(),
            recorded: None,
            facts,
            model,
        }
    }

    /// Whether a retry cannot help after this error, because there is no client for the model, or no server.
    pub(super) fn is_lost_by(&self, error: &Error) -> bool {
        self.model.is_err() || error.is_of_refused_connection()
    }

    /// Asks with a single prompt, and receives the reply completely.
    pub(super) async fn ask_short(
        &mut self,
        prompt: &str,
        under: Option<BubbId>,
        group: GroupTurn<'_>,
    ) -> Result<ShortReply> {
        let start = Instant::now();
        let messages = [ChatMessage::new(Role::User, prompt)];
        let name = self.name.clone();
        let mut ear = ReplyFront { name: &name, view: group.view };
        let asked = async { full_text(self.ask(&messages, None, group, &mut ear).await?, &mut ear).await };
        let read = group.env.interrupt.within(group.env.settings().many_timeout).or(asked).await;
        group.env.configured.agent_sandboxes.report_leftovers(&mut ear);
        let read = read.inspect_err(|error| record_failure(group, &name, under, error, start));
        let (text, usage) = read.map_err(|error| without_summary_hint(error).without_retry())?;
        let brief = ShortReply { text, under, usage, ms: start.elapsed().as_millis() as u64 };
        match brief.visible_text().trim() {
            "" => Err(Error::remote("the model's answer is empty")),
            _ => Ok(brief),
        }
    }

    /// Asks, and stores the reply: after its SELECT message below `under`, as a visible answer, or as a hidden one if
    /// it is interrupted. An answer that does not match the schema is requested once more.
    pub(super) async fn speak(
        &mut self,
        messages: &[ChatMessage],
        schema: Option<&AnswerSchema>,
        under: Option<BubbId>,
        group: GroupTurn<'_>,
    ) -> Result<FinishedAnswer> {
        let spoken = self.speak_in_order(None, messages, schema, under, group).await;
        spoken.map_err(without_summary_hint)
    }

    /// Like `speak`, but the answer has its index among several to a question.
    pub(super) async fn speak_in_order(
        &mut self,
        order: Option<OrderedAnswer<'_>>,
        messages: &[ChatMessage],
        schema: Option<&AnswerSchema>,
        under: Option<BubbId>,
        group: GroupTurn<'_>,
    ) -> Result<FinishedAnswer> {
        let before = select_line(&self.display_name);
        self.speak_after((&before, order), messages, schema, under, group).await
    }

    /// Like `speak_in_order`, after a hidden bubb with this text.
    pub(super) async fn speak_after(
        &mut self,
        (before, order): (&str, Option<OrderedAnswer<'_>>),
        messages: &[ChatMessage],
        schema: Option<&AnswerSchema>,
        under: Option<BubbId>,
        group: GroupTurn<'_>,
    ) -> Result<FinishedAnswer> {
        let (name, shown) = (self.name.clone(), self.display_name.clone());
        let mut messages = messages.to_vec();
        let mut tip = under;
        let mut asked_again = false;
        let facts = RequestFacts { schema: schema.map(schema_hash), ..self.facts.clone() };
        loop {
            let start = Instant::now();
            let mut ear = ReplyFront { name: &shown, view: group.view };
            let interrupt = group.env.interrupt.within(group.env.settings().many_timeout);
            let in_request = schema.map(|schema| &schema.in_request);
            let answer = interrupt.or(self.ask(&messages, in_request, group, &mut ear)).await;
            let answer = answer.inspect_err(|error| record_failure(group, &name, under, error, start))?;
            let agent_calls = RefCell::default();
            let context = AnswerContext {
                store: &group.env.store,
                under,
                tip,
                before: Some(before),
                order,
                agent_calls: &agent_calls,
                tools: CallStyle::None,
                can_ask: true,
                schema,
                model: &name,
                start,
                limit: group.env.settings().max_answer.get(),
                facts: &facts,
                masking: &group.env.masking,
            };
            let received = receive(answer, context, &mut ear, &interrupt).await;
            group.env.configured.agent_sandboxes.report_leftovers(&mut ear);
            match received? {
                ModelReply::Answer(answered) => {
                    group.view.on_event(GroupEvent::Spoken(&shown, &answered));
                    return Ok(answered);
                }
                ModelReply::Cut(_, error) | ModelReply::Refused(error) => return Err(error),
                ModelReply::Unfit(_, fault) if asked_again => return Err(unfit(&name, &fault).hint(KEPT)),
                ModelReply::Unfit(words, fault) => {
                    ear.on_event(TurnEvent::Notice(&Notice::AskedAgain(fault.clone())));
                    asked_again = true;
                    tip = Some(words.id);
                    messages.push(ChatMessage::new(Role::Assistant, group.env.store.text(&words)?));
                    messages.push(ChatMessage::new(Role::User, complaint(&fault)));
                }
                // The model was offered no tools.
                ModelReply::Calls(..) | ModelReply::TextCalls(..) => {
                    return Err(Error::remote("the model called a tool instead of answering"));
                }
            }
        }
    }

    /// Records the cost of a short reply.
    pub(super) fn journal(&self, group: GroupTurn<'_>, what: &str, bubb: Option<BubbId>, reply: &ShortReply) {
        let options = self.facts.options.clone();
        let entry = JournalRecord { options, ..usage_entry(what, &self.name, reply.usage, reply.ms) };
        group.env.store.journal().add(JournalRecord {
            bubb,
            under: reply.under.filter(|_| bubb.is_none()),
            ..entry
        });
    }

    async fn ask<'m>(
        &'m mut self,
        messages: &'m [ChatMessage],
        schema: Option<&'m Schema>,
        group: GroupTurn<'m>,
        ear: &mut ReplyFront<'_>,
    ) -> Result<AnswerStream<'m>> {
        ear.on_event(TurnEvent::Waiting);
        let model = self.model.as_mut().map_err(|error| error.with_kind(ExitKind::Remote))?;
        let agent = AgentContext { dir: Some(group.env.store.root()), ..AgentContext::default() };
        let request = ChatRequest { messages, schema, agent, ..ChatRequest::default() };
        model.ask(request, &mut |notice| ear.on_event(TurnEvent::Notice(&Notice::Model(notice)))).await
    }
}

/// Records a failed request, unless the user interrupted it.
fn record_failure(group: GroupTurn<'_>, model: &str, under: Option<BubbId>, error: &Error, start: Instant) {
    if !matches!(error.kind, ExitKind::Signal(_)) {
        group.env.store.journal().add(JournalRecord { under, ..failure_entry(Some(model), start.elapsed()) });
    }
}

/// Returns the name of the SELECT that precedes an answer.
pub fn select_before(answered: &FinishedAnswer, under: Option<BubbId>) -> Option<BubbName> {
    let id = answered.name.prev.filter(|prev| Some(*prev) != under)?;
    Some(BubbName { id, role: Role::System, hidden: true, prev: under })
}

/// Reports the events in a reply under the name of its participant.
struct ReplyFront<'e> {
    name: &'e str,
    view: &'e dyn GroupView,
}

/// A group turn has no tools, so nothing needs consent.
impl View for ReplyFront<'_> {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        self.view.on_event(GroupEvent::In(self.name, event));
    }

    fn shows_partial_text(&self) -> bool {
        true
    }
}
