//! The arguments of `lepo import`.

use std::path::PathBuf;

use super::hooked_tool::HookedTool;
use crate::commands::complete;
use crate::import::ToolDetail;
use lepo_import::FORMATS;

const WORDS: &[(&str, &str)] = &{
    let mut words = [("", ""); FORMATS.len()];
    let mut at = 0;
    while at < FORMATS.len() {
        words[at] = (FORMATS[at].0, FORMATS[at].2);
        at += 1;
    }
    words
};
/// Import conversations from other tools
///
/// Without arguments, lists the histories found on this machine and writes nothing. With a format, imports the
/// sessions of that tool (of Claude Code, Codex, Gemini CLI, opencode and pi, only those about this repository). With
/// paths, imports those files and folders, whose format is recognised. Importing again adds only what is new. Forks,
/// reasoning and times are kept. Tool calls and results are cut to their first and last 2 kB, unless --tools says
/// otherwise.
///
/// Formats: claude-code, codex, chatgpt, claude-ai, gemini-cli, pi, messages, openwebui, librechat, llama-ui, lmstudio,
/// jan, opencode, lepo; with the program lepo-import-db also llm, opencode's database, and db for a database of llm,
/// opencode or Open WebUI. From Claude Code also history.jsonl: the prompts of sessions whose logs are gone.
///
/// Tools delete their sessions after a time, or lose them with a directory that moves. --hook prints the lines with which
/// a tool calls lepo when a session ends, --watch imports sessions while a tool writes them, and --from takes the
/// sessions about the directory where this repository was. Hooks and --watch leave out what `lepo rm` removed here.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo import\n  lepo import claude-code\n  lepo import chatgpt export.zip\n  \
    lepo import -n export.zip\n  lepo import messages --date 2024-05-01 session.json\n  \
    lepo -s old import ~/Downloads/export.zip --json | jq .made\n  lepo import --hook claude-code\n  \
    lepo import --watch\n  lepo import claude-code --from ~/old/name"
)]
pub struct ImportArgs {
    /// A format, or files and folders, or a format and then files and folders
    #[arg(value_name = "FORMAT|PATH", add = complete::one_of(WORDS))]
    pub words: Vec<PathBuf>,
    /// Only count, without writing anything
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// How much of tool calls and results to keep; remembered for each conversation
    #[arg(long, value_enum, value_name = "HOW")]
    pub tools: Option<ToolDetail>,
    /// Import only conversations whose last message is not older than DATE, a date or a span like 90d
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// The time of conversations that have none
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Exit with 1 if anything is skipped
    #[arg(long)]
    pub strict: bool,
    /// Import sessions about other directories too
    #[arg(long)]
    pub all: bool,
    /// Import the sessions about DIR too, where this repository was before, now and in later imports
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "all")]
    pub from: Option<PathBuf>,
    /// Import what tools write, as they write it, until stopped; of all tools, or of the named formats
    #[arg(long, conflicts_with_all = ["from", "dry_run", "strict", "again"])]
    pub watch: bool,
    /// Print the lines with which TOOL calls lepo at the end of each session
    #[arg(long, value_name = "TOOL", value_enum, exclusive = true)]
    pub hook: Option<HookedTool>,
    /// Import the sessions of TOOL into the store found here, without output: the command of such a hook
    #[arg(long, value_name = "TOOL", value_enum, conflicts_with_all = ["from", "watch", "dry_run", "strict", "again", "json"])]
    pub on_end: Option<HookedTool>,
    /// Create a branch for each title and label
    #[arg(long)]
    pub branches: bool,
    /// Import again, under new ids, what was imported with another --tools or by an older lepo
    #[arg(long)]
    pub again: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}
