//! An answer as it comes: the one stream of events that all providers are read through.

use super::acp;
use super::agents::Permit;
use super::answer_log::AnswerLog;
use super::cli::Run;
use super::embedded::Reply;
use super::error_text::without_key;
use super::event::{Event, Events, Usage};
use super::memory::Memory;
use super::message::{Message, Request, Role};
use super::meter::Metered;
use super::notice::Notice;
use super::quirks::BEGINS_THINKING;
use super::remote::Remote;
use super::replay::Replay;
use super::request_log::RequestLog;
use super::stream::{Begun, Stream};
use super::thinking::{Lesson, ThinkFilter};
use lepo_base::error::{Error, Result};
use lepo_base::secret::Secret;

/// The most pauses of a model in one answer.
const MOST_PAUSES: usize = 10;

/// The source of an answer.
pub(super) enum Source<'m> {
    Http(Stream),
    Cli(Box<Run>),
    Acp(Box<acp::Run>),
    Embedded(Reply<'m>),
}

/// One answer. Dropped before its end, it cancels the request: the connection is closed, the
/// program and all it started are ended.
pub struct Answer<'m> {
    source: Source<'m>,
    key: Option<Secret>,
    log: RequestLog,
    told: AnswerLog,
    /// Events as they were read, and as they are given.
    raw: Events,
    events: Events,
    think: ThinkFilter,
    failure: Option<Error>,
    ended: bool,
    spent: Usage,
    /// The request to send again after a pause.
    again: Option<Again<'m>>,
    /// The part of the answer before a pause.
    paused: Option<Replay>,
    metered: Option<Metered>,
    /// What is learned of a model without an address goes here.
    memory: Option<&'m Memory>,
}

/// A request that goes on after a pause, and all that was said before that.
pub(super) struct Again<'m> {
    pub remote: &'m mut Remote,
    pub request: Request<'m>,
    pub said: Option<Replay>,
    pub pauses: usize,
}

impl<'m> Answer<'m> {
    fn new(source: Source<'m>, key: Option<Secret>, log: RequestLog) -> Self {
        let (raw, events, think) = (Events::new(), Events::new(), ThinkFilter::default());
        let (failure, again, paused, spent) = (None, None, None, Usage::default());
        Answer {
            source,
            told: AnswerLog::new(key.clone()),
            key,
            log,
            raw,
            events,
            think,
            failure,
            ended: false,
            spent,
            again,
            paused,
            metered: None,
            memory: None,
        }
    }

    /// The answer of a model without an address, of which `memory` tells what was learned.
    pub(super) fn local(
        source: Source<'m>,
        key: Option<Secret>,
        log: RequestLog,
        memory: &'m Memory,
    ) -> Self {
        let think = match memory.recall(&[&BEGINS_THINKING]).has(&BEGINS_THINKING) {
            true => ThinkFilter::beginning_with_thinking(),
            false => ThinkFilter::default(),
        };
        Answer { think, memory: Some(memory), ..Answer::new(source, key, log) }
    }

    pub(super) fn begun(begun: Begun, key: Option<Secret>, mut log: RequestLog, again: Again<'m>) -> Self {
        let Begun { source, events, failure, status, .. } = begun;
        log.status(status);
        let think = match again.remote.begins_thinking() {
            true => ThinkFilter::beginning_with_thinking(),
            false => ThinkFilter::default(),
        };
        let mut answer = Answer {
            raw: events,
            failure,
            think,
            again: Some(again),
            ..Answer::new(Source::Http(source), key, log)
        };
        answer.take();
        answer
    }

    /// The same, with its request measured.
    pub(super) fn metered(mut self, mut metered: Option<Metered>) -> Self {
        if let Some(metered) = &mut metered {
            metered.began();
        }
        self.metered = metered;
        self
    }

    /// Moves events from `raw` to `events`, with thinking separated from text.
    fn take(&mut self) {
        let before = self.again.as_ref().and_then(|again| again.said.as_ref());
        for event in self.raw.drain(..) {
            self.ended |= matches!(event, Event::Done(_));
            let event = match event {
                Event::Paused(replay) => {
                    self.paused = Some(replay);
                    continue;
                }
                Event::Replay(replay) => Event::Replay(match before {
                    Some(before) => replay.behind(before),
                    None => replay,
                }),
                Event::Usage(usage) => {
                    self.spent = self.spent.plus(usage);
                    Event::Usage(self.spent)
                }
                event => event,
            };
            self.think.pass(event, &mut self.events);
        }
        if let Some(lesson) = self.think.take_lesson() {
            let begins = lesson == Lesson::BeginsThinking;
            match (&mut self.again, self.memory) {
                (Some(again), _) => again.remote.learn_beginning(begins),
                (None, Some(memory)) if begins => memory.keep(&[&BEGINS_THINKING].into_iter().collect()),
                (None, Some(memory)) => memory.forget(&BEGINS_THINKING),
                (None, None) => {}
            }
        }
        if self.failure.is_some() {
            self.ended = true;
            self.think.flush(&mut self.events);
        }
    }

    /// The next event; `None` after [`Event::Done`]. A failure comes after everything that came before it,
    /// and ends the answer too. Safe to cancel: no event is lost.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                self.told.sees(&event);
                if let Some(metered) = &mut self.metered {
                    metered.sees(&event);
                }
                match &event {
                    Event::Usage(usage) => self.log.usage(*usage),
                    Event::Done(_) => self.log.answered(),
                    _ => {}
                }
                return Ok(Some(event));
            }
            if let Some(error) = self.failure.take() {
                let error = without_key(error, self.key.as_ref());
                self.log.failed(&error);
                return Err(error);
            }
            if self.ended {
                return Ok(None);
            }
            match self.paused {
                Some(_) => self.go_on().await,
                None => self.failure = self.source.more(&mut self.raw).await.err(),
            }
            self.take();
        }
    }

    /// Asks the model that paused to go on. Cancelled, it is as if it had not begun.
    async fn go_on(&mut self) {
        let (Some(again), Some(paused)) = (&mut self.again, &self.paused) else { return };
        let said = match &again.said {
            Some(before) => paused.clone().behind(before),
            None => paused.clone(),
        };
        if again.pauses == MOST_PAUSES {
            self.failure =
                Some(Error::remote(format!("the model paused {MOST_PAUSES} times without finishing")));
            self.paused = None;
            return;
        }
        let mut messages = again.request.messages.to_vec();
        messages.push(Message { replay: Some(said.clone()), ..Message::new(Role::Assistant, "") });
        let request = Request { messages: &messages, ..again.request };
        let mut notices = Events::new();
        let key = self.key.as_ref();
        let mut notice = |said: Notice| notices.push_back(Event::Notice(said.without_key(key)));
        let begun = again.remote.ask(request, &mut notice).await;
        (again.said, self.paused) = (Some(said), None);
        again.pauses += 1;
        self.events.extend(notices);
        match begun {
            Ok(Begun { source, events, failure, .. }) => {
                (self.source, self.raw, self.failure) = (Source::Http(source), events, failure);
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Answers a question of an agent for permission.
    pub fn permit(&mut self, number: u64, permit: Permit) {
        if let Source::Acp(run) = &mut self.source {
            run.permit(number, permit);
        }
    }

    /// True if [`Answer::next`] has an event at hand, without waiting: a reader that writes needs
    /// to flush only when it has not.
    pub fn ready(&self) -> bool {
        !self.events.is_empty()
    }
}

impl Source<'_> {
    /// Waits once for more of the answer, and reads all that has arrived.
    async fn more(&mut self, events: &mut Events) -> Result<()> {
        match self {
            Source::Http(stream) => stream.more(events).await,
            Source::Cli(run) => run.more(events).await,
            Source::Acp(run) => run.more(events).await,
            Source::Embedded(exchange) => exchange.more(events).await,
        }
    }
}
