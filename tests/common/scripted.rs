//! A real HTTP server that says exactly what a test tells it to, and writes down what it was asked.
//!
//! Threads and std only: it shares no code with what it tests. One reply answers one request, in order.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};

use super::home::DEADLINE;

/// A part of a reply's body.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Sent at once, as one HTTP chunk.
    Bytes(Vec<u8>),
    /// Nothing more until the test calls [`Server::release`].
    Wait,
    /// The connection is closed here, in the middle.
    Close,
}

/// Reply of the server to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<Piece>,
}

#[allow(dead_code)]
impl Reply {
    /// A reply with this status and body.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Reply { status, headers: Vec::new(), body: vec![Piece::Bytes(body.into())] }
    }

    /// None: the connection is closed once the request was read.
    pub fn none() -> Self {
        Reply::new(0, "")
    }

    /// Status 200 and these pieces.
    pub fn pieces(body: impl IntoIterator<Item = Piece>) -> Self {
        Reply { status: 200, headers: Vec::new(), body: body.into_iter().collect() }
    }

    /// Status 200 and these bytes, each chunk sent by itself.
    pub fn chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Reply::pieces(chunks.into_iter().map(|chunk| Piece::Bytes(chunk.to_vec())))
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With nothing of the body before the test calls [`Server::release`].
    pub fn held(mut self) -> Self {
        self.body.insert(0, Piece::Wait);
        self
    }

    /// With one more piece at the end.
    pub fn then(mut self, piece: Piece) -> Self {
        self.body.push(piece);
        self
    }
}

/// A request that came to the server.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

#[allow(dead_code)]
impl Asked {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the request is JSON")
    }
}

#[derive(Default)]
struct Record {
    script: VecDeque<Reply>,
    asked: Vec<Asked>,
    connections: usize,
    closed: usize,
    begun: usize,
    released: usize,
    over: bool,
}

/// Reply of a server that looks at the request; the number of the request comes first.
type Judge = Box<dyn Fn(usize, &Asked) -> Reply + Send + Sync>;

#[derive(Default)]
struct Shared {
    judge: Option<Judge>,
    record: Mutex<Record>,
    changed: Condvar,
}

impl Shared {
    fn change(&self, act: impl FnOnce(&mut Record)) {
        act(&mut self.record.lock().unwrap());
        self.changed.notify_all();
    }

    fn wait(&self, until: impl Fn(&Record) -> bool) -> (MutexGuard<'_, Record>, bool) {
        let record = self.record.lock().unwrap();
        let (record, timeout) =
            self.changed.wait_timeout_while(record, DEADLINE, |r| !until(r) && !r.over).unwrap();
        (record, !timeout.timed_out())
    }
}

/// A server on a free port of 127.0.0.1, until it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[allow(dead_code)]
impl Server {
    /// Starts a server that gives `replies` in order, and 410 after the last.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let record = Record { script: replies.into_iter().collect(), ..Record::default() };
        Server::serving(Shared { record: Mutex::new(record), ..Shared::default() })
    }

    /// Starts a server that answers each request as `judge` says.
    pub fn judging(judge: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static) -> Self {
        Server::serving(Shared { judge: Some(Box::new(judge)), ..Shared::default() })
    }

    fn serving(shared: Shared) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(shared);
        let accepting = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.record.lock().unwrap().over {
                    return;
                }
                let shared = accepting.clone();
                shared.change(|r| r.connections += 1);
                thread::spawn(move || {
                    // A client that goes away is what some tests are about.
                    let _ = serve(stream, &shared);
                    shared.change(|r| r.closed += 1);
                });
            }
        });
        Server { address, shared }
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.record.lock().unwrap().asked.clone()
    }

    /// The connections that were opened so far.
    pub fn connections(&self) -> usize {
        self.shared.record.lock().unwrap().connections
    }

    /// The requests of which at least one byte has come.
    pub fn begun(&self) -> usize {
        self.shared.record.lock().unwrap().begun
    }

    /// Lets one [`Piece::Wait`] pass.
    pub fn release(&self) {
        self.shared.change(|r| r.released += 1);
    }

    /// Waits until `count` connections are open; panics if they do not come.
    pub fn await_connections(&self, count: usize) {
        assert!(self.shared.wait(|r| r.connections >= count).1, "no connection came");
    }

    /// Waits until `count` requests were read; panics if they do not come.
    pub fn await_asked(&self, count: usize) {
        assert!(self.shared.wait(|r| r.asked.len() >= count).1, "no request came");
    }

    /// Waits until `count` connections have ended; panics if they stay open.
    pub fn await_closed(&self, count: usize) {
        assert!(self.shared.wait(|r| r.closed >= count).1, "the connection stays open");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.change(|r| r.over = true);
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers the requests of one connection until either side closes it.
fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while !reader.fill_buf()?.is_empty() {
        shared.change(|r| r.begun += 1);
        let asked = read_request(&mut reader)?;
        let number = shared.record.lock().unwrap().asked.len();
        shared.change(|r| r.asked.push(asked.clone()));
        let reply = match &shared.judge {
            Some(judge) => Some(judge(number, &asked)),
            None => shared.record.lock().unwrap().script.pop_front(),
        };
        let reply = reply.unwrap_or_else(|| Reply::new(410, "the script is over"));
        if !say(&stream, &reply, shared)? {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
    Ok(())
}

/// Reads one request, its body by `content-length`.
pub fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body)?;
    Ok(Asked { method, path, headers, body })
}

/// Sends a reply; `false` if it closes the connection in the middle.
fn say(mut stream: &TcpStream, reply: &Reply, shared: &Shared) -> std::io::Result<bool> {
    if reply.status == 0 {
        return Ok(false);
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    for piece in &reply.body {
        match piece {
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => {
                let size = format!("{:x}\r\n", bytes.len());
                stream.write_all(&[size.as_bytes(), bytes, b"\r\n"].concat())?;
            }
            Piece::Wait => {
                let (mut record, _) = shared.wait(|r| r.released > 0);
                record.released = record.released.saturating_sub(1);
            }
            Piece::Close => return Ok(false),
        }
    }
    stream.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

/// One event of a stream in OpenAI's form: `{"choices":[{"delta":DELTA,"finish_reason":FINISH}]}`.
pub fn openai_event(delta: Value, finish: Option<&str>) -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {chunk}\n\n")
}

/// A piece of an answer, in OpenAI's form.
pub fn said(text: &str) -> Piece {
    Piece::Bytes(openai_event(json!({ "content": text }), None).into_bytes())
}

/// A piece of thinking, in OpenAI's form.
pub fn thought(text: &str) -> Piece {
    Piece::Bytes(openai_event(json!({ "reasoning_content": text }), None).into_bytes())
}

/// The end of an answer, in OpenAI's form.
pub fn end() -> Piece {
    Piece::Bytes((openai_event(json!({}), Some("stop")) + "data: [DONE]\n\n").into_bytes())
}

/// The stream of an answer that consists of these texts, in OpenAI's form.
pub fn openai_stream<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut stream: String =
        texts.into_iter().map(|text| openai_event(json!({"content": text}), None)).collect();
    stream += &openai_event(json!({}), Some("stop"));
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 34}});
    stream + &format!("data: {usage}\n\ndata: [DONE]\n\n")
}

/// A streamed answer in OpenAI's form.
pub fn openai_sse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Reply {
    let stream = openai_stream(texts);
    let events: Vec<&[u8]> = stream.split_inclusive("\n\n").map(str::as_bytes).collect();
    Reply::chunks(events).header("content-type", "text/event-stream")
}

/// An answer in OpenAI's form that is one document, not streamed.
#[allow(dead_code)]
pub fn openai_json(text: &str) -> Reply {
    let message = json!({"role": "assistant", "content": text});
    let completion = json!({"object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 34}});
    Reply::new(200, completion.to_string()).header("content-type", "application/json")
}

/// A streamed answer in Ollama's form.
pub fn ollama_ndjson<'a>(texts: impl IntoIterator<Item = &'a str>) -> Reply {
    let line = |text: &str| format!("{}\n", json!({"message": {"content": text}, "done": false}));
    let mut lines: Vec<String> = texts.into_iter().map(line).collect();
    let last = json!({"message": {"content": ""}, "done": true, "done_reason": "stop",
        "prompt_eval_count": 12, "eval_count": 34});
    lines.push(format!("{last}\n"));
    Reply::chunks(lines.iter().map(String::as_bytes)).header("content-type", "application/x-ndjson")
}

/// An answer in OpenAI's form of these words and calls: `(name, arguments)`.
pub fn openai_calls(words: &str, calls: &[(&str, &str)]) -> Reply {
    let call = |(i, (name, arguments)): (usize, &(&str, &str))| {
        let function = json!({ "name": name, "arguments": arguments });
        openai_event(
            json!({ "tool_calls": [{ "index": i, "id": format!("x{i}"), "function": function }] }),
            None,
        )
    };
    let mut stream = match words {
        "" => String::new(),
        words => openai_event(json!({ "content": words }), None),
    };
    stream.extend(calls.iter().enumerate().map(call));
    stream += &openai_event(json!({}), Some("tool_calls"));
    Reply::new(200, stream + "data: [DONE]\n\n").header("content-type", "text/event-stream")
}
