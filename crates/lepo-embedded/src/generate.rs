//! Generates an answer: reads the prompt, then samples token after token, and prints all complete text at once.

use candle_core::{Device, Tensor};
use candle_transformers::generation::LogitsProcessor;
use candle_transformers::models::quantized_llama::ModelWeights;
use candle_transformers::utils::apply_repeat_penalty;
use lepo_base::error::{Error, Result};

use crate::prompt::{self, CONTEXT};
use crate::protocol::{DoneReason, GenerateRequest, OutputEvent, emit, sign_of_life};
use crate::tokenizer::{Characters, Tokenizer};

/// Number of tokens per forward pass, about a second's work: a long prompt in a single pass would need gigabytes for
/// attention, and larger passes would not be faster.
const STRIDE: usize = 32;

/// A model this small falls into loops: it would repeat a sentence until the context is full. Tokens among the `RECENT`
/// last ones become less likely, by Ollama's default factor.
const REPEAT_PENALTY: f32 = 1.1;
const RECENT: usize = 64;

/// Fixed, so that a repeated question gets the same answer.
const SEED: u64 = 0;

/// The model and the tokens that it has read.
pub struct Generator {
    tokenizer: Tokenizer,
    /// The model with an empty KV cache. A clone shares the weights.
    fresh: ModelWeights,
    model: ModelWeights,
    /// The tokens in the KV cache. The next question of a conversation usually starts with them, so they are not read
    /// again.
    read: Vec<u32>,
}

impl Generator {
    pub fn new(fresh: ModelWeights, tokenizer: Tokenizer) -> Self {
        Generator { model: fresh.clone(), fresh, tokenizer, read: Vec::new() }
    }

    /// Prints the answer to a request; the caller reports an error.
    pub fn answer(&mut self, request: &GenerateRequest) -> Result<()> {
        let prompt = prompt::render(&request.messages, request.max_tokens, &self.tokenizer)?;
        if prompt.left_out > 0 {
            let oldest = oldest(prompt.left_out);
            let text = format!("the conversation is too long for the embedded model: {oldest} left out");
            emit(&OutputEvent::Notice { text: &text });
        }
        let limit = request.max_tokens.min(CONTEXT - prompt.tokens.len());
        let spoken = self.speak(&prompt.tokens, limit, request);
        if spoken.is_err() {
            self.forget();
        }
        let spoken = spoken.map_err(|e| Error::remote("the embedded model failed").because(e))?;
        emit(&OutputEvent::Usage {
            input: prompt.tokens.len(),
            output: spoken.tokens,
            margin: spoken.margin,
        });
        emit(&OutputEvent::Done { reason: spoken.reason });
        Ok(())
    }

    /// Prints the answer to a prompt, up to `limit` tokens.
    fn speak(
        &mut self,
        prompt: &[u32],
        limit: usize,
        request: &GenerateRequest,
    ) -> candle_core::Result<SpokenAnswer> {
        let mut sampler = LogitsProcessor::new(SEED, Some(request.temperature), None);
        let mut characters = Characters::default();
        let mut logits = self.read_prompt(prompt)?;
        let mut reason = DoneReason::Length;
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
                reason = DoneReason::Stop;
                break;
            }
            spoken.push(token);
            send_text(&characters.push(&self.tokenizer.bytes(token)));
            if spoken.len() < limit {
                logits = self.read(&[token])?;
            }
        }
        Ok(SpokenAnswer { tokens: spoken.len(), reason, margin })
    }

    /// Feeds the prompt to the model, reusing the prefix that is already in its KV cache.
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

    /// Feeds tokens to the model, and returns the logits of the next token.
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
    reason: DoneReason,
    /// The smallest lead of a first choice, including the end token; `None` unless the request asks for it.
    margin: Option<f32>,
}

/// Returns the lead of the first choice over the second: the difference of their logits, which equals the difference of
/// their log probabilities.
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

fn send_text(text: &str) {
    if !text.is_empty() {
        emit(&OutputEvent::Text { text });
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
