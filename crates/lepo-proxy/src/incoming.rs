//! Collects an answer: its text is spooled to the disk while it arrives, masked; calls and thinking are written at the end.

use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;
use lepo_turn::{AnswerSpool, Masking, thinking_alone, write_unproven_bubb};

use crate::answer::{AnswerUpdate, CallUpdate, FinishWord};
use crate::tree::{PartKind, call_text, settled_text};

/// Describes the source of a text for a notice about secrets.
const SOURCE: &str = "an answer through the proxy";

/// Where an answer is written.
#[derive(Clone, Copy)]
pub struct AnswerTarget {
    /// The store.
    pub store: &'static Store,
    /// The masking of what is written.
    pub masking: &'static Masking,
    /// The message that the answer follows.
    pub under: Option<BubbId>,
}

/// A part of an answer.
enum ReceivedItem {
    Text { spool: Box<AnswerSpool<'static>>, is_blank: bool },
    Thinking(String),
    Call(CallUpdate),
    Output { call: String, text: String },
}

/// An answer that is coming.
pub struct IncomingAnswer {
    target: AnswerTarget,
    items: Vec<ReceivedItem>,
    /// The wire has a single text and a single thinking for each answer, in whatever order their pieces arrive.
    is_one_text: bool,
    starts_new_text: bool,
    /// The start of the answer, given by the request.
    prefill: String,
    /// Why it ended.
    pub finish: Option<FinishWord>,
}

/// A written part of an answer.
#[derive(Debug, Clone)]
pub struct WrittenPart {
    /// Its message.
    pub name: BubbName,
    /// The kind of part.
    pub kind: PartKind,
    /// The provider's id of the call.
    pub call: Option<String>,
}

impl IncomingAnswer {
    /// Creates an empty answer.
    pub fn new(target: AnswerTarget, is_one_text: bool, prefill: &str) -> IncomingAnswer {
        IncomingAnswer {
            target,
            items: Vec::new(),
            is_one_text,
            starts_new_text: false,
            prefill: prefill.to_string(),
            finish: None,
        }
    }

    /// Adds a step.
    pub fn add(&mut self, update: AnswerUpdate) -> Result<()> {
        match update {
            AnswerUpdate::Text(_, text) => self.add_text(&text)?,
            AnswerUpdate::NewText(_) => self.starts_new_text = true,
            AnswerUpdate::Thinking(_, text) => self.add_thinking(&text),
            AnswerUpdate::Call(_, call) => self.add_call(call),
            AnswerUpdate::Output(_, call, text) => self.items.push(ReceivedItem::Output { call, text }),
            AnswerUpdate::Finish(_, finish) => self.finish = Some(finish),
            AnswerUpdate::Usage(_)
            | AnswerUpdate::Response(_)
            | AnswerUpdate::Failed(_)
            | AnswerUpdate::End => {}
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let is_text = |item: &ReceivedItem| matches!(item, ReceivedItem::Text { .. });
        let known = match self.is_one_text {
            true => self.items.iter().position(is_text),
            false => {
                let last = self.items.len().checked_sub(1);
                last.filter(|last| !self.starts_new_text && self.items.get(*last).is_some_and(is_text))
            }
        };
        self.starts_new_text = false;
        let at = match known {
            Some(at) => at,
            None => {
                let AnswerTarget { store, masking, under } = self.target;
                let mut spool = Box::new(AnswerSpool::new(store, under, masking)?);
                let prefill = std::mem::take(&mut self.prefill);
                spool.push(&prefill);
                let call = |item: &ReceivedItem| matches!(item, ReceivedItem::Call(_));
                let before_calls = self.items.iter().position(call).filter(|_| self.is_one_text);
                let at = before_calls.unwrap_or(self.items.len());
                self.items.insert(at, ReceivedItem::Text { spool, is_blank: prefill.trim().is_empty() });
                at
            }
        };
        if let Some(ReceivedItem::Text { spool, is_blank }) = self.items.get_mut(at) {
            spool.push(text);
            *is_blank &= text.trim().is_empty();
        }
        Ok(())
    }

    fn add_thinking(&mut self, text: &str) {
        let is_thinking = |item: &ReceivedItem| matches!(item, ReceivedItem::Thinking(_));
        let known = match self.is_one_text {
            true => self.items.iter_mut().find(|item| is_thinking(item)),
            false => self.items.last_mut().filter(|item| is_thinking(item)),
        };
        match known {
            Some(ReceivedItem::Thinking(thought)) => thought.push_str(text),
            _ if text.is_empty() => {}
            _ => self.items.push(ReceivedItem::Thinking(text.to_string())),
        }
    }

    fn add_call(&mut self, update: CallUpdate) {
        let known = self.items.iter_mut().rev().find_map(|item| match item {
            ReceivedItem::Call(call) if call.key == update.key => Some(call),
            _ => None,
        });
        // Without indexes, a second call may have the key of the first.
        let is_other =
            |call: &CallUpdate| !update.id.is_empty() && !call.id.is_empty() && call.id != update.id;
        match known.filter(|call| !is_other(call)) {
            None => self.items.push(ReceivedItem::Call(update)),
            Some(call) => {
                if call.id.is_empty() {
                    call.id = update.id;
                }
                if call.name.is_empty() {
                    call.name = update.name;
                }
                if !update.is_whole || call.input.is_empty() {
                    call.input.push_str(&update.input);
                }
            }
        }
    }

    /// Writes the texts received so far to the disk.
    pub fn flush(&mut self) {
        for item in &mut self.items {
            if let ReceivedItem::Text { spool, .. } = item {
                spool.write();
            }
        }
    }

    /// Whether it has any text, call or result.
    pub fn has_content(&self) -> bool {
        self.items.iter().any(|item| match item {
            ReceivedItem::Text { is_blank, .. } => !is_blank,
            ReceivedItem::Thinking(_) => false,
            ReceivedItem::Call(_) | ReceivedItem::Output { .. } => true,
        })
    }

    /// Makes each part of a whole answer a message: texts on the spine, other parts hidden leaves of it. Their times grow
    /// in this order.
    pub fn publish(self, mut not_before: u64) -> Result<Vec<WrittenPart>> {
        let AnswerTarget { store, masking, under } = self.target;
        let (mut tip, mut written) = (under, Vec::<WrittenPart>::new());
        for item in self.items {
            let (kind, prev, text, call) = match item {
                ReceivedItem::Text { mut spool, is_blank } => {
                    if is_blank {
                        continue;
                    }
                    spool.finish();
                    spool.put_under(tip);
                    let name = spool.publish(false, not_before)?;
                    not_before = name.id.time() + 1;
                    tip = Some(name.id);
                    written.push(WrittenPart { name, kind: PartKind::Visible(Role::Assistant), call: None });
                    continue;
                }
                ReceivedItem::Thinking(text) if text.trim().is_empty() => continue,
                ReceivedItem::Thinking(text) => (PartKind::Thinking, tip, text, None),
                ReceivedItem::Call(call) => {
                    (PartKind::Call, tip, call_text(&call.name, &call.input), Some(call.id))
                }
                ReceivedItem::Output { call, text } => {
                    let call_part = written.iter().rfind(|part| part.call.as_ref() == Some(&call));
                    (PartKind::Output, call_part.map(|part| part.name.id).or(tip), text, None)
                }
            };
            let text = settled_text(kind, text, true);
            let kept = masking.screen(text.as_bytes(), SOURCE);
            let name = write_unproven_bubb(store, kind.tag(), prev, not_before, &kept)?;
            not_before = name.id.time() + 1;
            written.push(WrittenPart { name, kind, call });
        }
        Ok(written)
    }

    /// Writes the received part of an interrupted or failed answer: its text as a hidden message, else its thinking.
    pub fn publish_part(self, keeps_thinking: bool, not_before: u64) -> Result<Option<BubbName>> {
        let AnswerTarget { store, masking, under } = self.target;
        let (mut part, mut thoughts) = (None, Vec::new());
        for item in self.items {
            match item {
                ReceivedItem::Text { mut spool, is_blank: false } => {
                    spool.finish();
                    spool.put_under(part.map(|name: BubbName| name.id).or(under));
                    part = Some(spool.publish(true, not_before)?);
                }
                ReceivedItem::Thinking(text) if !text.trim().is_empty() => thoughts.push(text),
                _ => {}
            }
        }
        if part.is_none() && keeps_thinking && !thoughts.is_empty() {
            let text = thinking_alone(&thoughts.join("\n\n"));
            let kept = masking.screen(text.as_bytes(), SOURCE);
            part = Some(write_unproven_bubb(store, (Role::Assistant, true), under, not_before, &kept)?);
        }
        Ok(part)
    }
}
