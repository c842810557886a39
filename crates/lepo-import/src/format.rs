//! The supported formats: a name, a module of this crate, and whether their sources contain a directory.

use std::path::{Path, PathBuf};

use super::source::Reading;
use super::threads::Threads;
use super::{
    Each, chatgpt, claude_ai, claude_code, codex, gemini, jan, librechat, llama_ui, lmstudio, messages,
    opencode, openwebui, pi,
};
use lepo_base::error::Result;

/// A format of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Logs of Claude Code.
    ClaudeCode,
    /// Logs of Codex.
    Codex,
    /// An export of ChatGPT.
    ChatGpt,
    /// An export of Claude.ai.
    ClaudeAi,
    /// Logs of gemini-cli.
    GeminiCli,
    /// Logs of pi.
    Pi,
    /// Messages of an API, ShareGPT, sessions of humble-ai-cli.
    Messages,
    /// An export of Open WebUI.
    OpenWebUi,
    /// An export of LibreChat.
    LibreChat,
    /// An export of llama-server's web interface.
    LlamaUi,
    /// Conversations of LM Studio.
    LmStudio,
    /// Threads of Jan.
    Jan,
    /// Sessions of opencode in files of JSON.
    OpenCode,
    /// Another lepo store.
    Lepo,
    /// A database, which `lepo-import-db` reads.
    Database,
}

/// All formats: the name that the user types, the format, and a description for completion.
pub const FORMATS: &[(&str, Format, &str)] = &[
    ("claude-code", Format::ClaudeCode, "sessions of Claude Code"),
    ("codex", Format::Codex, "sessions of Codex"),
    ("chatgpt", Format::ChatGpt, "an export of ChatGPT"),
    ("claude-ai", Format::ClaudeAi, "an export of Claude.ai"),
    ("gemini-cli", Format::GeminiCli, "sessions of Gemini CLI"),
    ("pi", Format::Pi, "sessions of pi"),
    ("messages", Format::Messages, "messages of an API, ShareGPT, humble-ai-cli"),
    ("openwebui", Format::OpenWebUi, "an export of Open WebUI"),
    ("librechat", Format::LibreChat, "an export of LibreChat"),
    ("llama-ui", Format::LlamaUi, "an export of llama-server's web interface"),
    ("lmstudio", Format::LmStudio, "conversations of LM Studio"),
    ("jan", Format::Jan, "threads of Jan"),
    ("lepo", Format::Lepo, "another store"),
    ("db", Format::Database, "a database of llm, opencode or Open WebUI"),
    ("llm", Format::Database, "the database of llm"),
    ("opencode", Format::OpenCode, "sessions of opencode: its database, an export, or older files"),
];

impl Format {
    /// Returns the name that the user types.
    pub fn word(self) -> &'static str {
        FORMATS.iter().find(|(_, format, _)| *format == self).map_or("", |(word, ..)| word)
    }

    /// Parses a name.
    pub fn of(word: &str) -> Option<Format> {
        FORMATS.iter().find(|(name, ..)| *name == word).map(|(_, format, _)| *format)
    }

    /// Whether sources contain the directory that they are about.
    pub fn knows_directories(self) -> bool {
        matches!(self, Format::ClaudeCode | Format::Codex | Format::GeminiCli | Format::Pi | Format::OpenCode)
    }

    /// Reads sources. Their order does not change the result.
    pub fn read(self, paths: Vec<PathBuf>, reading: &mut Reading, each: &mut Read<'_>) -> Result<()> {
        reading.named.extend(paths.iter().cloned());
        let threads = if self == Format::Codex { Threads::around(&paths) } else { Threads::default() };
        let paths = if self == Format::Codex { codex::in_order(paths, &threads) } else { paths };
        for path in paths {
            let before = reading.tally.skipped.clone();
            self.read_one(&path, &threads, reading, each)?;
            reading.tally.name_file(&before, &path);
        }
        Ok(())
    }

    fn read_one(
        self,
        path: &Path,
        threads: &Threads,
        reading: &mut Reading,
        each: &mut Read<'_>,
    ) -> Result<()> {
        let bytes = reading.bytes.clone();
        let each: &mut Each<'_> = &mut |conversation| each(conversation, path, bytes.get());
        match self {
            Format::ClaudeCode => claude_code::read(path, reading, each),
            Format::Codex => codex::read(path, threads, reading, each),
            Format::ChatGpt => chatgpt::read(path, reading, each),
            Format::ClaudeAi => claude_ai::read(path, reading, each),
            Format::GeminiCli => gemini::read(path, reading, each),
            Format::Pi => pi::read(path, reading, each),
            Format::Messages => messages::read(path, reading, each),
            Format::OpenWebUi => openwebui::read(path, reading, each),
            Format::LibreChat => librechat::read(path, reading, each),
            Format::LlamaUi => llama_ui::read(path, reading, each),
            Format::LmStudio => lmstudio::read(path, reading, each),
            Format::Jan => jan::read(path, reading, each),
            Format::OpenCode => opencode::read(path, reading, each),
            // Read elsewhere: a store's bubbs are copied, and `lepo-import-db` reads databases.
            Format::Lepo | Format::Database => Ok(()),
        }
    }
}

/// Receives each conversation, its source, and the number of bytes read so far.
pub type Read<'e> = dyn FnMut(super::Conversation, &Path, u64) -> Result<()> + 'e;
