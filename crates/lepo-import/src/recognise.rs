//! Recognises the format of a source by its content, never by its name alone.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::archive::{Archive, begins};
use super::json::JsonValue;
use super::source::{SourceReader, files_below, files_in, first_value, regular, skip_status};
use super::value_reader::ValueReader;
use super::{
    SourceFormat, chatgpt, claude_code, claude_prompts, foreign, gemini, llama_ui, messages, opencode,
};
use lepo_base::error::{Error, Result, cause};

/// Maximum depth at which a folder is searched.
const DEPTH: usize = 8;

/// Number of values of a file to examine before giving up.
const TRIES: usize = 100;

/// Bytes at the start of a file that decide whether it is JSON, and why it is not.
const OPENING: u64 = 4096;

/// Number of files of a zip that an error lists.
const NAMES: usize = 3;

/// Number of keys of a record that an error lists; below, characters of a listed name.
const KEYS: usize = 6;

const NAME: usize = 60;

/// A source and its format.
pub type RecognisedSource = (SourceFormat, PathBuf);

/// Finds the sources at a path: the file itself, or those in a folder. In a folder, unknown files are counted.
pub fn recognise(path: &Path, reading: &mut SourceReader) -> Result<Vec<RecognisedSource>> {
    let meta = std::fs::metadata(path).map_err(|error| super::source::cannot(path, error))?;
    if !meta.is_dir() {
        return match format_of(path)? {
            Recognition::Known(format) => Ok(vec![(format, path.to_path_buf())]),
            Recognition::Foreign(tool) => Err(Error::usage(format!("{}: unknown format", path.display()))
                .hint(format!("it looks like a file of {tool}, which lepo cannot read; `jq` can convert it to {{\"messages\": [...]}}"))),
            Recognition::Unknown(keys) => {
                let error = Error::usage(format!("{}: unknown format", path.display()));
                Err(error.hint(why_unknown(path, &keys)))
            }
        };
    }
    if let Some(sessions) = opencode::sessions_in(path).filter(|sessions| !sessions.is_empty()) {
        return Ok(sessions.into_iter().map(|session| (SourceFormat::OpenCode, session)).collect());
    }
    // The folder of an unpacked export is a single source, because it has the assets.
    if let Some(document) = files_in(path).into_iter().find(|file| is_export(file))
        && let Recognition::Known(format @ (SourceFormat::ChatGpt | SourceFormat::ClaudeAi)) =
            format_of(&document)?
    {
        return Ok(vec![(format, path.to_path_buf())]);
    }
    let mut found = Vec::new();
    for file in files_below(path, DEPTH).into_iter().filter(|file| is_candidate(file)) {
        match format_of(&file) {
            Ok(Recognition::Known(format)) => found.push((format, file)),
            Ok(Recognition::Foreign(tool)) => {
                reading.tally.skip_file("file of an unknown format", &file, Some(&format!("of {tool}")));
            }
            Ok(Recognition::Unknown(_)) => reading.tally.skip_file("file of an unknown format", &file, None),
            Err(error) => {
                reading.tally.skip_file("file that cannot be read", &file, Some(&cause(&error)));
            }
        }
    }
    // A subagent's log is read with its session's.
    let logs: HashSet<PathBuf> = found.iter().map(|(_, path)| path.clone()).collect();
    found.retain(|(format, path)| {
        let is_part = *format == SourceFormat::ClaudeCode && claude_code::is_agent(path);
        if is_part && !claude_code::session_of(path).is_some_and(|session| logs.contains(&session)) {
            reading.tally.skip_file("log of a subagent without its session", path, None);
        }
        !is_part
    });
    found.sort();
    if found.is_empty() {
        let error = Error::usage(format!("{}: nothing to import", path.display()));
        let mut skipped = reading.tally.files.iter();
        return Err(match skipped.find_map(|(reason, files)| Some((reason, files.first()?, files.len()))) {
            Some((reason, file, 1)) => error.hint(format!("{reason}: {file}")),
            Some((reason, file, 2)) => error.hint(format!("{reason}: {file}, and 1 other")),
            Some((reason, file, count)) => error.hint(format!("{reason}: {file}, and {} others", count - 1)),
            None => error,
        });
    }
    Ok(found)
}

fn is_export(path: &Path) -> bool {
    chatgpt::is_document(&path.file_name().unwrap_or_default().to_string_lossy())
}

/// Whether a file of a folder may be a source, by its name.
fn is_candidate(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let known = [".json", ".jsonl", ".ndjson", ".jsonl.zst", ".zip"];
    let about = ["thread.json", "meta.json", "package.json", "threads.json"];
    known.iter().any(|end| name.ends_with(end)) && !about.iter().any(|end| name.ends_with(end))
}

enum Recognition {
    /// The file has the marks of a format.
    Known(SourceFormat),
    /// The file has the marks of an unsupported tool.
    Foreign(&'static str),
    /// The file has no known marks; these are the keys of its first record.
    Unknown(Vec<String>),
}

fn format_of(path: &Path) -> Result<Recognition> {
    let nothing = || Recognition::Unknown(Vec::new());
    if begins(path, b"SQLite format 3\0") {
        return Ok(Recognition::Known(SourceFormat::Database));
    }
    if begins(path, b"\x28\xb5\x2f\xfd") {
        let is_codex = first_value(path, |value| shape(value) == Some(SourceFormat::Codex));
        let codex = Recognition::Known(SourceFormat::Codex);
        return Ok(if is_codex == Some(true) { codex } else { nothing() });
    }
    if begins(path, b"PK\x03\x04") {
        let mut archive = Archive::open(path)?;
        for document in archive.documents(chatgpt::is_document) {
            let look = archive.read(document, &mut SourceReader::default(), |from, _| {
                Ok(first_look(ValueReader::sequence(from)))
            })?;
            if let Recognition::Known(_) | Recognition::Foreign(_) = look {
                return Ok(look);
            }
        }
        for document in archive.documents(llama_ui::is_document).into_iter().take(TRIES) {
            let look = archive.read(document, &mut SourceReader::default(), |from, _| {
                Ok(first_look(ValueReader::sequence(from)))
            })?;
            if let Recognition::Known(SourceFormat::LlamaUi) = look {
                return Ok(look);
            }
        }
        return Ok(nothing());
    }
    let is_json = matches!(opening(path).trim_ascii_start().first(), Some(b'{' | b'['));
    // A log may start in the middle of a line; in any other text the JSON would be a quotation.
    if !is_json && !is_log(path) {
        return Ok(nothing());
    }
    Ok(match first_look(SourceReader::default().values(path)?) {
        // A cut first record takes all that follows with it, except by lines.
        Recognition::Unknown(keys) if keys.is_empty() && is_log(path) => {
            first_look(SourceReader::default().lines(path)?)
        }
        look => look,
    })
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl" || end == "ndjson")
}

/// Returns the first bytes of a file, without a byte order mark.
fn opening(path: &Path) -> Vec<u8> {
    let mut first = Vec::new();
    if let Ok((mut file, _)) = regular(path) {
        let _ = skip_status(&mut file).and_then(|()| file.take(OPENING).read_to_end(&mut first));
    }
    first.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(first)
}

const OTHERS: &str =
    "`lepo import --help` lists the formats; `jq` can convert others to {\"messages\": [...]}";

/// Returns the hint for a file of unknown format, from its first bytes and the keys of its first record.
fn why_unknown(path: &Path, keys: &[String]) -> String {
    let first = opening(path);
    let has = |words: &[u8]| memchr::memmem::find(&first, words).is_some();
    let remedy = match &*first {
        [0x1f, 0x8b, ..] => "it is packed with gzip: unpack it first, with gunzip",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..] => {
            "it is UTF-16: change it first, with iconv -f UTF-16 -t UTF-8"
        }
        [b'P', b'K', 3, 4, ..] => return without_conversations(path),
        [b'#', b' ', b'C', b'H', b'A', b'T', b':', ..] => {
            "it is the log of aichat: its saved sessions are YAML, which `yq -o json . FILE > NEW.json` makes JSON of"
        }
        _ if has(b"# aider chat started at") => {
            "it is the log of aider, whose questions begin with `#### `: make JSON of it first"
        }
        _ if is_yaml(path) => "it is YAML: make JSON of it first, with yq -o json . FILE > NEW.json",
        _ if has(b"CREATE TABLE")
            || has(b"INSERT INTO")
            || path.extension().is_some_and(|end| end == "sql") =>
        {
            "it is a text of SQL: make a database of it first, with sqlite3 NEW.db < FILE"
        }
        _ => OTHERS,
    };
    match keys {
        [_, ..] if remedy == OTHERS => format!("its first record has the keys {}; {OTHERS}", keys.join(", ")),
        _ => remedy.to_string(),
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "yaml" || end == "yml")
}

/// Returns the hint for a zip without a known document, with the names of some files in it.
fn without_conversations(path: &Path) -> String {
    let (mut names, mut others) = (String::new(), 0);
    if let Ok(archive) = Archive::open(path) {
        let (first, more) = archive.first_names(NAMES);
        let short = |name: &str| name.chars().take(NAME).collect::<String>();
        names = first.into_iter().map(short).collect::<Vec<_>>().join(", ");
        others = more;
    }
    let has = match (names.is_empty(), others) {
        (true, _) => String::new(),
        (false, 0) => format!(", but {names}"),
        (false, _) => format!(", but {names} and {others} more"),
    };
    format!(
        "the zip has no conversations.json of ChatGPT or Claude.ai{has}: unpack it, and name the file that has the conversations"
    )
}

/// Returns the format of the first value that has one, unless an earlier value has the marks of another tool.
fn first_look<R: std::io::Read>(values: ValueReader<R>) -> Recognition {
    let mut values = values.at_most(256 << 20);
    let mut reading = SourceReader::default();
    let (mut keys, mut is_bare_session, mut records) = (Vec::new(), false, 0);
    for _ in 0..TRIES {
        let Ok(Some(value)) = reading.next(&mut values) else { break };
        if let Some(tool) = foreign::tool(value) {
            return Recognition::Foreign(tool);
        }
        if let Some(format) = shape(value) {
            return Recognition::Known(format);
        }
        // A header of an older version of pi is ambiguous: the next records decide.
        if is_bare_session && is_pi_entry(value) {
            return Recognition::Known(SourceFormat::Pi);
        }
        is_bare_session |= is_pi_header(value);
        records += 1;
        if keys.is_empty() {
            let names = value.fields().map(|(key, _)| key.string().chars().take(NAME).collect::<String>());
            keys = names.take(KEYS).collect();
        }
    }
    // A log that has only its header so far.
    if is_bare_session && records == 1 {
        Recognition::Known(SourceFormat::Pi)
    } else {
        Recognition::Unknown(keys)
    }
}

/// Whether a value is the first record of a session of pi, or as ambiguous as the header of an older version.
fn is_pi_header(value: JsonValue<'_>) -> bool {
    let time = value.get("timestamp");
    value.get("type").is_str("session") && !value.has("harness") && (time.is_null() || time.text().is_some())
}

/// Whether a value is an entry that follows a header of pi: a message or another type.
fn is_pi_entry(value: JsonValue<'_>) -> bool {
    let kind = value.get("type").text().unwrap_or_default();
    let others = ["custom_message", "custom", "compaction", "branch_summary", "session_info", "model_change"];
    match &*kind {
        "message" => value.at(&["message", "role"]).text().is_some(),
        kind => others.contains(&kind) && value.has("id"),
    }
}

/// Record types of Claude Code that may start a log.
const CLAUDE: &[&str] = &[
    "summary",
    "ai-title",
    "custom-title",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "permission-mode",
    "agent-name",
    "progress",
    "user",
    "assistant",
    "system",
    "attachment",
];

/// Whether a value is a record of Claude Code: of a log, or of its printed output.
fn is_claude_code(value: JsonValue<'_>) -> bool {
    let kind = value.get("type").text().unwrap_or_default();
    let has_one = |keys: &[&str]| keys.iter().any(|key| value.has(key));
    match &*kind {
        "user" | "assistant" => {
            let message = value.get("message");
            message.has("content") && has_one(&["uuid", "sessionId", "parent_tool_use_id"])
        }
        kind => {
            CLAUDE.contains(&kind) && has_one(&["uuid", "leafUuid", "sessionId", "messageId", "snapshot"])
        }
    }
}

/// Whether a value is a document of gemini-cli, or the first record of its log.
fn is_gemini(value: JsonValue<'_>) -> bool {
    let is_message = |message: JsonValue<'_>| {
        message.has("content")
            && matches!(&*message.get("type").string(), "user" | "gemini" | "info" | "error" | "warning")
    };
    let mut messages = value.get("messages").items();
    value.has("sessionId")
        && match messages.next() {
            Some(first) => is_message(first) && messages.all(|message| message.has("type")),
            None => value.has("projectHash") || value.has("startTime"),
        }
}

/// Returns the format of a value by its keys. The order decides between formats that share keys.
fn shape(value: JsonValue<'_>) -> Option<SourceFormat> {
    if value.is_array() {
        return messages::is_line(value).then_some(SourceFormat::Messages);
    }
    let kind = value.get("type").text().unwrap_or_default();
    let listed = value.get("messages");
    let first = listed.items().next();
    let first_has = |key: &str| first.is_some_and(|first| first.has(key));
    Some(if llama_ui::is_export(value) {
        SourceFormat::LlamaUi
    } else if value.get("mapping").is_object() {
        SourceFormat::ChatGpt
    } else if value.get("chat_messages").is_array() {
        SourceFormat::ClaudeAi
    } else if value.at(&["chat", "history"]).is_object() || value.at(&["history", "messages"]).is_object() {
        SourceFormat::OpenWebUi
    } else if value.has("conversationId") && (listed.is_array() || value.has("messagesTree")) {
        SourceFormat::LibreChat
    } else if first_has("versions") {
        SourceFormat::LmStudio
    } else if is_pi_header(value) && value.get("timestamp").text().is_some() && value.has("cwd") {
        SourceFormat::Pi
    } else if kind == "session_meta" || (kind == "response_item" && value.has("payload")) {
        SourceFormat::Codex
    } else if opencode::is_session(value) || opencode::is_export(value) {
        SourceFormat::OpenCode
    } else if value.get("object").is_str("thread.message") {
        SourceFormat::Jan
    } else if is_gemini(value) {
        SourceFormat::GeminiCli
    } else if claude_prompts::is_prompt(value) || is_claude_code(value) {
        SourceFormat::ClaudeCode
    } else if messages::is_line(messages::list(value)) || messages::is_loose(value) {
        SourceFormat::Messages
    } else if value.has("id") && value.has("instructions") && value.has("timestamp") {
        SourceFormat::Codex
    } else {
        return None;
    })
}

/// Whether a directory that another tool wrote is `dir` or below it. `dir` is resolved; links in the other path are
/// resolved if it exists.
pub fn is_below(written: &str, dir: &Path) -> bool {
    let path = Path::new(written);
    path.starts_with(dir) || path.canonicalize().is_ok_and(|path| path.starts_with(dir))
}

/// Whether a log is about a directory or one below it, by its first records.
pub fn is_about(format: SourceFormat, path: &Path, dir: &Path) -> bool {
    directory_of(format, path).is_some_and(|its_dir| is_below(&its_dir, dir))
}

/// Returns the directory that a log is about, by its first records.
pub fn directory_of(format: SourceFormat, path: &Path) -> Option<String> {
    match format {
        SourceFormat::GeminiCli => return gemini::directory(path),
        SourceFormat::OpenCode => {
            return first_value(path, |session| session.get("directory").non_empty()).flatten();
        }
        _ => {}
    }
    let mut reading = SourceReader::default();
    let mut values = reading.lines(path).ok()?;
    for _ in 0..TRIES {
        let value = reading.next(&mut values).ok()??;
        let cwd =
            if format == SourceFormat::Codex { value.at(&["payload", "cwd"]) } else { value.get("cwd") };
        if let Some(cwd) = cwd.non_empty().or_else(|| value.get("cwd").non_empty()) {
            return Some(cwd);
        }
    }
    None
}
