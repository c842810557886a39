//! Hints: the remedy of a failure as a value, words and commands; each front has its own words for the commands.

mod command;
#[cfg(test)]
mod tests;

pub use command::{Act, At, Command, Resume, quoted};

use command::Said;

/// The remedy of a failure.
///
/// In words that become a hint, a command of the shell stands in backticks, as in ``"`lepo fsck` names them"``, behind a
/// colon at the end, as in `"look again: lepo fsck"`, or alone, and is read as a value there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint(Vec<Piece>);

/// A piece of a hint, and the only front that tells it, if one does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    part: Part,
    only: Option<Only>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Only {
    Shell,
    Session,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Words(String),
    /// A command, in backticks where the shell tells it.
    Marked(Command),
    /// A command without marks.
    Bare(Command),
    /// A key is to be configured for the model of this name.
    Key(String),
}

impl Hint {
    /// No key is configured for this model.
    pub fn no_key(model: &str) -> Hint {
        Hint::default().with(Part::Key(model.to_string()))
    }

    /// Adds words.
    pub fn words(mut self, words: impl AsRef<str>) -> Hint {
        self.0.extend(Hint::from(words.as_ref()).0);
        self
    }

    /// Adds a command, which stands in backticks in the shell.
    pub fn command(self, command: impl Into<Command>) -> Hint {
        self.with(Part::Marked(command.into()))
    }

    /// Adds a command without backticks: after a colon, or in a line of its own.
    pub fn bare(self, command: impl Into<Command>) -> Hint {
        self.with(Part::Bare(command.into()))
    }

    /// Adds what the shell tells, and what a session tells in its stead.
    pub fn either(mut self, shell: impl Into<Hint>, session: impl Into<Hint>) -> Hint {
        let pieces = |hint: Hint, only| hint.0.into_iter().map(move |piece| Piece { only, ..piece });
        self.0.extend(pieces(shell.into(), Some(Only::Shell)));
        self.0.extend(pieces(session.into(), Some(Only::Session)));
        self
    }

    fn with(mut self, part: Part) -> Hint {
        self.0.push(Piece { part, only: None });
        self
    }

    /// Changes the commands that go on with a turn.
    pub fn resuming(&mut self, change: impl Fn(&mut Resume)) {
        for piece in &mut self.0 {
            if let Part::Marked(Command::Resume(resume)) | Part::Bare(Command::Resume(resume)) =
                &mut piece.part
            {
                change(resume);
            }
        }
    }

    /// True if it tells to answer the last question again.
    pub fn tells_retry(&self) -> bool {
        self.0.iter().any(|piece| match &piece.part {
            Part::Marked(Command::Resume(resume)) | Part::Bare(Command::Resume(resume)) => resume.is_retry(),
            _ => false,
        })
    }

    /// True if it tells to configure a key.
    pub fn wants_key(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece.part, Part::Key(_)))
    }

    /// Changes its words, as where a secret is hidden in them; not the commands that have a name here.
    pub fn map_words(&mut self, change: impl Fn(&str) -> String) {
        for piece in &mut self.0 {
            match &mut piece.part {
                Part::Words(words)
                | Part::Key(words)
                | Part::Marked(Command::Lepo(words))
                | Part::Bare(Command::Lepo(words)) => *words = change(words),
                Part::Marked(_) | Part::Bare(_) => {}
            }
        }
    }

    /// Its words at this front.
    pub fn told(&self, at: At<'_>) -> String {
        let here = match at {
            At::Shell(_) => Only::Shell,
            At::Session => Only::Session,
        };
        let mut told = String::new();
        for piece in self.0.iter().filter(|piece| piece.only.is_none_or(|only| only == here)) {
            match &piece.part {
                Part::Words(words) => told.push_str(words),
                Part::Key(model) => {
                    told.push_str(&format!(
                        "no key is configured for model \"{model}\": set `api_key_env` or `api_key`"
                    ));
                }
                Part::Marked(command) => match command.said(at) {
                    Said::Command(words) => told.push_str(&format!("`{words}`")),
                    Said::Words(words) => told.push_str(&words),
                },
                Part::Bare(command) => match command.said(at) {
                    Said::Command(words) | Said::Words(words) => told.push_str(&words),
                },
            }
        }
        told
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Hint {
        let mut hint = Hint::default();
        let mut rest = text;
        while let Some((before, (words, after))) =
            rest.split_once("`lepo ").and_then(|(before, behind)| Some((before, behind.split_once('`')?)))
        {
            if !before.is_empty() {
                hint = hint.with(Part::Words(before.to_string()));
            }
            hint = hint.command(Command::Lepo(words.to_string()));
            rest = after;
        }
        let is_bare = |command: &str| !command.contains('`');
        let colon = rest.rsplit_once(": lepo ").filter(|(_, command)| is_bare(command));
        match (text.strip_prefix("lepo ").filter(|command| is_bare(command)), colon) {
            (Some(command), _) => hint.bare(Command::Lepo(command.to_string())),
            (None, Some((before, command))) => {
                hint.with(Part::Words(format!("{before}: "))).bare(Command::Lepo(command.to_string()))
            }
            (None, None) if rest.is_empty() => hint,
            (None, None) => hint.with(Part::Words(rest.to_string())),
        }
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Hint {
        Hint::from(text.as_str())
    }
}

impl<C: Into<Command>> From<C> for Hint {
    fn from(command: C) -> Hint {
        Hint::default().command(command)
    }
}
