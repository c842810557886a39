//! Addresses of model servers: valid values of `base_url`, and all forms of `OLLAMA_HOST`.

use url::{Host, Url};

/// Normalises a `base_url`: without trailing slashes; or returns what is invalid.
///
/// Valid is http or https with a host, without user or password (a key has its own setting and is never logged),
/// query or fragment (paths are appended).
pub fn base_url(text: &str) -> Result<String, &'static str> {
    let url = Url::parse(text.trim()).map_err(|_| "is not a URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("is neither http nor https");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("has no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user or password in it");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("has a query or a fragment");
    }
    Ok(url.as_str().trim_end_matches('/').to_string())
}

/// The form of a `base_url`, for hints.
pub const BASE_URL_FORM: &str =
    "a base URL is like http://localhost:8080/v1: http or https, no user, no query";

/// Parses a value of `OLLAMA_HOST` as Ollama's own client does (`envconfig.Host`): `host`, `host:port`, `:port`,
/// `[v6]:port`, a URL; the port is 11434, or the default of the scheme if one is given. A wildcard listen address
/// means this machine.
pub fn ollama_url(host: &str) -> Result<String, &'static str> {
    let text = host.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest, port) = match text.split_once("://") {
        None => ("http", text, 11434),
        Some(("https", rest)) => ("https", rest, 443),
        Some(("http", rest)) => ("http", rest, 80),
        Some(_) => return Err("is neither http nor https"),
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let authority = match authority {
        "" => "127.0.0.1".to_string(),
        v6 if v6.parse::<std::net::Ipv6Addr>().is_ok() => format!("[{v6}]"),
        port if port.starts_with(':') => format!("127.0.0.1{port}"),
        other => other.to_string(),
    };
    let mut url =
        Url::parse(&base_url(&format!("{scheme}://{authority}/{path}"))?).map_err(|_| "is not an address")?;
    let here = match url.host() {
        Some(Host::Ipv4(ip)) if ip.is_unspecified() => "127.0.0.1",
        Some(Host::Ipv6(ip)) if ip.is_unspecified() => "[::1]",
        _ => "",
    };
    if !here.is_empty() {
        url.set_host(Some(here)).map_err(|_| "is not an address")?;
    }
    // `Url` drops the default port of the scheme; without a port in the text, it is Ollama's.
    let named = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !named {
        url.set_port(Some(port)).map_err(|()| "is not an address")?;
    }
    Ok(url.as_str().trim_end_matches('/').to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls() {
        let table = [
            ("http://localhost:8080/v1/", Ok("http://localhost:8080/v1")),
            ("https://api.openai.com/v1", Ok("https://api.openai.com/v1")),
            ("HTTP://Example.COM", Ok("http://example.com")),
            ("http://[::1]:1234//", Ok("http://[::1]:1234")),
            ("localhost:8080", Err("is neither http nor https")),
            ("ftp://host/", Err("is neither http nor https")),
            ("http://", Err("is not a URL")),
            ("http://user@host/", Err("has a user or password in it")),
            ("http://:secret@host/", Err("has a user or password in it")),
            ("http://host/?key=1", Err("has a query or a fragment")),
            ("http://host/#x", Err("has a query or a fragment")),
            ("http://host:99999/", Err("is not a URL")),
            ("not a url", Err("is not a URL")),
        ];
        for (text, wanted) in table {
            assert_eq!(base_url(text).as_deref().map_err(|e| *e), wanted, "{text}");
        }
    }

    #[test]
    fn every_form_of_ollama_host() {
        let table = [
            ("", "http://127.0.0.1:11434"),
            ("1.2.3.4", "http://1.2.3.4:11434"),
            ("1.2.3.4:8080", "http://1.2.3.4:8080"),
            ("host:80", "http://host"),
            ("host", "http://host:11434"),
            (":8080", "http://127.0.0.1:8080"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("[::]:5000", "http://[::1]:5000"),
            ("http://host", "http://host"),
            ("https://host", "https://host"),
            ("https://host:8443", "https://host:8443"),
            ("https://host/ollama/", "https://host/ollama"),
            ("host:8080/path", "http://host:8080/path"),
            (" \"host\" ", "http://host:11434"),
        ];
        for (text, wanted) in table {
            assert_eq!(ollama_url(text).as_deref(), Ok(wanted), "{text}");
        }
        for text in ["ftp://host", "user:pass@host", "host:99999"] {
            assert!(ollama_url(text).is_err(), "{text}");
        }
    }
}
