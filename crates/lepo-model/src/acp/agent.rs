//! A running agent: its process, the messages to and from it, and what it said it can do.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::process::Process;
use lepo_acp::client::{self, Capabilities};
use lepo_acp::lines::{Line, LineBuffer};
use lepo_acp::permission;
use lepo_acp::rpc::{self, Incoming, RpcError};
use lepo_base::error::{Error, Result};

/// The longest line that is taken of an agent.
const LONGEST: usize = 16 << 20;

/// Messages of one read at most that wait: a flood ends the agent.
const WAITING: usize = 100_000;

/// An agent that runs.
pub struct Agent {
    /// The name of its program, for messages.
    pub name: String,
    /// The command that started it.
    pub command: Vec<String>,
    /// The folder it works in.
    pub dir: PathBuf,
    /// Sessions that it has open.
    pub open: HashSet<String>,
    /// Capabilities.
    pub can: Capabilities,
    process: Process,
    lines: LineBuffer,
    came: VecDeque<Incoming>,
    next: u64,
    idle: Duration,
}

impl Agent {
    /// Starts an agent in a folder, and says hello.
    pub async fn start(command: &[String], dir: &Path, idle: Duration) -> Result<Agent> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::usage("the model has no `command`"));
        };
        let process = Process::spawn_in(OsStr::new(program), arguments, true, Some(dir))?;
        let mut agent = Agent {
            name: program.clone(),
            command: command.to_vec(),
            dir: dir.to_path_buf(),
            open: HashSet::new(),
            can: Capabilities::default(),
            process,
            lines: LineBuffer::new(LONGEST),
            came: VecDeque::new(),
            next: 0,
            idle,
        };
        let told = agent.call("initialize", &client::hello("lepo", env!("CARGO_PKG_VERSION"))).await?;
        agent.can = Capabilities::read(&told);
        if agent.can.version != lepo_acp::VERSION {
            return Err(Error::remote(format!(
                "{} speaks version {} of the Agent Client Protocol, not {}",
                agent.name,
                agent.can.version,
                lepo_acp::VERSION
            )));
        }
        Ok(agent)
    }

    /// True if it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.process.is_alive()
    }

    /// Sends a request; its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.line(rpc::request(id, method, params));
        id
    }

    /// Sends a line.
    fn line(&mut self, mut line: String) {
        tracing::debug!(agent = self.name, line, "to the agent");
        line.push('\n');
        self.process.send_more(Bytes::from(line));
    }

    /// Answers a request of the agent.
    pub fn answer(&mut self, id: &Value, result: std::result::Result<Value, RpcError>) {
        self.line(rpc::answer_line(id, result));
    }

    /// Asks it to end the turn of a session, as far as that can be said without waiting.
    pub fn cancel(&mut self, session: &str) {
        self.process.send_now(&format!("{}\n", client::cancel(session)));
    }

    /// The next message, or that the agent has ended.
    pub async fn next(&mut self) -> Result<Incoming> {
        loop {
            if let Some(message) = self.came.pop_front() {
                return Ok(message);
            }
            let Some(bytes) = self.process.read(self.idle).await? else { return Err(self.process.ended()) };
            let (came, mut too_long) = (&mut self.came, false);
            self.lines.feed(&bytes, |line| match line {
                Line::Whole(line) => came.extend(Incoming::read(line)),
                Line::TooLong => too_long = true,
            });
            if too_long || self.came.len() > WAITING {
                return Err(Error::remote(format!("{} sends more than lepo takes", self.name)));
            }
        }
    }

    /// True if messages are at hand.
    pub fn has_more(&self) -> bool {
        !self.came.is_empty()
    }

    /// Sends a request and waits for its answer. What comes meanwhile is of an old turn.
    pub async fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.request(method, params);
        loop {
            match self.next().await? {
                Incoming::Answer { id: of, result } if of == json!(id) => {
                    return result.map_err(|error| self.failure(&error));
                }
                other => self.pass_over(other),
            }
        }
    }

    /// Answers what belongs to no turn of lepo's.
    pub fn pass_over(&mut self, message: Incoming) {
        if let Incoming::Request { id, method, .. } = message {
            let result = match method == permission::METHOD {
                true => Ok(permission::cancelled()),
                false => Err(RpcError::no_method(&method)),
            };
            self.answer(&id, result);
        }
    }

    /// The agent's error, in its own words.
    pub fn failure(&self, error: &RpcError) -> Error {
        let words = crate::error_text::excerpt(error.message.as_bytes());
        let detail = error.data.as_ref().and_then(client::words);
        let detail = detail
            .filter(|detail| *detail != error.message)
            .map(|detail| format!(": {}", crate::error_text::excerpt(detail.as_bytes())));
        let failed = Error::remote(format!("{}: {words}{}", self.name, detail.unwrap_or_default()));
        match error.code == client::SIGN_IN {
            true => failed.hint(format!("sign in with {} itself first", self.name)),
            false => failed,
        }
    }
}
