//! The root parser, the global options and the dispatch: the only module that knows all commands.

mod alias;
mod command_path;
mod external;
mod finish;
mod first_word;
mod habits;
mod help;
mod parse_error;
mod preparse;
pub mod schemas;
mod store_options;
pub mod tasks;
mod version;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::Resettable::Reset;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::r#do::options::with_conflicts;
use crate::commands::{self, Context};
use crate::term::{Color, Out};
use crate::view::FailureDocument;
use external::external;
use finish::{report, report_at};
use habits::TypedLine;
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;
use parse_error::parse_error;
use preparse::{PreparsedLine, folder_for_help, preparse};
use store_options::{check_folder_names, store_options};
use version::print_version;

/// Conversations with language models as plain files, the way git keeps source.
///
/// Each message is a Markdown file in the directory `.lepo`. Without a command, `lepo` runs `lepo do`.
#[derive(Debug, Parser)]
#[command(
    name = "lepo",
    version,
    disable_version_flag = true,
    disable_help_flag = true,
    max_term_width = 100
)]
#[command(after_help = AFTER)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    /// With --version: also print the target, the companion programs and the sandbox
    #[arg(long, requires = "version", help_heading = EVERYWHERE)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Any other command NAME runs the program `lepo-NAME`, looked for in the absolute entries of PATH.

Exit codes:
  0    success
  1    nothing found, a difference, or findings
  2    invalid usage, configuration, address or question
  3    the model, the network or a tool failed
  4    a request is waiting for consent
  5    the store cannot be read or written
  129, 130, 143    ended by SIGHUP, SIGINT, SIGTERM

Environment:
  LEPO_CONFIG_HOME
      the directory that holds config.toml, system_prompt.txt, mcp.json and _prompts
  XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME
      the parents of lepo's directories for configuration; for logs, history and trust; for weights and `lepo sync`
  LEPO_MODEL
      the model to ask, as with -m
  LEPO_TAIL
      the message to continue from, as with --tail; -n and --tail override it
  LEPO_RECORDED
      `only`: answer from the store alone, as with --recorded=only
  LEPO_PLANNER, LEPO_TOOL_CALL_MODE, LEPO_AUTO_ACCESS, LEPO_MAX_ROUNDS, LEPO_LOG_LEVEL, LEPO_TIDY
      settings of lepo-config(5)
  OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, OLLAMA_HOST, ANTHROPIC_API_KEY, \
ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL
      the model to ask if none is configured, and keys and addresses that configured models leave out
  HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY
      proxies; not used for addresses of this machine
  SSL_CERT_FILE, SSL_CERT_DIR
      certificates to trust in place of the system's, such as a company's
  NO_COLOR
      disables colours
  FORCE_COLOR, CLICOLOR_FORCE
      colour status lines and the headings of `show` in a pipe too
  LEPO_EDITOR, VISUAL, EDITOR
      the editor
  LEPO_PAGER, PAGER
      the pager for long output on a terminal
  BROWSER
      the program that opens pages and sign-in addresses
  CLAUDE_CONFIG_DIR, CODEX_HOME, LLM_USER_PATH
      the data folders of those tools, for lepo import

Addresses (@, ids, branches, files, ^ and ~N, ranges A..B, - for stdin) are described in lepo(7), the files of \
a store in lepo-store(5), the settings in lepo-config(5).

JSON Schemas of the --json and --events output are in docs/schemas of lepo's source. Fields, events and \
enumerated values may be added, so readers must ignore those that they do not know. Within a major version, no \
field is removed or changes its meaning or type.";

const EVERYWHERE: &str = "Global options";

#[derive(Debug, clap::Args)]
struct Globals {
    /// Change to PATH first, then run as if started there
    #[arg(short, long, global = true, value_name = "PATH", help_heading = EVERYWHERE)]
    cd: Option<PathBuf>,
    /// Use the store in PATH, a directory below the working directory, created if missing; commands that only read
    /// also take an absolute path
    #[arg(short, long, visible_alias = "store", global = true, value_name = "PATH", help_heading = EVERYWHERE)]
    save_to: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = EVERYWHERE)]
    color: Color,
    /// Do not use a pager
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    no_pager: bool,
    /// Print the version
    #[arg(short = 'v', long, global = true, help_heading = EVERYWHERE)]
    version: bool,
    /// Print help (a summary with -h, everything with --help)
    #[arg(short, long, global = true, action = clap::ArgAction::HelpLong, help_heading = EVERYWHERE)]
    help: Option<bool>,
}

// Each command's options are built only when it is parsed.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Do(Box<commands::r#do::DoArgs>),
    Init(commands::init::InitArgs),
    Ls(commands::ls::LsArgs),
    Show(commands::show::ShowArgs),
    Log(commands::log::LogArgs),
    Grep(commands::grep::GrepArgs),
    Diff(commands::diff::DiffArgs),
    Export(commands::export::ExportArgs),
    Import(commands::import::ImportArgs),
    Browse(commands::browse::BrowseArgs),
    Stats(commands::stats::StatsArgs),
    Watch(commands::watch::WatchArgs),
    Branch(commands::branch::BranchArgs),
    Title(commands::title::TitleArgs),
    Root(commands::root::RootArgs),
    Add(commands::add::AddArgs),
    Edit(commands::edit::EditArgs),
    Rebase(commands::rebase::RebaseArgs),
    Rm(commands::rm::RmArgs),
    Undo(commands::undo::UndoArgs),
    Resolve(commands::resolve::ResolveArgs),
    Fsck(commands::fsck::FsckArgs),
    Tidy(commands::tidy::TidyArgs),
    Config(commands::config::ConfigArgs),
    Mcp(commands::mcp::McpArgs),
    Model(commands::model::ModelArgs),
    Prompt(commands::prompt::PromptArgs),
    Sync(commands::sync::SyncArgs),
    Trust(commands::trust::TrustArgs),
    Completions(commands::completions::CompletionsArgs),
    #[command(external_subcommand)]
    External(Vec<OsString>),
}

/// Returns the tree of commands and options: the source of help, man pages and completions.
pub fn command() -> clap::Command {
    let root = Cli::command();
    // In `lepo grep`, -v and -c have their usual meaning in grep: version and directory have only long names
    // there.
    let with_letters = root.get_arguments().filter(|arg| matches!(arg.get_id().as_str(), "cd" | "version"));
    let long_only: Vec<clap::Arg> = with_letters.map(|arg| arg.clone().short(Reset)).collect();
    root.mut_subcommands(|command| match command.get_name() {
        "grep" => command.args(&long_only),
        // Built immediately, so that its options precede the global ones, and its help begins with them.
        "do" => with_conflicts(commands::r#do::DoArgs::augment_args(clap::Command::new("do"))),
        _ => command,
    })
}

/// Runs the program; returns the exit code.
pub fn run(args: Vec<OsString>) -> u8 {
    if commands::completions::answer(command, &args) {
        return 0;
    }
    let mut root = command();
    let (args, first) = match alias::expand(&root, args) {
        Ok(expanded) => expanded,
        Err(error) => return report(&error),
    };
    let folder = folder_for_help(&args, &first);
    let typed = TypedLine::new(&args, &first);
    let preparsed = preparse(args, first);
    if !matches!(preparsed, PreparsedLine::Parse { .. })
        && let Some(folder) = folder
    {
        // No program is ever started out of the current folder: so neither a pager nor a program that prints its own help
        // is started out of that one. Help itself needs no folder.
        let _ = std::env::set_current_dir(folder);
    }
    let (args, command) = match preparsed {
        PreparsedLine::Parse { args, command } => (args, command),
        PreparsedLine::Help { words, is_short: true } => return help::print_short(root, &words),
        PreparsedLine::Help { words, .. } => return help::print_long(root, &words),
        PreparsedLine::HelpOn { words } => return help::print_on(root, words),
        PreparsedLine::Version { verbose } => return print_version(verbose),
    };
    let parsed = root.try_get_matches_from_mut(&args);
    let cli = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => cli,
        // Help requested within a cluster of short options: `-nh`.
        Err(error) if !error.use_stderr() => {
            return help::print_short(root, &[command]);
        }
        Err(error) => {
            let error = typed.explain(parse_error(&error, &root, &command, &args), false);
            return report_parse_error(&args, command == "do", &error);
        }
    };
    if cli.globals.version {
        return print_version(false); // requested within a cluster of short options
    }
    // Makes a file size limit an error of the write, reported with the path, instead of a silent kill.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let (wants_json, no_pager) = (cli.command.wants_json(), cli.globals.no_pager);
    let save_to = cli.globals.save_to.clone();
    let options = store_options(cli.globals.cd.as_deref(), save_to.as_deref());
    let at = HintTarget::Shell(options.as_deref());
    let mut out = Out::stdout();
    let done = check_folder_names(save_to.as_deref(), cli.globals.cd.as_deref())
        .and_then(|()| Context::new(cli.globals.cd, cli.globals.save_to, cli.globals.color, &mut out))
        .map(|context| context.for_reading(cli.command.reads_only()).read_at(at))
        .and_then(|mut context| {
            if let Some(name) = cli.command.paged_name().filter(|_| !no_pager) {
                context.page(name);
            }
            cli.command.run(&mut context)
        });
    let done = done.and_then(|code| out.finish().map(|()| code));
    match done.map_err(|error| typed.explain(error, true)) {
        Ok(code) => code,
        Err(error) => {
            if wants_json && out.is_unused() {
                out.document(&FailureDocument::new(&error, at));
            }
            let _ = out.finish();
            report_at(&error, at)
        }
    }
}

/// Prints a parse error; returns the exit code.
fn report_parse_error(args: &[OsString], is_do: bool, error: &Error) -> u8 {
    if wants_document(args) {
        let mut out = Out::stdout();
        let has = |option: &str| args.iter().any(|word| word == option);
        match is_do {
            true => {
                let form = (has("--events"), has("--parallel"));
                commands::r#do::print_failure(&mut out, error, form, HintTarget::SHELL);
            }
            false => out.document(&FailureDocument::new(error, HintTarget::SHELL)),
        }
        let _ = out.finish();
    }
    report(error)
}

/// Whether an unparsed command line requests a document.
fn wants_document(args: &[OsString]) -> bool {
    args.iter().take_while(|word| *word != "--").any(|word| word == "--json" || word == "--events")
}

impl Command {
    fn run(self, context: &mut Context<'_>) -> Result<u8> {
        match self {
            Command::Do(args) => commands::r#do::run_do(*args, context),
            Command::Init(args) => commands::init::run_init(args, context),
            Command::Ls(args) => commands::ls::run_ls(args, context),
            Command::Show(args) => commands::show::run_show(args, context),
            Command::Log(args) => commands::log::run_log(args, context),
            Command::Grep(args) => commands::grep::run_grep(args, context),
            Command::Diff(args) => commands::diff::run_diff(args, context),
            Command::Export(args) => commands::export::run_export(args, context),
            Command::Import(args) => commands::import::run_import(args, context),
            Command::Browse(args) => commands::browse::run_browse(args, context),
            Command::Stats(args) => commands::stats::run_stats(args, context),
            Command::Watch(args) => commands::watch::run_watch(args, context),
            Command::Branch(args) => commands::branch::run_branch(args, context),
            Command::Title(args) => commands::title::run_title(args, context),
            Command::Root(args) => commands::root::run_root(args, context),
            Command::Add(args) => commands::add::run_add(args, context),
            Command::Edit(args) => commands::edit::run_edit(args, context),
            Command::Rebase(args) => commands::rebase::run_rebase(args, context),
            Command::Rm(args) => commands::rm::run_rm(args, context),
            Command::Undo(args) => commands::undo::run_undo(args, context),
            Command::Resolve(args) => commands::resolve::run_resolve(args, context),
            Command::Fsck(args) => commands::fsck::run_fsck(args, context),
            Command::Tidy(args) => commands::tidy::run_tidy(args, context),
            Command::Config(args) => commands::config::run_config(args, &tasks::names(), context),
            Command::Mcp(args) => commands::mcp::run_mcp(args, context),
            Command::Model(args) => commands::model::run_model(args, context),
            Command::Prompt(args) => commands::prompt::run_prompt(args, context),
            Command::Sync(args) => commands::sync::run_sync(args, context),
            Command::Trust(args) => commands::trust::run_trust(args, context),
            Command::Completions(args) => commands::completions::run_completions(args, context),
            Command::External(words) => Err(external(&words, context.save_to().is_some())),
        }
    }

    /// Whether the command writes nothing to the store.
    fn reads_only(&self) -> bool {
        match self {
            Command::Ls(_)
            | Command::Show(_)
            | Command::Log(_)
            | Command::Browse(_)
            | Command::Stats(_)
            | Command::Diff(_)
            | Command::Export(_) => true,
            Command::Watch(_) | Command::Resolve(_) | Command::Root(_) => true,
            Command::Grep(_) => true,
            Command::Branch(args) => args.only_lists(),
            Command::Tidy(args) => args.only_plans(),
            Command::Fsck(args) => args.only_checks(),
            Command::Title(args) => args.only_prints(),
            Command::Rebase(args) => args.only_lists(),
            Command::Rm(args) => args.only_lists(),
            Command::Undo(args) => args.only_lists(),
            Command::Prompt(args) => args.only_prints(),
            // They write to the user's own files, never to the store.
            Command::Config(_) | Command::Mcp(_) => true,
            _ => false,
        }
    }

    /// Returns the name in `term.pager` of a command that prints lines to read.
    fn paged_name(&self) -> Option<&'static str> {
        Some(match self {
            Command::Ls(args) if !args.json => "ls",
            Command::Show(args) if args.is_for_reading() => "show",
            Command::Log(args) if !args.json => "log",
            Command::Grep(args) if !args.json => "grep",
            Command::Diff(args) if !args.json => "diff",
            Command::Stats(args) if !args.json => "stats",
            Command::Branch(args) if args.only_lists() && !args.json => "branch",
            Command::Config(args) if args.only_lists() && !args.json => "config",
            Command::Model(args) if args.only_lists() && !args.wants_json() => "model",
            Command::Prompt(args) if args.only_lists() && !args.wants_json() => "prompt",
            _ => return None,
        })
    }

    /// Whether the command also prints a document on failure.
    fn wants_json(&self) -> bool {
        match self {
            Command::Ls(args) => args.json,
            Command::Show(args) => args.json,
            Command::Log(args) => args.json,
            Command::Import(args) => args.json,
            Command::Grep(args) => args.json,
            Command::Stats(args) => args.json,
            Command::Watch(args) => args.json,
            Command::Branch(args) => args.json,
            Command::Diff(args) => args.json,
            Command::Rebase(args) => args.json,
            Command::Rm(args) => args.json,
            Command::Undo(args) => args.json,
            Command::Fsck(args) => args.json,
            Command::Config(args) => args.json,
            Command::Mcp(args) => args.wants_json(),
            Command::Model(args) => args.wants_json(),
            Command::Prompt(args) => args.wants_json(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod option_pairs_tests;
