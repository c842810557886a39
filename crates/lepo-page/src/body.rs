//! The body of a message: Markdown for questions and answers, plain text for tool output and system prompts,
//! attachments as images, thinking collapsed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::escape::{escape, escaped};
use super::markdown::markdown;
use lepo_base::media::Media;
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, ContentHash, split_attachments, thousands};

/// The content of a message, rendered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageBody {
    /// The HTML of its text.
    pub html: String,
    /// The start of the text, for lists; not escaped.
    pub words: String,
    /// Whether the text contains Hangul.
    pub korean: bool,
}

/// Characters of a message's start.
const WORDS: usize = 48;

/// Bytes at the start that decide the language.
const LANGUAGE: usize = 2048;

/// Renders a message's body. `blob` returns the bytes of an attachment by its hash, if they exist.
pub fn body(
    role: Role,
    hidden: bool,
    text: &str,
    blob: &dyn Fn(&ContentHash) -> Option<Vec<u8>>,
) -> MessageBody {
    let (content, files) = match role {
        Role::User => split_attachments(text),
        _ => (text, Vec::new()),
    };
    let mut html = String::with_capacity(content.len() + content.len() / 8 + 16);
    match role {
        Role::User if !hidden => push_question(content, &mut html),
        Role::Assistant if !hidden || !content.trim_start().starts_with('{') => answer(content, &mut html),
        _ => plain(content, &mut html),
    }
    for file in &files {
        attached(file, blob, &mut html);
    }
    let begin = text.get(..text.floor_char_boundary(LANGUAGE)).unwrap_or_default();
    MessageBody {
        html, words: first_words(content), korean: begin.contains(|c| ('가'..='힣').contains(&c))
    }
}

/// Appends a question literally, without Markdown.
fn push_question(text: &str, html: &mut String) {
    let text = text.trim_matches(['\n', '\r']);
    if !text.is_empty() {
        html.push_str("<p class=typed>");
        escape(text, html);
        html.push_str("</p>");
    }
}

fn plain(text: &str, html: &mut String) {
    html.push_str("<pre class=raw>");
    // A browser drops the first newline of a `pre`.
    html.push_str(if text.starts_with('\n') { "\n" } else { "" });
    escape(text, html);
    html.push_str("</pre>");
}

/// Appends an answer, with thinking at its start collapsed.
fn answer(text: &str, html: &mut String) {
    let Some((thought, answer_text)) = thought_first(text) else { return markdown(text, html) };
    if !thought.trim().is_empty() {
        html.push_str("<details class=think><summary>Thinking</summary>");
        markdown(thought, html);
        html.push_str("</details>");
    }
    markdown(answer_text.unwrap_or_default(), html);
}

/// Splits the thinking at the start of an answer from the text after it; `None` inside if the thinking has no end.
fn thought_first(text: &str) -> Option<(&str, Option<&str>)> {
    let thinking = text.trim_start().strip_prefix("<think>")?;
    Some(
        thinking.split_once("</think>").map_or((thinking, None), |(thought, answer)| (thought, Some(answer))),
    )
}

/// Returns the start of a text on a single line.
fn first_words(text: &str) -> String {
    let text = thought_first(text).map_or(text, |(thought, answer)| answer.unwrap_or(thought));
    let mut words = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        // Markup of Markdown at the start of a line is noise in a list.
        if words.is_empty() && word.chars().all(|c| matches!(c, '#' | '>' | '-' | '*' | '+' | '|' | '`')) {
            continue;
        }
        if !words.is_empty() {
            words.push(' ');
            count += 1;
        }
        for c in word.chars().filter(|c| !matches!(c, '*' | '`') && !is_unseen(*c)) {
            if count == WORDS {
                words.push('…');
                return words;
            }
            words.push(c);
            count += 1;
        }
    }
    words
}

/// Whether a character is invisible, or reorders the text around it.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Appends an attached file: an image itself, any other file by its name.
fn attached(file: &Attachment, blob: &dyn Fn(&ContentHash) -> Option<Vec<u8>>, html: &mut String) {
    let bytes = file.media.is_image().then(|| blob(&file.hash)).flatten();
    let image =
        bytes.and_then(|bytes| Some((Media::from_magic(&bytes).filter(|media| media.is_image())?, bytes)));
    let name = escaped(&file.name);
    match image {
        Some((media, bytes)) => {
            html.push_str("<figure><img src=\"data:");
            html.push_str(media.mime());
            html.push_str(";base64,");
            STANDARD.encode_string(bytes, html);
            html.push_str(&format!("\" alt=\"{name}\"><figcaption>{name}</figcaption></figure>"));
        }
        None => html.push_str(&format!(
            "<p class=file><b>{name}</b> {}, {} bytes</p>",
            file.media.mime(),
            thousands(file.len)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn made(role: Role, hidden: bool, text: &str) -> String {
        body(role, hidden, text, &|hash| (hash.to_string() == HASH).then(|| b"\x89PNG\r\n\x1a\n".to_vec()))
            .html
    }

    #[test]
    fn each_kind_in_its_form() {
        for (role, hidden, text, html) in [
            (Role::User, false, "\n**a**\n  <b>\n", "<p class=typed>**a**\n  &lt;b></p>"),
            (Role::Assistant, false, "**a**\nb", "<p><strong>a</strong>\nb</p>"),
            (Role::Assistant, true, "{\"a\":\"*b*\"}", "<pre class=raw>{\"a\":\"*b*\"}</pre>"),
            (Role::Tool, false, "\n*a*", "<pre class=raw>\n\n*a*</pre>"),
            (Role::System, true, "# a", "<pre class=raw># a</pre>"),
            (
                Role::Assistant,
                false,
                "<think>hm\n</think>\nso",
                "<details class=think><summary>Thinking</summary><p>hm</p></details><p>so</p>",
            ),
            (Role::Assistant, false, "<think></think>so", "<p>so</p>"),
            (
                Role::Assistant,
                false,
                "<think>cut",
                "<details class=think><summary>Thinking</summary><p>cut</p></details>",
            ),
        ] {
            assert_eq!(made(role, hidden, text), html, "{text}");
        }
    }

    #[test]
    fn attachments_are_shown_where_a_question_ends_with_them() {
        let line = format!("[image/png 8 bytes a \"b\".png: _blobs/{HASH}]");
        let shown = "<figure><img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"a &quot;b&quot;.png\"><figcaption>a &quot;b&quot;.png</figcaption></figure>";
        assert_eq!(
            made(Role::User, false, &format!("what?\n{line}\n{line}")),
            format!("<p class=typed>what?</p>{shown}{shown}")
        );
        assert_eq!(made(Role::User, false, &line), shown);
        for (role, text) in [(Role::User, format!("{line}\nmore")), (Role::Assistant, line.clone())] {
            assert!(!made(role, false, &text).contains("<img"), "{text}");
        }
        let other = format!("x\n[application/pdf 1,234 bytes a.pdf: _blobs/{HASH}]");
        assert_eq!(
            made(Role::User, false, &other),
            "<p class=typed>x</p><p class=file><b>a.pdf</b> application/pdf, 1,234 bytes</p>"
        );
        let svg = body(Role::User, false, &line, &|_| Some(b"<svg onload=x>".to_vec())).html;
        assert!(svg.starts_with("<p class=file>"), "{svg}");
        assert!(
            made(Role::User, false, "[image/png 4 bytes x: _blobs/../../etc]")
                .starts_with("<p class=typed>[")
        );
    }

    #[test]
    fn first_words_are_short_and_plain() {
        for (text, expected) in
            [("# A  *b*\n`c`", "A b c"), ("<think>x</think> so", "so"), ("a\u{202e}b", "ab"), ("", "")]
        {
            assert_eq!(first_words(text), expected);
        }
        assert_eq!(first_words(&"가".repeat(500)).chars().count(), WORDS + 1);
        assert!(body(Role::User, false, "a 한", &|_| None).korean);
    }
}
