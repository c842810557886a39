//! The end of a sign-in on this machine: a listener on the loopback address that waits for the browser.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

use super::client::auth::RedirectParams;

const PATH: &str = "/callback";

/// Longest head of a request, in bytes.
const LONGEST: usize = 16 << 10;

/// Time limit for a connection.
const LIMIT: Duration = Duration::from_secs(10);

/// Waits for the browser's redirect.
pub struct Callback {
    listener: TcpListener,
    port: u16,
}

impl Callback {
    /// Listens on this port of the loopback address; 0 means any free port.
    pub async fn listen(port: u16) -> io::Result<Callback> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Callback { listener, port })
    }

    /// Returns the address to redirect to.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the redirect. Other requests are answered, and the wait continues.
    pub async fn wait(
        &self,
        read: impl Fn(&Url) -> RedirectParams + Send + Sync + 'static,
    ) -> io::Result<RedirectParams> {
        let (sender, mut found) = mpsc::channel(1);
        let read = Arc::new(read);
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => accepted?.0,
                Some(redirected) = found.recv() => return Ok(redirected),
            };
            let (sender, read, address) = (sender.clone(), read.clone(), self.address());
            // Browsers open connections ahead of time and send nothing on them.
            tokio::spawn(async move {
                let answered = tokio::time::timeout(LIMIT, answer(stream, &address, &*read)).await;
                if let Ok(Ok(redirected @ (RedirectParams::Code(..) | RedirectParams::Refused(_)))) = answered
                {
                    let _ = sender.send(redirected).await;
                }
            });
        }
    }
}

async fn answer(
    mut stream: TcpStream,
    address: &str,
    read: &(dyn Fn(&Url) -> RedirectParams + Sync),
) -> io::Result<RedirectParams> {
    let head = head(&mut stream).await?;
    let redirected = target(&head, address).map_or(RedirectParams::Foreign, |url| read(&url));
    let (status, words) = match redirected {
        RedirectParams::Code(..) => {
            ("200 OK", "Done. You can close this page; the terminal shows the result.")
        }
        RedirectParams::Refused(_) => {
            ("200 OK", "The sign-in was refused. You can close this page; the terminal shows why.")
        }
        RedirectParams::Foreign => ("404 Not Found", "This is not the sign-in that lepo is waiting for."),
    };
    let body = format!("<!doctype html><meta charset=utf-8><title>lepo</title><p>{words}\n");
    let page = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: \
         no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await?;
    Ok(redirected)
}

async fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while memchr::memmem::find(&head, b"\r\n\r\n").is_none() {
        match stream.read(&mut buffer).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => head.extend(buffer.iter().take(n)),
        }
        if head.len() > LONGEST {
            return Err(io::Error::other("a request is too long"));
        }
    }
    Ok(head)
}

/// Returns the address that a request asks for, if it is a GET of the callback path with the right `Host`.
fn target(head: &[u8], address: &str) -> Option<Url> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let expected = Url::parse(address).ok()?;
    let host = format!("{}:{}", expected.host_str()?, expected.port()?);
    let named =
        lines.filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("host"));
    // Another `Host` means a web page whose name was rebound to this machine's address.
    let is_ours = named.is_some_and(|(_, value)| value.trim() == host);
    let url = Url::parse(&format!("http://{host}{path}")).ok()?;
    (method == "GET" && is_ours && path.starts_with('/') && url.path() == PATH).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_get_of_the_callback_is_looked_at() {
        let address = "http://127.0.0.1:99/callback";
        for (head, found) in [
            ("GET /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", true),
            ("GET /callback HTTP/1.1\r\nhost:127.0.0.1:99\r\n\r\n", true),
            ("POST /callback?code=c HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", false),
            ("GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", false),
            ("GET /callback?code=c HTTP/1.1\r\nHost: evil.example:99\r\n\r\n", false),
            ("GET /callback?code=c HTTP/1.1\r\n\r\n", false),
            ("GET @evil/callback HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", false),
            ("GET\r\n\r\n", false),
            ("\u{1}\r\n\r\n", false),
        ] {
            assert_eq!(target(head.as_bytes(), address).is_some(), found, "{head:?}");
        }
    }
}
