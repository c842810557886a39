//! The options of `lepo export`.

use std::path::PathBuf;

use super::render::Format;
use crate::commands::complete;

/// Write a conversation as a document
///
/// markdown is for reading, json is the document of `lepo show --json`, session is the file of older
/// chat programs: {"model", "startedAt", "messages": [{"role", "content"}]}, with only the questions
/// that were answered, and their answers. With -o PATH one conversation is written to that file. Where PATH is a
/// folder, or ends in `/`, a new file in it is named by the time and the title or the first words, and never replaces
/// another; so are several files. Paths are printed, and attached files are written beside, in a folder whose name
/// ends with -files.
///
/// messages is the conversation as APIs have it, one message a line, without times; with --all one conversation a line.
/// chatgpt, openwebui and pi are the whole tree of the conversation, as these tools export or keep it; with --all
/// every tree. `lepo import` reads all four back. Hidden messages but the system prompt only with -a.
///
/// claude-code and codex are sessions that these tools can go on with, a file for each conversation, with tool calls
/// and their results only with -a; other hidden messages have no place in them. With -o DIR new files are written in a
/// folder of yours; the last line on stderr is the command that installs them. `lepo import` reads both back.
///
/// handoff is a text for another agent to go on from: `codex "$(lepo export --format handoff)"`. It has the earlier
/// questions in a line each, the last turns whole, the files named, the commands with their exit codes, and the open
/// request, with secrets masked; no model is asked.
///
/// html is a page for any browser: one file that needs no network, with the forest of the conversations
/// named, or of all with --all. There -o names the file, which is replaced. The system prompt and other
/// hidden messages are in it only with -a, as such a page is often sent to others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo export > conversation.md\n  \
    lepo export main --format session | jq -r '.messages[-1].content'\n  \
    lepo ls | cut -d' ' -f1 | while read id; do lepo export $id -o sessions/ --format session; done\n  \
    lepo export --format html --all -o conversations.html\n  \
    lepo export --format chatgpt --all > conversations.json")]
pub struct ExportArgs {
    /// The message that ends the conversation, with html several; `-` for addresses on stdin
    #[arg(value_name = "ADDR", default_value = "@", add = complete::address())]
    pub(super) addresses: Vec<String>,
    /// The format to write
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: Format,
    /// Write hidden messages too; not with session
    #[arg(short = 'a', long, alias = "show-all")]
    pub(super) hidden: bool,
    /// Write every conversation: as html, or in the format of another tool
    #[arg(long, conflicts_with = "addresses")]
    pub(super) all: bool,
    /// Write the file PATH; where PATH is a folder, ends in `/`, or several files are written: new files in it
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    /// With handoff: the most bytes of the text, 24k if not given; k is 1,024
    #[arg(long, value_name = "N", value_parser = bytes)]
    pub(super) bytes: Option<usize>,
    /// Open the page in a browser
    #[arg(long)]
    pub(super) open: bool,
}

/// Reads `--bytes`: a number, with `k` for 1,024.
fn bytes(text: &str) -> std::result::Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1024),
        None => (text, 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number.filter(|number| *number >= 512).ok_or_else(|| "it is a number from 512, or like 24k".to_string())
}
