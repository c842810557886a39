//! Commands in hints, and their form in each frontend.

use std::borrow::Cow;

/// The frontend in which the user reads a hint, which decides how commands are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'a> {
    /// A shell, with the path of `-s` if the command line had one, so that commands name the same store.
    Shell(Option<&'a str>),
    /// The prompt of a session.
    Session,
}

impl At<'_> {
    /// A shell whose command line had no `-s`.
    pub const SHELL: At<'static> = At::Shell(None);
}

/// A command or an option in a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Asks a first question.
    Ask,
    /// Continues an unfinished turn.
    Resume(Resume),
    /// Asks another model.
    OtherModel,
    /// Lists the models.
    Models,
    /// Lists the tools of MCP servers.
    Tools,
    /// Lists the conversations.
    List,
    /// Sends a text with a question.
    Context,
    /// Continues from another message.
    Tail,
    /// Asks with the prompt of this name.
    Prompt(String),
    /// Any other shell command, without the leading `lepo`.
    Lepo(String),
}

/// A `lepo do` that continues an unfinished turn, with the options that select the same models and the same message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    act: Act,
    models: Vec<(&'static str, String)>,
    tail: Option<String>,
    /// A limit option and its value.
    limit: Option<(&'static str, String)>,
}

/// The ways to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Answers the last question again.
    Retry,
    /// Asks several models the last question again.
    RetryAll,
    /// Runs the request with this id.
    Approve(String),
    /// Denies the request with this id.
    Deny(String),
    /// Continues the debate that ends at this message.
    Debate(String),
    /// Continues from a summary.
    Compact,
    /// Asks a model if no answer is recorded.
    Recorded,
}

/// A formatted command: a command line, or other text.
pub(super) enum Said {
    Command(String),
    Words(String),
}

impl Command {
    /// Formats the command for this frontend.
    pub(super) fn said(&self, at: At<'_>) -> Said {
        let store = match at {
            At::Shell(store) => store,
            At::Session => {
                if let Some(words) = self.in_session() {
                    return Said::Words(words);
                }
                None
            }
        };
        let words = match self {
            Command::Ask => "do QUESTION".to_string(),
            Command::Resume(resume) => resume.words(),
            Command::Models => "model ls".to_string(),
            Command::Tools => "do --list-tools".to_string(),
            Command::List => "ls".to_string(),
            Command::Prompt(name) => format!("do -T {} WORDS...", quoted(name)),
            Command::Lepo(words) => words.clone(),
            Command::OtherModel => return Said::Words("-m NAME".to_string()),
            Command::Context => return Said::Words("--context FILE".to_string()),
            Command::Tail => return Said::Words("--tail".to_string()),
        };
        Said::Command(match store {
            Some(store) => format!("lepo -s {} {words}", quoted(store)),
            None => format!("lepo {words}"),
        })
    }

    /// Returns the form in a session; `None` for a command that only a shell has.
    fn in_session(&self) -> Option<String> {
        let words = match self {
            Command::Ask => "type a question",
            // A session's limits are fixed at its start.
            Command::Resume(Resume { act: Act::Retry, limit: None, .. }) => "/retry",
            Command::Resume(Resume { act: Act::Compact, .. }) => "/compact",
            Command::OtherModel => "/model NAME",
            Command::Models => "/set-model",
            Command::Tools => "/mcp",
            Command::List => "/ls",
            Command::Context => "/file PATH",
            Command::Tail => "/tail",
            Command::Prompt(name) => return Some(format!("/{name} WORDS...")),
            Command::Resume(_) | Command::Lepo(_) => return None,
        };
        Some(words.to_string())
    }
}

impl Resume {
    /// Creates a retry with another limit: an option, and its value.
    pub fn retry_within(option: &'static str, limit: String) -> Resume {
        Resume { act: Act::Retry, models: Vec::new(), tail: None, limit: Some((option, limit)) }
    }

    /// Sets the branch to continue, so that the branch moves to the new messages.
    pub fn name_branch(&mut self, branch: &str) {
        if matches!(self.act, Act::Retry | Act::Approve(_) | Act::Deny(_)) {
            self.tail = Some(branch.to_string());
        }
    }

    /// Sets the question to answer again.
    pub fn name_question(&mut self, question: &str) {
        if self.is_retry() {
            self.tail = Some(question.to_string());
        }
    }

    /// Sets the options that select the models: names and values.
    pub fn name_models(&mut self, options: &[(&'static str, String)]) {
        self.models = options.to_vec();
    }

    /// Whether a single model answers the last question again.
    pub fn is_retry(&self) -> bool {
        self.act == Act::Retry
    }

    fn words(&self) -> String {
        let mut words = "do".to_string();
        let tail = self.tail.iter().map(|tail| ("--tail", tail));
        for (option, value) in self.models.iter().map(|(option, value)| (*option, value)).chain(tail) {
            words.push_str(&format!(" {option} {}", quoted(value)));
        }
        words.push_str(&match &self.act {
            Act::Retry => " --retry".to_string(),
            Act::RetryAll => " --parallel --retry".to_string(),
            Act::Approve(id) => format!(" --approve {id}"),
            Act::Deny(id) => format!(" --deny {id}"),
            Act::Debate(tail) => format!(" --debate --tail {tail}"),
            Act::Compact => " --compact".to_string(),
            Act::Recorded => " --recorded".to_string(),
        });
        if let Some((option, limit)) = &self.limit {
            words.push_str(&format!(" {option} {}", quoted(limit)));
        }
        words
    }
}

impl From<Act> for Command {
    fn from(act: Act) -> Command {
        Command::Resume(Resume { act, models: Vec::new(), tail: None, limit: None })
    }
}

impl From<Resume> for Command {
    fn from(resume: Resume) -> Command {
        Command::Resume(resume)
    }
}

/// Quotes an argument of a command in a hint for a shell.
pub fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}
