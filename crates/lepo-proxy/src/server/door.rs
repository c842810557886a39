//! Lets in programs of this machine that name the proxy by its address, and no web page.

use hyper::StatusCode;
use hyper::header::{HOST, HeaderMap, ORIGIN, UPGRADE};

use super::refusal::ProxyRefusal;

/// Checks the headers of a request against the port that the proxy listens on.
///
/// A page of a browser sends `Origin`. Another `Host` means a name of the web with this machine's address.
pub fn check_access(headers: &HeaderMap, port: u16) -> Result<(), ProxyRefusal> {
    let forbidden = |message: &str| Err(ProxyRefusal::new(StatusCode::FORBIDDEN, message));
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
    let is_ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(host));
    if !is_ours || hosts.next().is_some() {
        return forbidden("this proxy answers only requests to 127.0.0.1 or localhost, with its port");
    }
    if headers.contains_key(ORIGIN) {
        return forbidden("this proxy does not answer web pages");
    }
    let upgrades = headers.get_all(UPGRADE).iter().filter_map(|value| value.to_str().ok());
    let mut protocols = upgrades.flat_map(|value| value.split(',')).map(str::trim);
    if protocols.any(|protocol| protocol.eq_ignore_ascii_case("websocket")) {
        return Err(ProxyRefusal::new(StatusCode::UPGRADE_REQUIRED, "no websocket here: send a POST"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_other_names_stay_outside() {
        for (headers, status) in [
            (&[("host", "127.0.0.1:80")][..], None),
            (&[("host", "LOCALHOST:80")], None),
            (&[("host", "127.0.0.1:80"), ("upgrade", "h2c")], None),
            (&[("host", "127.0.0.1")], Some(403)),
            (&[("host", "127.0.0.1:81")], Some(403)),
            (&[("host", "[::1]:80")], Some(403)),
            (&[("host", "evil.example:80")], Some(403)),
            (&[("host", "127.0.0.1:80"), ("host", "127.0.0.1:80")], Some(403)),
            (&[], Some(403)),
            (&[("host", "127.0.0.1:80"), ("origin", "null")], Some(403)),
            (&[("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:80")], Some(403)),
            (&[("host", "127.0.0.1:80"), ("upgrade", "foo, WebSocket")], Some(426)),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let found = check_access(&map, 80).err().map(|refusal| refusal.status.as_u16());
            assert_eq!(found, status, "{headers:?}");
        }
    }
}
