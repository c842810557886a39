//! A client and a running proxy for these tests. The client shares no code with the proxy: it writes bytes, and reads
//! bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::home::{DEADLINE, Home, Ran, finish};

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(&self.body)))
    }
}

/// Sends bytes to a port of this machine and returns the connection.
pub fn send(port: u16, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// Reads one answer; what is missing of it is no error.
pub fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers = Vec::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.trim_end().split_once(": ").unwrap();
        headers.push((name.to_ascii_lowercase(), value.to_string()));
    }
    let mut body = Vec::new();
    let is = |name: &str, value: &str| headers.iter().any(|(n, v)| n == name && v.contains(value));
    if is("transfer-encoding", "chunked") {
        loop {
            line.clear();
            let _ = reader.read_line(&mut line);
            let Ok(length) = usize::from_str_radix(line.trim(), 16) else { break };
            let mut chunk = vec![0; length + 2];
            if reader.read_exact(&mut chunk).is_err() || length == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    } else {
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(u64::MAX, |(_, length)| length.parse().unwrap());
        let _ = reader.take(length).read_to_end(&mut body);
    }
    Answer { status, headers, body }
}

/// `lepo do --proxy` without a command, until it is dropped.
pub struct Proxy {
    child: Option<Child>,
    pub port: u16,
    pub token: String,
    pub variables: Vec<(String, String)>,
}

impl Proxy {
    /// Starts it in front of a server, with these variables besides.
    pub fn start(home: &Home, upstream: &str, more: &[&str], variables: &[(&str, &str)]) -> Proxy {
        let mut command = home.command(&[&["do", "--proxy", "--upstream", upstream], more].concat());
        command.envs(variables.iter().copied());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut printed = Vec::new();
        while printed.last().is_none_or(|(name, _): &(String, String)| name != "no_proxy") {
            let Some(Ok(line)) = lines.next() else { panic!("{}", finish(child).err) };
            let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
            printed.push((name.to_string(), value.trim_matches('\'').to_string()));
        }
        let value = |name: &str| printed.iter().find(|(other, _)| other == name).unwrap().1.clone();
        let port = value("ANTHROPIC_BASE_URL").rsplit(':').next().unwrap().parse().unwrap();
        Proxy { port, token: value("OPENAI_API_KEY"), variables: printed, child: Some(child) }
    }

    /// Posts a body with the token as key.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        read_answer(&mut self.begin_post(path, body))
    }

    /// Posts a body, and leaves the answer on its way.
    pub fn begin_post(&self, path: &str, body: &Value) -> TcpStream {
        let key = format!("Authorization: Bearer {}\r\nUser-Agent: Probe/1.0 (test)\r\n", self.token);
        send(self.port, &request("POST", path, &format!("127.0.0.1:{}", self.port), &key, &body.to_string()))
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Ends it with a signal, and returns what it said.
    pub fn end(mut self, signal: &str) -> Ran {
        let child = self.child.take().unwrap();
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        finish(child)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A request as bytes; `headers` end their lines themselves.
pub fn request(method: &str, path: &str, host: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
