//! `_insts.toml`: the instruction texts for models. They are inert data of a repository and can be read
//! without trust, because nothing in them makes lepo run a program or connect to a server.

use std::path::Path;

use super::document::ConfigDocument;
use super::field::FieldReader;
use super::table_reader::TableReader;
use lepo_base::error::Result;

/// The file that `lepo init` writes: each default below a comment on its use. Also the only source of the
/// defaults.
const DEFAULTS: &str = include_str!("default-insts.toml");

/// The instruction texts in use. `None` if the file has an empty text: nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
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
            let text = Some(text.trim_end().to_string());
            match before.lines().last().unwrap_or_default() {
                "general = " => insts.general = text,
                "toolChooser = " => insts.tool_chooser = text,
                "commandWriter = " => insts.command_writer = text,
                "orchestrator = " => insts.orchestrator = text,
                "floor = " => insts.floor = text,
                "speech = " => insts.speech = text,
                "judge = " => insts.judge = text,
                _ => {}
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
        let (mut insts, ignored) = read(path, bytes)?;
        insts.general = insts.general.filter(|text| !is_general_as_made(text));
        Ok((insts.or(Insts::default()), ignored))
    }

    /// Returns the names of the texts that differ from the defaults.
    pub fn changed(&self) -> Vec<&'static str> {
        let default = Insts::default();
        let texts = [
            ("general", &self.general, &default.general),
            ("toolChooser", &self.tool_chooser, &default.tool_chooser),
            ("commandWriter", &self.command_writer, &default.command_writer),
            ("orchestrator", &self.orchestrator, &default.orchestrator),
            ("floor", &self.floor, &default.floor),
            ("speech", &self.speech, &default.speech),
            ("judge", &self.judge, &default.judge),
        ];
        texts.into_iter().filter(|(_, own, default)| own != default).map(|(name, ..)| name).collect()
    }

    /// Returns the text of a new `_insts.toml`: the defaults, commented.
    pub fn default_file_text() -> &'static str {
        DEFAULTS
    }

    /// Returns the file's texts, or the default where the file has none. A blank text becomes `None`.
    fn or(self, defaults: Insts) -> Insts {
        let text = |from_file: Option<String>, default: Option<String>| {
            from_file.or(default).filter(|text| !text.trim().is_empty())
        };
        Insts {
            general: text(self.general, defaults.general),
            tool_chooser: text(self.tool_chooser, defaults.tool_chooser),
            command_writer: text(self.command_writer, defaults.command_writer),
            orchestrator: text(self.orchestrator, defaults.orchestrator),
            floor: text(self.floor, defaults.floor),
            speech: text(self.speech, defaults.speech),
            judge: text(self.judge, defaults.judge),
        }
    }
}

/// Text that the default `general` of earlier stores contains in addition.
const EARLIER: &str = ", in the language it is written in";

/// Whether this is the default text of `general`, of this or an earlier version.
pub fn is_general_as_made(text: &str) -> bool {
    Insts::default().general == Some(text.trim().replacen(EARLIER, "", 1))
}

/// Reads the texts of a file, including blank ones, and lists its unknown keys.
fn read(path: &Path, bytes: &[u8]) -> Result<(Insts, Vec<String>)> {
    let document = ConfigDocument::new(path, bytes)?;
    let mut root = TableReader::root(&document)?;
    let insts = Insts {
        general: root.read("general", FieldReader::prose)?,
        tool_chooser: root.read("toolChooser", FieldReader::prose)?,
        command_writer: root.read("commandWriter", FieldReader::prose)?,
        orchestrator: root.read("orchestrator", FieldReader::prose)?,
        floor: root.read("floor", FieldReader::prose)?,
        speech: root.read("speech", FieldReader::prose)?,
        judge: root.read("judge", FieldReader::prose)?,
    };
    let ignored = |(at, key)| format!("{}: unknown key `{key}`, ignored", document.source(at));
    Ok((insts, root.rest().into_iter().map(ignored).collect()))
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
