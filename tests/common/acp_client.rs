//! A client of the Agent Client Protocol, written for the tests: it shares no code with lepo, and checks every message
//! that lepo sends by the protocol's own schema.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::home::{DEADLINE, Home};

/// A client with an agent behind it.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: u64,
    methods: HashMap<u64, String>,
    /// Updates that came so far: the session, and the update.
    pub updates: Vec<(String, Value)>,
    /// Requests of the agent that were not looked at.
    pub asked: Vec<Value>,
    answers: HashMap<u64, VecDeque<Result<Value, Value>>>,
}

impl Client {
    /// Starts `lepo do --acp` in a home, and initializes it.
    pub fn start(home: &Home, args: &[&str]) -> Client {
        let mut client = Client::of(home.detached(&[&["do", "--acp"], args].concat()));
        let answer = client.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        assert_eq!(answer["protocolVersion"], 1, "{answer}");
        client
    }

    /// A client of this command, which is sent nothing yet.
    pub fn of(mut command: Command) -> Client {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                assert!(line.len() <= 1 << 20, "a line of {} bytes", line.len());
                let message = serde_json::from_slice(&line).unwrap_or_else(
                    |error| json!({ "no message": String::from_utf8_lossy(&line), "why": error.to_string() }),
                );
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            child,
            stdin,
            messages,
            next: 1,
            methods: HashMap::new(),
            updates: Vec::new(),
            asked: Vec::new(),
            answers: HashMap::new(),
        }
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request; its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.methods.insert(id, method.to_string());
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.raw(format!("{line}\n").as_bytes());
        id
    }

    /// Says of which method an id is that a test sends by itself.
    pub fn known(&mut self, id: u64, method: &str) {
        self.methods.insert(id, method.to_string());
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        let line = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.raw(format!("{line}\n").as_bytes());
    }

    /// Answers a request of the agent.
    pub fn reply(&mut self, asked: &Value, result: Value) {
        let line = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        self.raw(format!("{line}\n").as_bytes());
    }

    /// Chooses an option of a question for permission.
    pub fn choose(&mut self, asked: &Value, option: &str) {
        self.reply(asked, json!({ "outcome": { "outcome": "selected", "optionId": option } }));
    }

    /// The answer to a request.
    pub fn end(&mut self, id: u64) -> Result<Value, Value> {
        self.until(&format!("an answer to {id}"), |client| client.answers.get_mut(&id)?.pop_front())
    }

    /// The result of a request.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.end(id).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The error of a request.
    pub fn fail(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        match self.end(id) {
            Err(error) => error,
            Ok(result) => panic!("{method}: {result}"),
        }
    }

    /// The next request of the agent.
    pub fn question(&mut self) -> Value {
        self.until("a question", |client| (!client.asked.is_empty()).then(|| client.asked.remove(0)))
    }

    /// Waits for something that messages bring.
    pub fn until<T>(&mut self, what: &str, mut found: impl FnMut(&mut Client) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            match self.messages.recv_timeout(DEADLINE.saturating_sub(begun.elapsed())) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => panic!("{what}: not in time; {:?}", self.updates),
                Err(RecvTimeoutError::Disconnected) => panic!("{what}: the agent ended; {}", self.stderr()),
            }
        }
    }

    fn stderr(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
        }
        text
    }

    fn take(&mut self, message: Value) {
        let id = message["id"].as_u64();
        match message["method"].as_str() {
            Some("session/update") => {
                valid("SessionNotification", &message["params"]);
                let session = message["params"]["sessionId"].as_str().unwrap().to_string();
                self.updates.push((session, message["params"]["update"].clone()));
            }
            Some("session/request_permission") => {
                valid("RequestPermissionRequest", &message["params"]);
                self.asked.push(message);
            }
            Some("$/cancel_request") => valid("CancelRequestNotification", &message["params"]),
            Some(other) => panic!("the agent sends {other}: {message}"),
            None => {
                let method = id.and_then(|id| self.methods.get(&id)).cloned();
                let answer = match message.get("error") {
                    Some(error) => {
                        valid("Error", error);
                        Err(error.clone())
                    }
                    None => {
                        valid(result_of(&method.unwrap_or_else(|| panic!("{message}"))), &message["result"]);
                        Ok(message["result"].clone())
                    }
                };
                valid("AgentResponse", &message);
                // Messages that answer no request of a number stand under the greatest.
                self.answers.entry(id.unwrap_or(u64::MAX)).or_default().push_back(answer);
            }
        }
    }

    /// A new session in a folder; its id.
    pub fn session(&mut self, home: &Home) -> String {
        let answer = self.call("session/new", json!({ "cwd": home.work(), "mcpServers": [] }));
        answer["sessionId"].as_str().unwrap().to_string()
    }

    /// Sends a question; the id of the request.
    pub fn ask(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.begin("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Asks a question and waits for its end; the reason.
    pub fn asks(&mut self, session: &str, text: &str) -> String {
        let id = self.ask(session, text);
        let answer = self.end(id).unwrap_or_else(|error| panic!("{text}: {error}"));
        answer["stopReason"].as_str().unwrap().to_string()
    }

    /// Everything of a kind of chunk that came in a session.
    pub fn said(&self, session: &str, kind: &str) -> String {
        let of_session =
            self.updates.iter().filter(|(of, update)| of == session && update["sessionUpdate"] == kind);
        of_session.map(|(_, update)| update["content"]["text"].as_str().unwrap_or_default()).collect()
    }

    /// The updates of a kind.
    pub fn of_kind(&self, kind: &str) -> Vec<Value> {
        self.updates
            .iter()
            .filter(|(_, update)| update["sessionUpdate"] == kind)
            .map(|(_, update)| update.clone())
            .collect()
    }

    /// The process of the agent.
    pub fn child(&self) -> &Child {
        &self.child
    }

    /// Closes the agent's stdin and waits for its end: the exit code.
    pub fn leave(mut self) -> i32 {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the end of the agent: the exit code.
    pub fn wait(&mut self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
            }
            assert!(begun.elapsed() < DEADLINE, "the agent does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The type of the answer to a method.
fn result_of(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResponse",
        // The answer to a fork is of the unstable part, and the same as to a new session.
        "session/new" | "session/fork" | "_lepo/fork" => "NewSessionResponse",
        "session/load" => "LoadSessionResponse",
        "session/resume" => "ResumeSessionResponse",
        "session/list" => "ListSessionsResponse",
        "session/close" => "CloseSessionResponse",
        "session/prompt" => "PromptResponse",
        "session/set_mode" => "SetSessionModeResponse",
        "session/set_config_option" => "SetSessionConfigOptionResponse",
        other => panic!("no type is known of {other}"),
    }
}

/// Fails unless a value is of a type of the protocol.
pub fn valid(name: &str, value: &Value) {
    static KNOWN: OnceLock<Mutex<HashMap<String, Arc<Validator>>>> = OnceLock::new();
    let compile = || {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/acp/schema.json");
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let one = json!({ "$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"] });
        Arc::new(jsonschema::draft202012::new(&one).unwrap())
    };
    let validator = {
        let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(|lock| lock.into_inner());
        known.entry(name.to_string()).or_insert_with(compile).clone()
    };
    let faults: Vec<String> =
        validator.iter_errors(value).map(|fault| format!("{fault} at {}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "no {name}: {value}\n{}", faults.join("\n"));
}
