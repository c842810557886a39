//! Options of `lepo export`.

use std::path::PathBuf;

use super::format::ExportFormat;
use super::output::OutputPath;
use crate::commands::complete;
use lepo_base::error::{Error, Result};

/// Write a conversation as a document
///
/// markdown is for reading, json is the document of `lepo show --json`, and session is the file of older chat
/// programs: {"model", "startedAt", "messages": [{"role", "content"}]}, with only the answered questions and their
/// answers.
///
/// With -o PATH, one conversation is written to that file, which is replaced if it exists; without --format, its
/// ending (.md, .html, .json, .jsonl) names the format. If PATH is a folder or ends in `/`, or if there are several
/// conversations and the format needs a file for each, new files are written in it. They are named after the time and
/// the title or first words, and never replace another file. Their paths are printed, and attached files are written
/// to a folder next to each, whose name ends with -files.
///
/// messages is the conversation in the form of APIs, one message per line, without times; with --all, one
/// conversation per line. chatgpt, openwebui and pi are the whole tree of the conversation, as these tools export or
/// store it; with --all, every tree. `lepo import` reads all four back. Hidden messages other than the system prompt
/// are written only with -a.
///
/// claude-code and codex are sessions that these tools can continue, one file per conversation. Tool calls and their
/// results are written only with -a, other hidden messages never. -o DIR must be a folder of your own; the last line
/// on stderr is the command that installs the sessions. `lepo import` reads both back.
///
/// handoff is a text from which another agent can continue: `codex "$(lepo export --format handoff)"`. It lists the
/// earlier questions, the last turns in full, the files named, the commands with their exit codes, and the pending
/// request. Secrets are masked, and no model is asked.
///
/// html is one page for any browser, without network access: the forest of the given conversations, or of all with
/// --all. Here -o names the file, which is replaced. Because such pages are often shared, the system prompt and other
/// hidden messages are included only with -a.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo export > conversation.md\n  \
    lepo export main --format session | jq -r '.messages[-1].content'\n  \
    lepo ls | cut -d' ' -f1 | while read id; do lepo export $id -o sessions/ --format session; done\n  \
    lepo export --format html --all -o conversations.html\n  \
    lepo export --format chatgpt --all > conversations.json")]
pub struct ExportArgs {
    /// The last message of the conversation; several with html; `-` reads addresses from stdin
    #[arg(value_name = "ADDR", default_value = "@", add = complete::address())]
    pub(super) addresses: Vec<String>,
    /// The format to write
    ///
    /// Without it, the format of the ending of -o PATH, else markdown.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(super) format: Option<ExportFormat>,
    /// Write hidden messages too (not with session)
    #[arg(short = 'a', long, alias = "show-all")]
    pub(super) hidden: bool,
    /// Write every conversation (html and the formats of other tools)
    #[arg(long, conflicts_with = "addresses")]
    pub(super) all: bool,
    /// Write to PATH: a file, replaced if it exists; or a folder for new files, if it exists, ends in `/`, or there are several
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// With handoff: limit the text to N bytes (default: 24k; k is 1,024)
    #[arg(long, value_name = "N", value_parser = bytes)]
    pub(super) bytes: Option<usize>,
    /// Open the page in a browser
    #[arg(long)]
    pub(super) open: bool,
}

impl ExportArgs {
    /// Returns the only address.
    pub(super) fn address(&self) -> Result<&str> {
        match &self.addresses[..] {
            [address] => Ok(address),
            _ => Err(Error::usage("only --format html takes several addresses")),
        }
    }

    /// Returns the requested format, else the format of the file that `-o` names, else Markdown.
    pub(super) fn wanted_format(&self) -> Result<ExportFormat> {
        let file = match (self.format, &self.output) {
            (Some(format), _) => return Ok(format),
            (None, Some(output)) => match OutputPath::new(output, false) {
                OutputPath::File(file) => file,
                OutputPath::Folder(_) => return Ok(ExportFormat::default()),
            },
            (None, None) => return Ok(ExportFormat::default()),
        };
        let Some(extension) = file.extension().map(|extension| extension.to_string_lossy()) else {
            return Ok(ExportFormat::default());
        };
        ExportFormat::from_extension(&extension).ok_or_else(|| {
            Error::usage(format!("no format has the ending .{extension}"))
                .hint(format!("name one with --format: {}", ExportFormat::list(|_| true)))
        })
    }
}

/// Parses `--bytes`: a number, with `k` for 1,024.
fn bytes(text: &str) -> std::result::Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1024),
        None => (text, 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number.filter(|number| *number >= 512).ok_or_else(|| {
        "expected a number from 512, or one like \
        24k"
        .to_string()
    })
}
