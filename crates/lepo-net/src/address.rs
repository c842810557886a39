//! Loopback addresses, and connections that need certificates.

use url::Url;

/// Whether a URL's host is this machine; such a request uses no proxy.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether any connection on the path uses TLS: to the server, or to a proxy.
pub fn needs_certificates(url: &Url) -> bool {
    let secure_proxy = || {
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
            .iter()
            .any(|name| lepo_base::env::text(name).is_some_and(|proxy| proxy.starts_with("https:")))
    };
    url.scheme() == "https" || (!is_loopback(url) && secure_proxy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_by_its_name_and_numbers() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://127.8.9.1", true),
            ("http://[::1]/", true),
            ("http://models.localhost", true),
            ("http://localhost.example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
