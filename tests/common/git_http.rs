//! A real git server over HTTP on loopback: `git http-backend` behind a small CGI server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Serves the bare repositories below a directory, to anybody, until the process ends.
pub struct GitHttp {
    port: u16,
    /// Answers are cut off after so many bytes, and their connection closed.
    cut: Arc<AtomicU64>,
    /// A request came in pieces, without its length.
    pieces: Arc<AtomicBool>,
}

impl GitHttp {
    /// A server; none where git has no `http-backend` or cannot speak HTTP.
    pub fn serve(root: &Path) -> Option<GitHttp> {
        let exec = Command::new("git").arg("--exec-path").output().unwrap();
        let exec = PathBuf::from(String::from_utf8_lossy(&exec.stdout).trim());
        if !exec.join("git-http-backend").exists() || !exec.join("git-remote-http").exists() {
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU64::new(u64::MAX));
        let pieces = Arc::new(AtomicBool::new(false));
        let (root, limit, in_pieces) = (root.to_path_buf(), cut.clone(), pieces.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, limit, in_pieces) = (root.clone(), limit.clone(), in_pieces.clone());
                // A client that was killed, or an answer that is cut, ends one connection.
                std::thread::spawn(move || answer(stream, &root, &limit, &in_pieces));
            }
        });
        Some(GitHttp { port, cut, pieces })
    }

    pub fn url(&self, repository: &str) -> String {
        format!("http://127.0.0.1:{}/{repository}", self.port)
    }

    /// True if a request came in pieces.
    pub fn had_pieces(&self) -> bool {
        self.pieces.load(Ordering::SeqCst)
    }

    /// From now on an answer ends after so many bytes.
    pub fn cut_after(&self, bytes: u64) {
        self.cut.store(bytes, Ordering::SeqCst);
    }
}

fn answer(stream: TcpStream, root: &Path, cut: &AtomicU64, pieces: &AtomicBool) -> Option<()> {
    let mut from = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    from.read_line(&mut first).ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut cgi = Command::new("git");
    cgi.arg("http-backend").env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    cgi.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
    cgi.env("REMOTE_USER", "somebody").env("REMOTE_ADDR", "127.0.0.1");
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "transfer-encoding" => is_chunked = value == "chunked",
            "content-type" => drop(cgi.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(cgi.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(cgi.env("GIT_PROTOCOL", value)),
            "expect" => (&stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?,
            _ => {}
        }
    }
    let mut body = Vec::new();
    if is_chunked {
        pieces.store(true, Ordering::SeqCst);
        loop {
            let mut size = String::new();
            from.read_line(&mut size).ok()?;
            let size = u64::from_str_radix(size.trim(), 16).ok()?;
            from.by_ref().take(size).read_to_end(&mut body).ok()?;
            from.read_line(&mut String::new()).ok()?;
            if size == 0 {
                break;
            }
        }
    } else {
        from.by_ref().take(length).read_to_end(&mut body).ok()?;
    }
    cgi.env("CONTENT_LENGTH", body.len().to_string());
    cgi.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = cgi.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let feeder = std::thread::spawn(move || stdin.write_all(&body));
    let mut response = Vec::new();
    child.stdout.take()?.read_to_end(&mut response).ok()?;
    let _ = (feeder.join(), child.wait());
    let end = response.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&response[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let length = response.len() - end;
    let mut whole = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{head}");
    whole.retain(|c| c != '\0');
    let mut bytes = whole.into_bytes();
    bytes.extend(&response[end..]);
    let kept = usize::try_from(cut.load(Ordering::SeqCst)).unwrap_or(usize::MAX).min(bytes.len());
    (&stream).write_all(&bytes[..kept]).ok()?;
    stream.shutdown(std::net::Shutdown::Both).ok()
}
