//! A model that is a program: its command line, and where to find the answer in its output.

use super::mistake::Mistake;
use super::reader::ConfigReader;
use lepo_model::{AGENTS, AnswerFormat, PRESETS, agent_preset, preset};

/// The form of a command, for hints.
pub const COMMAND_FORM: &str = "it is [\"program\", \"argument\", …]";

/// Returns the command of a `cli` model and the format of its answer: of a preset, or as written.
pub fn read_program(
    model: &str,
    preset_name: Option<String>,
    command: Option<Vec<String>>,
    answer: Option<String>,
    reader: &ConfigReader<'_>,
) -> Result<(Vec<String>, AnswerFormat), Mistake> {
    if let Some(name) = preset_name {
        if command.is_some() || answer.is_some() {
            let what = "cannot be combined with `command` or `answer`";
            return Err(reader.mistake("preset", what, "keep the preset, or command and answer"));
        }
        let (command, answer) = preset(&name).ok_or_else(|| unknown_preset(PRESETS, reader))?;
        return Ok((command.iter().map(|word| word.to_string()).collect(), answer));
    }
    let command = command_of(command, model, PRESETS, reader)?;
    let allowed = "allowed: text | json:/POINTER | jsonl:/POINTER";
    let form = answer.map_or(Some(AnswerFormat::Text), |text| answer_form(&text));
    Ok((command, form.ok_or_else(|| reader.mistake("answer", "is not an answer format", allowed))?))
}

/// Returns the command of an `acp` model: of a preset, or as written.
pub fn read_agent(
    model: &str,
    preset_name: Option<String>,
    command: Option<Vec<String>>,
    reader: &ConfigReader<'_>,
) -> Result<Vec<String>, Mistake> {
    let Some(name) = preset_name else { return command_of(command, model, AGENTS, reader) };
    if command.is_some() {
        return Err(reader.mistake("preset", "cannot be combined with `command`", "keep one of the two"));
    }
    let command = agent_preset(&name).ok_or_else(|| unknown_preset(AGENTS, reader))?;
    Ok(command.iter().map(|word| word.to_string()).collect())
}

fn unknown_preset(presets: &[&str], reader: &ConfigReader<'_>) -> Mistake {
    reader.mistake("preset", "is not known", &format!("allowed: {}", presets.join(" | ")))
}

/// Returns the command, which a model without a preset needs.
fn command_of(
    command: Option<Vec<String>>,
    model: &str,
    presets: &[&str],
    reader: &ConfigReader<'_>,
) -> Result<Vec<String>, Mistake> {
    let Some(command) = command else {
        let presets = format!("\"{}\"", presets.join("\" | \""));
        let allowed = format!("add command = [\"program\", \"argument\", …], or preset = {presets}");
        return Err(reader.whole_mistake(format!("model \"{model}\" has no command"), allowed));
    };
    match command.is_empty() {
        true => Err(reader.mistake("command", "is empty", COMMAND_FORM)),
        false => Ok(command),
    }
}

/// Parses `text`, `json:POINTER` or `jsonl:POINTER`, where a pointer (RFC 6901) is empty or starts with `/`.
fn answer_form(text: &str) -> Option<AnswerFormat> {
    let is_pointer = |pointer: &&str| pointer.is_empty() || pointer.starts_with('/');
    match text.split_once(':') {
        None if text == "text" => Some(AnswerFormat::Text),
        Some(("json", pointer)) => Some(pointer).filter(is_pointer).map(|p| AnswerFormat::Json(p.into())),
        Some(("jsonl", pointer)) => Some(pointer).filter(is_pointer).map(|p| AnswerFormat::Jsonl(p.into())),
        _ => None,
    }
}
