//! Records the answer to a request: parses and spools it while it arrives, and writes it as messages at the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::answer::{AnswerUpdate, ProxyAnswerReader, TokenCounts};
use crate::incoming::{AnswerTarget, IncomingAnswer, WrittenPart};
use crate::proxy_store::ProxyStore;
use crate::request::ProxyRequest;
use crate::request_notes::RequestNotes;
use crate::tree::{NextPart, PartKind, PathHash, PathPoint, SystemText};
use crate::wire::ProxyWire;
use lepo_base::error::Result;
use lepo_store::bubb::BubbId;
use lepo_store::store::{Claim, JournalRecord, MadeItem};

/// Answers to one request at most: a hostile server numbers them as it likes.
const ANSWERS: usize = 128;

/// How the bytes of an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeEnd {
    /// The server ended it.
    Whole,
    /// The client went away, or the proxy ends.
    Cut,
    /// The server failed, or never answered.
    Failed,
}

/// The result of a recorded exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedExchange {
    /// The message of the answer, the first of several; `None` if no answer arrived.
    pub answer: Option<BubbId>,
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Notes for the user.
    pub notes: Vec<ExchangeNote>,
}

/// A note for the user about an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExchangeNote {
    /// The request continues a response that is not in the store, so it became a root.
    UnknownResponse,
    /// The answer, or its remainder, could not be recorded, for this reason.
    NotKept(&'static str),
    /// The server reported this failure after it had started to answer.
    Failed(String),
}

/// Where a request ends in the store.
#[derive(Debug, Clone)]
pub struct RequestPosition {
    /// Its last part.
    pub point: Option<PathPoint>,
    /// The message that an answer follows.
    pub tip: Option<BubbId>,
    /// The system text in force.
    pub system: Option<SystemText>,
    /// Hidden messages of the request, which are leaves of the path.
    pub after: Vec<BubbId>,
    /// Messages that were new.
    pub new_messages: usize,
}

/// An exchange being recorded.
pub struct ProxyRecording {
    shared: Arc<ProxyStore>,
    wire: ProxyWire,
    is_streamed: bool,
    position: RequestPosition,
    notes: RequestNotes,
    start: Instant,
    first_ms: Option<u64>,
    reader: Option<ProxyAnswerReader>,
    answers: BTreeMap<usize, IncomingAnswer>,
    counts: TokenCounts,
    response: Option<String>,
    has_ended: bool,
    failure: Option<String>,
    /// Tells other processes that the question is being answered.
    _answering: Option<Claim>,
}

impl ProxyRecording {
    pub(crate) fn new(
        shared: Arc<ProxyStore>,
        request: &ProxyRequest,
        position: RequestPosition,
        notes: RequestNotes,
    ) -> ProxyRecording {
        let answering = shared.mark_answering(position.tip);
        ProxyRecording {
            shared,
            wire: request.wire(),
            is_streamed: request.is_streamed(),
            position,
            notes,
            start: Instant::now(),
            first_ms: None,
            reader: None,
            answers: BTreeMap::new(),
            counts: TokenCounts::default(),
            response: None,
            has_ended: false,
            failure: None,
            _answering: answering,
        }
    }

    /// Returns the number of messages of the request that were new.
    pub fn new_messages(&self) -> usize {
        self.position.new_messages
    }

    /// Whether the end mark of the answer has arrived.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Starts the answer. The body of a refusal is ignored.
    pub fn start_answer(&mut self, status: u16, content_type: Option<&str>, content_encoding: Option<&str>) {
        let reader = || ProxyAnswerReader::new(self.wire, self.is_streamed, content_type, content_encoding);
        self.reader = (200..300).contains(&status).then(reader);
    }

    /// Records more bytes of the answer, as received.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let updates = self.reader.as_mut().map(|reader| reader.feed(bytes)).unwrap_or_default();
        self.add(updates)?;
        self.answers.values_mut().for_each(IncomingAnswer::flush);
        Ok(())
    }

    fn add(&mut self, updates: Vec<AnswerUpdate>) -> Result<()> {
        for update in updates {
            let choice = match &update {
                AnswerUpdate::Text(choice, _)
                | AnswerUpdate::NewText(choice)
                | AnswerUpdate::Thinking(choice, _)
                | AnswerUpdate::Call(choice, _)
                | AnswerUpdate::Output(choice, ..)
                | AnswerUpdate::Finish(choice, _) => *choice,
                AnswerUpdate::Usage(counts) => {
                    self.counts.merge(*counts);
                    continue;
                }
                AnswerUpdate::Response(id) => {
                    self.response.get_or_insert_with(|| id.clone());
                    continue;
                }
                AnswerUpdate::Failed(text) => {
                    self.failure.get_or_insert_with(|| text.clone());
                    continue;
                }
                AnswerUpdate::End => {
                    self.has_ended = true;
                    continue;
                }
            };
            if choice >= ANSWERS {
                continue;
            }
            if self.first_ms.is_none() && matches!(update, AnswerUpdate::Text(..)) {
                self.first_ms = Some(self.elapsed());
            }
            let target = AnswerTarget {
                store: self.shared.store,
                masking: self.shared.masking,
                under: self.position.tip,
            };
            let is_one_text = matches!(self.wire, ProxyWire::Chat | ProxyWire::Ollama);
            let prefill = self.notes.prefill.as_deref().unwrap_or_default();
            let answer = self.answers.entry(choice);
            answer.or_insert_with(|| IncomingAnswer::new(target, is_one_text, prefill)).add(update)?;
        }
        Ok(())
    }

    fn elapsed(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Ends the exchange: writes the answer as messages, and its line in the journal.
    pub fn finish(mut self, end: ExchangeEnd) -> Result<RecordedExchange> {
        let updates = self.reader.as_mut().map(ProxyAnswerReader::finish).unwrap_or_default();
        self.add(updates)?;
        let mut exchange = RecordedExchange {
            input: self.counts.input,
            output: self.counts.output,
            ..RecordedExchange::default()
        };
        exchange.notes.extend(self.notes.is_unknown_response.then_some(ExchangeNote::UnknownResponse));
        let fault = self.reader.as_ref().and_then(ProxyAnswerReader::fault);
        exchange.notes.extend(fault.map(ExchangeNote::NotKept));
        exchange.notes.extend(self.failure.clone().map(ExchangeNote::Failed));
        let is_finished = self.has_ended
            || !self.answers.is_empty() && self.answers.values().all(|answer| answer.finish.is_some());
        let end = match end {
            ExchangeEnd::Cut => ExchangeEnd::Cut,
            // A stream without its end mark was torn, even if the connection was closed properly.
            _ if self.failure.is_some() || !is_finished => ExchangeEnd::Failed,
            // A failure after the end mark does not matter.
            _ => ExchangeEnd::Whole,
        };
        let answers = std::mem::take(&mut self.answers);
        let mut has_line = false;
        for (_, answer) in answers {
            let written = match end {
                ExchangeEnd::Whole if answer.has_content() => self.store_whole(answer, !has_line)?,
                _ => self.store_part(answer, end, !has_line)?,
            };
            has_line |= written.is_some();
            exchange.answer = exchange.answer.or(written);
        }
        if !has_line {
            self.note_nothing(end);
        }
        Ok(exchange)
    }

    /// Writes a whole answer. The token counts cover all answers to the request, so only the first line has them.
    fn store_whole(&self, answer: IncomingAnswer, is_first: bool) -> Result<Option<BubbId>> {
        let mut index = self.shared.index();
        let was_known = index.is_current(self.shared.store);
        let finish = answer.finish;
        let parts = answer.publish(index.next_time())?;
        let own = |part: &&WrittenPart| matches!(part.kind, PartKind::Visible(_));
        let counted = |part: &&WrittenPart| part.kind != PartKind::Thinking;
        // An answer is known by its last text, or without any by its first call.
        let Some(line) = parts.iter().rfind(own).or(parts.iter().find(counted)).map(|part| part.name.id)
        else {
            return Ok(None);
        };
        let counted = parts.iter().filter(counted);
        let made: Vec<MadeItem> = counted
            .map(|part| {
                let call = (part.kind == PartKind::Call).then(|| part.call.clone().unwrap_or_default());
                MadeItem { bubb: part.name.id, call }
            })
            .collect();
        let mut point = self.position.point;
        for part in &parts {
            let text = self.shared.store.text(&part.name)?;
            let hash = PathHash::from_part(part.kind, &text);
            if hash.is_some() {
                let next = NextPart {
                    kind: part.kind,
                    hash,
                    bubb: part.name.id,
                    system: self.position.system,
                    call: part.call.as_deref().unwrap_or_default(),
                    answer: Some(line),
                };
                point = Some(index.paths.add(point, next));
            }
            index.note_name(part.name, point);
        }
        if let Some(point) = point {
            index.note_answer(line, self.response.as_deref(), point);
        }
        let response = self.response.as_deref().map(|id| self.shared.masked(id));
        self.shared.store.journal().add(JournalRecord {
            bubb: Some(line),
            made,
            after: self.position.after.clone(),
            finish: finish.map(|finish| finish.as_str().to_string()),
            prefill: self.notes.prefill.clone(),
            response,
            system: self.position.system.map(|system| system.id),
            ..self.entry("answer", is_first)
        });
        index.note_own_change(self.shared.store, was_known);
        Ok(Some(line))
    }

    /// Writes the received part of an interrupted or failed answer, like `lepo do`.
    fn store_part(&self, answer: IncomingAnswer, end: ExchangeEnd, is_first: bool) -> Result<Option<BubbId>> {
        let mut index = self.shared.index();
        let was_known = index.is_current(self.shared.store);
        let part = answer.publish_part(end != ExchangeEnd::Cut, index.next_time())?;
        if let Some(name) = part {
            index.note_name(name, None);
        }
        let Some(name) = part else { return Ok(None) };
        self.shared.store.journal().add(JournalRecord {
            bubb: Some(name.id),
            failed: end == ExchangeEnd::Failed,
            prefill: self.notes.prefill.clone(),
            ..self.entry("partial", is_first)
        });
        index.note_own_change(self.shared.store, was_known);
        Ok(Some(name.id))
    }

    /// Records that no answer arrived, like `lepo do`.
    fn note_nothing(&self, end: ExchangeEnd) {
        let journal = self.shared.store.journal();
        let mut index = self.shared.index();
        let was_known = index.is_current(self.shared.store);
        match end {
            ExchangeEnd::Whole => {
                journal.add(JournalRecord { under: self.position.tip, ..self.entry("empty", true) })
            }
            ExchangeEnd::Failed => journal.add(JournalRecord {
                under: self.position.tip,
                failed: true,
                ..self.entry("failed", true)
            }),
            ExchangeEnd::Cut => {
                if let Some(question) = self.position.tip {
                    journal.note_unanswered(question);
                }
            }
        }
        index.note_own_change(self.shared.store, was_known);
    }

    fn entry(&self, what: &str, is_first: bool) -> JournalRecord {
        let counts = if is_first { self.counts } else { TokenCounts::default() };
        JournalRecord {
            what: what.into(),
            model: Some(self.notes.model.clone()),
            input: counts.input,
            cached: counts.cached,
            cache_write: counts.cache_write,
            output: counts.output,
            ms: Some(self.elapsed()),
            first_ms: self.first_ms,
            options: self.notes.options.clone(),
            schema: self.notes.schema.clone(),
            tools: self.notes.tools.clone(),
            client: self.notes.client.clone(),
            ..JournalRecord::default()
        }
    }
}
