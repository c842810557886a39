//! Reads the whole body of a request: at most 100 MB, and the client may not be silent for a minute.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use serde_json::Value;
use tokio::time::timeout;

use super::refusal::ProxyRefusal;

/// Maximum length of a body in bytes.
const MAX_BODY: u64 = 100 << 20;

/// Maximum time without a byte from the client while its request is read.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(60);

/// Reads a body.
pub async fn read_body(mut body: Incoming) -> Result<Bytes, ProxyRefusal> {
    let too_long = || ProxyRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 100 MB");
    if body.size_hint().lower() > MAX_BODY {
        return Err(too_long());
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = next_frame(&mut body).await? {
        if bytes.len() as u64 + frame.len() as u64 > MAX_BODY {
            return Err(too_long());
        }
        bytes.extend_from_slice(&frame);
    }
    Ok(bytes.freeze())
}

async fn next_frame(body: &mut Incoming) -> Result<Option<Bytes>, ProxyRefusal> {
    let silent = |_| ProxyRefusal::new(StatusCode::REQUEST_TIMEOUT, "nothing came for 60 s");
    let torn = |_| ProxyRefusal::new(StatusCode::BAD_REQUEST, "the request ended early");
    let frame = timeout(SILENCE_LIMIT, body.frame()).await.map_err(silent)?;
    Ok(frame.transpose().map_err(torn)?.map(|frame| frame.into_data().unwrap_or_default()))
}

/// Puts a model's real name into a body; the rest stays, byte for byte.
pub fn with_model(body: Bytes, model: &str) -> Bytes {
    let Some((start, end)) = model_range(&body) else { return body };
    let mut out = BytesMut::with_capacity(body.len() + model.len());
    out.extend_from_slice(body.get(..start).unwrap_or_default());
    out.extend_from_slice(Value::from(model).to_string().as_bytes());
    out.extend_from_slice(body.get(end..).unwrap_or_default());
    out.freeze()
}

/// Returns where the value of the outermost field `model` is in a JSON object, with its quotation marks. The last one
/// counts, as for a parser.
fn model_range(body: &[u8]) -> Option<(usize, usize)> {
    let (mut depth, mut is_value, mut is_model, mut found) = (0, false, false, None);
    let mut offset = 0;
    while let Some(byte) = body.get(offset) {
        match byte {
            b'"' => {
                let end = string_end(body, offset)?;
                match (depth, is_value) {
                    (1, false) => is_model = body.get(offset..end) == Some(b"\"model\""),
                    (1, true) if is_model => found = Some((offset, end)),
                    _ => {}
                }
                offset = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b':' if depth == 1 => is_value = true,
            b',' if depth == 1 => is_value = false,
            _ => {}
        }
        offset += 1;
    }
    found
}

/// Returns the offset after a string that begins at `start`.
fn string_end(body: &[u8], start: usize) -> Option<usize> {
    let mut offset = start + 1;
    loop {
        match body.get(offset)? {
            b'"' => return Some(offset + 1),
            b'\\' => offset += 2,
            _ => offset += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_the_model_is_changed() {
        for (body, expected) in [
            (r#"{"model":"a","x":[1.50, "model"]}"#, r#"{"model":"real","x":[1.50, "model"]}"#),
            (r#"{ "x": {"model": "in"}, "model" : "a" }"#, r#"{ "x": {"model": "in"}, "model" : "real" }"#),
            (
                r#"{"x":"\"model\":","y":"model","model":"a\"b"}"#,
                r#"{"x":"\"model\":","y":"model","model":"real"}"#,
            ),
            (r#"{"model":"a","model":"b"}"#, r#"{"model":"a","model":"real"}"#),
            (r#"{"model":1}"#, r#"{"model":1}"#),
            (r#"["model","a"]"#, r#"["model","a"]"#),
            (r#"{"model":"a"#, r#"{"model":"a"#),
        ] {
            assert_eq!(with_model(Bytes::from(body), "real"), Bytes::from(expected), "{body}");
        }
    }
}
