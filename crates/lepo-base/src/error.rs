//! Errors, told to a person: what failed, on what, and what to do about it.
//!
//! A kind decides the exit code; nothing else does.

mod server_words;

use std::fmt;

use crate::hint::{Act, At, Hint, Resume};

pub use crate::hint::quoted;
pub use server_words::{server_words, words_in};

/// A result whose error a person can read.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a failure. Each has one exit code, documented in lepo(1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is nothing there, or something was found to differ: exit 1.
    Nothing,
    /// Wrong usage, configuration, address or question: exit 2.
    Usage,
    /// The model, the network or a tool failed: exit 3.
    Remote,
    /// The conversation is too long for the model: exit 3.
    Overflow,
    /// The request does not fit into a budget: exit 3.
    Budget,
    /// No recorded answer fits, and nothing was to be sent: exit 3.
    NotRecorded,
    /// A request waits for consent: exit 4.
    Pending,
    /// The store could not be read or written: exit 5.
    Store,
    /// Ended by a signal, whose number this is: exit 128 + n.
    Signal(u8),
}

impl Kind {
    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Nothing => 1,
            Kind::Usage => 2,
            Kind::Remote | Kind::Overflow | Kind::Budget | Kind::NotRecorded => 3,
            Kind::Pending => 4,
            Kind::Store => 5,
            Kind::Signal(n) => 128 + n,
        }
    }

    /// The word for it in `--json`.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Nothing => "nothing",
            Kind::Usage => "usage",
            Kind::Remote => "remote",
            Kind::Overflow => "overflow",
            Kind::Budget => "budget",
            Kind::NotRecorded => "not-recorded",
            Kind::Pending => "pending",
            Kind::Store => "store",
            Kind::Signal(_) => "interrupted",
        }
    }
}

/// A failure: lower case, no full stop, what failed and on what; the cause; what to do.
#[derive(Debug)]
pub struct Error {
    /// Decides the exit code.
    pub kind: Kind,
    /// The failure and its object.
    pub message: String,
    /// The remedy, if it is known.
    pub hint: Option<Hint>,
    /// Lines below the message: what it counts or quotes.
    rows: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// A server refused the key, or asked for one.
    of_key: bool,
    /// Trying again at once cannot help: the connection was refused.
    was_refused: bool,
}

impl Error {
    /// A failure of `kind` with its message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
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

    /// Nothing there (exit 1).
    pub fn nothing(message: impl Into<String>) -> Self {
        Error::new(Kind::Nothing, message)
    }

    /// Wrong usage, configuration, address or question (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(Kind::Usage, message)
    }

    /// The model, the network or a tool failed (exit 3).
    pub fn remote(message: impl Into<String>) -> Self {
        Error::new(Kind::Remote, message)
    }

    /// The same with words of others in several lines: those after the first are rows.
    pub fn remote_lines(words: &str) -> Self {
        let mut lines = words.lines().map(str::to_string);
        Error::remote(lines.next().unwrap_or_default()).rows(lines.collect())
    }

    /// The store could not be read or written (exit 5).
    pub fn store(message: impl Into<String>) -> Self {
        Error::new(Kind::Store, message)
    }

    /// Ended by this signal (exit 128 + n).
    pub fn interrupted(signal: u8) -> Self {
        Error::new(Kind::Signal(signal), "interrupted")
    }

    /// With lines below the message.
    pub fn rows(mut self, rows: Vec<String>) -> Self {
        self.rows = rows;
        self
    }

    /// With what to do about it.
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the hint to ask again.
    pub fn ask_again(self) -> Self {
        self.hint(Hint::from("ask again: ").command(Act::Retry))
    }

    /// True if the hint tells to answer the last question again.
    pub fn tells_retry(&self) -> bool {
        self.hint.as_ref().is_some_and(Hint::tells_retry)
    }

    /// The same where the last question cannot be asked again by itself: without a hint to do so.
    pub fn without_retry(mut self) -> Self {
        self.hint = self.hint.filter(|hint| !hint.tells_retry());
        self
    }

    /// The same with this change of the commands that go on with the turn.
    pub fn resuming(mut self, change: impl Fn(&mut Resume)) -> Self {
        self.hint.iter_mut().for_each(|hint| hint.resuming(&change));
        self
    }

    /// The remedy of the error, in the words of this front.
    pub fn hint_for(&self, at: At<'_>) -> Option<String> {
        self.hint.as_ref().map(|hint| hint.told(at))
    }

    /// The same as the refusal of a key.
    pub fn of_key(mut self) -> Self {
        self.of_key = true;
        self
    }

    /// Like this error, of a connection that was refused.
    pub fn of_refused_connection(mut self) -> Self {
        self.was_refused = true;
        self
    }

    /// Whether the connection was refused: nothing listens there.
    pub fn is_of_refused_connection(&self) -> bool {
        self.was_refused
    }

    /// True if a server refused the key, or asked for one.
    pub fn is_of_key(&self) -> bool {
        self.of_key
    }

    /// With the error that caused it.
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The document of it, for a program at this front.
    pub fn to_json(&self, at: At<'_>) -> serde_json::Value {
        let hint = self.hint_for(at);
        serde_json::json!({ "kind": self.kind.word(), "message": self.told(str::to_string), "hint": hint })
    }

    /// An error of this kind with the words of this one.
    pub fn again(&self, kind: Kind) -> Error {
        let Error { hint, rows, of_key, was_refused, .. } = self;
        Error {
            hint: hint.clone(),
            rows: rows.clone(),
            of_key: *of_key,
            was_refused: *was_refused,
            ..Error::new(kind, self.causes())
        }
    }

    /// The message with its causes, `: ` between, and the lines below it. A newline within them, as of a file's name,
    /// is shown as a sign.
    pub fn chain(&self) -> String {
        self.told(|line| line.replace('\n', "␊"))
    }

    /// The same, its lines in this form.
    fn told(&self, form: impl Fn(&str) -> String) -> String {
        let rows = self.rows.iter().map(|row| format!("\n  {}", form(row)));
        std::iter::once(form(&self.causes())).chain(rows).collect()
    }

    /// The message with its causes.
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

/// The innermost cause of an error, in words without an operating system's number.
pub fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    begun_small(&of_system(&text).unwrap_or(text))
}

/// The words of an operating system's error, without its number; none of another error.
fn of_system(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(" (os error ")?;
    let (_, after) = rest.split_once(')')?;
    Some(begun_small(before) + after)
}

/// A text that begins with a small letter, unless it begins with a name, as `HTTP 500` and `I/O error` do.
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
        let error = error.rows(vec!["first".into(), "e\nf".into()]).again(Kind::Store);
        assert_eq!(error.chain(), "cannot read a␊b:: c␊d\n  first\n  e␊f");
        let lines = Error::remote_lines("it ended; its stderr:\nno licence\nbye");
        assert_eq!(lines.chain(), "it ended; its stderr:\n  no licence\n  bye");
        let missing = Error::store("cannot read a").because(std::io::Error::from_raw_os_error(2));
        assert_eq!(missing.chain(), "cannot read a: no such file or directory");
        assert_eq!(error.to_json(At::SHELL)["message"], "cannot read a\nb:: c\nd\n  first\n  e\nf");
    }

    #[test]
    fn a_cause_begins_with_a_small_letter_unless_it_begins_with_a_name() {
        for (told, shown) in [
            ("No such file or directory (os error 2)", "no such file or directory"),
            ("HTTP 500", "HTTP 500"),
            ("already small", "already small"),
            ("É", "É"),
            ("", ""),
        ] {
            assert_eq!(cause(&std::io::Error::other(told.to_string())), shown);
        }
    }
}
