//! An answer as it comes: the one stream of events that all providers are read through.

use std::time::Duration;

use super::body::Body;
use super::cli::Run;
use super::embedded::Exchange;
use super::error_text::without_key;
use super::event::{Event, Events};
use crate::config::Secret;
use crate::error::{Error, Result};

/// How long the price and `[DONE]` are waited for, once the answer itself is complete.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where an answer comes from.
pub(super) enum Source<'m> {
    Http(Body, Box<dyn AnswerReader>),
    Cli(Box<Run>),
    Embedded(Exchange<'m>),
}

/// Understands the bytes of one answer, whatever pieces they come in.
pub(super) trait AnswerReader {
    /// Takes the next bytes.
    fn read(&mut self, bytes: &[u8], events: &mut Events) -> Result<()>;

    /// The bytes have ended.
    fn end(&mut self, events: &mut Events) -> Result<()>;

    /// The answer is complete, and only its price may follow.
    fn is_finishing(&self) -> bool {
        false
    }
}

/// One answer. Dropped before its end, it cancels the request: the connection is closed, the
/// program and all it started are ended.
pub struct Answer<'m> {
    source: Source<'m>,
    key: Option<Secret>,
    events: Events,
    failure: Option<Error>,
    ended: bool,
}

impl<'m> Answer<'m> {
    pub(super) fn new(source: Source<'m>, key: Option<Secret>) -> Self {
        Answer { source, key, events: Events::new(), failure: None, ended: false }
    }

    /// The next event; `None` after [`Event::Done`]. A failure comes after everything that came before it,
    /// and ends the answer too. Safe to cancel: no event is lost.
    pub async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                tracing::debug!(?event, "answer");
                return Ok(Some(event));
            }
            if let Some(error) = self.failure.take() {
                return Err(without_key(error, self.key.as_ref()));
            }
            if self.ended {
                return Ok(None);
            }
            if let Err(error) = self.source.more(&mut self.events).await {
                self.failure = Some(error);
                self.ended = true;
            }
            if let Some(Event::Done(_)) = self.events.back() {
                self.ended = true;
            }
        }
    }

    /// Whether [`Answer::next`] has an event at hand, without waiting: a reader that writes needs
    /// to flush only when it has not.
    pub fn ready(&self) -> bool {
        !self.events.is_empty()
    }
}

impl Source<'_> {
    /// Waits for what comes next, once, and reads all of it.
    async fn more(&mut self, events: &mut Events) -> Result<()> {
        match self {
            Source::Http(body, reader) => {
                let finishing = reader.is_finishing();
                let patience = if finishing { PATIENCE } else { Duration::MAX };
                let batch = match body.batch(patience).await {
                    Ok(batch) => batch,
                    // What is missing is not part of the answer.
                    Err(_) if finishing => Vec::new(),
                    Err(error) => return Err(error),
                };
                if batch.is_empty() {
                    return reader.end(events);
                }
                for chunk in batch {
                    match chunk {
                        Ok(bytes) => reader.read(&bytes, events)?,
                        Err(_) if reader.is_finishing() => return reader.end(events),
                        Err(error) => return Err(error),
                    }
                }
                finish(body, events);
                Ok(())
            }
            Source::Cli(run) => run.more(events).await,
            Source::Embedded(exchange) => exchange.more(events).await,
        }
    }
}

/// Spares the connection of an answer that is complete.
fn finish(body: &mut Body, events: &Events) {
    if let Some(Event::Done(_)) = events.back() {
        body.finish();
    }
}
