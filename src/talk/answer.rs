//! Receiving an answer: shown as it comes, spooled as it comes, and a bubb when it ends.

use std::io::Write;
use std::pin::pin;
use std::time::Instant;

use super::report::Answered;
use super::{Event, Front, Interrupt};
use crate::bubb::{BubbId, Kind, Name};
use crate::error::{Error, Result};
use crate::model::{self, Answer, Usage};
use crate::store::{Draft, Entry, Store};

/// Bytes kept back from the spool at most; whatever the network gave at once goes to it in one write.
const SPOOL_BUFFER: usize = 32 << 10;

/// What was received, and where it is kept.
struct Receiving<'s> {
    draft: Draft<'s>,
    buffer: Vec<u8>,
    /// The store failed: the answer is still shown to its end, and the failure told then.
    failed: Option<Error>,
    blank: bool,
    usage: Usage,
    start: Instant,
    first_ms: Option<u64>,
}

/// What an answer hangs under, and who is told of it.
pub struct Place<'a> {
    /// The store.
    pub store: &'a Store,
    /// The bubb it follows.
    pub prev: Option<BubbId>,
    /// The model's configured name, for the journal.
    pub model: &'a str,
    /// When the request left.
    pub start: Instant,
}

/// Receives the answer that is the turn's last word. Cut short, what came is kept as a hidden bubb.
pub async fn receive(
    mut answer: Answer<'_>,
    place: Place<'_>,
    front: &mut dyn Front,
    interrupt: &Interrupt,
) -> Result<Answered> {
    let mut receiving = Receiving {
        draft: place.store.draft(Kind::Assistant, false, place.prev)?,
        buffer: Vec::new(),
        failed: None,
        blank: true,
        usage: Usage::default(),
        start: place.start,
        first_ms: None,
    };
    let done = follow(&mut answer, &mut receiving, front, interrupt).await;
    front.happens(Event::Pause);
    drop(answer);
    receiving.spool();
    let (usage, start, first_ms) = (receiving.usage, receiving.start, receiving.first_ms);
    let kept = if receiving.blank { None } else { Some(receiving.keep(done.is_err())) };
    let ms = start.elapsed().as_millis() as u64;
    let name = kept.as_ref().and_then(|kept| kept.as_ref().ok());
    if let Some(name) = name {
        front.happens(Event::Bubb(name, None));
    }
    let entry = Entry {
        bubb: name.map(|name| name.id),
        what: match (&done, &kept) {
            (Ok(()), Some(_)) => "answer",
            (Ok(()), None) => "empty",
            (Err(_), _) => "partial",
        },
        model: Some(place.model),
        input: usage.input,
        output: usage.output,
        ms,
        first_ms,
        ..Entry::default()
    };
    // The journal is never needed: that it cannot be written is no reason to fail.
    let _ = place.store.journal(entry);
    match (done, kept) {
        (Ok(()), Some(kept)) => Ok(Answered { name: kept?, usage, ms }),
        (Ok(()), None) => Err(Error::remote("the model answered nothing").hint("ask again: lepo do --retry")),
        (Err(mut error), Some(Err(also))) => {
            error.message = format!("{}; and {}", error.message, also.chain());
            Err(error)
        }
        (Err(error), _) => Err(error),
    }
}

/// Takes events until the end mark.
async fn follow(
    answer: &mut Answer<'_>,
    receiving: &mut Receiving<'_>,
    front: &mut dyn Front,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut interrupted = pin!(interrupt.wait());
    loop {
        if !answer.ready() {
            front.happens(Event::Pause);
            receiving.spool();
        }
        let event = tokio::select! {
            biased;
            signal = &mut interrupted => return Err(signal),
            event = answer.next() => event?,
        };
        match event {
            None => return Ok(()),
            Some(model::Event::Text(text)) => receiving.text(&text, front),
            Some(model::Event::Thinking(text)) => front.happens(Event::Thinking(&text)),
            Some(model::Event::Usage(usage)) => receiving.usage = usage,
            Some(model::Event::Notice(text)) => front.happens(Event::Say(&text)),
            Some(model::Event::Done(model::Finish::Length)) => {
                front.happens(Event::Say("note: the answer stops at the model's limit of tokens"));
            }
            Some(model::Event::Done(model::Finish::Other(reason))) => {
                front.happens(Event::Say(&format!("note: the model stopped: {reason}")));
            }
            Some(model::Event::Done(_) | model::Event::ToolCall(_)) => {}
        }
    }
}

impl Receiving<'_> {
    fn text(&mut self, text: &str, front: &mut dyn Front) {
        if self.first_ms.is_none() {
            self.first_ms = Some(self.start.elapsed().as_millis() as u64);
        }
        self.blank &= text.trim().is_empty();
        front.happens(Event::Text(text));
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= SPOOL_BUFFER {
            self.spool();
        }
    }

    fn spool(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.draft.write_all(&self.buffer)
        {
            self.failed = Some(self.draft.failed(error));
        }
        self.buffer.clear();
    }

    fn keep(self, hidden: bool) -> Result<Name> {
        match self.failed {
            Some(error) => Err(error),
            None => self.draft.publish(hidden, 0),
        }
    }
}
