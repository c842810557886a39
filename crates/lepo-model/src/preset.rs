//! The programs that lepo knows how to ask.

use crate::AnswerForm;

/// The names that [`preset`] knows.
pub const PRESETS: &[&str] = &["claude", "gemini", "codex"];

/// The programs that lepo knows how to ask. Each answers without a person at its side, with no
/// more rights than it has by default.
pub fn preset(name: &str) -> Option<(&'static [&'static str], AnswerForm)> {
    match name {
        "claude" => Some((&["claude", "-p", "--output-format", "json"], AnswerForm::Json("/result".into()))),
        "gemini" => Some((&["gemini", "-o", "json"], AnswerForm::Json("/response".into()))),
        "codex" => Some((&["codex", "exec", "--json", "--skip-git-repo-check"], AnswerForm::AgentMessage)),
        _ => None,
    }
}
