//! Arguments of `lepo grep`, and their interpretation.

use std::ops::RangeInclusive;

use crate::commands::complete;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::time::{self, DayEnd};
use lepo_search::PatternOptions;
use lepo_store::store::now;

/// Search the text of messages
///
/// Prints one match per line, newest first: id, day, speaker, the conversation's first question, the position of the
/// message in it, and the matching line. On a terminal, matches are grouped under a heading for each conversation.
/// PATTERN is a regular expression in the syntax of Rust's regex crate, with Unicode support; composed and decomposed
/// characters (as in é, 한) match each other. With ADDR, searches only those conversations; a range A..B is the messages that B's conversation has and A's does not.
///
/// Past days are searched through a text cache in `_cache/`, which is created when first needed; matching lines are
/// always read from the message's own file. Text that another program wrote into an old file, without changing its
/// folder, is found only with --no-cache.
///
/// Exits with 0 if something was found, 1 if nothing was found, 2 for an invalid pattern, and 5 if nothing was found
/// and something could not be read.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo grep -i readme\n  lepo grep --kind u,a --since 2026-01-01 'READ[A-Z]+'\n  \
    lepo grep -F -C 2 README\n  lepo grep -l --ids README | lepo ls -\n  \
    lepo grep --json -n 1 README | jq -r .text\n  lepo grep --everywhere 'time zone'"
)]
pub struct GrepArgs {
    /// The regular expression to search for
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Search only these conversations or ranges; `-` reads addresses from stdin, one per line
    #[arg(value_name = "ADDR", add = complete::address())]
    pub addresses: Vec<String>,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Match whole words only
    #[arg(short, long)]
    word_regexp: bool,
    /// Take PATTERN as text, not as a regular expression
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Print the lines that do not match
    #[arg(short = 'v', long)]
    invert_match: bool,
    /// Let a match span lines
    #[arg(short = 'U', long)]
    multiline: bool,
    /// Show N lines before and after each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, conflicts_with_all = ["json", "list", "count"])]
    context: usize,
    /// Print the paths of matching files instead
    #[arg(short, long = "files-with-matches", conflicts_with_all = ["json", "count"])]
    pub list: bool,
    /// With -l: print ids instead of paths
    #[arg(long, requires = "list")]
    pub ids: bool,
    /// Print `COUNT ID first question` for each matching conversation
    #[arg(short, long, conflicts_with_all = ["json"])]
    pub count: bool,
    /// Search only these kinds: u (user), a (assistant), s (system), t (tool)
    #[arg(long, value_name = "KINDS", value_delimiter = ',', add = complete::kind())]
    kind: Vec<String>,
    /// Search hidden messages too
    #[arg(short = 'a', long)]
    pub hidden: bool,
    /// Search every conversation (the default)
    #[arg(long, conflicts_with = "addresses")]
    all: bool,
    /// Search all stores that your lepo has written to; each line begins with the project's path
    #[arg(long, conflicts_with_all = ["addresses", "count"])]
    pub everywhere: bool,
    /// Search only messages since WHEN: a date, a date with a time, or a span like 30d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Search only messages until WHEN; a date includes that day
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Search only answers of this model
    #[arg(long, value_name = "NAME", add = complete::model())]
    pub model: Option<String>,
    /// Stop after N lines (with -l: N files)
    #[arg(short, long = "max-count", value_name = "N")]
    pub n: Option<usize>,
    /// Read every file instead of using the text cache of past days
    #[arg(long)]
    pub no_cache: bool,
    /// Print one JSON object per match: id, kind, hidden, time, path, conv, line, text, start, end (bytes)
    #[arg(long)]
    pub json: bool,
}

impl GrepArgs {
    pub fn pattern_text(&self) -> &str {
        &self.pattern
    }

    /// Whether the whole store is searched by text alone.
    pub fn is_of_all(&self) -> bool {
        self.addresses.is_empty() && self.model.is_none() && !self.count
    }

    pub fn has_context(&self) -> bool {
        self.context > 0
    }

    pub fn pattern_options(&self) -> PatternOptions {
        PatternOptions {
            ignore_case: self.ignore_case,
            whole_words: self.word_regexp,
            fixed: self.fixed_strings,
            invert: self.invert_match,
            multi_line: self.multiline,
            context: self.context,
            first: self.list,
        }
    }

    /// Parses `--kind`; empty for all kinds.
    pub fn kinds(&self) -> Result<Vec<Role>> {
        let kind = |word: &String| {
            let found = Role::ALL.into_iter().find(|role| {
                word.eq_ignore_ascii_case(role.as_str())
                    || word.eq_ignore_ascii_case(role.letter().encode_utf8(&mut [0; 4]))
            });
            found.ok_or_else(|| {
                Error::usage(format!("unknown kind {word:?}"))
                    .hint("the kinds are u (user), a (assistant), s (system) and t (tool)")
            })
        };
        self.kind.iter().map(kind).collect()
    }

    /// Parses `--since` and `--until`, in milliseconds since 1970.
    pub fn times(&self) -> Result<RangeInclusive<u64>> {
        let now = now();
        let read = |option: &str, text: &Option<String>, end, default| match text {
            None => Ok(default),
            Some(text) => time::parse(text, now, end).ok_or_else(|| {
                Error::usage(format!("--{option} {text:?} is not a time"))
                    .hint(format!("give {}", time::FORMS))
            }),
        };
        Ok(read("since", &self.since, DayEnd::First, 0)?
            ..=read("until", &self.until, DayEnd::Last, u64::MAX)?)
    }
}
