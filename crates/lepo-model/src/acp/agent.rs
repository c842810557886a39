//! A running agent: its process, the messages to and from it, and its capabilities.

use std::any::Any;
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::agent_types::{AgentCommand, AgentSandboxer, SandboxedAgent};
use crate::config::ModelConfig;
use crate::notice::ModelNotice;
use crate::process::{ModelProcess, not_started};
use crate::start::CompareFiles;
use lepo_acp::client::{self, AgentCapabilities};
use lepo_acp::lines::{BoundedLine, LineBuffer};
use lepo_acp::permission;
use lepo_acp::request::ClientRequest;
use lepo_acp::rpc::{self, RpcError, RpcMessage};
use lepo_base::error::{Error, Result};
use lepo_base::keyword::Keyword;
use lepo_process::{ConfiguredProgram, Program, StartFolder};

/// Longest line from an agent, in bytes.
const LONGEST: usize = 16 << 20;

/// Most messages of a read that may wait: a flood terminates the agent.
const WAITING: usize = 100_000;

pub struct AgentProcess {
    /// Name of its program, for messages.
    pub name: String,
    /// Command that started it.
    pub command: Vec<String>,
    /// The folder that it works in.
    pub dir: PathBuf,
    /// The folder in which it started.
    pub start: StartFolder,
    /// Its open sessions.
    pub open: HashSet<String>,
    pub can: AgentCapabilities,
    process: ModelProcess,
    lines: LineBuffer,
    queued: VecDeque<RpcMessage>,
    next: u64,
    idle: Duration,
    /// The sandbox. A later field than the process, so that it is dropped after it.
    sandbox_guard: Option<AgentSandboxGuard>,
}

/// The sandbox of an agent.
struct AgentSandboxGuard {
    description: String,
    _rest: Box<dyn Any + Send>,
}

/// Parameters for starting an agent.
#[derive(Clone, Copy)]
pub struct AgentLaunch<'s> {
    pub config: &'s ModelConfig,
    /// The folder that it works in.
    pub dir: &'s Path,
    /// The folder in which its program starts.
    pub start: &'s StartFolder,
    /// Compares its files right before it starts.
    pub compare: &'s CompareFiles,
    /// Longest silence.
    pub idle: Duration,
    /// Puts it into a sandbox.
    pub sandboxer: Option<&'s dyn AgentSandboxer>,
}

impl AgentLaunch<'_> {
    /// Returns the program, its sandbox, and a notice for the user.
    async fn program(self) -> Result<(Program, Option<AgentSandboxGuard>, Option<ModelNotice>)> {
        let ModelConfig { name, command, sandbox, .. } = self.config;
        let Some((program, arguments)) = command.split_first() else {
            return Err(Error::usage("the model has no `command`"));
        };
        let Some(sandbox) = sandbox else {
            let check = |dir: &Path| (self.compare)(command, dir);
            let prepared =
                ConfiguredProgram::new(program.as_ref(), self.dir, self.start).args(arguments).prepare(check);
            let prepared = prepared.map_err(|error| not_started(program, &error))?;
            return Ok((prepared.with_stdin(), None, None));
        };
        let Some(sandboxer) = self.sandboxer else {
            let what = format!(
                "{name} cannot be started here: it needs a sandbox with access \
                `{}`",
                sandbox.access.as_str()
            );
            return Err(Error::usage(what));
        };
        let held = AgentCommand { model: name, command, sandbox, dir: self.dir, start: self.start };
        let SandboxedAgent { program, description, note, rest } = sandboxer.sandbox_agent(held).await?;
        Ok((program.with_stdin(), Some(AgentSandboxGuard { description, _rest: rest }), note))
    }
}

impl AgentProcess {
    /// Starts an agent in a folder and initialises it; also returns a notice for the user.
    pub async fn start(starting: AgentLaunch<'_>) -> Result<(AgentProcess, Option<ModelNotice>)> {
        let (program, held, note) = starting.program().await?;
        let command = &starting.config.command;
        let name = command.first().cloned().unwrap_or_default();
        let process = ModelProcess::start(&name, program)?;
        let mut agent = AgentProcess {
            name,
            command: command.clone(),
            dir: starting.dir.to_path_buf(),
            start: starting.start.clone(),
            open: HashSet::new(),
            can: AgentCapabilities::default(),
            process,
            lines: LineBuffer::new(LONGEST),
            queued: VecDeque::new(),
            next: 0,
            idle: starting.idle,
            sandbox_guard: held,
        };
        agent.hello().await.map_err(|error| match agent.sandbox_guard {
            Some(_) => error
                .hint("in its sandbox it sees the system, its folder, `sandbox_home` and sandbox.read_only"),
            None => error,
        })?;
        Ok((agent, note))
    }

    async fn hello(&mut self) -> Result<()> {
        let agent = self;
        let reply = agent.call(&client::hello("lepo", env!("CARGO_PKG_VERSION"))).await?;
        agent.can = AgentCapabilities::read(&reply);
        if agent.can.version != lepo_acp::VERSION {
            return Err(Error::remote(format!(
                "{} speaks version {} of the Agent Client Protocol, not {}",
                agent.name,
                agent.can.version,
                lepo_acp::VERSION
            )));
        }
        Ok(())
    }

    /// Describes the sandbox.
    pub fn sandbox_label(&self) -> Option<&str> {
        self.sandbox_guard.as_ref().map(|held| held.description.as_str())
    }

    pub fn is_alive(&mut self) -> bool {
        self.process.is_alive()
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, request: &ClientRequest) -> u64 {
        let id = self.next;
        self.next += 1;
        self.line(rpc::request_line(id, request));
        id
    }

    fn line(&mut self, mut line: String) {
        tracing::debug!(agent = self.name, line, "to the agent");
        line.push('\n');
        self.process.send_more(Bytes::from(line));
    }

    pub fn answer(&mut self, id: &Value, result: std::result::Result<Value, RpcError>) {
        self.line(rpc::answer_line(id, result));
    }

    /// Asks the agent to end the turn of a session, if that can be sent without waiting.
    pub fn cancel(&mut self, session: &str) {
        self.process.send_now(&format!("{}\n", client::cancel(session)));
    }

    /// Returns the next message; fails if the agent has exited.
    pub async fn next(&mut self) -> Result<RpcMessage> {
        loop {
            if let Some(message) = self.queued.pop_front() {
                return Ok(message);
            }
            let Some(bytes) = self.process.read(self.idle).await? else {
                return Err(self.process.exit_error());
            };
            let (came, mut too_long) = (&mut self.queued, false);
            self.lines.feed(&bytes, |line| match line {
                BoundedLine::Whole(line) => came.extend(RpcMessage::read(line)),
                BoundedLine::TooLong => too_long = true,
            });
            if too_long || self.queued.len() > WAITING {
                return Err(Error::remote(format!("{} sent more than lepo accepts", self.name)));
            }
        }
    }

    /// Whether a message can be read without waiting.
    pub fn has_more(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Sends a request and waits for its answer. Messages in the meantime belong to an old turn.
    pub async fn call(&mut self, request: &ClientRequest) -> Result<Value> {
        let id = self.request(request);
        loop {
            match self.next().await? {
                RpcMessage::Answer { id: of, result } if of == json!(id) => {
                    return result.map_err(|error| self.failure(&error));
                }
                other => self.pass_over(other),
            }
        }
    }

    /// Answers a message that does not belong to a turn of lepo's.
    pub fn pass_over(&mut self, message: RpcMessage) {
        if let RpcMessage::Request { id, method, .. } = message {
            let result = match method == permission::METHOD {
                true => Ok(permission::cancelled()),
                false => Err(RpcError::no_method(&method)),
            };
            self.answer(&id, result);
        }
    }

    /// Converts the agent's error, with its own text.
    pub fn failure(&self, error: &RpcError) -> Error {
        let reason = crate::error_text::excerpt(error.message.as_bytes());
        let detail = error.data.as_ref().and_then(client::error_detail);
        let detail = detail
            .filter(|detail| *detail != error.message)
            .map(|detail| format!(": {}", crate::error_text::excerpt(detail.as_bytes())));
        let failed = Error::remote(format!("{}: {reason}{}", self.name, detail.unwrap_or_default()));
        match error.code == client::SIGN_IN {
            true => failed.hint(format!("sign in with {} itself first", self.name)),
            false => failed,
        }
    }
}
