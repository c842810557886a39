//! Removes the parts of a request that a refusal repeats: the text of a conversation could be taken for the server's.
//!
//! Pydantic adds the rejected value as `input` to each error, as JSON, as JSON within a JSON string, or in Python's
//! notation.

/// The beginnings of such a field, each with the quotes of the strings in its value.
const FIELDS: &[(&str, &[&str])] =
    &[("\\\"input\\\":", &["\\\""]), ("\"input\":", &["\""]), ("'input':", &["'", "\""])];

/// Replaces the value of each field `input` that is an object, a list or a string by `null`.
pub(super) fn without_echo(body: String) -> String {
    FIELDS.iter().fold(body, |body, (field, quotes)| {
        if !body.contains(field) {
            return body;
        }
        let mut cleaned = String::with_capacity(body.len());
        let mut rest = body.as_str();
        while let Some((before, behind)) = rest.split_once(field) {
            cleaned.extend([before, field]);
            let value = behind.trim_start();
            let is_echo =
                value.starts_with(['{', '[']) || quotes.iter().any(|quote| value.starts_with(quote));
            rest = match is_echo {
                true => {
                    cleaned.push_str(" null");
                    after_value(value, quotes)
                }
                false => behind,
            };
        }
        cleaned + rest
    })
}

/// Returns the text after an object, a list or a string; an empty text if its end is missing.
fn after_value<'t>(text: &'t str, quotes: &[&str]) -> &'t str {
    let (mut rest, mut depth, mut open) = (text, 0_usize, None);
    while !rest.is_empty() {
        let quote = quotes.iter().copied().find(|quote| rest.starts_with(quote));
        let mut length = quote.or_else(|| rest.get(..rest.ceil_char_boundary(1))).map_or(0, str::len);
        match (open, quote) {
            (Some(begun), Some(quote)) if begun == quote => open = None,
            (None, Some(quote)) => open = Some(quote),
            (None, None) if rest.starts_with(['{', '[']) => depth += 1,
            (None, None) if rest.starts_with(['}', ']']) => depth = depth.saturating_sub(1),
            // An escaped character; within JSON in a string, the backslash and the quote have one of their own.
            (Some(_), None) if rest.starts_with("\\\\\\\"") => length = 4,
            (Some(_), None) if rest.starts_with('\\') => length = rest.ceil_char_boundary(2),
            _ => {}
        }
        rest = rest.get(length..).unwrap_or_default();
        if open.is_none() && depth == 0 {
            break;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_request_is_removed() {
        for (body, expected) in [
            (
                r#"[{"msg":"Field required","input":{"messages":[{"content":"a } \" ] b"}]},"loc":["a"]}]"#,
                r#"[{"msg":"Field required","input": null,"loc":["a"]}]"#,
            ),
            (
                r#"[{'loc': ('body',), 'msg': 'no', 'input': {'content': "it's {", 'b': 'a\'b}'}}]"#,
                r#"[{'loc': ('body',), 'msg': 'no', 'input': null}]"#,
            ),
            (
                r#"{"message":"[{\"msg\":\"no\",\"input\":{\"content\":\"a \\\" } b\"},\"type\":\"x\"}]"}"#,
                r#"{"message":"[{\"msg\":\"no\",\"input\": null,\"type\":\"x\"}]"}"#,
            ),
            (r#"{"input":"text","msg":"no"}"#, r#"{"input": null,"msg":"no"}"#),
            ("{'input': [1, [2], {}], 'input': 'a'} end", "{'input': null, 'input': null} end"),
            (r#"cut: {"input":{"messages":["#, r#"cut: {"input": null"#),
            ("Invalid 'input': string too long.", "Invalid 'input': string too long."),
            (r#"{"input":5,"msg":"no"}"#, r#"{"input":5,"msg":"no"}"#),
            ("another text", "another text"),
        ] {
            assert_eq!(without_echo(body.to_string()), expected, "{body}");
        }
    }
}
