//! The programs that lepo can ask.

use crate::AnswerFormat;

/// The names that [`preset`] accepts.
pub const PRESETS: &[&str] = &["claude", "gemini", "codex"];

/// Returns the command of a known program and the format of its answers. Each runs without user interaction, and with
/// its default rights.
pub fn preset(name: &str) -> Option<(&'static [&'static str], AnswerFormat)> {
    match name {
        "claude" => {
            Some((&["claude", "-p", "--output-format", "json"], AnswerFormat::Json("/result".into())))
        }
        "gemini" => Some((&["gemini", "-o", "json"], AnswerFormat::Json("/response".into()))),
        "codex" => Some((&["codex", "exec", "--json", "--skip-git-repo-check"], AnswerFormat::AgentMessage)),
        _ => None,
    }
}

/// The names that [`agent_preset`] accepts.
pub const AGENTS: &[&str] = &["claude", "codex", "gemini", "opencode"];

/// Returns the command of a known agent, as its maker documents it. Packages from npm are pinned: the newest version
/// would be whatever was published a minute ago. `scripts/acp-peers` installs these versions.
pub fn agent_preset(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "claude" => Some(&["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.101.0"]),
        "codex" => Some(&["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"]),
        "gemini" => Some(&["gemini", "--acp"]),
        "opencode" => Some(&["opencode", "acp"]),
        _ => None,
    }
}
