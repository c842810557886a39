//! Private keys in armour: PEM with any label, OpenSSH's and OpenPGP's, on several lines, on a single line, and escaped
//! in JSON.
//!
//! A key has no length limit, so it is not a row of the table. A key is certain after a `BEGIN … PRIVATE KEY` line and
//! forty characters of base64, and ends with its `END` line, or with the base64.

use super::table::BEGIN;

/// Characters of base64 that make a key certain.
const CERTAIN: usize = 40;
/// Characters of base64 that distinguish a key: an unencrypted OpenSSH key starts with 94 bytes that contain its public
/// half, an RSA key with its modulus. A stream knows them before it writes the mask.
const TELLING: usize = 128;
/// Maximum run of base64 that a stream withholds as a whole.
const LONGEST_RUN: usize = 4096;
/// Maximum bytes of headers like `Proc-Type: 4,ENCRYPTED` before the base64.
const LONGEST_HEADERS: usize = 1024;

const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";

/// The result at a `BEGIN`.
#[derive(Debug, PartialEq)]
pub enum PemMatch {
    No,
    /// The text ends before a key is certain.
    More,
    /// A key, and the characters that distinguish it.
    Key {
        end: usize,
        core: Vec<u8>,
    },
    /// Certainly a key, but the text ends inside it: continue with `body` at offset `at`.
    Open {
        core: Vec<u8>,
        body: PemBody,
        at: usize,
    },
}

/// The state of reading a key's base64 in pieces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PemBody {
    /// Length of the first line.
    first: usize,
    /// Bytes already read of a run that continues after the text.
    start: usize,
    /// A shorter line, which is the last, was read.
    is_over: bool,
}

/// The result of reading a body.
enum PemScan {
    /// The body ends at this offset.
    End(usize),
    /// The body may continue; all text before this offset belongs to it.
    More(usize),
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns the length of a separator between two lines of a key: white space, escapes, quotes of source code and of
/// mails. Zero if it is another character, `None` if the text ends within an escape.
fn separator(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        Some(b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b',' | b'|' | b'>') => Some(1),
        Some(b'\\') => match text.get(at + 1) {
            Some(b'n' | b'r' | b't' | b'"' | b'\'') => Some(2),
            Some(b'\\' | b'\n' | b'\r') => Some(1),
            Some(_) => Some(0),
            None => None,
        },
        _ => Some(0),
    }
}

/// Reads the armour that starts at an offset.
pub fn read(text: &[u8], at: usize, is_whole: bool) -> PemMatch {
    let unsure = || if is_whole { PemMatch::No } else { PemMatch::More };
    let from = at + BEGIN.len();
    let rest = text.get(from..).unwrap_or_default();
    let label = rest
        .iter()
        .take(48)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ');
    let label = label.count();
    let (name, after) = rest.split_at_checked(label).unwrap_or_default();
    if after.len() < DASHES.len() && DASHES.starts_with(after) {
        return unsure();
    }
    let is_private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    if !is_private || !after.starts_with(DASHES) {
        return PemMatch::No;
    }
    let Some(start) = skip_headers(text, from + label + DASHES.len()) else { return PemMatch::No };
    let mut body = PemBody::default();
    let mut core = Vec::new();
    let mut offset = start;
    // The first characters, without separators.
    while core.len() < TELLING {
        let Some(step) = separator(text, offset) else { break };
        match text.get(offset) {
            Some(byte) if is_base64(*byte) => {
                core.push(*byte);
                offset += 1;
            }
            Some(_) if step > 0 => offset += step,
            _ => break,
        }
    }
    match body.read(text, start, is_whole) {
        PemScan::End(end) if core.len() >= CERTAIN => PemMatch::Key { end, core },
        PemScan::End(_) => PemMatch::No,
        PemScan::More(at) if core.len() == TELLING => PemMatch::Open { core, body, at },
        PemScan::More(_) => unsure(),
    }
}

/// Returns the offset of the first line of base64, which has 32 characters at least.
fn skip_headers(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut is_header = false;
    while at <= from + LONGEST_HEADERS {
        let Some(step) = separator(text, at) else { return Some(at) };
        if step > 0 {
            at += step;
            continue;
        }
        let run = text.get(at..).unwrap_or_default().iter().take_while(|byte| is_base64(**byte)).count();
        if run >= 32 && !is_header {
            return Some(at);
        }
        match text.get(at + run) {
            None => return Some(at),
            Some(b'-' | b':' | b'.' | b'(' | b')' | b';' | b'@' | b'<') => {
                // The value of `DEK-Info: AES-128-CBC,0123…` or `Comment: me@here` ends with its line.
                is_header = true;
                at += run + 1;
            }
            Some(_) if run > 0 => at += run,
            Some(_) => return None,
        }
        if let Some(next) = text.get(at)
            && (*next == b'\n' || *next == b'\r' || *next == b'\\')
        {
            is_header = false;
        }
    }
    None
}

impl PemBody {
    /// Continues with more text: returns the end of the key, if the text has it, and the number of bytes that belong to
    /// the key so far.
    pub fn continue_scan(&mut self, text: &[u8], is_whole: bool) -> (Option<usize>, usize) {
        match self.read(text, 0, is_whole) {
            PemScan::End(end) => (Some(end), end),
            PemScan::More(at) => (None, at),
        }
    }

    fn read(&mut self, text: &[u8], from: usize, is_whole: bool) -> PemScan {
        let mut at = from;
        loop {
            let line_end = at;
            while let Some(step @ 1..) = separator(text, at) {
                at += step;
            }
            let rest = text.get(at..).unwrap_or_default();
            let is_cut = rest.is_empty() || separator(text, at).is_none();
            if is_cut || (rest.len() < END.len() && END.starts_with(rest)) {
                return if is_whole { PemScan::End(line_end) } else { PemScan::More(line_end) };
            }
            if let Some(label) = rest.strip_prefix(END) {
                let label = label.get(..64.min(label.len())).unwrap_or_default();
                return match memchr::memmem::find(label, DASHES) {
                    Some(len) => PemScan::End(at + END.len() + len + DASHES.len()),
                    None if label.len() < 64 && !is_whole => PemScan::More(line_end),
                    None => PemScan::End(at + END.len()),
                };
            }
            let run = rest.iter().take_while(|byte| is_base64(**byte)).count();
            if run == rest.len() && !is_whole {
                if run + self.start < LONGEST_RUN {
                    return PemScan::More(line_end);
                }
                self.start += run;
                return PemScan::More(at + run);
            }
            let length = run + self.start;
            let is_checksum = rest.starts_with(b"=") && length == 5;
            if run == 0 && self.start == 0 || self.is_over && !is_checksum {
                return PemScan::End(line_end);
            }
            self.start = 0;
            match self.first {
                0 => self.first = length,
                first => self.is_over = length < first,
            }
            at += run;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;

    #[test]
    fn a_key_ends_with_its_end_line_or_with_its_base64() {
        let key = examples::pem("RSA ", 20);
        let lines: Vec<&str> = key.lines().collect();
        let until = |text: &str| match read(text.as_bytes(), 0, true) {
            PemMatch::Key { end, .. } => Some(text.get(end..).unwrap().to_string()),
            _ => None,
        };
        assert_eq!(until(&format!("{key}\nafter")).as_deref(), Some("\nafter"));
        let escaped = key.replace('\n', "\\n");
        assert_eq!(until(&format!("{escaped}\\n\", \"x\"")).as_deref(), Some("\\n\", \"x\""));
        let spaced = key.replace('\n', " ");
        assert_eq!(until(&format!("{spaced} after")).as_deref(), Some(" after"));
        // Without an `END` line, the text after the key stays unmasked.
        let cut = lines.get(..5).unwrap().join("\n");
        assert_eq!(until(&format!("{cut}\n$ ls -l")).as_deref(), Some("\n$ ls -l"));
        assert_eq!(until(&cut).as_deref(), Some(""));
        let encrypted = key.replacen(
            '\n',
            "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00AA11BB22CC33DD44EE55FF66778899\n\n",
            1,
        );
        assert_eq!(until(&format!("{encrypted}\n")).as_deref(), Some("\n"));
        for none in [
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nMII...\n",
            "-----BEGIN PUBLIC KEY-----",
        ] {
            assert_eq!(read(none.as_bytes(), 0, true), PemMatch::No, "{none}");
        }
        let public = key.replace("PRIVATE", "PUBLIC");
        assert_eq!(read(public.as_bytes(), 0, true), PemMatch::No);
    }
}
