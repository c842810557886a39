//! The commands that hints tell of, and their words at each front.

use std::borrow::Cow;

/// The front at which a hint is read: commands are typed in another form there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'a> {
    /// A shell; with the path of `-s`, where the command line had one, so that commands name the same store.
    Shell(Option<&'a str>),
    /// The prompt of a session.
    Session,
}

impl At<'_> {
    /// A shell whose command line named no store.
    pub const SHELL: At<'static> = At::Shell(None);
}

/// A command, or an option, that a hint tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Asks a first question.
    Ask,
    /// Goes on with what a turn left.
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
    /// Goes on from another message.
    Tail,
    /// Asks with the prompt of this name.
    Prompt(String),
    /// Another command of the shell: its words behind `lepo`.
    Lepo(String),
}

/// A `lepo do` that goes on with what a turn left, and the options with which the same models do it at the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    act: Act,
    models: Vec<(&'static str, String)>,
    tail: Option<String>,
    /// A limit of the command, and its value.
    limit: Option<(&'static str, String)>,
}

/// The ways to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Answers the last question again.
    Retry,
    /// Asks several models the last question again.
    RetryAll,
    /// Carries out the request of this id.
    Approve(String),
    /// Refuses the request of this id.
    Deny(String),
    /// Goes on with the debate that ends here.
    Debate(String),
    /// Goes on from a summary.
    Compact,
    /// Asks a model where no answer is recorded.
    Recorded,
}

/// The words for a command: those of a command line, or others.
pub(super) enum Said {
    Command(String),
    Words(String),
}

impl Command {
    /// Its words at this front.
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

    /// Its words in a session; none for what only a shell has.
    fn in_session(&self) -> Option<String> {
        let words = match self {
            Command::Ask => "type a question",
            // A session has the limits that it began with.
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
    /// Answers the last question again within another limit: an option, and its value.
    pub fn retry_within(option: &'static str, limit: String) -> Resume {
        Resume { act: Act::Retry, models: Vec::new(), tail: None, limit: Some((option, limit)) }
    }

    /// Names the branch on which it goes on, so that the branch moves to what comes.
    pub fn name_branch(&mut self, branch: &str) {
        if matches!(self.act, Act::Retry | Act::Approve(_) | Act::Deny(_)) {
            self.tail = Some(branch.to_string());
        }
    }

    /// Names the question that is answered again.
    pub fn name_question(&mut self, question: &str) {
        if self.is_retry() {
            self.tail = Some(question.to_string());
        }
    }

    /// Has the models of these options do it: each an option, and its value.
    pub fn name_models(&mut self, options: &[(&'static str, String)]) {
        self.models = options.to_vec();
    }

    /// True if the last question is answered again by one model.
    pub fn is_retry(&self) -> bool {
        self.act == Act::Retry
    }

    /// Its words behind `lepo`.
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

/// A word of a command in a hint, as a shell reads it back.
pub fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}
