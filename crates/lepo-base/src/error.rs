//! Errors for the user: what failed, on which object, and what to do about it.
//!
//! The kind alone decides the exit code.

mod server_message;

use std::fmt;

use crate::hint::{Hint, HintTarget, ResumeAction, ResumeCommand};

pub use crate::hint::quoted;
pub use server_message::{message_in_body, message_in_error};

/// A result whose error is readable by the user.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a failure. Each has an exit code, documented in lepo(1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// Something was not found, or a comparison found differences: exit code 1.
    Nothing,
    /// Wrong usage, configuration, address or question: exit code 2.
    Usage,
    /// The model, the network or a tool failed: exit code 3.
    Remote,
    /// The conversation is too long for the model: exit code 3.
    Overflow,
    /// The request exceeds a budget: exit code 3.
    Budget,
    /// No recorded answer matches, and no request may be sent: exit code 3.
    NotRecorded,
    /// A request waits for consent: exit code 4.
    Pending,
    /// Reading or writing the store failed: exit code 5.
    Store,
    /// The user's own program could not be started: the exit code that a shell has for it.
    Program(u8),
    /// Ended by this signal: exit code 128 + n.
    Signal(u8),
}

impl ExitKind {
    /// Returns the exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            ExitKind::Nothing => 1,
            ExitKind::Usage => 2,
            ExitKind::Remote | ExitKind::Overflow | ExitKind::Budget | ExitKind::NotRecorded => 3,
            ExitKind::Pending => 4,
            ExitKind::Store => 5,
            ExitKind::Program(code) => code,
            ExitKind::Signal(n) => 128 + n,
        }
    }

    /// Returns the name used in `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            ExitKind::Nothing => "nothing",
            ExitKind::Usage => "usage",
            ExitKind::Remote => "remote",
            ExitKind::Overflow => "overflow",
            ExitKind::Budget => "budget",
            ExitKind::NotRecorded => "not-recorded",
            ExitKind::Pending => "pending",
            ExitKind::Store => "store",
            ExitKind::Program(_) => "program",
            ExitKind::Signal(_) => "interrupted",
        }
    }
}

/// A failure: in lower case, without a full stop, what failed and on which object; its cause; what to do.
#[derive(Debug)]
pub struct Error {
    /// Decides the exit code.
    pub kind: ExitKind,
    /// The failure and its object.
    pub message: String,
    /// The remedy, if known.
    pub hint: Option<Hint>,
    /// Lines below the message: the things that it counts or quotes.
    rows: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// Whether a server refused the key, or required one.
    of_key: bool,
    /// Whether the connection was refused, so that retrying at once cannot help.
    was_refused: bool,
}

impl Error {
    /// Creates an error of this kind.
    pub fn new(kind: ExitKind, message: impl Into<String>) -> Self {
        Error {
            kind,
            message: message.into(),
            hint: None,
            rows: Vec::new(),
            source: None,
            of_key: false,
            was_refused: false,
        }
    }

    /// Creates an error about something not found (exit code 1).
    pub fn nothing(message: impl Into<String>) -> Self {
        Error::new(ExitKind::Nothing, message)
    }

    /// Creates an error about usage, configuration, an address or a question (exit code 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(ExitKind::Usage, message)
    }

    /// Creates an error of the model, the network or a tool (exit code 3).
    pub fn remote(message: impl Into<String>) -> Self {
        Error::new(ExitKind::Remote, message)
    }

    /// Like [`Error::remote`], with several lines of foreign text: those after the first become rows.
    pub fn remote_lines(text: &str) -> Self {
        let mut lines = text.lines().map(str::to_string);
        Error::remote(lines.next().unwrap_or_default()).rows(lines.collect())
    }

    /// Creates an error about reading or writing the store (exit code 5).
    pub fn store(message: impl Into<String>) -> Self {
        Error::new(ExitKind::Store, message)
    }

    /// Creates the error for an interruption by this signal (exit code 128 + n).
    pub fn interrupted(signal: u8) -> Self {
        Error::new(ExitKind::Signal(signal), "interrupted")
    }

    /// Sets the lines below the message.
    pub fn rows(mut self, rows: Vec<String>) -> Self {
        self.rows = rows;
        self
    }

    /// Sets what to do about it.
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the hint to ask again.
    pub fn ask_again(self) -> Self {
        self.hint(Hint::from("ask again: ").command(ResumeAction::Retry))
    }

    /// Whether the hint suggests answering the last question again.
    pub fn suggests_retry(&self) -> bool {
        self.hint.as_ref().is_some_and(Hint::suggests_retry)
    }

    /// Removes a hint to ask again, where the last question alone cannot be asked again.
    pub fn without_retry(mut self) -> Self {
        self.hint = self.hint.filter(|hint| !hint.suggests_retry());
        self
    }

    /// Changes the commands in the hint that continue the turn.
    pub fn resuming(mut self, change: impl Fn(&mut ResumeCommand)) -> Self {
        self.hint.iter_mut().for_each(|hint| hint.resuming(&change));
        self
    }

    /// Returns the hint in the form for `at`.
    pub fn hint_for(&self, at: HintTarget<'_>) -> Option<String> {
        self.hint.as_ref().map(|hint| hint.render(at))
    }

    /// Marks the error as the refusal of a key.
    pub fn of_key(mut self) -> Self {
        self.of_key = true;
        self
    }

    /// Marks the error as a refused connection.
    pub fn of_refused_connection(mut self) -> Self {
        self.was_refused = true;
        self
    }

    /// Whether the connection was refused: no server listens there.
    pub fn is_of_refused_connection(&self) -> bool {
        self.was_refused
    }

    /// Whether a server refused the key, or required one.
    pub fn is_of_key(&self) -> bool {
        self.of_key
    }

    /// Sets the error that caused this one.
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the error as a JSON document, with the hint in the form for `at`.
    pub fn to_json(&self, at: HintTarget<'_>) -> serde_json::Value {
        let hint = self.hint_for(at);
        serde_json::json!({ "kind": self.kind.as_str(), "message": self.whole_message(), "hint": hint })
    }

    /// Returns the message with its causes, separated by `: ` and the rows, and with its newlines.
    pub fn whole_message(&self) -> String {
        self.render(str::to_string)
    }

    /// Creates an error of `kind` with the text of this one.
    pub fn with_kind(&self, kind: ExitKind) -> Error {
        let Error { hint, rows, of_key, was_refused, .. } = self;
        Error {
            hint: hint.clone(),
            rows: rows.clone(),
            of_key: *of_key,
            was_refused: *was_refused,
            ..Error::new(kind, self.causes())
        }
    }

    /// Returns the message with its causes, separated by `: `, and the rows. A newline within one of them, as in a
    /// file name, is replaced by a visible sign.
    pub fn chain(&self) -> String {
        self.render(|line| line.replace('\n', "␊"))
    }

    /// Joins the message with its causes and the rows, each formatted by `form`.
    fn render(&self, form: impl Fn(&str) -> String) -> String {
        let rows = self.rows.iter().map(|row| format!("\n  {}", form(row)));
        std::iter::once(form(&self.causes())).chain(rows).collect()
    }

    /// Returns the message with its causes, separated by `: `.
    fn causes(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            let words = error.to_string();
            text.push_str(&of_system(&words).unwrap_or(words));
            cause = error.source();
        }
        text
    }
}

/// Returns the innermost cause of an error, without the number of a system error.
pub fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    begun_small(&of_system(&text).unwrap_or(text))
}

/// Returns the text of a system error without its number; `None` for any other error.
fn of_system(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(" (os error ")?;
    let (_, after) = rest.split_once(')')?;
    Some(begun_small(before) + after)
}

/// Starts a text in lower case unless it starts with a name, as in `HTTP 500` and `I/O error`.
fn begun_small(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    match letters.clone().next().is_some_and(char::is_lowercase) {
        true => first.to_lowercase().chain(letters).collect(),
        false => text.to_string(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_and_its_rows_stand_below() {
        let error = Error::usage("cannot read a\nb:").because(std::io::Error::other("c\nd"));
        let error = error.rows(vec!["first".into(), "e\nf".into()]).with_kind(ExitKind::Store);
        assert_eq!(error.chain(), "cannot read a␊b:: c␊d\n  first\n  e␊f");
        let lines = Error::remote_lines("it ended; its stderr:\nno licence\nbye");
        assert_eq!(lines.chain(), "it ended; its stderr:\n  no licence\n  bye");
        let missing = Error::store("cannot read a").because(std::io::Error::from_raw_os_error(2));
        assert_eq!(missing.chain(), "cannot read a: no such file or directory");
        assert_eq!(error.to_json(HintTarget::SHELL)["message"], "cannot read a\nb:: c\nd\n  first\n  e\nf");
    }

    #[test]
    fn a_cause_begins_with_a_small_letter_unless_it_begins_with_a_name() {
        for (text, shown) in [
            ("No such file or directory (os error 2)", "no such file or directory"),
            ("HTTP 500", "HTTP 500"),
            ("already small", "already small"),
            ("É", "É"),
            ("", ""),
        ] {
            assert_eq!(cause(&std::io::Error::other(text.to_string())), shown);
        }
    }
}
