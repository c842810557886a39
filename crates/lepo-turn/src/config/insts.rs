//! `_insts.toml`: the texts that tell a model what to do. Inert data of a repository: they can be
//! read without trust, since nothing in them makes lepo run or connect.

use std::path::Path;

use super::document::Document;
use super::field::Field;
use super::reader::Section;
use lepo_base::error::Result;

/// The file that `lepo init` writes: every default under a comment on its use. It is the one
/// source of the defaults too.
const DEFAULTS: &str = include_str!("default-insts.toml");

/// The instruction texts in use; `None` where the file has an empty one: nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insts {
    /// With requests for an answer; while it is as made, only with those of conversations that hold a result.
    pub general: Option<String>,
    /// Is a command needed (`toolChooser`).
    pub tool_chooser: Option<String>,
    /// The name of the inst (`commandWriter`).
    pub command_writer: Option<String>,
    /// A debate: who speaks.
    pub orchestrator: Option<String>,
    /// A debate: do you want to speak.
    pub floor: Option<String>,
    /// A debate: speak.
    pub speech: Option<String>,
    /// Several answers to one question: judge them.
    pub judge: Option<String>,
}

impl Default for Insts {
    /// Takes the texts of the default file, which every `do` needs, without the TOML reader: in that file each key
    /// stands on a line that ends with the quotes, and its text ends with a line of them.
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
    /// Reads the bytes of `_insts.toml`, and says what was ignored in it. A key that is missing
    /// means its default. A syntax error or a text that is none: exit 2, with `path` and line.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<(Insts, Vec<String>)> {
        if bytes == DEFAULTS.as_bytes() {
            return Ok((Insts::default(), Vec::new()));
        }
        let (mut said, ignored) = read(path, bytes)?;
        said.general = said.general.filter(|text| !is_general_as_made(text));
        Ok((said.over(Insts::default()), ignored))
    }

    /// The names of the texts that are not the default ones.
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

    /// The text of a new `_insts.toml`: the defaults, commented.
    pub fn default_file_text() -> &'static str {
        DEFAULTS
    }

    /// The texts of the file, or the default where it has none. Blank: none.
    fn over(self, defaults: Insts) -> Insts {
        let text = |said: Option<String>, default: Option<String>| {
            said.or(default).filter(|text| !text.trim().is_empty())
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

/// Words that the default `general` of earlier stores has besides.
const EARLIER: &str = ", in the language it is written in";

/// True for the default text of `general`, also for that of earlier stores.
pub fn is_general_as_made(text: &str) -> bool {
    Insts::default().general == Some(text.trim().replacen(EARLIER, "", 1))
}

/// The texts that a file has, blank ones too, and what else is in it.
fn read(path: &Path, bytes: &[u8]) -> Result<(Insts, Vec<String>)> {
    let document = Document::new(path, bytes)?;
    let mut root = Section::root(&document)?;
    let said = Insts {
        general: root.read("general", Field::prose)?,
        tool_chooser: root.read("toolChooser", Field::prose)?,
        command_writer: root.read("commandWriter", Field::prose)?,
        orchestrator: root.read("orchestrator", Field::prose)?,
        floor: root.read("floor", Field::prose)?,
        speech: root.read("speech", Field::prose)?,
        judge: root.read("judge", Field::prose)?,
    };
    let ignored = |(at, key)| format!("{}: unknown key `{key}`, ignored", document.source(at));
    Ok((said, root.rest().into_iter().map(ignored).collect()))
}

/// A text with each `{name}` of `values` put in. What is put in is not looked at again, so a topic
/// that speaks of `{topic}` stays as it is; any other brace stays too.
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
