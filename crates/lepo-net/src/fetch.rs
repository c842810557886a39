//! Fetches a file from the web for a question: https (http from this machine only), once, up to a size, and never from
//! a private address after a redirect.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url, redirect};
use url::Host;

use crate::public_address::{PublicResolver, is_public_host};
use crate::runtime::current_thread;
use lepo_base::error::{Error, Result, cause};

/// Maximum number of redirects to follow.
const REDIRECTS: usize = 5;
/// Time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Time limit for everything before the body, because headers may arrive a byte at a time.
const HEAD: Duration = Duration::from_secs(60);
/// Time limit between two pieces.
const IDLE: Duration = Duration::from_secs(30);

/// A fetched file.
#[derive(Debug)]
pub struct FetchedFile {
    /// The last part of the URL's path, or the host.
    pub name: String,
    /// Bytes of the response.
    pub bytes: Vec<u8>,
    /// The `Content-Type` of the response, or empty.
    pub content_type: String,
}

/// Whether an argument is a URL to fetch, and not a path.
pub fn is_url(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Fetches a file of at most `limit` bytes. The request runs in a separate thread, so that any caller may block on it.
pub fn fetch(address: &str, limit: u64) -> Result<FetchedFile> {
    let mut bytes = Vec::new();
    let ResponseHead { name, content_type } = fetch_with(address, limit, &mut |piece, _| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(FetchedFile { name, bytes, content_type })
}

/// Receives the pieces of a body, each with the total length, or 0 if unknown.
type BodySink<'t> = &'t mut (dyn FnMut(&[u8], u64) -> Result<()> + Send);

/// Fetches a file that is too large for memory, in pieces.
pub fn fetch_into(address: &str, limit: u64, take: BodySink<'_>) -> Result<()> {
    fetch_with(address, limit, take).map(|_| ())
}

/// The parts of a response other than its body.
struct ResponseHead {
    name: String,
    content_type: String,
}

/// Fetches a file, and returns its name and type.
fn fetch_with(address: &str, limit: u64, take: BodySink<'_>) -> Result<ResponseHead> {
    let url = Url::parse(address).map_err(|_| Error::usage(format!("{address} is not a web address")))?;
    let work = move || current_thread()?.block_on(get(url, limit, HEAD, take));
    std::thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|_| Err(Error::remote("the download ended early")))
}

async fn get(first: Url, limit: u64, head: Duration, take: BodySink<'_>) -> Result<ResponseHead> {
    allowed(&first, &first)?;
    let mut url = first.clone();
    for _ in 0..=REDIRECTS {
        let response = tokio::time::timeout(head, send(&first, &url)).await.unwrap_or_else(|_| {
            let seconds = head.as_secs_f32();
            Err(Error::remote(format!("cannot fetch {}: no response within {seconds} s", redacted_url(&url))))
        })?;
        let Some(target) = redirection(&response) else { return body(&url, response, limit, take).await };
        let target = url
            .join(&target)
            .map_err(|_| Error::remote(format!("{} redirects to an invalid address", redacted_url(&url))))?;
        allowed(&first, &target)?;
        url = target;
    }
    Err(Error::remote(format!("{} redirects in a loop", redacted_url(&first))))
}

/// Checks that a URL may be fetched: https, or http from this machine; after a redirect to another origin, not a
/// private address.
fn allowed(first: &Url, url: &Url) -> Result<()> {
    let led = url.origin() != first.origin();
    let host = url.host();
    let here = host.as_ref().is_some_and(is_this_machine);
    match url.scheme() {
        "https" => {}
        "http" if here => {}
        "http" => {
            return Err(Error::usage(format!(
                "{} is not fetched: http is allowed for this machine only",
                redacted_url(url)
            ))
            .hint("use https, or download it yourself and name the file"));
        }
        _ => return Err(Error::usage(format!("{} is not fetched: it is not https", redacted_url(url)))),
    }
    if led && (here || !host.as_ref().is_some_and(is_public_host)) {
        return Err(Error::remote(format!(
            "{} redirects to {}, a private address, which is not allowed",
            redacted_url(first),
            redacted_url(url)
        )));
    }
    Ok(())
}

async fn send(first: &Url, url: &Url) -> Result<Response> {
    let here = url.host().as_ref().is_some_and(is_this_machine);
    let mut builder = crate::client::client()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .read_timeout(IDLE);
    if here {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    if url.origin() != first.origin() {
        builder = builder.dns_resolver(Arc::new(PublicResolver));
    }
    let failed = |error: reqwest::Error| {
        Error::remote(format!("cannot fetch {}: {}", redacted_url(url), cause(&error.without_url())))
    };
    builder.build().map_err(failed)?.get(url.clone()).send().await.map_err(failed)
}

async fn body(url: &Url, mut response: Response, limit: u64, take: BodySink<'_>) -> Result<ResponseHead> {
    if !response.status().is_success() {
        return Err(Error::remote(format!("{} answered {}", redacted_url(url), response.status())));
    }
    let too_large = || {
        Error::usage(format!("{} is larger than {} MB", redacted_url(url), limit >> 20))
            .hint("download it yourself and attach a part of it")
    };
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let total = response.content_length().unwrap_or_default();
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_string();
    let mut taken = 0;
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            Error::remote(format!("{} was cut off: {}", redacted_url(url), cause(&error.without_url())))
        })?;
        let Some(chunk) = chunk else { break };
        taken += chunk.len() as u64;
        if taken > limit {
            return Err(too_large());
        }
        take(&chunk, total)?;
    }
    let last = url.path_segments().and_then(|mut parts| parts.next_back()).filter(|last| !last.is_empty());
    let name = last.map_or_else(|| url.host_str().unwrap_or("file").to_string(), decoded);
    Ok(ResponseHead { name, content_type })
}

fn redirection(response: &Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    Some(response.headers().get(LOCATION)?.to_str().ok()?.to_owned())
}

/// Decodes a percent-encoded part of a path.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| first == b'%');
        bytes.push(byte.unwrap_or(first));
        rest = after.get(if byte.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Formats a URL without its user, password, query and fragment, which may be secret.
pub fn redacted_url(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.to_canonical().is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn headers_that_come_a_byte_at_a_time_have_an_end() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}/x", listener.local_addr().unwrap())).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nx: ");
            // Far more often than any limit between two pieces.
            while sent.is_ok() {
                std::thread::sleep(Duration::from_millis(5));
                sent = stream.write_all(b"x");
            }
        });
        let mut take = |_: &[u8], _| Ok(());
        let work = get(url, 10, Duration::from_millis(200), &mut take);
        let error = current_thread().unwrap().block_on(work).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("no response within 0.2 s"), "{error}");
    }

    #[test]
    fn only_https_or_this_machine_and_no_way_into_a_private_net() {
        for (first, url, ok) in [
            ("https://a.test/x", "https://a.test/x", true),
            ("https://10.0.0.1/x", "https://10.0.0.1/x", true),
            ("http://127.0.0.1:8/x", "http://127.0.0.1:8/x", true),
            ("http://localhost/x", "http://localhost/x", true),
            ("http://[::1]/x", "http://[::1]/x", true),
            ("http://a.test/x", "http://a.test/x", false),
            ("http://10.0.0.1/x", "http://10.0.0.1/x", false),
            ("ftp://a.test/x", "ftp://a.test/x", false),
            ("https://a.test/x", "https://b.test/y", true),
            ("https://a.test/x", "http://b.test/y", false),
            ("https://a.test/x", "http://127.0.0.1/y", false),
            ("https://a.test/x", "https://localhost/y", false),
            ("https://a.test/x", "https://169.254.169.254/y", false),
            ("https://a.test/x", "https://[fd00::1]/y", false),
            ("https://a.test/x", "https://[::ffff:10.0.0.1]/y", false),
            ("https://a.test/x", "https://1.1.1.1/y", true),
            ("http://127.0.0.1:8/x", "http://127.0.0.1:9/y", false),
            ("http://127.0.0.1:8/x", "http://127.0.0.1:8/y", true),
        ] {
            let parsed = |text| Url::parse(text).unwrap();
            assert_eq!(allowed(&parsed(first), &parsed(url)).is_ok(), ok, "{first} -> {url}");
        }
    }

    #[test]
    fn names_are_decoded() {
        for (part, name) in
            [("a%20b.png", "a b.png"), ("%ea%b0%80.png", "가.png"), ("50%.png", "50%.png"), ("%zz", "%zz")]
        {
            assert_eq!(decoded(part), name);
        }
    }
}
