//! A model that is a program: question in, answer out.

use std::ffi::OsStr;
use std::path::Path;

use bytes::Bytes;
use serde_json::Value;

use super::config::Timeouts;
use super::error_text::excerpt;
use super::event::{ChatEvent, EventQueue, FinishReason};
use super::media::FileSupport;
use super::message::ChatRequest;
use super::message_layout::prompt_text;
use super::process::{ModelProcess, not_started};
use super::provider_spec::{ConversationFormat, ProviderSpec, ToolFormat};
use super::start::ModelFolders;
use super::utf8::Utf8Decoder;
use crate::config::{AnswerFormat, ModelConfig};
use crate::provider_spec::Planner;
use lepo_base::error::{Error, Result};
use lepo_net::client::{LIMIT, LineSplitter};
use lepo_process::ConfiguredProgram;

/// A program that is a model.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Prompt,
    planner: Planner::Chooser,
    path: ConversationFormat::Program,
    attachments: FileSupport::NOTHING,
    own_tools: false,
    http: None,
};

/// The placeholder for the question in a command.
const PLACE: &str = "{prompt}";

pub(super) struct CliAnswer {
    process: ModelProcess,
    reader: CliOutputParser,
    timeouts: Timeouts,
}

impl CliAnswer {
    pub fn start(
        config: &ModelConfig,
        request: ChatRequest<'_>,
        timeouts: Timeouts,
        folders: &ModelFolders,
    ) -> Result<Self> {
        let Some((program, arguments)) = config.command.split_first() else {
            return Err(Error::usage(format!("model \"{}\" has no `command`", config.name)));
        };
        let start = folders.cli_start(&config.name, program)?;
        let question = prompt_text(request.messages);
        tracing::debug!(model = config.name, request = question, "request");
        let check = |dir: &Path| (folders.compare_files)(&config.command, dir);
        let in_arguments = arguments.iter().any(|argument| argument.contains(PLACE));
        let arguments: Vec<String> = arguments.iter().map(|a| a.replace(PLACE, &question)).collect();
        let prepared = ConfiguredProgram::new(OsStr::new(program), &folders.cli_dir, &start).args(&arguments);
        let prepared = prepared.prepare(check).map_err(|error| not_started(program, &error))?;
        let prepared = if in_arguments { prepared } else { prepared.with_stdin() };
        let mut process = ModelProcess::start(program, prepared)?;
        if !in_arguments {
            process.send(Bytes::from(question), false);
        }
        let reader = CliOutputParser::new(&config.answer, program);
        Ok(CliAnswer { process, reader, timeouts })
    }

    /// Waits for the next output.
    pub async fn read_more(&mut self, events: &mut EventQueue) -> Result<()> {
        match self.process.read(self.timeouts.idle).await? {
            Some(bytes) => self.reader.read(&bytes, events),
            None => {
                self.process.ended_well()?;
                self.reader.finish(events)
            }
        }
    }
}

/// Extracts the answer from the program's output.
enum CliOutputParser {
    /// The whole output, except for its trailing newlines: they are buffered until more text arrives.
    Text {
        utf8: Utf8Decoder,
        newlines: String,
    },
    Json {
        program: String,
        pointer: String,
        document: Vec<u8>,
    },
    Jsonl {
        program: String,
        pointer: String,
        /// Selects the lines with an answer.
        is_answer_line: fn(&Value) -> bool,
        lines: LineSplitter,
        last: Option<String>,
    },
}

impl CliOutputParser {
    fn new(form: &AnswerFormat, program: &str) -> Self {
        let program = program.to_owned();
        match form {
            AnswerFormat::Text => {
                CliOutputParser::Text { utf8: Utf8Decoder::default(), newlines: String::new() }
            }
            AnswerFormat::Json(pointer) => {
                CliOutputParser::Json { program, pointer: pointer.clone(), document: Vec::new() }
            }
            AnswerFormat::Jsonl(pointer) => CliOutputParser::jsonl(program, pointer, |_| true),
            AnswerFormat::AgentMessage => CliOutputParser::jsonl(program, "/item/text", is_agent_message),
        }
    }

    fn jsonl(program: String, pointer: &str, is_answer_line: fn(&Value) -> bool) -> Self {
        CliOutputParser::Jsonl {
            program,
            pointer: pointer.to_owned(),
            is_answer_line,
            lines: LineSplitter::default(),
            last: None,
        }
    }

    fn read(&mut self, bytes: &[u8], events: &mut EventQueue) -> Result<()> {
        match self {
            CliOutputParser::Text { utf8, newlines } => {
                push_text(utf8.decode(bytes), newlines, events);
                Ok(())
            }
            CliOutputParser::Json { program, document, .. } if document.len() + bytes.len() > LIMIT => {
                Err(Error::remote(format!("{program} printed more than 16 MiB of JSON")))
            }
            CliOutputParser::Json { document, .. } => {
                document.extend_from_slice(bytes);
                Ok(())
            }
            CliOutputParser::Jsonl { pointer, is_answer_line, lines, last, .. } => {
                lines.feed(bytes, |line| {
                    note_last(line, pointer, *is_answer_line, last);
                    Ok(())
                })
            }
        }
    }

    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        match self {
            CliOutputParser::Text { utf8, newlines } => push_text(utf8.finish(), newlines, events),
            CliOutputParser::Json { program, pointer, document } => {
                let missing = || {
                    Error::remote(format!("{program} printed no text at {pointer}: {}", excerpt(document)))
                        .hint("check `answer` in the configuration")
                };
                events.push_back(ChatEvent::Text(text_at(document, pointer, |_| true).ok_or_else(missing)?));
            }
            CliOutputParser::Jsonl { program, pointer, is_answer_line, lines, last } => {
                lines.finish(|line| {
                    note_last(line, pointer, *is_answer_line, last);
                    Ok(())
                })?;
                let missing = || {
                    Error::remote(format!("{program} printed no line with text at {pointer}"))
                        .hint("check `answer` in the configuration")
                };
                events.push_back(ChatEvent::Text(last.take().ok_or_else(missing)?));
            }
        }
        events.push_back(ChatEvent::Done(FinishReason::Stop));
        Ok(())
    }
}

/// Emits text after the buffered newlines, and buffers its trailing ones.
fn push_text(text: String, newlines: &mut String, events: &mut EventQueue) {
    let body = text.trim_end_matches(['\n', '\r']);
    let trailing = text.split_at(body.len()).1;
    if !body.is_empty() {
        events.push_back(ChatEvent::Text(std::mem::take(newlines) + body));
    }
    newlines.push_str(trailing);
}

fn note_last(line: &[u8], pointer: &str, is_answer_line: fn(&Value) -> bool, last: &mut Option<String>) {
    if let Some(text) = text_at(line, pointer, is_answer_line) {
        *last = Some(text);
    }
}

fn text_at(json: &[u8], pointer: &str, is_answer_line: fn(&Value) -> bool) -> Option<String> {
    let document: Value = serde_json::from_slice(json).ok().filter(is_answer_line)?;
    document.pointer(pointer)?.as_str().map(str::to_owned)
}

fn is_agent_message(event: &Value) -> bool {
    event["type"] == "item.completed" && event["item"]["type"] == "agent_message"
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(form: AnswerFormat, pieces: &[&str]) -> Result<String> {
        let mut reader = CliOutputParser::new(&form, "ai");
        let mut events = EventQueue::new();
        for piece in pieces {
            reader.read(piece.as_bytes(), &mut events)?;
        }
        reader.finish(&mut events)?;
        assert_eq!(events.pop_back(), Some(ChatEvent::Done(FinishReason::Stop)));
        let text = |event| match event {
            ChatEvent::Text(text) => text,
            other => panic!("{other:?}"),
        };
        Ok(events.into_iter().map(text).collect())
    }

    #[test]
    fn the_answer_is_found_in_its_form() {
        let json = || AnswerFormat::Json("/result".into());
        let jsonl = || AnswerFormat::Jsonl("/item/text".into());
        for (form, pieces, expected) in [
            (AnswerFormat::Text, vec!["a\n", "\nb", "\n\n"], Ok("a\n\nb")),
            (AnswerFormat::Text, vec!["\r\n"], Ok("")),
            (json(), vec![r#"{"resu"#, r#"lt":"x"}"#], Ok("x")),
            (json(), vec![r#"{"result":1}"#], Err("ai printed no text at /result: {\"result\":1}")),
            (json(), vec!["oops"], Err("ai printed no text at /result: oops")),
            (
                jsonl(),
                vec!["junk\n{\"item\":{\"text\":\"a\"}}\n{\"item\":{\"te", "xt\":\"b\"}}\n{}"],
                Ok("b"),
            ),
            (
                AnswerFormat::AgentMessage,
                vec![concat!(
                    r#"{"type":"item.completed","item":{"type":"agent_message","text":"a"}}"#,
                    "\n",
                    r#"{"type":"item.started","item":{"type":"agent_message","text":"b"}}"#,
                    "\n",
                    r#"{"type":"item.completed","item":{"type":"reasoning","text":"c"}}"#,
                )],
                Ok("a"),
            ),
            (jsonl(), vec!["{}\n"], Err("ai printed no line with text at /item/text")),
        ] {
            let found = answer(form, &pieces).map_err(|e| e.message);
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{pieces:?}");
        }
    }
}
