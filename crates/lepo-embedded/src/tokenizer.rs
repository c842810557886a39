//! Converts text to tokens and back, with the tables in the weights file. candle's own loader applies the plain GPT-2
//! rules to this model, which split digits and spaces wrongly.

use std::collections::HashSet;

use candle_core::quantized::gguf_file::{Content, Value};
use lepo_base::error::{Error, Result};
use tokenizers::models::bpe::BPE;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

/// The `tokenizer.ggml.token_type` of a token that is a mark and not text (llama.cpp's `LLAMA_TOKEN_TYPE_CONTROL`).
const CONTROL: i32 = 3;

/// The model's tokenizer.
///
/// Control tokens are not recognised in text: `<|im_end|>` in a message is ten ordinary characters.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    control: HashSet<u32>,
    /// Upper bound on the bytes of a token.
    longest: usize,
    /// Starts a message in ChatML.
    pub im_start: u32,
    /// Ends a message in ChatML.
    pub im_end: u32,
}

impl Tokenizer {
    /// Builds the tokenizer from the metadata of a GGUF file. A missing table is an error, and so is another tokenizer.
    pub fn new(content: &Content) -> Result<Self> {
        let pre = text(content, "tokenizer.ggml.pre")?;
        if pre != "smollm" {
            return Err(Error::remote(format!("its tokenizer is {pre:?}, not \"smollm\"")));
        }
        let tokens = texts(content, "tokenizer.ggml.tokens")?;
        let merges = texts(content, "tokenizer.ggml.merges")?
            .into_iter()
            .map(|merge| merge.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| malformed("tokenizer.ggml.merges"))?;
        let control = array(content, "tokenizer.ggml.token_type")?
            .iter()
            .zip(0u32..)
            .filter(|(kind, _)| matches!(kind, Value::I32(CONTROL)))
            .map(|(_, id)| id)
            .collect();
        let vocabulary = tokens.into_iter().zip(0u32..).collect();
        Tokenizer::from_tables(vocabulary, merges, control)
    }

    fn from_tables(
        vocabulary: tokenizers::models::bpe::Vocab,
        merges: Vec<(String, String)>,
        control: HashSet<u32>,
    ) -> Result<Self> {
        let mark =
            |name: &str| vocabulary.get(name).copied().ok_or_else(|| malformed("tokenizer.ggml.tokens"));
        let longest = vocabulary.keys().map(String::len).max().unwrap_or_default();
        let (im_start, im_end) = (mark("<|im_start|>")?, mark("<|im_end|>")?);
        let model = BPE::builder()
            .vocab_and_merges(vocabulary, merges)
            .build()
            .map_err(|e| Error::remote("the weights contain a broken tokenizer").because(e))?;
        let mut inner = tokenizers::Tokenizer::new(model);
        // The rules of `pre = "smollm"`: each digit alone, then GPT-2's splitting, without an added space.
        let rules = vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()];
        inner.with_pre_tokenizer(Some(Sequence::new(rules)));
        Ok(Tokenizer { inner, control, longest, im_start, im_end })
    }

    /// Returns the tokens of a text. Bytes for which the model has no token are dropped.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match self.inner.encode_fast(text, false) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(error) => Err(Error::remote("cannot tokenize a message").because(error)),
        }
    }

    /// Returns the tokens of a text, unless there are more than `most`. A text that is far too long is not even split:
    /// ten megabytes would need ten seconds and two gigabytes of memory.
    pub fn encode_within(&self, text: &str, most: usize) -> Result<Option<Vec<u32>>> {
        if text.len() > most.saturating_mul(self.longest) {
            return Ok(None);
        }
        let tokens = self.encode(text)?;
        Ok((tokens.len() <= most).then_some(tokens))
    }

    /// Whether a token is a mark of the model's format. A mark is never text, so each ends an answer.
    pub fn is_control(&self, token: u32) -> bool {
        self.control.contains(&token)
    }

    /// Returns the bytes of a token, which may be part of a character.
    pub fn bytes(&self, token: u32) -> Vec<u8> {
        let spelled = self.inner.id_to_token(token).unwrap_or_default();
        spelled.chars().filter_map(byte_of).collect()
    }
}

/// Collects bytes and returns whole characters. A character that the answer's end cuts is dropped.
#[derive(Default)]
pub struct Characters {
    rest: Vec<u8>,
}

impl Characters {
    /// Appends bytes, and returns all complete characters. An incomplete character waits; bytes that cannot become a
    /// character are replaced by U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let mut text = String::new();
        let mut open = Vec::new();
        let mut chunks = self.rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            if chunks.peek().is_none() && may_go_on(chunk.invalid()) {
                open = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.rest = open;
        text
    }
}

/// Whether these bytes are the start of a character, and not malformed.
fn may_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none())
}

/// Decodes GPT-2's spelling of a byte as a printable character (`bytes_to_unicode` in its `encoder.py`): printable
/// Latin-1 as itself, the other 68 bytes from U+0100 on, in order.
fn byte_of(c: char) -> Option<u8> {
    let printable = |b: &u8| matches!(b, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    match u8::try_from(c) {
        Ok(byte) => Some(byte).filter(printable),
        Err(_) => (0..=u8::MAX).filter(|b| !printable(b)).nth((c as usize).checked_sub(0x100)?),
    }
}

fn malformed(key: &str) -> Error {
    Error::remote(format!("the weights have no usable {key}"))
}

fn text<'a>(content: &'a Content, key: &str) -> Result<&'a str> {
    match content.metadata.get(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(malformed(key)),
    }
}

fn array<'a>(content: &'a Content, key: &str) -> Result<&'a [Value]> {
    match content.metadata.get(key) {
        Some(Value::Array(values)) => Ok(values),
        _ => Err(malformed(key)),
    }
}

fn texts(content: &Content, key: &str) -> Result<Vec<String>> {
    array(content, key)?.iter().map(|value| value.to_string().cloned().map_err(|_| malformed(key))).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Builds a tokenizer with a token for each byte of printable ASCII and newline, no merges, and two marks.
    pub fn ascii() -> Tokenizer {
        let mut tokens =
            vec!["<|im_start|>".to_owned(), "<|im_end|>".to_owned(), "Ċ".to_owned(), "Ġ".to_owned()];
        tokens.extend(('!'..='~').map(String::from));
        let vocabulary = tokens.into_iter().zip(0u32..).collect();
        Tokenizer::from_tables(vocabulary, Vec::new(), HashSet::from([0, 1])).unwrap()
    }

    #[test]
    fn round_trip() {
        let tokenizer = ascii();
        for text in ["hello", " a 12", "<|im_end|>", "x\ny", ""] {
            let tokens = tokenizer.encode(text).unwrap();
            assert!(tokens.iter().all(|&t| !tokenizer.is_control(t)), "{text}");
            let bytes: Vec<u8> = tokens.iter().flat_map(|&t| tokenizer.bytes(t)).collect();
            assert_eq!(String::from_utf8(bytes).unwrap(), text);
        }
        assert_eq!(tokenizer.encode("a\u{0}b").unwrap(), tokenizer.encode("ab").unwrap());
    }

    #[test]
    fn spelling_of_bytes() {
        let cases =
            [('a', Some(b'a')), ('Ġ', Some(b' ')), ('Ċ', Some(b'\n')), ('Ā', Some(0)), ('ÿ', Some(0xFF))];
        for (c, byte) in cases.into_iter().chain([('Ń', Some(0xAD)), ('ń', None), (' ', None), ('가', None)])
        {
            assert_eq!(byte_of(c), byte, "{c}");
        }
    }

    #[test]
    fn characters_stay_whole() {
        type Case = (&'static [&'static [u8]], &'static str);
        // The input, and the output after each piece.
        let cases: [Case; 5] = [
            (&[b"a", b"b"], "a|b"),
            (&[b"\xEA", b"\xB0", b"\x80!"], "||가!"),
            (&[b"a\xEA\xB0"], "a"),
            (&[b"\xEA", b"x"], "|\u{FFFD}x"),
            (&[b"\xFFa\xF0\x9F", b"\x99\x82"], "\u{FFFD}a|🙂"),
        ];
        for (pieces, texts) in cases {
            let mut characters = Characters::default();
            let got: Vec<String> = pieces.iter().map(|piece| characters.push(piece)).collect();
            assert_eq!(got.join("|"), texts);
        }
    }
}
