//! Where tools write their logs, and which sources a written file belongs to: a subagent's log is read with its
//! session's.

use std::path::{Path, PathBuf};

use super::SourceFormat;
use super::claude_code;
use super::source::files_in;
use super::threads::{CodexThread, CodexThreads};
use super::tool_histories::ToolFolders;

/// A folder into which a tool writes logs; it may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFolder {
    /// The format of its logs.
    pub format: SourceFormat,
    /// Its path.
    pub path: PathBuf,
    /// How many levels of folders below it have logs.
    pub levels: usize,
}

/// Returns the folders of all tools that record the directory of a session. `env` returns a variable of the environment.
pub fn log_folders(home: &Path, env: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<LogFolder> {
    let ToolFolders { claude, codex, gemini, pi, opencode } = ToolFolders::new(home, env);
    let folder = |format: SourceFormat, path: PathBuf, levels: usize| LogFolder { format, path, levels };
    vec![
        // A project, a session, the logs of its subagents.
        folder(SourceFormat::ClaudeCode, claude.join("projects"), 3),
        // Year, month and day.
        folder(SourceFormat::Codex, codex.join("sessions"), 3),
        // A project, its sessions, the logs of a session's subagents.
        folder(SourceFormat::GeminiCli, gemini, 3),
        folder(SourceFormat::Pi, pi, 2),
        folder(SourceFormat::OpenCode, opencode.clone(), 0),
        // Older versions write a session's file after each of its messages.
        folder(SourceFormat::OpenCode, opencode.join("storage/session"), 1),
    ]
}

/// Returns the existing sources that may have changed because `path` was written.
pub fn sources_of(format: SourceFormat, folder: &Path, path: &Path) -> Vec<PathBuf> {
    let has_end = |ends: &[&str]| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ends.iter().any(|end| name.ends_with(end))
    };
    let mut sources = match format {
        SourceFormat::ClaudeCode if !has_end(&[".jsonl"]) => Vec::new(),
        SourceFormat::ClaudeCode if claude_code::is_agent(path) => {
            claude_code::session_of(path).into_iter().collect()
        }
        SourceFormat::Codex if has_end(&[".jsonl", ".jsonl.zst"]) => {
            let parent = CodexThread::read(path).and_then(|thread| thread.begun_by);
            match parent {
                Some(parent) => {
                    let threads = CodexThreads::around(&[path.to_path_buf()]);
                    threads.logs_of(&parent).map(|log| log.path.clone()).collect()
                }
                None => vec![path.to_path_buf()],
            }
        }
        SourceFormat::GeminiCli if has_end(&[".json", ".jsonl"]) => gemini_sources(folder, path),
        SourceFormat::ClaudeCode | SourceFormat::Pi if has_end(&[".jsonl"]) => vec![path.to_path_buf()],
        SourceFormat::OpenCode => opencode_sources(folder, path),
        _ => Vec::new(),
    };
    sources.retain(|path| path.is_file());
    sources
}

/// A session is directly in the folder `chats` of a project; its subagents' logs are below.
fn gemini_sources(folder: &Path, path: &Path) -> Vec<PathBuf> {
    let below = path.strip_prefix(folder).unwrap_or(path);
    let parts: Vec<_> = below.components().collect();
    match parts[..] {
        [_, chats, _] if chats.as_os_str() == "chats" => vec![path.to_path_buf()],
        [project, chats, _, _] if chats.as_os_str() == "chats" => files_in(&folder.join(project).join(chats)),
        _ => Vec::new(),
    }
}

fn opencode_sources(folder: &Path, path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match &*name {
        "opencode.db" | "opencode.db-wal" => vec![folder.join("opencode.db")],
        name if name.ends_with(".json") && folder.ends_with("session") => vec![path.to_path_buf()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_written_file_names_the_sources_to_read_again() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let meta = |id: &str, parent: &str| {
            format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"cwd\":\"/w\"{parent}}}}}\n")
        };
        write(".claude/projects/-w/s.jsonl", "{}\n");
        write(".claude/projects/-w/s/subagents/agent-a.jsonl", "{}\n");
        write(".claude/projects/-w/s/subagents/agent-a.meta.json", "{}");
        write(".codex/sessions/2026/08/01/rollout-1-a.jsonl", &meta("a", ""));
        write(".codex/sessions/2026/08/01/rollout-1-b.jsonl", &meta("b", ",\"parent_thread_id\":\"a\""));
        write(".gemini/tmp/w/chats/session-1.jsonl", "{}\n");
        write(".gemini/tmp/w/chats/1/x.jsonl", "{}\n");
        write(".gemini/tmp/w/logs.json", "{}\n");
        write(".pi/agent/sessions/--w--/1.jsonl", "{}\n");
        write(".local/share/opencode/opencode.db", "");
        write(".local/share/opencode/opencode.db-wal", "");
        write(".local/share/opencode/auth.json", "{}");
        write(".local/share/opencode/storage/session/p/ses.json", "{}");
        let folders = log_folders(home, &|_| None);
        let codex = ".codex/sessions/2026/08/01/rollout-1-a.jsonl";
        for (number, written, source) in [
            (0, ".claude/projects/-w/s.jsonl", Some(".claude/projects/-w/s.jsonl")),
            (0, ".claude/projects/-w/s/subagents/agent-a.jsonl", Some(".claude/projects/-w/s.jsonl")),
            (0, ".claude/projects/-w/s/subagents/agent-a.meta.json", None),
            (0, ".claude/projects/-w/gone.jsonl", None),
            (1, codex, Some(codex)),
            (1, ".codex/sessions/2026/08/01/rollout-1-b.jsonl", Some(codex)),
            (2, ".gemini/tmp/w/chats/session-1.jsonl", Some(".gemini/tmp/w/chats/session-1.jsonl")),
            (2, ".gemini/tmp/w/chats/1/x.jsonl", Some(".gemini/tmp/w/chats/session-1.jsonl")),
            (2, ".gemini/tmp/w/logs.json", None),
            (3, ".pi/agent/sessions/--w--/1.jsonl", Some(".pi/agent/sessions/--w--/1.jsonl")),
            (4, ".local/share/opencode/opencode.db-wal", Some(".local/share/opencode/opencode.db")),
            (4, ".local/share/opencode/auth.json", None),
            (
                5,
                ".local/share/opencode/storage/session/p/ses.json",
                Some(".local/share/opencode/storage/session/p/ses.json"),
            ),
        ] {
            let LogFolder { format, path, .. } = &folders[number];
            assert!(home.join(written).starts_with(path), "{written}");
            let found = sources_of(*format, path, &home.join(written));
            assert_eq!(
                found,
                source.map(|source| home.join(source)).into_iter().collect::<Vec<_>>(),
                "{written}"
            );
        }
    }
}
