//! Decodes a program's output as it arrives: a read may end inside a character.

/// Decodes bytes in pieces. Invalid UTF-8 becomes U+FFFD.
#[derive(Default)]
pub struct Utf8Decoder {
    partial: Vec<u8>,
}

impl Utf8Decoder {
    /// Returns the text that `bytes` complete.
    pub fn decode(&mut self, bytes: &[u8]) -> String {
        self.partial.extend_from_slice(bytes);
        let (text, rest) = decoded(&self.partial);
        let rest = rest.to_vec();
        self.partial = rest;
        text
    }

    /// Returns the rest once no more bytes come.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned()
    }
}

/// Returns the text of `bytes`, and an incomplete character at their end.
fn decoded(bytes: &[u8]) -> (String, &[u8]) {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return (text, &[]);
            }
            Err(error) => {
                let (valid, invalid) = rest.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                let Some(length) = error.error_len() else { return (text, invalid) };
                text.push(char::REPLACEMENT_CHARACTER);
                rest = &invalid[length..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_wherever_reads_end() {
        for bytes in ["a안🙂z".as_bytes(), b"a\xff\xf0\x9fz", b"\xe2\x82", b""] {
            let whole = String::from_utf8_lossy(bytes);
            for at in 0..=bytes.len() {
                let (a, b) = bytes.split_at(at);
                let mut utf8 = Utf8Decoder::default();
                let text = utf8.decode(a) + &utf8.decode(b) + &utf8.finish();
                assert_eq!(text, whole, "split at {at}");
            }
        }
    }
}
