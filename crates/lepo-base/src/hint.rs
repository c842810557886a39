//! Hints: what to do about a failure, as text and commands; each frontend has its own form of the commands.

mod command;
#[cfg(test)]
mod tests;

pub use command::{HintCommand, HintTarget, ResumeAction, ResumeCommand, quoted};

use command::RenderedCommand;

/// The remedy of a failure.
///
/// A text converted into a hint may contain a shell command: in backticks, as in ``"`lepo fsck` names them"``, after
/// a colon at the end, as in `"look again: lepo fsck"`, or alone. The command is parsed into a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint(Vec<HintPart>);

/// A part of a hint, optionally limited to a single frontend.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HintPart {
    part: HintContent,
    only: Option<HintAudience>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HintAudience {
    Shell,
    Session,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HintContent {
    Words(String),
    /// A command, in backticks if it is for a shell.
    Marked(HintCommand),
    /// A command without backticks.
    Bare(HintCommand),
    /// The model of this name needs a key.
    Key(String),
}

impl Hint {
    /// Creates the hint that this model has no key configured.
    pub fn no_key(model: &str) -> Hint {
        Hint::default().with(HintContent::Key(model.to_string()))
    }

    /// Appends a text.
    pub fn text(mut self, text: impl AsRef<str>) -> Hint {
        self.0.extend(Hint::from(text.as_ref()).0);
        self
    }

    /// Appends a command, in backticks if it is for a shell.
    pub fn command(self, command: impl Into<HintCommand>) -> Hint {
        self.with(HintContent::Marked(command.into()))
    }

    /// Appends a command without backticks: after a colon, or on its own line.
    pub fn bare(self, command: impl Into<HintCommand>) -> Hint {
        self.with(HintContent::Bare(command.into()))
    }

    /// Appends alternatives: a hint for a shell, and another for a session.
    pub fn either(mut self, shell: impl Into<Hint>, session: impl Into<Hint>) -> Hint {
        let pieces = |hint: Hint, only| hint.0.into_iter().map(move |piece| HintPart { only, ..piece });
        self.0.extend(pieces(shell.into(), Some(HintAudience::Shell)));
        self.0.extend(pieces(session.into(), Some(HintAudience::Session)));
        self
    }

    fn with(mut self, part: HintContent) -> Hint {
        self.0.push(HintPart { part, only: None });
        self
    }

    /// Changes the commands that continue a turn.
    pub fn resuming(&mut self, change: impl Fn(&mut ResumeCommand)) {
        for piece in &mut self.0 {
            if let HintContent::Marked(HintCommand::Resume(resume))
            | HintContent::Bare(HintCommand::Resume(resume)) = &mut piece.part
            {
                change(resume);
            }
        }
    }

    /// Whether the hint suggests answering the last question again.
    pub fn suggests_retry(&self) -> bool {
        self.resumes(ResumeCommand::is_retry)
    }

    /// Whether the hint suggests continuing from a summary.
    pub fn suggests_summary(&self) -> bool {
        self.resumes(ResumeCommand::is_summary)
    }

    /// Whether a command in it continues the turn as `is_wanted` asks.
    fn resumes(&self, is_wanted: impl Fn(&ResumeCommand) -> bool) -> bool {
        self.0.iter().any(|piece| match &piece.part {
            HintContent::Marked(HintCommand::Resume(resume))
            | HintContent::Bare(HintCommand::Resume(resume)) => is_wanted(resume),
            _ => false,
        })
    }

    /// Whether the hint suggests configuring a key.
    pub fn wants_key(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece.part, HintContent::Key(_)))
    }

    /// Changes the texts, for example to mask a secret; commands with a variant of their own stay unchanged.
    pub fn map_words(&mut self, change: impl Fn(&str) -> String) {
        for piece in &mut self.0 {
            match &mut piece.part {
                HintContent::Words(words)
                | HintContent::Key(words)
                | HintContent::Marked(HintCommand::Lepo(words))
                | HintContent::Bare(HintCommand::Lepo(words)) => *words = change(words),
                HintContent::Marked(_) | HintContent::Bare(_) => {}
            }
        }
    }

    /// Formats the hint for this frontend.
    pub fn render(&self, at: HintTarget<'_>) -> String {
        let here = match at {
            HintTarget::Shell(_) => HintAudience::Shell,
            HintTarget::Session => HintAudience::Session,
        };
        let mut text = String::new();
        for piece in self.0.iter().filter(|piece| piece.only.is_none_or(|only| only == here)) {
            match &piece.part {
                HintContent::Words(words) => text.push_str(words),
                HintContent::Key(model) => {
                    text.push_str(&format!(
                        "no key is configured for model \"{model}\": set `api_key_env` or `api_key`"
                    ));
                }
                HintContent::Marked(command) => match command.render(at) {
                    RenderedCommand::Command(words) => text.push_str(&format!("`{words}`")),
                    RenderedCommand::Text(words) => text.push_str(&words),
                },
                HintContent::Bare(command) => match command.render(at) {
                    RenderedCommand::Command(words) | RenderedCommand::Text(words) => text.push_str(&words),
                },
            }
        }
        text
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
                hint = hint.with(HintContent::Words(before.to_string()));
            }
            hint = hint.command(HintCommand::Lepo(words.to_string()));
            rest = after;
        }
        let is_bare = |command: &str| !command.contains('`');
        let colon = rest.rsplit_once(": lepo ").filter(|(_, command)| is_bare(command));
        match (text.strip_prefix("lepo ").filter(|command| is_bare(command)), colon) {
            (Some(command), _) => hint.bare(HintCommand::Lepo(command.to_string())),
            (None, Some((before, command))) => hint
                .with(HintContent::Words(format!("{before}: ")))
                .bare(HintCommand::Lepo(command.to_string())),
            (None, None) if rest.is_empty() => hint,
            (None, None) => hint.with(HintContent::Words(rest.to_string())),
        }
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Hint {
        Hint::from(text.as_str())
    }
}

impl<C: Into<HintCommand>> From<C> for Hint {
    fn from(command: C) -> Hint {
        Hint::default().command(command)
    }
}
