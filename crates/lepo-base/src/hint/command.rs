//! Commands in hints, and their form in each frontend.

use std::borrow::Cow;

/// The frontend in which the user reads a hint, which decides how commands are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintTarget<'a> {
    /// A shell, with the quoted options `-c` and `-s` of the command line, so that commands find the same store.
    Shell(Option<&'a str>),
    /// The prompt of a session.
    Session,
}

impl HintTarget<'_> {
    /// A shell whose command line had neither.
    pub const SHELL: HintTarget<'static> = HintTarget::Shell(None);
}

/// A command or an option in a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintCommand {
    /// Asks a first question.
    Ask,
    /// Continues an unfinished turn.
    Resume(ResumeCommand),
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
pub struct ResumeCommand {
    act: ResumeAction,
    models: Vec<(&'static str, String)>,
    tail: Option<String>,
    /// A limit option and its value.
    limit: Option<(&'static str, String)>,
}

/// The ways to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeAction {
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
pub(super) enum RenderedCommand {
    Command(String),
    Text(String),
}

impl HintCommand {
    /// Formats the command for this frontend.
    pub(super) fn render(&self, at: HintTarget<'_>) -> RenderedCommand {
        let options = match at {
            HintTarget::Shell(options) => options,
            HintTarget::Session => {
                if let Some(words) = self.in_session() {
                    return RenderedCommand::Text(words);
                }
                None
            }
        };
        let words = match self {
            HintCommand::Ask => "do QUESTION".to_string(),
            HintCommand::Resume(resume) => resume.args(),
            HintCommand::Models => "model ls".to_string(),
            HintCommand::Tools => "do --list-tools".to_string(),
            HintCommand::List => "ls".to_string(),
            HintCommand::Prompt(name) => format!("do -T {} WORDS...", quoted(name)),
            HintCommand::Lepo(words) => words.clone(),
            HintCommand::OtherModel => return RenderedCommand::Text("-m NAME".to_string()),
            HintCommand::Context => return RenderedCommand::Text("--context FILE".to_string()),
            HintCommand::Tail => return RenderedCommand::Text("--tail".to_string()),
        };
        RenderedCommand::Command(match options {
            Some(options) => format!("lepo {options} {words}"),
            None => format!("lepo {words}"),
        })
    }

    /// Returns the form in a session; `None` for a command that only a shell has.
    fn in_session(&self) -> Option<String> {
        let words = match self {
            HintCommand::Ask => "type a question",
            // A session's limits are fixed at its start.
            HintCommand::Resume(ResumeCommand { act: ResumeAction::Retry, limit: None, .. }) => "/retry",
            HintCommand::Resume(ResumeCommand { act: ResumeAction::Compact, .. }) => "/compact",
            HintCommand::OtherModel => "/model NAME",
            HintCommand::Models => "/set-model",
            HintCommand::Tools => "/mcp",
            HintCommand::List => "/ls",
            HintCommand::Context => "/file PATH",
            HintCommand::Tail => "/tail",
            HintCommand::Prompt(name) => return Some(format!("/{name} WORDS...")),
            HintCommand::Resume(_) | HintCommand::Lepo(_) => return None,
        };
        Some(words.to_string())
    }
}

impl ResumeCommand {
    /// Creates a retry with another limit: an option, and its value.
    pub fn retry_within(option: &'static str, limit: String) -> ResumeCommand {
        ResumeCommand {
            act: ResumeAction::Retry,
            models: Vec::new(),
            tail: None,
            limit: Some((option, limit)),
        }
    }

    /// Sets the branch to continue, so that the branch moves to the new messages.
    pub fn name_branch(&mut self, branch: &str) {
        if matches!(self.act, ResumeAction::Retry | ResumeAction::Approve(_) | ResumeAction::Deny(_)) {
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
        self.act == ResumeAction::Retry
    }

    /// Whether it continues from a summary.
    pub fn is_summary(&self) -> bool {
        self.act == ResumeAction::Compact
    }

    fn args(&self) -> String {
        let mut words = "do".to_string();
        let tail = self.tail.iter().map(|tail| ("--tail", tail));
        for (option, value) in self.models.iter().map(|(option, value)| (*option, value)).chain(tail) {
            words.push_str(&format!(" {option} {}", quoted(value)));
        }
        words.push_str(&match &self.act {
            ResumeAction::Retry => " --retry".to_string(),
            ResumeAction::RetryAll => " --parallel --retry".to_string(),
            ResumeAction::Approve(id) => format!(" --approve {id}"),
            ResumeAction::Deny(id) => format!(" --deny {id}"),
            ResumeAction::Debate(tail) => format!(" --debate --tail {tail}"),
            ResumeAction::Compact => " --compact".to_string(),
            ResumeAction::Recorded => " --recorded".to_string(),
        });
        if let Some((option, limit)) = &self.limit {
            words.push_str(&format!(" {option} {}", quoted(limit)));
        }
        words
    }
}

impl From<ResumeAction> for HintCommand {
    fn from(act: ResumeAction) -> HintCommand {
        HintCommand::Resume(ResumeCommand { act, models: Vec::new(), tail: None, limit: None })
    }
}

impl From<ResumeCommand> for HintCommand {
    fn from(resume: ResumeCommand) -> HintCommand {
        HintCommand::Resume(resume)
    }
}

/// Quotes an argument of a command in a hint for a shell.
pub fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}
