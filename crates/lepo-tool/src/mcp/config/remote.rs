//! The address and the headers of a remote server in `mcp.json`.

use url::Url;

use super::mistake::{EntryError, mistake};

/// Headers reserved for the protocol.
const RESERVED: &[&str] = &[
    "accept",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// Parses an http or https URL; `key` is for error messages.
pub(super) fn address(key: &str, text: &str) -> std::result::Result<Url, EntryError> {
    let hint = "a `url` is like https://mcp.example.com/mcp";
    match Url::parse(text.trim()) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            mistake(format!("`{key}` is neither http nor https"), hint)
        }
        Ok(url) if url.host_str().is_none_or(str::is_empty) => {
            mistake(format!("`{key}` names no host"), hint)
        }
        Ok(url) => Ok(url),
        Err(_) => mistake(format!("`{key}` is not an address"), hint),
    }
}

pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// Checks that a header's name is a token (RFC 9110, 5.6.2) and that its value has no control characters.
pub(super) fn check_header(key: &str, name: &str, value: &str) -> std::result::Result<(), EntryError> {
    let hint = "the entries of a server with a `url` are sent as HTTP headers";
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        return mistake(format!("`{key}`: {name:?} is not a valid header name"), hint);
    }
    if !value.chars().all(|c| c == '\t' || (' '..='~').contains(&c)) {
        return mistake(format!("`{key}`: the value of {name:?} cannot be sent as a header"), hint);
    }
    Ok(())
}
