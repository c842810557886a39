//! Parses the front matter of a `SKILL.md` as YAML, without what the validators of skills refuse: flow collections,
//! anchors, tags. A line with a fault is mended, so that the rest is read.

mod mend;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_saphyr::Error;
use serde_saphyr::options::{MergeKeyPolicy, NonFiniteFloatPolicy};

use mend::{COLON, RESERVED, clear_field, indent_of, is_empty, mend};

/// Fields of a skill, by the published rules.
pub const FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// Maximum bytes of a front matter: each fault costs a pass over it, and a repository may have many skills.
const MOST_FRONT_MATTER: usize = 32 << 10;

/// Maximum faults to mend, each by another pass.
const MOST_FAULTS: usize = 16;

pub const TOO_MANY: &str = "its front matter has too many faults";

const TOO_DEEP: &str = "it is nested too deeply";

const UNINDENTED: &str = "invalid indentation in multiline quoted scalar";

/// Faults, each after a part of the message of serde-saphyr 2.2. A new version may change the messages, and the
/// other texts that this module compares: the tests show which.
const MESSAGES: [(&str, &str); 10] = [
    ("recursion limit exceeded", RESERVED),
    ("breached: Depth", TOO_DEEP),
    ("unclosed quote", "the closing quote is missing"),
    (UNINDENTED, "the closing quote is missing"),
    ("invalid trailing content after", "there is text after the closing quote"),
    ("unknown escape character", "a backslash does not begin a valid escape"),
    ("expected comment or line break", "there is text after the block indicator"),
    ("mapping values are not allowed", COLON),
    ("simple key expected", "it is not a field (NAME: VALUE)"),
    ("expected mapping start", "it is not a field (NAME: VALUE)"),
];

/// The fields of a skill that have a use.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SkillFields {
    #[serde(deserialize_with = "text")]
    pub name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub description: Option<String>,
    #[serde(deserialize_with = "text")]
    pub compatibility: Option<String>,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

impl SkillFields {
    /// Returns the fields that the rules do not know.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.others.keys().map(String::as_str).filter(|name| !FIELDS.contains(name))
    }
}

/// Returns a scalar of any type verbatim: `1.0`, `null`.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// A front matter, and the text after it.
#[derive(Debug, Clone, Default)]
pub struct FrontMatter<'t> {
    /// `None` if it has too many faults.
    pub fields: Option<SkillFields>,
    /// Faults for which a strict parser rejects it.
    pub faults: Vec<String>,
    /// Fields whose list or map was joined to a text.
    pub joined: Vec<String>,
    /// The text after the front matter.
    pub body: &'t str,
}

impl<'t> FrontMatter<'t> {
    /// Parses a file. The error says why it has no front matter.
    pub fn read(text: &'t str) -> Result<FrontMatter<'t>, &'static str> {
        let mut found = FrontMatter::default();
        let text = match text.strip_prefix('\u{feff}') {
            Some(text) => {
                found.faults.push("there is a byte order mark before the front matter".to_string());
                text
            }
            None => text,
        };
        let (first, rest) = text.split_once('\n').ok_or("it does not begin with front matter (---)")?;
        if first.trim_end() != "---" {
            return Err("it does not begin with front matter (---)");
        }
        let (mut lines, mut length, mut closed, mut is_closed) = (Vec::new(), 0, 0, false);
        for line in rest.split_inclusive('\n') {
            closed += line.len();
            let line = line.trim_end();
            is_closed = line == "---";
            if is_closed {
                break;
            }
            length = closed;
            lines.push(line);
        }
        if !is_closed {
            return Err("its front matter is not closed (---)");
        }
        if length > MOST_FRONT_MATTER {
            return Err("its front matter is larger than 32 KiB");
        }
        found.body = rest.get(closed..).unwrap_or_default().trim();
        if lines.iter().any(|line| line.contains("---")) {
            found.faults.push("--- occurs within the front matter, where some readers end it".to_string());
        }
        let end = lines.iter().position(|line| *line == "...").unwrap_or(lines.len());
        lines.truncate(end);
        if lines.iter().all(|line| is_empty(line)) && found.faults.is_empty() {
            return Err("its front matter is empty");
        }
        let lines = found.outdent(&lines);
        found.read_fields(lines);
        Ok(found)
    }

    /// Returns the lines without the indent of the first.
    fn outdent(&mut self, lines: &[&str]) -> Vec<String> {
        let indent = lines.iter().find(|line| !line.is_empty()).map_or(0, |line| indent_of(line));
        let mut outdented = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            if indent_of(line) < indent && !line.is_empty() {
                self.fault(index, "it is indented less than the first field");
            }
            let mut line = line.get(indent.min(indent_of(line))..).unwrap_or_default();
            if line.starts_with('\t') {
                self.fault(index, "it is indented, and belongs to no field");
                line = "";
            }
            outdented.push(line.to_string());
        }
        outdented
    }

    fn read_fields(&mut self, mut lines: Vec<String>) {
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { flow_nesting_limit: 0, max_anchors: 0, max_depth: 32 },
            strict_indentation: true,
            merge_keys: MergeKeyPolicy::AsOrdinary,
            null_as_string: true,
            ignore_binary_tag_for_string: true,
            non_finite_float_policy: NonFiniteFloatPolicy::AsString,
            reject_unsupported_tags: true,
            with_snippet: false,
        };
        // The last pass reads what the others mended.
        for pass in 0..=MOST_FAULTS {
            let error = match serde_saphyr::from_str_with_options(&lines.join("\n"), options.clone()) {
                Ok(fields) => {
                    self.fields = Some(fields);
                    return;
                }
                Err(_) if pass == MOST_FAULTS => break,
                Err(error) => error,
            };
            let index = error.location().map_or(0, |at| at.line().saturating_sub(1) as usize);
            let index = index.min(lines.len().saturating_sub(1));
            match &error {
                Error::DuplicateMappingKey { key, .. } => {
                    self.fault(index, &format!("{:?} appears twice", key.as_deref().unwrap_or_default()));
                    clear_field(&mut lines, index);
                }
                Error::Unexpected { expected: "string scalar", .. } => {
                    let mended = mend(&mut lines, index);
                    self.joined.extend(mended.field);
                }
                _ => {
                    let message = error.to_string();
                    // This is found at the first line after the text.
                    let index = index - usize::from(message.contains(UNINDENTED)).min(index);
                    let known = MESSAGES.iter().find(|(part, _)| message.contains(part));
                    let message = match known {
                        Some((_, words)) => words,
                        None => message.split(" at line ").next().unwrap_or_default(),
                    };
                    let mended = mend(&mut lines, index);
                    let reason = mended.reason.filter(|_| message != TOO_DEEP);
                    let (index, message) = reason.unwrap_or((index, message));
                    self.fault(index, message);
                }
            }
        }
        self.add(TOO_MANY.to_string());
    }

    fn fault(&mut self, index: usize, what: &str) {
        let fault = format!("line {}: {what}", index + 2);
        if self.faults.len() < MOST_FAULTS || self.faults.contains(&fault) {
            self.add(fault);
        } else {
            self.add(TOO_MANY.to_string());
        }
    }

    fn add(&mut self, fault: String) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests;
