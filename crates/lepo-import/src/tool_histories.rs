//! Where other tools store their histories on this machine.

use std::path::{Path, PathBuf};

use super::SourceFormat;
use super::archive::begins;
use super::source::{files_below, folders_in};
use super::threads::logs_in;

/// The history of a tool.
#[derive(Debug, Clone)]
pub struct ToolHistory {
    /// The format of its sources.
    pub format: SourceFormat,
    /// The name that the user types for it.
    pub word: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
    /// The path to print.
    pub path: PathBuf,
    /// Its sources.
    pub sources: Vec<PathBuf>,
}

/// The folders of the environment in which tools store their histories.
pub struct ToolFolders {
    pub claude: PathBuf,
    pub codex: PathBuf,
    pub gemini: PathBuf,
    pub pi: PathBuf,
    pub opencode: PathBuf,
}

impl ToolFolders {
    /// `env` returns a variable of the environment.
    pub fn new(home: &Path, env: &dyn Fn(&str) -> Option<PathBuf>) -> ToolFolders {
        let data = env("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
        ToolFolders {
            claude: env("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: env("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            gemini: home.join(".gemini/tmp"),
            pi: home.join(".pi/agent/sessions"),
            opencode: data.join("opencode"),
        }
    }
}

/// Finds all histories that have sources. `env` returns a variable of the environment.
pub fn find_histories(home: &Path, env: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<ToolHistory> {
    let mut found = Vec::new();
    let mut add = |format: SourceFormat, tool, path: PathBuf, sources: Vec<PathBuf>| {
        if !sources.is_empty() {
            let word = match (format, tool) {
                (SourceFormat::Database, "llm") => "llm",
                (SourceFormat::Database, "opencode") => SourceFormat::OpenCode.as_str(),
                (SourceFormat::Database, _) => SourceFormat::OpenWebUi.as_str(),
                (format, _) => format.as_str(),
            };
            found.push(ToolHistory { format, word, tool, path, sources });
        }
    };
    let library = home.join("Library/Application Support");
    let config = env("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let data = env("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));

    let ToolFolders { claude, codex, gemini, pi, opencode } = ToolFolders::new(home, env);
    let prompts = claude.join("history.jsonl");
    let claude = claude.join("projects");
    let mut sessions = below(&claude, 1, &[".jsonl"]);
    sessions.retain(|path| !super::claude_code::is_agent(path));
    add(SourceFormat::ClaudeCode, "Claude Code", claude, sessions);
    if prompts.is_file() {
        add(SourceFormat::ClaudeCode, "Claude Code's prompts", prompts.clone(), vec![prompts]);
    }

    for folder in ["sessions", "archived_sessions"] {
        let folder = codex.join(folder);
        let logs = logs_in(&folder);
        add(SourceFormat::Codex, "Codex", folder, logs);
    }

    let chats = folders_in(&gemini)
        .into_iter()
        .flat_map(|project| below(&project.join("chats"), 0, &[".json", ".jsonl"]));
    let chats = chats.collect();
    add(SourceFormat::GeminiCli, "Gemini CLI", gemini, chats);

    let sessions = below(&pi, 2, &[".jsonl"]);
    add(SourceFormat::Pi, "pi", pi, sessions);

    for folder in [".lmstudio/conversations", ".cache/lm-studio/conversations"] {
        let folder = home.join(folder);
        let conversations = below(&folder, 4, &[".conversation.json"]);
        add(SourceFormat::LmStudio, "LM Studio", folder, conversations);
    }
    for base in [&config, &data, &library] {
        let folder = base.join("Jan/data/threads");
        let threads = below(&folder, 1, &["messages.jsonl"]);
        add(SourceFormat::Jan, "Jan", folder, threads);
    }
    let llm = env("LLM_USER_PATH").map(|folder| vec![folder]);
    let llm = llm.unwrap_or_else(|| [&config, &library].map(|base| base.join("io.datasette.llm")).to_vec());
    for database in llm.into_iter().map(|folder| folder.join("logs.db")).filter(|path| is_database(path)) {
        add(SourceFormat::Database, "llm", database.clone(), vec![database]);
    }
    let storage = opencode.join("storage");
    let sessions = super::opencode::sessions_in(&storage).unwrap_or_default();
    add(SourceFormat::OpenCode, "opencode", storage, sessions);
    for (tool, database) in
        [("opencode", opencode.join("opencode.db")), ("Open WebUI", home.join(".open-webui/webui.db"))]
    {
        if is_database(&database) {
            add(SourceFormat::Database, tool, database.clone(), vec![database]);
        }
    }
    found
}

fn is_database(path: &Path) -> bool {
    begins(path, b"SQLite format 3\0")
}

/// Returns the files down to `levels` below a folder whose names end in one of `ends`.
fn below(folder: &Path, levels: usize, ends: &[&str]) -> Vec<PathBuf> {
    let mut found = files_below(folder, levels);
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ends.iter().any(|end| name.ends_with(end))
    });
    found
}
