//! Attached files: data URLs and base64.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::conversation::ImportedFile;
use super::source::regular;
use lepo_base::hash::sha256_hex;

/// Padding may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Maximum bytes of a file read by its path.
const LARGEST: u64 = 256 << 20;

/// Decodes a file in base64. A malformed text leaves the file without bytes.
pub fn base64(name: &str, mime: &str, text: &str) -> ImportedFile {
    let compact: Cow<'_, str> = match text.contains(|c: char| c.is_ascii_whitespace()) {
        true => text.split_ascii_whitespace().collect::<String>().into(),
        false => text.into(),
    };
    ImportedFile {
        name: name.to_string(),
        mime: kind(mime).to_string(),
        data: BASE64.decode(compact.as_bytes()).ok(),
    }
}

/// Returns the file that a URL names, with its bytes if it is a data URL.
pub fn url(name: &str, mime: &str, url: &str) -> ImportedFile {
    if let Some((head, data)) = url.strip_prefix("data:").and_then(|url| url.split_once(',')) {
        let of_url = head.split(';').next().unwrap_or_default();
        let mime = if of_url.is_empty() { mime } else { of_url };
        let bytes = without_percents(data);
        if head.ends_with(";base64") {
            return base64(name, mime, &String::from_utf8_lossy(&bytes));
        }
        return ImportedFile {
            name: name.to_string(),
            mime: kind(mime).to_string(),
            data: Some(bytes.into_owned()),
        };
    }
    let last = url.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let name = if name.is_empty() { last } else { name };
    ImportedFile { name: name.to_string(), mime: kind(mime).to_string(), data: None }
}

/// Decodes percent-encoded bytes; a malformed escape stays unchanged.
fn without_percents(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, behind @ ..] = rest {
        let digits = behind.first_chunk::<2>().filter(|_| *first == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let written = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(written.unwrap_or(*first));
        rest = if written.is_some() { &behind[2..] } else { behind };
    }
    Cow::Owned(bytes)
}

/// Returns the bytes of a file if their SHA-256 is `sha256`.
pub fn of_hash(path: &Path, sha256: &str) -> Option<Vec<u8>> {
    let (file, length) = regular(path).ok().filter(|(_, length)| *length <= LARGEST)?;
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    (sha256_hex(&bytes) == sha256).then_some(bytes)
}

/// Returns an attached text, headed by its name.
pub fn named_text(name: &str, text: &str) -> String {
    match name.trim() {
        "" => text.to_string(),
        name => format!("{name}:\n\n{text}"),
    }
}

/// Returns a file whose bytes are missing from the source.
pub fn missing_file(name: &str, mime: &str) -> ImportedFile {
    ImportedFile { name: name.to_string(), mime: kind(mime).to_string(), data: None }
}

/// Returns a media type that is safe to write in a line; the generic one if `mime` is malformed.
fn kind(mime: &str) -> &str {
    let sound = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '+' | '.');
    match mime.contains('/') && mime.len() < 100 && mime.chars().all(sound) {
        true => mime,
        false => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_decoded_where_they_are_there() {
        for (file, mime, name, data) in [
            (
                url("", "", "data:image/png;base64,iVBORw0KGgo="),
                "image/png",
                "",
                Some(b"\x89PNG\r\n\x1a\n".as_slice()),
            ),
            (
                url("a", "", "data:image/png;base64,iVBO\nRw0KGgo"),
                "image/png",
                "a",
                Some(b"\x89PNG\r\n\x1a\n"),
            ),
            (url("", "image/gif", "data:,hi"), "image/gif", "", Some(b"hi")),
            (
                url("", "", "data:text/plain,a%20b%zz%EA%B0%80%2"),
                "text/plain",
                "",
                Some(b"a b%zz\xea\xb0\x80%2"),
            ),
            (url("", "", "data:a/b;base64,%2B%2F8%3D"), "a/b", "", Some(b"\xfb\xff")),
            (url("", "", "data:image/png;base64,***"), "image/png", "", None),
            (url("", "", "https://x.test/a/b.png?k=1"), "application/octet-stream", "b.png", None),
            (url("", "a\nb/c", "x"), "application/octet-stream", "x", None),
        ] {
            assert_eq!((file.mime.as_str(), file.name.as_str(), file.data.as_deref()), (mime, name, data));
        }
    }
}
