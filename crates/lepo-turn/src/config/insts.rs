//! `_insts.toml`: the instruction texts for models. They are inert data of a repository and can be read
//! without trust, because nothing in them makes lepo run a program or connect to a server.

use std::path::Path;

use serde::Deserialize;

use super::mistake::Mistake;
use super::reader::ConfigReader;
use super::tree::SettingTable;
use lepo_base::error::Result;

/// The file that `lepo init` writes: each default below a comment on its use. Also the only source of the
/// defaults.
const DEFAULTS: &str = include_str!("default-insts.toml");

const KEYS: &[&str] =
    &["general", "toolChooser", "commandWriter", "orchestrator", "floor", "speech", "judge"];

/// The instruction texts in use. `None` if the file has an empty text: nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Insts {
    /// Sent with requests for an answer; the default text only in a turn with a command's result.
    pub general: Option<String>,
    /// Asks whether a command is needed (`toolChooser`).
    pub tool_chooser: Option<String>,
    /// Asks for the command (`commandWriter`).
    pub command_writer: Option<String>,
    /// Asks a debate's orchestrator for the next speaker.
    pub orchestrator: Option<String>,
    /// Asks a debate's participant whether it wants to speak.
    pub floor: Option<String>,
    /// Asks a debate's participant for its speech.
    pub speech: Option<String>,
    /// Asks a judge to compare several answers to a question.
    pub judge: Option<String>,
}

impl Default for Insts {
    /// Extracts the texts of the default file, which every `do` needs, without the TOML parser: in that file
    /// each key is on a line that ends with the quotes, and its text ends with a line of quotes.
    fn default() -> Self {
        let mut insts = Insts {
            general: None,
            tool_chooser: None,
            command_writer: None,
            orchestrator: None,
            floor: None,
            speech: None,
            judge: None,
        };
        let mut pieces = DEFAULTS.split("'''\n");
        while let (Some(before), Some(text)) = (pieces.next(), pieces.next()) {
            let key = before.lines().last().and_then(|line| line.strip_suffix(" = "));
            for (name, slot) in KEYS.iter().zip(insts.texts()) {
                if key == Some(name) {
                    *slot = Some(text.trim_end().to_string());
                }
            }
        }
        insts
    }
}

impl Insts {
    /// Parses `_insts.toml`, and returns what it ignored. A missing key means its default. Exit 2, with
    /// `path` and line, for a syntax error or a value that is not a text.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<(Insts, Vec<String>)> {
        if bytes == DEFAULTS.as_bytes() {
            return Ok((Insts::default(), Vec::new()));
        }
        let table = SettingTable::parse(path, bytes).map_err(Mistake::file_error)?;
        let mut reader = ConfigReader::root(&table).with_prose();
        let mut insts: Insts = reader.read(KEYS).map_err(Mistake::file_error)?;
        if insts.general.as_deref().is_some_and(is_general_as_made) {
            insts.general = Insts::default().general;
        }
        for text in insts.texts() {
            let trimmed = text.take().map(|text| text.trim_end_matches(['\r', '\n']).to_string());
            *text = trimmed.filter(|text| !text.trim().is_empty());
        }
        let ignored = reader.rest().into_iter();
        let ignored = ignored.map(|(key, node)| format!("{}: unknown key `{key}`, ignored", node.source));
        Ok((insts, ignored.collect()))
    }

    /// Returns the texts in the order of [`KEYS`].
    fn texts(&mut self) -> [&mut Option<String>; KEYS.len()] {
        [
            &mut self.general,
            &mut self.tool_chooser,
            &mut self.command_writer,
            &mut self.orchestrator,
            &mut self.floor,
            &mut self.speech,
            &mut self.judge,
        ]
    }

    /// Returns the names of the texts that differ from the defaults.
    pub fn changed(&self) -> Vec<&'static str> {
        let (mut own, mut default) = (self.clone(), Insts::default());
        let texts = KEYS.iter().zip(own.texts().into_iter().zip(default.texts()));
        texts.filter(|(_, (own, default))| own != default).map(|(name, _)| *name).collect()
    }

    /// Returns the text of a new `_insts.toml`: the defaults, commented.
    pub fn default_file_text() -> &'static str {
        DEFAULTS
    }
}

/// Text that the default `general` of earlier stores contains in addition.
const EARLIER: &str = ", in the language it is written in";

/// Whether this is the default text of `general`, of this or an earlier version.
pub fn is_general_as_made(text: &str) -> bool {
    Insts::default().general == Some(text.trim().replacen(EARLIER, "", 1))
}

/// Replaces each `{name}` of `values` in a text. Inserted text is not expanded again, so a topic that
/// contains `{topic}` remains unchanged, like any other brace.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let found = values.iter().find_map(|(name, value)| {
            let after = after.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, after))
        });
        match found {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}
