//! The supported formats: a name, a module of this crate, and whether their sources contain a directory.

use std::path::{Path, PathBuf};

use super::source::SourceReader;
use super::threads::CodexThreads;
use super::{
    ConversationSink, chatgpt, claude_ai, claude_code, codex, gemini, jan, librechat, llama_ui, lmstudio,
    messages, opencode, openwebui, pi,
};
use lepo_base::error::Result;

/// A format of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceFormat {
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
pub const FORMATS: &[(&str, SourceFormat, &str)] = &[
    ("claude-code", SourceFormat::ClaudeCode, "sessions of Claude Code"),
    ("codex", SourceFormat::Codex, "sessions of Codex"),
    ("chatgpt", SourceFormat::ChatGpt, "an export of ChatGPT"),
    ("claude-ai", SourceFormat::ClaudeAi, "an export of Claude.ai"),
    ("gemini-cli", SourceFormat::GeminiCli, "sessions of Gemini CLI"),
    ("pi", SourceFormat::Pi, "sessions of pi"),
    ("messages", SourceFormat::Messages, "messages of an API, ShareGPT, humble-ai-cli"),
    ("openwebui", SourceFormat::OpenWebUi, "an export of Open WebUI"),
    ("librechat", SourceFormat::LibreChat, "an export of LibreChat"),
    ("llama-ui", SourceFormat::LlamaUi, "an export of llama-server's web interface"),
    ("lmstudio", SourceFormat::LmStudio, "conversations of LM Studio"),
    ("jan", SourceFormat::Jan, "threads of Jan"),
    ("lepo", SourceFormat::Lepo, "another store"),
    ("db", SourceFormat::Database, "a database of llm, opencode or Open WebUI"),
    ("llm", SourceFormat::Database, "the database of llm"),
    ("opencode", SourceFormat::OpenCode, "sessions of opencode: its database, an export, or older files"),
];

impl SourceFormat {
    /// Returns the name that the user types.
    pub fn as_str(self) -> &'static str {
        FORMATS.iter().find(|(_, format, _)| *format == self).map_or("", |(word, ..)| word)
    }

    /// Parses a name.
    pub fn parse(word: &str) -> Option<SourceFormat> {
        FORMATS.iter().find(|(name, ..)| *name == word).map(|(_, format, _)| *format)
    }

    /// Whether sources contain the directory that they are about.
    pub fn knows_directories(self) -> bool {
        matches!(
            self,
            SourceFormat::ClaudeCode
                | SourceFormat::Codex
                | SourceFormat::GeminiCli
                | SourceFormat::Pi
                | SourceFormat::OpenCode
        )
    }

    /// Reads sources. Their order does not change the result.
    pub fn read(
        self,
        paths: Vec<PathBuf>,
        reading: &mut SourceReader,
        each: &mut SourcedSink<'_>,
    ) -> Result<()> {
        reading.named.extend(paths.iter().cloned());
        let threads =
            if self == SourceFormat::Codex { CodexThreads::around(&paths) } else { CodexThreads::default() };
        let paths = if self == SourceFormat::Codex { codex::in_order(paths, &threads) } else { paths };
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
        threads: &CodexThreads,
        reading: &mut SourceReader,
        each: &mut SourcedSink<'_>,
    ) -> Result<()> {
        let bytes = reading.bytes.clone();
        let each: &mut ConversationSink<'_> = &mut |conversation| each(conversation, path, bytes.get());
        match self {
            SourceFormat::ClaudeCode => claude_code::read(path, reading, each),
            SourceFormat::Codex => codex::read(path, threads, reading, each),
            SourceFormat::ChatGpt => chatgpt::read(path, reading, each),
            SourceFormat::ClaudeAi => claude_ai::read(path, reading, each),
            SourceFormat::GeminiCli => gemini::read(path, reading, each),
            SourceFormat::Pi => pi::read(path, reading, each),
            SourceFormat::Messages => messages::read(path, reading, each),
            SourceFormat::OpenWebUi => openwebui::read(path, reading, each),
            SourceFormat::LibreChat => librechat::read(path, reading, each),
            SourceFormat::LlamaUi => llama_ui::read(path, reading, each),
            SourceFormat::LmStudio => lmstudio::read(path, reading, each),
            SourceFormat::Jan => jan::read(path, reading, each),
            SourceFormat::OpenCode => opencode::read(path, reading, each),
            // Read elsewhere: a store's bubbs are copied, and `lepo-import-db` reads databases.
            SourceFormat::Lepo | SourceFormat::Database => Ok(()),
        }
    }
}

/// Receives each conversation, its source, and the number of bytes read so far.
pub type SourcedSink<'e> = dyn FnMut(super::History, &Path, u64) -> Result<()> + 'e;
