//! Texts that change at each run of a program: comparisons of requests ignore them.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};

use lepo_base::error::{Error, Result};

/// The name for all system texts.
const SYSTEM: &str = "system";

/// The changing texts in requests of programs: dates, folders, the state of git, versions, names of models. Seen in
/// requests of Claude Code 2.1, Codex CLI 0.171, opencode 1.18 and Gemini CLI 0.9.
const CLIENTS: &[(&str, &[&str])] = &[
    (
        "claude-code",
        &[
            r"^x-anthropic-billing-header:.*$",
            r"\bcc_version=[\w.-]+",
            r"^[ -]*(?:Primary w|Additional w|W)orking director(?:y|ies): .*$",
            r"^[ -]*Is (?:directory a git repo|a git repository): .*$",
            r"^[ -]*(?:Platform|Shell|OS Version): .*$",
            r"^.*\bToday['’]s date(?: is|:) .*$",
            r"^.*You are powered by the model.*$",
            r"^.*[Tt]he exact model ID is.*$",
            r"(?s)<system-reminder>\nAs you answer [^\n]*\n# gitStatus\n.*?</system-reminder>\n*",
            r"(?s)^# gitStatus\n.*?^Recent commits:\n(?:[0-9a-f]{7,40} [^\n]*\n?)*",
            r"(?s)^gitStatus: .*?(?:^Recent commits:\n(?:[0-9a-f]{7,40} [^\n]*\n?)*|\z)",
            r"`[^`\n]*/\.claude/[^`\n]*`",
            r"\S*/claude-\d+/\S*",
            r"\S*/\.claude/projects/\S*",
        ],
    ),
    (
        "codex",
        &[
            r"(?s)<environment_context>.*?</environment_context>",
            r"(?s)<permissions instructions>.*?</permissions instructions>",
            r"^# AGENTS\.md instructions for .*$",
            r"^.*You are Codex, (?:based on|a coding agent based on) .*$",
            r"^- `r\d+` = `[^`]*`$",
            r"^Wall time: [\d.]+ seconds$",
        ],
    ),
    (
        "opencode",
        &[
            r"(?s)<env>.*?</env>",
            r"(?s)<(?:files|directories)>.*?</(?:files|directories)>",
            r"^Called the Read tool with the following input: .*$",
            r"^.*You are powered by the model.*$",
        ],
    ),
    (
        "gemini-cli",
        &[
            r"^.*Today['’]s date is .*$",
            r"^.*My operating system is: .*$",
            r"^.*The project['’]s temporary directory is: .*$",
            r"(?s)^I['’]m currently working in the director(?:y|ies):? .*?(?:\n\n|\z)",
        ],
    ),
];

/// The texts that do not count where requests are compared.
#[derive(Debug, Clone, Default)]
pub struct IgnoredText {
    /// System texts do not count at all.
    pub has_no_system: bool,
    patterns: Vec<Regex>,
}

impl IgnoredText {
    /// Compiles the values of `recorded.ignore`: names first, then patterns, in which `^` and `$` match at lines.
    pub fn new(values: &[String]) -> Result<IgnoredText> {
        let mut ignored = IgnoredText::default();
        for value in values {
            if value == SYSTEM {
                ignored.has_no_system = true;
                continue;
            }
            let known = CLIENTS.iter().find(|(name, _)| name == value);
            let patterns = known.map_or_else(|| vec![value.as_str()], |(_, patterns)| patterns.to_vec());
            for pattern in patterns {
                let compiled = RegexBuilder::new(pattern).multi_line(true).build();
                let compiled = compiled.map_err(|error| {
                    let names = CLIENTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                    Error::usage(format!("recorded.ignore has {value:?}, which is not a pattern"))
                        .because(error)
                        .hint(format!("write a regular expression, or one of {SYSTEM}, {names}"))
                })?;
                ignored.patterns.push(compiled);
            }
        }
        Ok(ignored)
    }

    /// Removes all matches.
    pub fn strip<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut stripped = Cow::Borrowed(text);
        for pattern in &self.patterns {
            if let Cow::Owned(less) = pattern.replace_all(&stripped, "") {
                stripped = Cow::Owned(less);
            }
        }
        stripped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_remove_what_changes() {
        for (values, one, other) in [
            (&["claude-code"][..], "a\nToday's date: 2026-01-01\nb", "a\nToday's date: 2026-01-02\nb"),
            (
                &["claude-code"],
                "<env>\nWorking directory: /a\nIs directory a git repo: Yes\nPlatform: linux\n</env>",
                "<env>\nWorking directory: /b c\nIs directory a git repo: No\nPlatform: darwin\n</env>",
            ),
            (
                &["claude-code"],
                "x\ngitStatus: This is\n\nStatus:\n M a\n\nRecent commits:\n0123abc one\n4567def two\n\nend",
                "x\ngitStatus: This is\n\nStatus:\n\nRecent commits:\n0123abc three\n\nend",
            ),
            (
                &["claude-code"],
                "You are powered by the model named Opus. The exact model ID is claude-opus-4-5.",
                "You are powered by the model named Sonnet. The exact model ID is claude-sonnet-4-5.",
            ),
            (
                &["claude-code"],
                "one\n\n<system-reminder>\nAs you answer it, you can:\n# gitStatus\nThis is\n\nStatus:\n?? a\n\n\
                 Recent commits:\n0123abc one\n\nClaude Code attached it.\n</system-reminder>\n\ntwo",
                "one\n\ntwo",
            ),
            (
                &["claude-code"],
                "at `/a b/.claude/projects/-a/memory/`. It",
                "at `/c/.claude/projects/-c/memory/`. It",
            ),
            (&["codex"], "- `r0` = `/a/.codex/skills/.system`", "- `r0` = `/home/b c/.codex/skills/.system`"),
            (
                &["codex"],
                "<environment_context>\n  <cwd>/a</cwd>\n</environment_context>",
                "<environment_context>\n  <cwd>/b</cwd>\n  <date>1</date>\n</environment_context>",
            ),
            (&["codex"], "Wall time: 0.0017 seconds\nOutput:\n", "Wall time: 12.5 seconds\nOutput:\n"),
            (&["opencode"], "a <env>\n1\n</env> b", "a <env>\n2\n</env> b"),
            (
                &["opencode"],
                "Called the Read tool with the following input: {\"filePath\":\"/a/b.png\"}\n\nImage",
                "Called the Read tool with the following input: {\"filePath\":\"/c d/b.png\"}\n\nImage",
            ),
            (&["gemini-cli"], "Today's date is Monday.\nx", "Today's date is Friday.\nx"),
            (&[r"\d+ ms", "^seed .*$"], "took 12 ms\nseed 1\nend", "took 7 ms\nseed 2\nend"),
            (&["(?:system)"], "the system is", "the  is"),
            (&["(?i)é"], "caFÉ", "caF"),
        ] {
            let values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
            let ignored = IgnoredText::new(&values).unwrap();
            let [one, other] = [one, other].map(|text| ignored.strip(text).to_ascii_lowercase());
            assert_eq!(one, other, "{values:?}");
        }
    }

    #[test]
    fn the_word_system_is_a_name_and_no_pattern() {
        let ignored = IgnoredText::new(&["system".into()]).unwrap();
        assert!(ignored.has_no_system);
        assert_eq!(ignored.strip("system"), "system");
        let error = IgnoredText::new(&["(".into()]).unwrap_err().chain();
        assert!(error.contains("recorded.ignore") && error.contains("\"(\""), "{error}");
    }

    #[test]
    fn every_pattern_of_a_client_compiles() {
        for (name, patterns) in CLIENTS {
            let ignored = IgnoredText::new(&[name.to_string()]).unwrap();
            assert_eq!(ignored.patterns.len(), patterns.len(), "{name}");
        }
    }
}
