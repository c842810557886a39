//! Tracks the marks around a paste, and adds a missing end mark: otherwise the reader would wait for it forever, and
//! Ctrl+C would be one more character of the paste.

use std::time::Duration;

use memchr::memmem;

const START: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";

const CTRL_C: u8 = 3;

/// Time without input after which a paste counts as complete.
const SILENCE: Duration = Duration::from_secs(2);

/// A Ctrl+C that is not followed by input within this time was typed, and not pasted.
const ALONE: Duration = Duration::from_millis(30);

/// The state of a terminal's input between two reads.
#[derive(Debug, Default)]
pub struct PasteMarks {
    is_open: bool,
    /// The last bytes, whose meaning depends on the bytes that follow. Within a paste, they are not passed on yet.
    tail: Vec<u8>,
}

impl PasteMarks {
    /// Returns the bytes to pass on after reading these.
    pub fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let passed = if self.is_open { 0 } else { self.tail.len() };
        let mut input = std::mem::take(&mut self.tail);
        input.extend_from_slice(bytes);
        let mut from = 0;
        while let Some(offset) = memmem::find(&input[from..], if self.is_open { END } else { START }) {
            from += offset + END.len();
            self.is_open = !self.is_open;
        }
        let rest = &input[from..];
        let open = if self.is_open { unfinished(rest) } else { mark_start(rest, START) };
        self.tail = input.split_off(input.len() - open);
        if !self.is_open {
            input.extend_from_slice(&self.tail);
        }
        input.split_off(passed)
    }

    /// Returns the time after which the paste is complete, unless more is read.
    pub fn patience(&self) -> Option<Duration> {
        let is_pressed = self.tail.ends_with(&[CTRL_C]);
        self.is_open.then_some(if is_pressed { ALONE } else { SILENCE })
    }

    /// Ends the paste, dropping half a character, half a mark, or the Ctrl+C.
    pub fn close(&mut self) -> &'static [u8] {
        *self = PasteMarks::default();
        END
    }
}

/// Returns the number of bytes at the end of a paste that further input may change: typed keys, half a mark, half a
/// character.
fn unfinished(paste: &[u8]) -> usize {
    let pressed = paste.iter().rev().take_while(|&&byte| byte == CTRL_C).count();
    if pressed > 0 { pressed } else { mark_start(paste, END).max(half_character(paste)) }
}

/// Returns the length of the longest prefix of a mark that is a suffix of the bytes.
fn mark_start(bytes: &[u8], mark: &[u8]) -> usize {
    (1..mark.len()).rev().find(|&length| bytes.ends_with(&mark[..length])).unwrap_or_default()
}

/// Returns the length of an incomplete UTF-8 sequence.
fn half_character(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let is_half = |bytes: &&[u8]| std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
    last.map(|chunk| chunk.invalid()).filter(is_half).map_or(0, <[u8]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is passed on of input that is read in these pieces, and whether a paste is open then.
    fn passed<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<u8>, bool) {
        let mut marks = PasteMarks::default();
        let passed = pieces.into_iter().flat_map(|piece| marks.pass(piece)).collect();
        (passed, marks.patience().is_some())
    }

    #[test]
    fn however_it_is_cut_whole_input_passes_as_it_is() {
        for input in [
            "plain 한글\r",
            "\x1b",
            "\x1b[A\x1b[200",
            "a\x1b[200~한글\x03 b\x1b[201~\rc",
            "\x1b[200~\x1b[201~\x1b[200~x\x1b[201~",
            "\x1b[200~\x1b[20\x1b[201\x1b\x1b[201~",
            "\x1b[201~\x1b\x1b[200~\x03\x1b[201~",
        ] {
            let bytes = input.as_bytes();
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(passed(pieces), (bytes.to_vec(), false), "{input:?} at {first} and {second}");
                }
            }
        }
    }

    #[test]
    fn outside_a_paste_nothing_waits_for_what_follows() {
        let mut marks = PasteMarks::default();
        for byte in "\x1b[200\x1b[200~".bytes() {
            assert_eq!(marks.pass(&[byte]), [byte]);
        }
        assert_eq!(marks.patience(), Some(SILENCE));
    }

    #[test]
    fn a_paste_without_its_end_ends_with_the_characters_that_came() {
        for (came, text, patience) in [
            ("abc".as_bytes(), "abc", SILENCE),
            (b"", "", SILENCE),
            ("한글".as_bytes(), "한글", SILENCE),
            (&"한글".as_bytes()[..5], "한", SILENCE),
            (&"한글".as_bytes()[..4], "한", SILENCE),
            (&"a👍".as_bytes()[..4], "a", SILENCE),
            (b"abc\x1b", "abc", SILENCE),
            (b"abc\x1b[201", "abc", SILENCE),
            (b"abc\x03", "abc", ALONE),
            (b"abc\x03\x03", "abc", ALONE),
            (b"a\x03bc", "a\x03bc", SILENCE),
        ] {
            for first in 0..=came.len() {
                let mut marks = PasteMarks::default();
                let mut passed = marks.pass(START);
                passed.extend(marks.pass(&came[..first]));
                passed.extend(marks.pass(&came[first..]));
                assert_eq!(marks.patience(), Some(patience), "{came:?}");
                passed.extend(marks.close());
                assert_eq!(passed, [START, text.as_bytes(), END].concat(), "{came:?} at {first}");
                assert_eq!(marks.patience(), None);
                assert_eq!(marks.pass(b"x"), b"x");
            }
        }
    }
}
