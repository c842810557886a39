//! Extracts the message from a server's error response: in JSON, in events, or in an HTML page.

use serde_json::Value;

/// Returns the server's own message, wherever it is; `None` if there is no message or the body is plain text.
pub fn message_in_body(body: &str) -> Option<String> {
    in_json(body).or_else(|| in_events(body)).or_else(|| in_page(body))
}

/// Formats: OpenAI `{"error":{"message"}}`, Ollama `{"error":"…"}`, others `{"message"}`, `{"detail"}`; some in a
/// list.
fn in_json(body: &str) -> Option<String> {
    message_in_error(&serde_json::from_str(body.trim()).ok()?)
}

/// Fields of an error that may have a message, best first.
const MESSAGE_FIELDS: &[&str] = &[
    "error",
    "message",
    "detail",
    "msg",
    "error_message",
    "error_msg",
    "errorMessage",
    "errorMsg",
    "err_msg",
    "error_description",
    "status_msg",
    "errors",
    "err",
    "exception",
    "fault",
    "faultstring",
    "code",
];

/// Returns the message within an error object.
pub fn message_in_error(error: &Value) -> Option<String> {
    match error {
        Value::String(text) if !text.trim().is_empty() => {
            Some(in_json_object(text).unwrap_or_else(|| text.clone()))
        }
        Value::Object(fields) => {
            let message = MESSAGE_FIELDS.iter().find_map(|key| message_in_error(fields.get(*key)?))?;
            Some(match fields.get("metadata").and_then(|about| inner_message(about.get("raw")?)) {
                Some(inner) if !message.contains(&inner) => format!("{message}: {inner}"),
                _ => message,
            })
        }
        Value::Array(items) => items.iter().find_map(message_in_error),
        _ => None,
    }
}

/// Returns the message of the server that a gateway asked (OpenRouter's `metadata.raw`). Does not parse any deeper.
fn inner_message(raw: &Value) -> Option<String> {
    match raw {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(in_json_object(text).unwrap_or_else(|| text.trim().to_owned())),
        Value::Object(fields) => {
            let error = fields.get("error").unwrap_or(raw);
            error.as_str().or_else(|| error.get("message")?.as_str()).map(str::to_owned)
        }
        _ => None,
    }
}

/// Returns the message of a text that is itself an error object, as gateways forward it. Does not parse any deeper.
fn in_json_object(text: &str) -> Option<String> {
    let text = text.trim().starts_with('{').then_some(text.trim())?;
    let Value::Object(fields) = serde_json::from_str(text).ok()? else { return None };
    let mut at = Value::Object(fields);
    for key in ["error", "message"] {
        if let Some(inner) = at.get_mut(key) {
            at = inner.take();
        }
    }
    at.as_str().filter(|text| !text.trim().is_empty()).map(str::to_string)
}

fn in_events(body: &str) -> Option<String> {
    let data: Vec<&str> = body.lines().filter_map(|line| line.trim_start().strip_prefix("data:")).collect();
    let data = data.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && *line != "[DONE]");
    let data: Vec<&str> = data.collect();
    if data.is_empty() {
        return None;
    }
    let found = in_json(&data.join("\n")).or_else(|| data.iter().find_map(|line| in_json(line)));
    Some(found.unwrap_or_else(|| data.join(" ")))
}

/// Returns the text of a page without tags and scripts, or its title if there is no other text.
fn in_page(body: &str) -> Option<String> {
    let text = body.trim_start();
    let is_page = text.starts_with('<')
        && text.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!'));
    if !is_page {
        return None;
    }
    let (mut words, mut title) = (String::new(), String::new());
    let mut rest = text;
    let mut inside = String::new();
    while let Some((before, after)) = rest.split_once('<') {
        match inside.as_str() {
            "title" => title.push_str(before),
            "script" | "style" => {}
            _ => words.push_str(before),
        }
        words.push(' ');
        // An unterminated tag or comment extends to the end of the page.
        let (tag, behind) = match after.strip_prefix("!--") {
            Some(comment) => ("", comment.split_once("-->").map_or("", |(_, behind)| behind)),
            None => after.split_once('>').unwrap_or((after, "")),
        };
        let name = |tag: &str| {
            tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase()
        };
        match tag.strip_prefix('/') {
            Some(closed) if name(closed) == inside => inside.clear(),
            None if inside.is_empty() && matches!(name(tag).as_str(), "title" | "script" | "style") => {
                inside = name(tag);
            }
            _ => {}
        }
        rest = behind;
    }
    if inside.is_empty() {
        words.push_str(rest);
    }
    let [words, title] = [words, title].map(|text| unescaped(&text));
    Some(match (words.is_empty(), title.is_empty()) {
        (false, _) => words,
        (true, false) => title,
        (true, true) => "an HTML page without text".to_string(),
    })
}

/// Folds white space and decodes the few HTML entities that occur in error messages.
fn unescaped(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let named =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    named.iter().fold(folded, |text, (name, sign)| text.replace(name, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_a_server_puts_them() {
        let nginx = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad \
                     Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";
        for (body, words) in [
            (r#"{"error":{"message":"no such model","code":404}}"#, Some("no such model")),
            (r#"{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}"#, Some("inner")),
            ("data: {\"error\":{\"message\":\"too long\"}}\n\n", Some("too long")),
            ("event: error\ndata: {\"message\":\"overloaded\"}\n\ndata: [DONE]\n\n", Some("overloaded")),
            (": hi\n\ndata: plain words\n\n", Some("plain words")),
            // https://github.com/charmbracelet/crush/issues/279
            (
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"object\":\"error\",\"message\":\"Unexpected role\"}","provider_name":"Mistral"}}}"#,
                Some("Provider returned error: Unexpected role"),
            ),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":{"error":{"message":"inner"}}}}}"#,
                Some("Provider returned error: inner"),
            ),
            (
                r#"{"error":{"message":"Rate limited: plain","metadata":{"raw":"plain","headers":{}}}}"#,
                Some("Rate limited: plain"),
            ),
            ("data:\n\n", None),
            (nginx, Some("502 Bad Gateway nginx")),
            (
                "<!DOCTYPE html><title>Only &amp; this</title><script>var a = '<b>';</script>",
                Some("Only & this"),
            ),
            ("<p>a &lt;b&gt; c<!-- <i>no</i> --> d</p>", Some("a <b> c d")),
            ("<style>p { color: red", Some("an HTML page without text")),
            ("<p>half <b", Some("half")),
            ("<html></html>", Some("an HTML page without text")),
            ("< no page", None),
            ("plain text", None),
            ("", None),
        ] {
            assert_eq!(message_in_body(body).as_deref(), words, "{body}");
        }
        let deep = "{\"error\":".repeat(100_000);
        assert_eq!(message_in_body(&deep), None);
        assert!(message_in_body(&"<b>".repeat(100_000)).is_some());
    }
}
