//! A page from the web as context: HTML as text, other text unchanged, an image or a PDF as an attachment.

use std::sync::mpsc::channel;
use std::time::Duration;

use encoding_rs::{Encoding, UTF_8};
use html2text::config;

use super::{FileContent, NewFile};
use lepo_base::error::{Error, Result};
use lepo_net::fetch::{FetchedFile, fetch};

/// Maximum bytes of a page; a larger page is rejected.
const MOST: u64 = 5 << 20;

/// Columns at which the text of HTML is wrapped.
const WIDTH: usize = 160;

/// Time limit for converting a page to text.
const PATIENCE: Duration = Duration::from_secs(10);

/// Text formats of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageFormat {
    Html,
    Plain,
}

/// Fetches a URL that the user gave. Exit 3 if it cannot be fetched; exit 2 if it is not text, an image or a
/// PDF.
pub fn web_page(address: &str) -> Result<FileContent> {
    let FetchedFile { name, bytes, content_type } = fetch(address, MOST)?;
    match NewFile::of_bytes(&name, bytes)? {
        FileContent::Other(bytes) => {
            text_of(address, &content_type, bytes).map(|text| FileContent::Other(text.into_bytes()))
        }
        file => Ok(file),
    }
}

/// Decodes a body with this `Content-Type`, which is empty if the server sent none.
fn text_of(address: &str, content_type: &str, bytes: Vec<u8>) -> Result<String> {
    let mut parts = content_type.split(';');
    let media = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let Some(form) = form(&media, &bytes) else {
        let what = if media.is_empty() { "data of an unnamed type".to_string() } else { media };
        return Err(Error::usage(format!(
            "{address} is {what}, neither text nor an image (PNG, JPEG, GIF, WebP) nor a PDF"
        ))
        .hint("download it yourself, and give the file with its text"));
    };
    let text = decoded(address, charset(parts), &bytes)?;
    match form {
        PageFormat::Plain => Ok(text),
        PageFormat::Html => readable(address, text, PATIENCE),
    }
}

/// Returns the text format of a media type; without a media type, the format of the bytes.
fn form(media: &str, bytes: &[u8]) -> Option<PageFormat> {
    match media {
        "text/html" | "application/xhtml+xml" => Some(PageFormat::Html),
        "application/json" | "application/xml" | "application/x-ndjson" | "application/jsonl" => {
            Some(PageFormat::Plain)
        }
        _ if media.starts_with("text/") || media.ends_with("+json") || media.ends_with("+xml") => {
            Some(PageFormat::Plain)
        }
        "" if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() => None,
        "" => {
            let start = bytes.trim_ascii_start().get(..14).unwrap_or_default().to_ascii_lowercase();
            let is_html = start.starts_with(b"<!doctype html") || start.starts_with(b"<html");
            Some(if is_html { PageFormat::Html } else { PageFormat::Plain })
        }
        _ => None,
    }
}

fn charset<'h>(parameters: impl Iterator<Item = &'h str>) -> Option<&'h str> {
    parameters
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"'))
}

fn decoded(address: &str, charset: Option<&str>, bytes: &[u8]) -> Result<String> {
    let encoding = match charset {
        None => UTF_8,
        Some(label) => Encoding::for_label(label.as_bytes())
            .ok_or_else(|| Error::usage(format!("{address} has an unknown charset: {label}")))?,
    };
    let (text, encoding, malformed) = encoding.decode(bytes);
    match malformed {
        true => Err(Error::usage(format!("{address} is not in its declared charset, {}", encoding.name()))),
        false => Ok(text.into_owned()),
    }
}

/// Converts a page to readable text, without scripts and styles, with marks for headings and lists. The
/// parser needs minutes for a page nested thousands deep; it is abandoned after `limit`, and its thread ends
/// with the program.
fn readable(address: &str, html: String, limit: Duration) -> Result<String> {
    let (sender, receiver) = channel();
    let render = move || {
        let text = config::plain()
            .link_footnotes(false)
            .no_link_wrapping()
            .raw_mode(true)
            .allow_width_overflow()
            .string_from_read(html.as_bytes(), WIDTH);
        // After the time limit, the receiver is gone.
        let _ = sender.send(text.map_err(|error| error.to_string()));
    };
    let unread = || Error::usage(format!("{address} cannot be read as HTML"));
    std::thread::Builder::new().spawn(render).map_err(|error| unread().because(error))?;
    match receiver.recv_timeout(limit) {
        Ok(Ok(text)) => Ok(text.trim_matches('\n').to_string()),
        Ok(Err(why)) => Err(unread().because(why)),
        Err(_) => Err(unread().because(format!("not finished within {} s", limit.as_secs_f32()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_says_whether_it_is_text() {
        for (media, bytes, expected) in [
            ("text/html", &b""[..], Some(PageFormat::Html)),
            ("application/xhtml+xml", b"", Some(PageFormat::Html)),
            ("text/markdown", b"", Some(PageFormat::Plain)),
            ("application/json", b"", Some(PageFormat::Plain)),
            ("application/ld+json", b"", Some(PageFormat::Plain)),
            ("image/svg+xml", b"", Some(PageFormat::Plain)),
            ("application/zip", b"text", None),
            ("video/mp4", b"", None),
            ("", b" <!DOCTYPE HTML><p>", Some(PageFormat::Html)),
            ("", b"# Title", Some(PageFormat::Plain)),
            ("", b"\0", None),
            ("", b"\xff", None),
        ] {
            assert_eq!(form(media, bytes), expected, "{media} {bytes:?}");
        }
    }

    #[test]
    fn the_named_charset_counts() {
        for (content_type, bytes, expected) in [
            ("text/plain", &b"\xea\xb0\x80"[..], Some("가")),
            ("text/plain; charset=utf-8", b"\xef\xbb\xbfa", Some("a")),
            ("text/plain; a=b; Charset=\"EUC-KR\"", b"\xb0\xa1", Some("가")),
            ("text/plain;charset=iso-8859-1", b"\xe9", Some("é")),
            ("text/plain;charset=klingon", b"a", None),
            ("text/plain", b"\xb0\xa1", None),
            ("application/octet-stream", b"a", None),
        ] {
            let text = text_of("https://a.test/x", content_type, bytes.to_vec());
            assert_eq!(text.as_deref().ok(), expected, "{content_type}: {text:?}");
        }
    }

    #[test]
    fn a_page_is_its_readable_text() {
        let html = "<html><head><title>T</title><style>p{}</style><script>let x = '<p>no</p>';</script></head><body>\
                    <h1>제목</h1><p>One &amp; two, <a href='/x'>a link</a>.</p><ul><li>first<li>second</ul>\
                    <pre>let a = 1;\n    let b = 2;</pre><table><tr><td>l<td>r</table></body>";
        let text = readable("x", html.to_string(), PATIENCE).unwrap();
        for part in ["# 제목", "One & two, ", "a link", "* first", "let a = 1;\n    let b = 2;", "l", "r"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("let x") && !text.contains("p{}"), "{text}");
    }

    #[test]
    fn a_page_nested_without_end_is_given_up() {
        for open in ["<div>", "<b>", "<table><tr><td>", "<ul><li>", "<blockquote>"] {
            let text = readable("x", format!("{}deep", open.repeat(20)), PATIENCE).unwrap();
            assert!(text.contains("deep"), "{open}");
        }
        let html = "<blockquote>".repeat(100_000);
        let error = readable("x", html, Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("cannot be read as HTML"), "{error}");
    }
}
