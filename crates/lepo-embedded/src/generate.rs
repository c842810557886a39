//! One answer: read the prompt, then one token after another, each told as soon as it is text.

use candle_core::{Device, Tensor};
use candle_transformers::generation::LogitsProcessor;
use candle_transformers::models::quantized_llama::ModelWeights;
use candle_transformers::utils::apply_repeat_penalty;
use lepo_base::error::{Error, Result};

use crate::prompt::{self, CONTEXT};
use crate::protocol::{Event, Reason, Request, emit, sign_of_life};
use crate::tokenizer::{Characters, Tokenizer};

/// The number of tokens that are read at a time, about a second's worth: attention over a long prompt at once
/// would take gigabytes, and more at a time is no faster.
const STRIDE: usize = 32;

/// A model this small falls into loops: it would say one sentence until the context is full. A token that it
/// said among the `RECENT` last ones is made less likely, as far as Ollama does by default.
const REPEAT_PENALTY: f32 = 1.1;
const RECENT: usize = 64;

/// Makes the same question get the same answer.
const SEED: u64 = 0;

/// The model and what it has read so far.
pub struct Speaker {
    tokenizer: Tokenizer,
    /// The model with nothing read. A clone shares the weights.
    fresh: ModelWeights,
    model: ModelWeights,
    /// The tokens that `model` has read. The next question of a conversation begins with them, so they are not read again.
    read: Vec<u32>,
}

impl Speaker {
    /// A speaker that has read nothing yet.
    pub fn new(fresh: ModelWeights, tokenizer: Tokenizer) -> Self {
        Speaker { model: fresh.clone(), fresh, tokenizer, read: Vec::new() }
    }

    /// Answers a request on stdout; an error is left to the caller to tell.
    pub fn answer(&mut self, request: &Request) -> Result<()> {
        let prompt = prompt::render(&request.messages, request.max_tokens, &self.tokenizer)?;
        if prompt.left_out > 0 {
            let oldest = oldest(prompt.left_out);
            let text = format!("the conversation is too long for the embedded model: {oldest} left out");
            emit(&Event::Notice { text: &text });
        }
        let limit = request.max_tokens.min(CONTEXT - prompt.tokens.len());
        let spoken = self.speak(&prompt.tokens, limit, request);
        if spoken.is_err() {
            self.forget();
        }
        let spoken = spoken.map_err(|e| Error::remote("the embedded model failed").because(e))?;
        emit(&Event::Usage { input: prompt.tokens.len(), output: spoken.tokens, margin: spoken.margin });
        emit(&Event::Done { reason: spoken.reason });
        Ok(())
    }

    /// Prints the answer to a prompt, of at most `limit` tokens.
    fn speak(
        &mut self,
        prompt: &[u32],
        limit: usize,
        request: &Request,
    ) -> candle_core::Result<SpokenAnswer> {
        let mut sampler = LogitsProcessor::new(SEED, Some(request.temperature), None);
        let mut characters = Characters::default();
        let mut logits = self.read_prompt(prompt)?;
        let mut reason = Reason::Length;
        let mut spoken: Vec<u32> = Vec::new();
        let mut margin = request.margin.then_some(f32::INFINITY);
        while spoken.len() < limit {
            let recent = spoken.rchunks(RECENT).next().unwrap_or_default();
            let choices = apply_repeat_penalty(&logits, REPEAT_PENALTY, recent)?;
            if let Some(least) = &mut margin {
                *least = least.min(lead(&choices.to_vec1()?));
            }
            let token = sampler.sample(&choices)?;
            if self.tokenizer.is_control(token) {
                reason = Reason::Stop;
                break;
            }
            spoken.push(token);
            tell(&characters.push(&self.tokenizer.bytes(token)));
            if spoken.len() < limit {
                logits = self.read(&[token])?;
            }
        }
        Ok(SpokenAnswer { tokens: spoken.len(), reason, margin })
    }

    /// Reads a prompt, without what it has in common with all that was read before.
    fn read_prompt(&mut self, prompt: &[u32]) -> candle_core::Result<Tensor> {
        let new = match prompt.strip_prefix(self.read.as_slice()) {
            Some(new) if !new.is_empty() => new,
            _ => {
                self.forget();
                prompt
            }
        };
        self.read(new)
    }

    /// Reads tokens; gives the logits of what may follow the last of them.
    fn read(&mut self, tokens: &[u32]) -> candle_core::Result<Tensor> {
        let mut logits = Err(candle_core::Error::Msg("nothing to read".into()));
        for (past, stride) in tokens.chunks(STRIDE).enumerate() {
            if past > 0 {
                sign_of_life();
            }
            let input = Tensor::new(stride, &Device::Cpu)?.unsqueeze(0)?;
            logits = self.model.forward(&input, self.read.len())?.squeeze(0);
            self.read.extend_from_slice(stride);
        }
        logits
    }

    fn forget(&mut self) {
        self.model = self.fresh.clone();
        self.read.clear();
    }
}

/// The end of an answer whose text was printed.
struct SpokenAnswer {
    tokens: usize,
    reason: Reason,
    /// The smallest lead of a first choice, its end included; `None` unless it was asked for.
    margin: Option<f32>,
}

/// The lead of the first choice over the second: the difference of their logits, which is that of the logarithms of
/// their probabilities.
fn lead(logits: &[f32]) -> f32 {
    let (mut first, mut second) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
    for &logit in logits {
        if logit > first {
            (first, second) = (logit, first);
        } else if logit > second {
            second = logit;
        }
    }
    first - second
}

fn tell(text: &str) {
    if !text.is_empty() {
        emit(&Event::Text { text });
    }
}

fn oldest(count: usize) -> String {
    match count {
        1 => "the oldest message was".to_owned(),
        n => format!("the {n} oldest messages were"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_is_between_the_two_best() {
        for (logits, wanted) in
            [(&[1.0, 3.0, 2.5][..], 0.5), (&[3.0, 1.0, 1.0], 2.0), (&[2.0, 2.0], 0.0), (&[-3.0, -1.0], 2.0)]
        {
            assert_eq!(lead(logits), wanted, "{logits:?}");
        }
    }
}
