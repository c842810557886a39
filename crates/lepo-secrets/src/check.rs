//! Tests that make a match certain: checksums, encodings, and the marks of examples in manuals.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

use super::shape::ShapeMatch;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Returns the CRC32 of `bytes` as six digits of base 62, the end of GitHub's and npm's tokens.
pub fn checksum62(bytes: &[u8]) -> [u8; 6] {
    let mut rest = crc32fast::hash(bytes) as usize;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62.get(rest % 62).copied().unwrap_or_default();
        rest /= 62;
    }
    digits
}

/// Whether the characters after the first `_` end with the checksum of the others.
pub fn has_checksum62(found: &ShapeMatch<'_>) -> bool {
    let secret = found.secret();
    let Some(at) = memchr::memchr(b'_', secret) else { return false };
    let body = secret.get(at + 1..).unwrap_or_default();
    body.split_last_chunk::<6>().is_some_and(|(body, sum)| checksum62(body) == *sum)
}

/// Whether an age key has a valid checksum (bech32 of BIP 173, in capitals).
pub fn has_bech32(found: &ShapeMatch<'_>) -> bool {
    let text = found.secret().to_ascii_lowercase();
    let Some(at) = memchr::memrchr(b'1', &text) else { return false };
    let (name, data) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
    let mut values: Vec<u8> = name.iter().map(|byte| byte >> 5).collect();
    values.push(0);
    values.extend(name.iter().map(|byte| byte & 31));
    for byte in data {
        let Some(value) = BECH32.iter().position(|letter| letter == byte) else { return false };
        values.push(u8::try_from(value).unwrap_or_default());
    }
    polymod(&values) == 1
}

/// Computes the checksum polynomial of bech32.
pub fn polymod(values: &[u8]) -> u32 {
    let generator = [0x3b6a_57b2u32, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    values.iter().fold(1u32, |sum, value| {
        let next = ((sum & 0x01ff_ffff) << 5) ^ u32::from(*value);
        let taps = generator.iter().enumerate().filter(|(i, _)| (sum >> 25 >> i) & 1 == 1);
        taps.fold(next, |next, (_, tap)| next ^ tap)
    })
}

/// Whether a token looks random: it has at least eight different characters, a digit, and no mark of an example.
pub fn is_random(found: &ShapeMatch<'_>) -> bool {
    let secret = found.secret();
    secret.iter().any(u8::is_ascii_digit) && !is_example(secret)
}

/// Like [`is_random`], with letters of both cases.
pub fn is_mixed(found: &ShapeMatch<'_>) -> bool {
    let secret = found.secret();
    let has = |class: fn(&u8) -> bool| secret.iter().any(class);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && is_random(found)
}

/// Whether a token has letters of both cases, and no mark of an example.
pub fn is_two_cased(found: &ShapeMatch<'_>) -> bool {
    let secret = found.secret();
    let has = |class: fn(&u8) -> bool| secret.iter().any(class);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && !is_example(secret)
}

/// Whether a secret is a placeholder from a manual: it has a word for that, or fewer than eight different characters.
pub fn is_example(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let words: [&[u8]; 6] =
        [b"example", b"placeholder", b"....", b"0123456789", b"1234567890", b"abcdefghij"];
    // A random token has such a word in a single case only by chance.
    let is_one_case =
        |word: &[u8]| !word.iter().any(u8::is_ascii_uppercase) || !word.iter().any(u8::is_ascii_lowercase);
    let has = |word: &[u8]| {
        memmem::find_iter(&lower, word).any(|at| secret.get(at..at + word.len()).is_some_and(is_one_case))
    };
    if words.iter().any(|word| has(word)) {
        return true;
    }
    // Shorter marks count only at the start of a part: `sk-your-key`, `hf_xxxxxx`.
    let mut parts = secret.split(|byte| !byte.is_ascii_alphanumeric());
    let begins = |part: &[u8], word: &[u8]| {
        part.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word) && is_one_case(begin))
    };
    if parts.any(|part| begins(part, b"your") || begins(part, b"xxxx")) {
        return true;
    }
    let mut seen = [false; 256];
    secret.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count() < 8
}

/// Whether a match is the identifier of a GitHub installation followed by a signed token.
pub fn is_stateless(found: &ShapeMatch<'_>) -> bool {
    let secret = found.secret();
    secret.len() >= 100
        && memmem::find(secret, b"eyJ").is_some()
        && memchr::memchr_iter(b'.', secret).count() == 2
}

/// Whether a key after `sk-` has OpenAI's mark in it, or a random-looking run of sixteen letters and digits.
pub fn is_sk(found: &ShapeMatch<'_>) -> bool {
    let secret = found.secret();
    if secret.starts_with(b"sk-ant-") || !is_random(found) {
        return false;
    }
    let run = |run: &[u8]| {
        run.len() >= 16
            && run.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2
            && run.iter().any(u8::is_ascii_alphabetic)
    };
    memmem::find(secret, b"T3BlbkFJ").is_some() || secret.split(|byte| !byte.is_ascii_alphanumeric()).any(run)
}

/// Whether the header of a web token is JSON that names a signature.
pub fn is_signed(found: &ShapeMatch<'_>) -> bool {
    let header = found.secret().split(|byte| *byte == b'.').next().unwrap_or_default();
    let Ok(header) = URL_SAFE_NO_PAD.decode(header) else { return false };
    let has = |word: &[u8]| memmem::find(&header, word).is_some();
    header.starts_with(b"{") && has(b"\"alg\"") && !has(b"\"none\"")
}

/// Whether a URL's password is real: neither the user's name nor a word, and not for a host reserved for examples.
pub fn is_password(found: &ShapeMatch<'_>) -> bool {
    let password = found.secret();
    let user = found.lead().strip_prefix(b"://").unwrap_or_default();
    let user = user.strip_suffix(b":").unwrap_or(user);
    let host = found.tail().strip_prefix(b"@").unwrap_or_default();
    let names: [&[u8]; 6] =
        [b"example", b"example.com", b"example.org", b"example.net", b"host", b"hostname"];
    let ends: [&[u8]; 6] =
        [b".example", b".example.com", b".example.org", b".example.net", b".test", b".invalid"];
    let is_reserved = names.contains(&host) || ends.iter().any(|end| host.ends_with(end));
    let scheme = found.before().iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let plain = plain_of(password);
    let is_lower = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_');
    let is_format = user.starts_with(b"%") && !user.get(1).is_some_and(u8::is_ascii_hexdigit);
    scheme > 0
        && plain.len() >= 6
        && password != user
        && !is_format
        && !plain.iter().all(is_lower)
        && !plain.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        && !is_password_word(password)
        && !is_reserved
}

/// Returns a text without its percent-encoded bytes.
fn plain_of(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        match (byte, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest = after
            }
            _ => {
                plain.push(*byte);
                rest = after;
            }
        }
    }
    plain
}

fn is_password_word(password: &[u8]) -> bool {
    let lower = password.to_ascii_lowercase();
    let words: [&[u8]; 6] = [b"example", b"xxx", b"your", b"placeholder", b"password", b"..."];
    words.iter().any(|word| memmem::find(&lower, word).is_some())
}

/// Whether a match is credentials after `Authorization:` and a scheme: a name and a password in base64, or a
/// random-looking token.
pub fn is_credential(found: &ShapeMatch<'_>) -> bool {
    let lead = found.lead();
    if !lead.iter().any(|byte| matches!(byte, b':' | b'=')) {
        return false;
    }
    let secret = found.secret();
    if memmem::find(&lead.to_ascii_lowercase(), b"basic").is_some() {
        let bytes = STANDARD.decode(secret).or_else(|_| STANDARD_NO_PAD.decode(secret)).unwrap_or_default();
        let mut parts = bytes.splitn(2, |byte| *byte == b':');
        let (user, password) = (parts.next(), parts.next());
        return password.is_some_and(|password| {
            password.len() >= 6 && !is_password_word(password) && user != Some(password)
        });
    }
    secret.iter().any(u8::is_ascii_alphabetic) && is_random(found)
}

/// Whether a bot's number precedes the colon.
pub fn is_bot(found: &ShapeMatch<'_>) -> bool {
    let before = found.before();
    let digits = before.iter().rev().take(13).take_while(|byte| byte.is_ascii_digit()).count();
    let first = before.len().saturating_sub(digits);
    let prior = first.checked_sub(1).and_then(|at| before.get(at));
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    // In a URL of the API the number follows the word `bot`.
    let is_bounded =
        !prior.is_some_and(is_word) || before.get(..first).is_some_and(|text| text.ends_with(b"bot"));
    (8..=12).contains(&digits) && is_bounded && is_two_cased(found)
}

/// Whether three characters and a digit precede `Q~`.
pub fn is_azure(found: &ShapeMatch<'_>) -> bool {
    let before = found.before();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-');
    let run = before.iter().rev().take(5).take_while(|byte| is_part(byte)).count();
    before.last().is_some_and(u8::is_ascii_digit) && run == 4 && is_mixed(found)
}

/// Whether the parts of a Slack hook's URL have their letters and lengths.
pub fn is_hook(found: &ShapeMatch<'_>) -> bool {
    let mut parts = found.secret().split(|byte| *byte == b'/');
    let begins = |part: Option<&[u8]>, letter: u8| {
        part.is_some_and(|part| part.first() == Some(&letter) && part.len() >= 8)
    };
    begins(parts.next(), b'T')
        && begins(parts.next(), b'B')
        && parts.next().is_some_and(|part| part.len() >= 20 && !is_example(part))
        && parts.next().is_none()
}

/// Whether an id is not the one in AWS's manuals, which ends with a word.
pub fn is_aws_id(found: &ShapeMatch<'_>) -> bool {
    !found.secret().ends_with(b"EXAMPLE") && !is_example(found.secret())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_the_published_example() {
        // The example in the documentation of the format: its last six characters are its checksum.
        assert_eq!(&checksum62(b"zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"), b"0mLq17");
        assert_eq!(&checksum62(b""), b"000000");
    }

    #[test]
    fn the_polynomial_is_the_one_of_bip_173() {
        // A valid string without data from the proposal: `a12uel5l`.
        let mut values = vec![b'a' >> 5, 0, b'a' & 31];
        values.extend(
            b"2uel5l".iter().map(|byte| BECH32.iter().position(|letter| letter == byte).unwrap() as u8),
        );
        assert_eq!(polymod(&values), 1);
    }
}
