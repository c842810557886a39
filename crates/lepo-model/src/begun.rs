//! An answer over HTTP that has begun: its bytes, what reads them, and its first event or failure.

use std::time::Duration;

use super::body::Body;
use super::event::{Event, Events};
use super::reader::{AnswerReader, Refused};
use lepo_base::error::{Error, Result};

/// The time to wait for the price and `[DONE]`, once the answer itself is complete.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bytes of an answer, and what reads them.
pub(super) struct Stream {
    body: Body,
    reader: Box<dyn AnswerReader>,
}

impl Stream {
    /// Waits once for more bytes, and reads all that have arrived.
    pub async fn more(&mut self, events: &mut Events) -> Result<()> {
        let Stream { body, reader } = self;
        let finishing = reader.is_finishing();
        let patience = if finishing { PATIENCE } else { Duration::MAX };
        let batch = match body.batch(patience).await {
            Ok(batch) => batch,
            // The answer is complete, so a missing price is no failure.
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
        // The connection of a complete answer stays open for the next request.
        if let Some(Event::Done(_) | Event::Paused(_)) = events.back() {
            body.finish();
        }
        Ok(())
    }
}

/// An answer over HTTP whose first event, or failure, has come.
pub(super) struct Begun {
    pub source: Stream,
    pub events: Events,
    pub failure: Option<Error>,
    pub status: u16,
    refused: Option<Refused>,
}

impl Begun {
    /// Waits for the first event.
    pub async fn wait(status: u16, body: Body, reader: Box<dyn AnswerReader>) -> Begun {
        let mut source = Stream { body, reader };
        let mut events = Events::new();
        let mut failure = None;
        while events.is_empty() && failure.is_none() {
            failure = source.more(&mut events).await.err();
        }
        let refused = if events.is_empty() { source.reader.refused() } else { None };
        Begun { source, events, failure, refused, status }
    }

    /// The refusal that came in place of an answer.
    pub fn refused(&self) -> Option<Refused> {
        self.refused.clone()
    }

    /// The failure that came in place of events.
    pub fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}
