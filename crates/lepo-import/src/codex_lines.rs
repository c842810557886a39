//! Lines of a Codex log that are shortened before they are scanned: most bytes of a long log are copies of it.

use memchr::memmem::find;

/// Bytes of a line in which its type is looked for.
const HEAD: usize = 200;

/// Records that no message is in.
const PASSED: [&[u8]; 4] =
    [b"world_state\"", b"token_usage_record\"", b"ghost_snapshot\"", b"inter_agent_communication\""];

/// The copy of the conversation in a compaction. In a string its quotes would be escaped.
const COPY: &[u8] = b",\"replacement_history\":[";

/// Leaves of a line as much as is read of it; none of a record that is stepped over.
pub fn trim(line: &mut [u8]) -> usize {
    let head = line.get(..HEAD.min(line.len())).unwrap_or_default();
    let Some(kind) = find(head, b"\"type\":\"") else { return line.len() };
    // If the payload stands first, this is its type.
    if find(head, b"\"payload\"").is_some_and(|payload| payload < kind) {
        return line.len();
    }
    let kind = head.get(kind + 8..).unwrap_or_default();
    if PASSED.iter().any(|passed| kind.starts_with(passed)) {
        return 0;
    }
    if kind.starts_with(b"compacted\"")
        && find(head, b"\"message\"").is_some()
        && let Some(at) = find(line, COPY)
        && let Some(end) = line.get_mut(at..at + 2)
    {
        end.copy_from_slice(b"}}");
        return at + 2;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_copies_and_records_without_messages_are_left_out() {
        let whole = |line: &str| (line.to_string(), line.len());
        for (line, left) in [
            whole(r#"{"timestamp":"t","type":"response_item","payload":{"type":"message"}}"#),
            (r#"{"timestamp":"t","ordinal":7,"type":"world_state","payload":{"x":1}}"#.into(), 0),
            (r#"{"timestamp":"t","type":"token_usage_record","payload":{}}"#.into(), 0),
            whole(r#"{"payload":{"type":"world_state"},"type":"response_item"}"#),
            whole(r#"{"type":"world_state_of_things"}"#),
            whole(r#"{"type":"compacted","payload":{"message":"m"}}"#),
            whole(r#"{"type":"compacted","payload":{"replacement_history":[1],"message":"m"}}"#),
            whole(r#"{"type":"compacted","payload":{"message":"say ,\"replacement_history\":[ so"}}"#),
            whole("no JSON at all"),
        ] {
            let mut bytes = line.clone().into_bytes();
            assert_eq!(trim(&mut bytes), left, "{line}");
            assert!(left == 0 || bytes == line.as_bytes(), "{line}");
        }
        let line = r#"{"timestamp":"t","type":"compacted","payload":{"message":"m","replacement_history":[{"a":1}]}}"#;
        let mut bytes = line.as_bytes().to_vec();
        let left = trim(&mut bytes);
        bytes.truncate(left);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"timestamp":"t","type":"compacted","payload":{"message":"m"}}"#
        );
    }
}
