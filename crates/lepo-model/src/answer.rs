//! An answer as a stream of events, the same for all providers.

use super::acp;
use super::agent_types::PermissionReply;
use super::answer_log::AnswerLog;
use super::cli::CliAnswer;
use super::embedded::EmbeddedAnswer;
use super::error_text::without_key;
use super::event::{ChatEvent, EventQueue, Usage};
use super::message::{ChatMessage, ChatRequest};
use super::meter::MeteredRequest;
use super::notice::ModelNotice;
use super::quirk_file::QuirkFile;
use super::quirks::BEGINS_THINKING;
use super::remote::RemoteModel;
use super::replay::ProviderMessage;
use super::request_log::RequestLog;
use super::stream::{HttpStream, StartedAnswer};
use super::thinking::{Lesson, ThinkFilter};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::secret::Secret;

const MOST_PAUSES: usize = 10;

pub(super) enum AnswerSource<'m> {
    Http(HttpStream),
    Cli(Box<CliAnswer>),
    Acp(Box<acp::AgentAnswer>),
    Embedded(EmbeddedAnswer<'m>),
}

/// An answer. Dropping it before its end cancels the request: the connection is closed, the program is ended with
/// all its child processes.
pub struct AnswerStream<'m> {
    source: AnswerSource<'m>,
    key: Option<Secret>,
    log: RequestLog,
    answer_log: AnswerLog,
    /// Events as decoded, and as returned by [`AnswerStream::next`].
    raw: EventQueue,
    events: EventQueue,
    think: ThinkFilter,
    failure: Option<Error>,
    has_ended: bool,
    usage: Usage,
    /// The request to send again after a pause.
    paused_request: Option<PausedRequest<'m>>,
    /// The part of the answer before a pause.
    paused: Option<ProviderMessage>,
    metered: Option<MeteredRequest>,
    /// Stores quirks of a model without a URL.
    quirk_file: Option<&'m QuirkFile>,
}

/// A request to continue after a pause, with the answer so far.
pub(super) struct PausedRequest<'m> {
    pub remote: &'m mut RemoteModel,
    pub request: ChatRequest<'m>,
    pub answer: Option<ProviderMessage>,
    pub pauses: usize,
}

impl<'m> AnswerStream<'m> {
    fn new(source: AnswerSource<'m>, key: Option<Secret>, log: RequestLog) -> Self {
        let (raw, events, think) = (EventQueue::new(), EventQueue::new(), ThinkFilter::default());
        let (failure, paused_request, paused, spent) = (None, None, None, Usage::default());
        AnswerStream {
            source,
            answer_log: AnswerLog::new(key.clone()),
            key,
            log,
            raw,
            events,
            think,
            failure,
            has_ended: false,
            usage: spent,
            paused_request,
            paused,
            metered: None,
            quirk_file: None,
        }
    }

    /// Creates the answer of a model without a URL, whose quirks `quirk_file` stores.
    pub(super) fn local(
        source: AnswerSource<'m>,
        key: Option<Secret>,
        log: RequestLog,
        quirk_file: &'m QuirkFile,
    ) -> Self {
        let think = match quirk_file.recall(&[&BEGINS_THINKING]).contains(&BEGINS_THINKING) {
            true => ThinkFilter::beginning_with_thinking(),
            false => ThinkFilter::default(),
        };
        AnswerStream { think, quirk_file: Some(quirk_file), ..AnswerStream::new(source, key, log) }
    }

    pub(super) fn from_started(
        begun: StartedAnswer,
        key: Option<Secret>,
        mut log: RequestLog,
        paused_request: PausedRequest<'m>,
    ) -> Self {
        let StartedAnswer { source, events, failure, status, .. } = begun;
        log.status(status);
        let think = match paused_request.remote.begins_thinking() {
            true => ThinkFilter::beginning_with_thinking(),
            false => ThinkFilter::default(),
        };
        let mut answer = AnswerStream {
            raw: events,
            failure,
            think,
            paused_request: Some(paused_request),
            ..AnswerStream::new(AnswerSource::Http(source), key, log)
        };
        answer.split_thinking();
        answer
    }

    /// Adds the meter of the request.
    pub(super) fn metered(mut self, mut metered: Option<MeteredRequest>) -> Self {
        if let Some(metered) = &mut metered {
            metered.mark_begun();
        }
        self.metered = metered;
        self
    }

    /// Moves events from `raw` to `events`, and separates thinking from text.
    fn split_thinking(&mut self) {
        let before = self.paused_request.as_ref().and_then(|paused_request| paused_request.answer.as_ref());
        for event in self.raw.drain(..) {
            self.has_ended |= matches!(event, ChatEvent::Done(_));
            let event = match event {
                ChatEvent::Paused(replay) => {
                    self.paused = Some(replay);
                    continue;
                }
                ChatEvent::Replay(replay) => ChatEvent::Replay(match before {
                    Some(before) => replay.joined_to(before),
                    None => replay,
                }),
                ChatEvent::Usage(usage) => {
                    self.usage = self.usage.plus(usage);
                    ChatEvent::Usage(self.usage)
                }
                event => event,
            };
            self.think.pass(event, &mut self.events);
        }
        if let Some(lesson) = self.think.take_lesson() {
            let begins = lesson == Lesson::BeginsThinking;
            match (&mut self.paused_request, self.quirk_file) {
                (Some(paused_request), _) => paused_request.remote.learn_beginning(begins),
                (None, Some(quirk_file)) if begins => {
                    quirk_file.save(&[&BEGINS_THINKING].into_iter().collect())
                }
                (None, Some(quirk_file)) => quirk_file.forget(&BEGINS_THINKING),
                (None, None) => {}
            }
        }
        if self.failure.is_some() {
            self.has_ended = true;
            self.think.flush(&mut self.events);
        }
    }

    /// Returns the next event; `None` after [`ChatEvent::Done`]. A failure is returned after all events before it, and
    /// ends the answer, too. Cancel-safe: no event is lost.
    pub async fn next(&mut self) -> Result<Option<ChatEvent>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.answer_log.on_event(&event);
                if let Some(metered) = &mut self.metered {
                    metered.on_event(&event);
                }
                match &event {
                    ChatEvent::Usage(usage) => self.log.usage(*usage),
                    ChatEvent::Done(_) => self.log.log_answer(),
                    _ => {}
                }
                return Ok(Some(event));
            }
            if let Some(error) = self.failure.take() {
                let error = without_key(error, self.key.as_ref());
                self.log.log_failure(&error);
                return Err(error);
            }
            if self.has_ended {
                return Ok(None);
            }
            match self.paused {
                Some(_) => self.resume().await,
                None => self.failure = self.source.read_more(&mut self.raw).await.err(),
            }
            self.split_thinking();
        }
    }

    /// Asks a paused model to continue. If cancelled, the state is unchanged.
    async fn resume(&mut self) {
        let (Some(paused_request), Some(paused)) = (&mut self.paused_request, &self.paused) else { return };
        let answer_so_far = match &paused_request.answer {
            Some(before) => paused.clone().joined_to(before),
            None => paused.clone(),
        };
        if paused_request.pauses == MOST_PAUSES {
            self.failure =
                Some(Error::remote(format!("the model paused {MOST_PAUSES} times without finishing")));
            self.paused = None;
            return;
        }
        let mut messages = paused_request.request.messages.to_vec();
        messages.push(ChatMessage {
            replay: Some(answer_so_far.clone()),
            ..ChatMessage::new(Role::Assistant, "")
        });
        let request = ChatRequest { messages: &messages, ..paused_request.request };
        let mut notices = EventQueue::new();
        let key = self.key.as_ref();
        let mut report = |notice: ModelNotice| notices.push_back(ChatEvent::Notice(notice.without_key(key)));
        let begun = paused_request.remote.ask(request, &mut report).await;
        (paused_request.answer, self.paused) = (Some(answer_so_far), None);
        paused_request.pauses += 1;
        self.events.extend(notices);
        match begun {
            Ok(StartedAnswer { source, events, failure, .. }) => {
                (self.source, self.raw, self.failure) = (AnswerSource::Http(source), events, failure);
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Answers a question of an agent for permission.
    pub fn permit(&mut self, number: u64, permit: PermissionReply) {
        if let AnswerSource::Acp(run) = &mut self.source {
            run.permit(number, permit);
        }
    }

    /// Whether [`AnswerStream::next`] returns without waiting: a consumer that writes needs to flush only otherwise.
    pub fn ready(&self) -> bool {
        !self.events.is_empty()
    }
}

impl AnswerSource<'_> {
    /// Waits for input once, and decodes all that has arrived.
    async fn read_more(&mut self, events: &mut EventQueue) -> Result<()> {
        match self {
            AnswerSource::Http(stream) => stream.read_more(events).await,
            AnswerSource::Cli(run) => run.read_more(events).await,
            AnswerSource::Acp(run) => run.read_more(events).await,
            AnswerSource::Embedded(exchange) => exchange.read_more(events).await,
        }
    }
}
