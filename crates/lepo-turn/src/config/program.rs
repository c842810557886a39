//! A model that is a program: its command line, and where to find the answer in its output.

use lepo_base::error::Result;
use lepo_base::keyword::list_words;
use lepo_model::{AGENTS, AgentAccess, AgentSandbox, AnswerFormat, agent_preset, preset};

use super::setting_value::SettingValue;
use super::table_reader::TableReader;

/// Reads the keys of a `cli` model: a preset, or a command with the format of its answer.
pub fn read_program(model: &str, section: &mut TableReader) -> Result<(Vec<String>, AnswerFormat)> {
    let command = section.take_key("command");
    let answer = section.take_key("answer");
    if let Some(field) = section.take_key("preset") {
        if command.is_some() || answer.is_some() {
            let allowed = "keep the preset, or command and answer";
            return Err(field.error("cannot be combined with `command` or `answer`", allowed));
        }
        let Some((command, answer)) = preset(&String::from_toml(&field, &())?) else {
            return Err(field.error("is not known", "allowed: claude | gemini | codex"));
        };
        return Ok((command.iter().map(|word| word.to_string()).collect(), answer));
    }
    let Some(field) = command else {
        let allowed =
            "add command = [\"program\", \"argument\", …], or preset = \"claude\" | \"gemini\" | \"codex\"";
        return Err(section.lacks(format!("model \"{model}\" has no command"), allowed));
    };
    let command = Vec::<String>::from_toml(&field, &())?;
    if command.is_empty() {
        return Err(field.error("is empty", "it is [\"program\", \"argument\", …]"));
    }
    let Some(field) = answer else { return Ok((command, AnswerFormat::Text)) };
    match answer_form(&String::from_toml(&field, &())?) {
        Some(form) => Ok((command, form)),
        None => {
            let allowed = "allowed: text | json:/POINTER | jsonl:/POINTER";
            Err(field.error("is not an answer format", allowed))
        }
    }
}

/// Reads the sandbox of an `acp` model, and the agent's own folders to which it has access.
pub fn read_sandbox(section: &mut TableReader) -> Result<Option<AgentSandbox>> {
    let access = section.get("sandbox", &AgentAccess::ALL)?;
    let home = section.take_key("sandbox_home");
    match (access, home) {
        (None, None) => Ok(None),
        (None, Some(field)) => {
            Err(field.error("needs `sandbox`", format!("add sandbox = {}", list_words(AgentAccess::ALL))))
        }
        (Some(access), home) => {
            let home =
                home.map(|field| SettingValue::from_toml(&field, &())).transpose()?.unwrap_or_default();
            Ok(Some(AgentSandbox { access, home }))
        }
    }
}

/// Reads the keys of an `acp` model: a preset, or a command.
pub fn read_agent(model: &str, section: &mut TableReader) -> Result<Vec<String>> {
    let command = section.take_key("command");
    if let Some(field) = section.take_key("preset") {
        if command.is_some() {
            return Err(field.error("cannot be combined with `command`", "keep one of the two"));
        }
        let Some(command) = agent_preset(&String::from_toml(&field, &())?) else {
            return Err(field.error("is not known", format!("allowed: {}", AGENTS.join(" | "))));
        };
        return Ok(command.iter().map(|word| word.to_string()).collect());
    }
    let allowed = "add command = [\"program\", \"argument\", …], or preset = \"claude\" | \"codex\" | \"gemini\" | \"opencode\"";
    let Some(field) = command else {
        return Err(section.lacks(format!("model \"{model}\" has no command"), allowed));
    };
    let command = Vec::<String>::from_toml(&field, &())?;
    match command.is_empty() {
        true => Err(field.error("is empty", "it is [\"program\", \"argument\", …]")),
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
