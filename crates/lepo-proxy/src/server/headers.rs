//! The headers passed on in both directions: all except the headers of one connection (RFC 9110, 7.6.1) and lepo's changes.

use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use url::Url;

/// Encodings that servers may use; not `deflate`, whose form differs between servers.
const UNPACKED: &[&str] = &["gzip", "x-gzip", "zstd", "br", "identity"];

/// Returns the names of headers that belong to one connection: the standard ones, and all that `Connection` names.
fn connection_headers(headers: &HeaderMap) -> Vec<HeaderName> {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named = named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    let fixed = ["keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"];
    let fixed = fixed.map(HeaderName::from_static).into_iter();
    fixed.chain([CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE]).chain(named).collect()
}

/// Returns the headers of a request for the server. The client of the next connection sets host and length.
pub fn passed_request_headers(headers: &HeaderMap) -> HeaderMap {
    let dropped = connection_headers(headers);
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_ours = [HOST, CONTENT_LENGTH, EXPECT, ACCEPT_ENCODING].contains(name);
        if !is_ours && !dropped.contains(name) {
            passed.append(name, value.clone());
        }
    }
    if let Some(encodings) = unpacked_encodings(headers) {
        passed.insert(ACCEPT_ENCODING, encodings);
    }
    passed
}

/// Returns the accepted encodings of the client, except any that lepo could not unpack.
fn unpacked_encodings(headers: &HeaderMap) -> Option<HeaderValue> {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let known: Vec<&str> = accepted
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|item| {
            let name = item.split(';').next().unwrap_or_default().trim();
            UNPACKED.iter().any(|known| known.eq_ignore_ascii_case(name))
        })
        .collect();
    HeaderValue::from_str(&known.join(", ")).ok().filter(|value| !value.is_empty())
}

/// Returns the headers of an answer for the client. A `Location` below the address that the request went to leads to the
/// proxy again.
pub fn passed_answer_headers(headers: &HeaderMap, upstream: &Url, proxy: &str) -> HeaderMap {
    let dropped = connection_headers(headers);
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| !dropped.contains(name)) {
        let rewritten = (*name == LOCATION).then(|| rewritten_location(value, upstream, proxy)).flatten();
        passed.append(name, rewritten.unwrap_or_else(|| value.clone()));
    }
    passed
}

fn rewritten_location(value: &HeaderValue, upstream: &Url, proxy: &str) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    // A path alone is below the origin, too.
    let to = upstream.join(text).ok().filter(|to| to.origin() == upstream.origin())?;
    let prefix = upstream.path().trim_end_matches('/');
    let path = to.path().strip_prefix(prefix).filter(|rest| rest.starts_with('/')).unwrap_or(to.path());
    let query = to.query().map(|query| format!("?{query}")).unwrap_or_default();
    HeaderValue::from_str(&format!("{proxy}{path}{query}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        let pairs =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        pairs.collect()
    }

    #[test]
    fn what_belongs_to_one_connection_stays_there() {
        let sent = map(&[
            ("host", "127.0.0.1:1"),
            ("connection", "keep-alive, X-Own"),
            ("keep-alive", "timeout=5"),
            ("x-own", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
            ("expect", "100-continue"),
            ("upgrade", "h2c"),
            ("proxy-authorization", "Basic eA=="),
            ("accept-encoding", "gzip;q=1.0, deflate, br, zstd, *"),
            ("anthropic-version", "2023-06-01"),
            ("content-type", "application/json"),
        ]);
        let passed = passed_request_headers(&sent);
        let names: Vec<&str> = passed.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["anthropic-version", "content-type", "accept-encoding"]);
        assert_eq!(passed[ACCEPT_ENCODING], "gzip;q=1.0, br, zstd");
        assert!(
            !passed_request_headers(&map(&[("accept-encoding", "deflate")])).contains_key(ACCEPT_ENCODING)
        );
    }

    #[test]
    fn a_location_of_the_same_origin_leads_to_the_proxy() {
        let upstream = Url::parse("https://up.example/base/").unwrap();
        for (location, rewritten) in [
            ("https://up.example/base/v1/x?y=1", "http://127.0.0.1:9/v1/x?y=1"),
            ("/base/v1/x", "http://127.0.0.1:9/v1/x"),
            ("/other", "http://127.0.0.1:9/other"),
            ("/basement/x", "http://127.0.0.1:9/basement/x"),
            ("https://else.example/base/v1", "https://else.example/base/v1"),
            ("http://up.example/base/v1", "http://up.example/base/v1"),
        ] {
            let passed =
                passed_answer_headers(&map(&[("location", location)]), &upstream, "http://127.0.0.1:9");
            assert_eq!(passed[LOCATION], rewritten, "{location}");
        }
    }
}
