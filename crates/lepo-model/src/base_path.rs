//! Finds the `base_url` that the user meant, if the path of the configured one is too long or too short.

use reqwest::Url;

/// Endpoints that users configure instead of the address above them.
const ENDPOINTS: &[&[&str]] = &[
    &["chat", "completions"],
    &["completions"],
    &["responses"],
    &["messages"],
    &["models"],
    &["embeddings"],
    &["api", "chat"],
    &["api", "generate"],
    &["api", "tags"],
    &["api"],
];

/// Returns the address that `base` evidently means, for an API with this path; `None` if nothing is evident.
pub(super) fn intended_url(base: &Url, path: &[&str]) -> Option<Url> {
    let mut segments: Vec<&str> = base.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    let is_ollama = path.first() == Some(&"api");
    let endpoint = ENDPOINTS.iter().find(|endpoint| segments.ends_with(endpoint));
    match (endpoint, segments.last()) {
        (Some(endpoint), _) => segments.truncate(segments.len() - endpoint.len()),
        // Ollama has its own API at the root, and OpenAI's below /v1.
        (None, Some(&"v1")) if is_ollama => {
            segments.pop();
        }
        (None, _)
            if is_ollama || path.first() == Some(&"v1") || segments.iter().any(|word| is_version(word)) =>
        {
            return None;
        }
        (None, _) => segments.push("v1"),
    }
    let mut url = base.clone();
    url.path_segments_mut().ok()?.clear().extend(segments);
    (url != *base).then_some(url)
}

/// Formats a URL without user, password, query and fragment, so that it can be printed.
pub(super) fn redacted_url(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path().trim_end_matches('/'))
}

/// Whether a segment is like `v1` or `v1beta`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_that_was_meant_is_found_where_it_is_plain() {
        const CHAT: &[&str] = &["chat", "completions"];
        const MESSAGES: &[&str] = &["v1", "messages"];
        const OLLAMA: &[&str] = &["api", "chat"];
        for (base, path, expected) in [
            ("http://a/v1/chat/completions", CHAT, Some("http://a/v1")),
            ("http://a/v1/responses", CHAT, Some("http://a/v1")),
            ("http://a/v1/models", CHAT, Some("http://a/v1")),
            ("http://a", CHAT, Some("http://a/v1")),
            ("http://a/", &["responses"], Some("http://a/v1")),
            ("http://a/proxy", CHAT, Some("http://a/proxy/v1")),
            ("http://a/v1", CHAT, None),
            ("http://a/api/paas/v4", CHAT, None),
            ("http://a/v1beta/openai", CHAT, None),
            ("http://a/v1/messages", MESSAGES, Some("http://a/v1")),
            ("http://a/v1", MESSAGES, None),
            ("http://a", MESSAGES, None),
            ("http://a/v1", OLLAMA, Some("http://a/")),
            ("http://a/api", OLLAMA, Some("http://a/")),
            ("http://a/api/chat", OLLAMA, Some("http://a/")),
            ("http://a", OLLAMA, None),
        ] {
            let found = intended_url(&Url::parse(base).unwrap(), path);
            assert_eq!(found.as_ref().map(Url::as_str), expected, "{base}");
        }
    }
}
