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

/// The names that [`agent_preset`] knows.
pub const AGENTS: &[&str] = &["claude", "codex", "gemini", "opencode"];

/// The agents that lepo knows how to start, each in the way that its maker tells. What npm fetches has its version: the
/// newest one would be whatever was published a minute ago. `scripts/acp-peers` installs the same ones.
pub fn agent_preset(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "claude" => Some(&["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.101.0"]),
        "codex" => Some(&["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"]),
        "gemini" => Some(&["gemini", "--acp"]),
        "opencode" => Some(&["opencode", "acp"]),
        _ => None,
    }
}
