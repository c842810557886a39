//! Arguments of `lepo do`, and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};

use super::budget_args::BudgetArgs;
use super::form_args::FormArgs;
use super::group_args::GroupArgs;
use super::job_args::{AcpArgs, ProxyArgs, ReplayArgs};
use super::store_args::{KeepArgs, RecordedArgs};
use crate::commands::complete;
use crate::ui::DisplayOptions;
use lepo_base::error::{Error, Result};
use lepo_base::keyword::{list_words, parse_keyword};
use lepo_model::ModelOptions;
use lepo_store::bubb::BubbId;
use lepo_tool::ToolMode;
use lepo_turn::attach::read_text;
use lepo_turn::config::{Flags, Settings};
use lepo_turn::{ResourceAddress, ServerContent, ServerPrompt, Verdict, not_utf8};

/// Usual values of `--effort`.
const EFFORTS: &[(&str, &str)] =
    &[("none", "do not think"), ("low", "a little"), ("medium", "some"), ("high", "much")];

const TOOL_MODES: &[(&str, &str)] =
    &[("manual", "ask before each"), ("auto", "run without asking"), ("off", "no tools")];

// Headings of the options in the help.
const QUESTION: &str = "Question";
const PLACE: &str = "Conversation";
const MODEL: &str = "Model";
const TOOLS: &str = "Tools";
const DECISIONS: &str = "Pending requests";
const OUTPUT: &str = "Output";

const AFTER: &str = "\
Examples:
  lepo do 'what does this repository do?'
  lepo do --run 'git log --oneline -5' 'what changed?'
  git diff | lepo do --file review.md --context src/main.rs
  lepo do --context src --context review.md 'where is the parser?'
  lepo do -n --system 'Answer in Korean.' 'what is a monad?'
  lepo do --attach chart.png 'what is wrong here?'
  lepo do --schema person.json --file cv.txt | jq .name
  lepo do --tail main --retry -m other
  lepo do --list-tools
  lepo do --context mcp:docs/guide://start 'how do I begin?'
  lepo do --prompt docs/explain --arg topic=links
  lepo do -n --recorded=only 'the same question'     # from the store, or exit 3
  lepo do --compact --keep 1 'what matters are the figures'
  lepo do --replay main -m gpt -m qwen      # the same questions for other models
  lepo do --parallel -m gpt -m qwen 'which is simpler?'
  lepo do --debate --orchestrator claude --participants gpt,qwen 'which is simpler?'
  lepo do --debate --tail @            # continue that debate

The fields of --json and --events are in the sections JSON OF A TURN and EVENTS OF A TURN of lepo-do(1); their JSON Schemas are in docs/schemas of lepo's source.";

const LONG_ABOUT: &str = "\
Ask a model and keep the conversation

The question is PROMPT, then --file, then stdin if it is not a terminal. It continues the newest conversation, \
or another one if an option says so, and the answer follows it:

    s1 ← u0 ← a0              lepo do QUESTION
    s1 ← u0 ← a0 ← u0 ← a0    again: continues from the answer
    s1 ← u0 ← a0              lepo do --retry: a second answer
           ↖ a0
    s1 ← u0 ← a0 ← u0 ← a0    lepo do --tail ID QUESTION
                ↖ u0 ← a0

`do` can be omitted before its options, and before a question that cannot be a command, such as `lepo 'Why not?'`. \
Without a question, on a terminal, lepo starts an interactive conversation. If stdout is a pipe and is closed \
early, lepo continues for five seconds, then stops and keeps the partial answer; with --output it continues to \
the end.";

/// Ask a model and keep the conversation
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER, long_about = LONG_ABOUT)]
pub struct DoArgs {
    /// The question; `-` alone reads it from stdin
    #[arg(value_name = "PROMPT", value_parser = OsStringValueParser::new().try_map(prompt_argument))]
    pub(super) prompt: Vec<String>,
    /// Add a file's text to the question; repeatable
    ///
    /// The text is preceded by the file's name, except for a single .md or .txt file. A folder adds its text files, -
    /// adds stdin, and an https address adds the readable text of the page, always with the address.
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::AnyPath, help_heading = QUESTION)]
    pub(super) file: Vec<PathBuf>,
    /// Add a file, a folder or a web page as context; repeatable
    ///
    /// A folder adds the text files that git does not ignore. An https address adds the readable text of the page, up
    /// to 5 MB, or an image or a PDF. mcp:SERVER/URI adds a resource of an MCP server.
    #[arg(short = 'C', long, value_name = "FILE", value_hint = clap::ValueHint::AnyPath, help_heading = QUESTION)]
    pub(super) context: Vec<PathBuf>,
    /// Attach an image or a PDF; repeatable
    ///
    /// FILE is a PNG, JPEG, GIF, WebP or PDF: a path, an https address, or - for stdin.
    #[arg(short = 'A', long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = QUESTION)]
    pub(super) attach: Vec<PathBuf>,
    /// Run COMMAND first and give its output to the model; repeatable
    ///
    /// It is your own command, so it runs without consent and without a sandbox.
    #[arg(long, value_name = "COMMAND", value_parser = command, help_heading = QUESTION)]
    pub(super) run: Vec<String>,
    /// The system prompt of a new conversation: TEXT, or @FILE
    #[arg(short = 'S', long, value_name = "TEXT", help_heading = QUESTION)]
    pub(super) system: Option<String>,
    /// Use the saved prompt NAME, with PROMPT as its arguments; `lepo prompt` lists them
    #[arg(short = 'T', long, value_name = "NAME", add = complete::prompt(), help_heading = QUESTION)]
    pub(super) template: Option<String>,
    /// Use a prompt of an MCP server, followed by PROMPT if given; `--list-tools` lists them
    #[arg(long = "prompt", value_name = "SERVER/NAME", help_heading = QUESTION)]
    pub(super) server_prompt: Option<String>,
    /// With --prompt: set one of its arguments; repeatable
    #[arg(long = "arg", value_name = "NAME=VALUE", requires = "server_prompt", help_heading = QUESTION)]
    pub(super) prompt_args: Vec<String>,
    /// Do not read stdin
    #[arg(long, help_heading = QUESTION)]
    pub(super) no_stdin: bool,
    /// Start a new conversation
    #[arg(short, long, help_heading = PLACE)]
    pub(super) new: bool,
    #[command(flatten)]
    pub(super) keeping: KeepArgs,
    /// Continue from this message
    #[arg(short, long, value_name = "ADDR", add = complete::address(), help_heading = PLACE)]
    pub(super) tail: Option<String>,
    /// Answer the last visible question again
    ///
    /// With --tail BRANCH, answers a question that was asked there and has no answer yet.
    #[arg(short, long, help_heading = PLACE)]
    pub(super) retry: bool,
    /// Continue from a summary of the conversation, which stays unchanged; PROMPT says what to summarise
    #[arg(long, help_heading = PLACE)]
    pub(super) compact: bool,
    /// With --compact: keep the last N questions unchanged (default: 2)
    #[arg(long, value_name = "N", requires = "compact", help_heading = PLACE)]
    pub(super) keep: Option<usize>,
    /// The model to ask: a configured one, or PROVIDER:MODEL
    ///
    /// Repeatable with --parallel.
    #[arg(short, long, value_name = "NAME", add = complete::model(), help_heading = MODEL)]
    pub(super) model: Vec<String>,
    /// Set the temperature for this run: 0 to 2
    #[arg(long, value_name = "NUMBER", value_parser = temperature, help_heading = MODEL)]
    pub(super) temperature: Option<serde_json::Number>,
    /// Let the model search the web in this run (OpenAI's Responses API and Anthropic's only)
    ///
    /// To allow it for every question, set web = true in the model's table. On a terminal, the pages cited are listed
    /// below the answer.
    #[arg(long, help_heading = MODEL)]
    pub(super) web: bool,
    /// Set the thinking effort for this run: none, low, medium, high, or another word that the server knows
    #[arg(long, value_name = "WORD", value_parser = effort, add = complete::one_of(EFFORTS), help_heading = MODEL)]
    pub(super) effort: Option<String>,
    /// Limit each answer in this run to N tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = MODEL)]
    pub(super) max_tokens: Option<u64>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Use this configuration file instead of the user's
    #[arg(long, value_name = "FILE", help_heading = MODEL)]
    pub(super) config: Option<PathBuf>,
    /// How this run handles tool requests: manual, auto or off
    #[arg(long, value_name = "MODE", value_parser = tool_mode, add = complete::one_of(TOOL_MODES), help_heading = TOOLS)]
    pub(super) tools: Option<ToolMode>,
    /// Leave out the repository's instructions (AGENTS.md) and skills in this run
    #[arg(long, help_heading = TOOLS)]
    pub(super) no_agents: bool,
    /// List the instructions and skills that would be sent, and why others would not, then exit
    #[arg(long, help_heading = TOOLS)]
    pub(super) context_files: bool,
    /// List the enabled MCP servers, their tools, resources and prompts, then exit
    #[arg(long, help_heading = TOOLS)]
    pub(super) list_tools: bool,
    /// Run this pending request and continue its turn; with --tail BRANCH, where it was asked, move that branch
    #[arg(long, value_name = "ID", add = complete::request(), help_heading = DECISIONS)]
    pub(super) approve: Option<String>,
    /// With --approve: run the command even if no sandbox can enforce its access
    #[arg(long, requires = "approve", help_heading = DECISIONS)]
    pub(super) unheld: bool,
    /// Refuse this pending request and continue its turn; --tail as with --approve
    #[arg(long, value_name = "ID", add = complete::request(), help_heading = DECISIONS)]
    pub(super) deny: Option<String>,
    #[command(flatten)]
    pub(super) group: GroupArgs,
    #[command(flatten)]
    pub(super) recorded: RecordedArgs,
    #[command(flatten)]
    pub(super) replay: ReplayArgs,
    #[command(flatten)]
    pub(super) form: FormArgs,
    /// Print the conversation so far first
    #[arg(short = 'p', long, help_heading = OUTPUT)]
    pub(super) show_past: bool,
    /// Show hidden messages too
    #[arg(short = 'a', long = "hidden", alias = "show-all", help_heading = OUTPUT)]
    pub(super) show_all: bool,
    /// Print the first request, and send and store nothing
    ///
    /// Prints its messages with their sizes, the tools and the other fields. Does not run the commands of --run,
    /// fetch addresses or resources, or start MCP servers: their tools are listed as last known, or marked as not
    /// asked.
    #[arg(long, help_heading = OUTPUT)]
    pub(super) dry_run: bool,
    /// Print one JSON document about the turn
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Print events as they happen, one JSON object per line
    #[arg(long, help_heading = OUTPUT)]
    pub events: bool,
    #[command(flatten)]
    pub(super) editor: AcpArgs,
    #[command(flatten)]
    pub(super) proxy: ProxyArgs,
    /// Also write the result to FILE, which must not be a link
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(super) output: Option<PathBuf>,
    /// Print the answer and nothing else
    #[arg(short, long, help_heading = OUTPUT)]
    pub(super) quiet: bool,
    /// Do not render Markdown on a terminal
    #[arg(long, help_heading = OUTPUT)]
    pub(super) plain: bool,
    /// Do not print the line with model, tokens and seconds after an answer
    #[arg(long, help_heading = OUTPUT)]
    pub(super) no_usage: bool,
}

impl DoArgs {
    pub fn display_options(&self, settings: &Settings) -> DisplayOptions {
        let options = DisplayOptions {
            json: self.json || self.form.is_printed_at_end(),
            quiet: self.quiet,
            all: self.show_all,
            plain: self.plain || self.form.schema.is_some(),
            no_usage: self.no_usage,
            waits_for_end: self.json || self.quiet || self.output.is_some(),
            ..DisplayOptions::default()
        };
        options.with_settings(settings)
    }

    pub fn flags(&self) -> Result<Flags> {
        let options = ModelOptions {
            temperature: self.temperature.clone(),
            max_tokens: self.max_tokens,
            effort: self.effort.clone(),
            web: self.web,
            ..ModelOptions::default()
        };
        if self.web && self.tools == Some(ToolMode::Off) {
            return Err(Error::usage(
                "--web cannot be used with --tools off: the search is a tool of the provider",
            ));
        }
        let flags = Flags {
            config: self.config.clone(),
            // A replay runs no tools automatically.
            tools: self.tools.or(self.replay.replay.is_some().then_some(ToolMode::Off)),
            asks_for_agents: self.tools.is_none() && self.replay.replay.is_some(),
            // Instructions of a repository differ between clones.
            agents: (self.no_agents || self.recorded.options()?.is_some()).then_some(false),
            options,
            system_prompt: self.system_prompt()?,
            sends_nothing: !self.dry_run && self.recorded.options()?.is_some_and(|recorded| recorded.only),
            writes_nothing: self.dry_run,
            ..Flags::default()
        };
        let flags = self.budget.flags(flags);
        if self.replay.replay.is_some() {
            return Ok(Flags { model: self.model.first().cloned(), ..flags });
        }
        self.group.flags(&self.model, flags)
    }

    /// Whether `LEPO_TAIL` decides where the turn starts. With several models, only an explicit option does.
    pub fn takes_default_tail(&self) -> bool {
        let placed = self.new || self.tail.is_some() || self.approve.is_some() || self.deny.is_some();
        !placed && (self.group.mode().is_none() || self.retry)
    }

    /// Returns the text of `--system`; `@` precedes the name of a file.
    fn system_prompt(&self) -> Result<Option<String>> {
        let Some(given) = &self.system else { return Ok(None) };
        let Some(path) = given.strip_prefix('@') else { return Ok(Some(given.clone())) };
        read_text(path.as_ref()).map(Some).map_err(|error| {
            let why = error.chain();
            let why = why.strip_prefix(&format!("cannot read {path}: ")).unwrap_or(&why);
            Error::usage(format!("cannot read the system prompt {path}: {why}"))
        })
    }

    /// Returns the MCP resources and prompts of `--context mcp:…`, `--prompt` and `--arg`.
    pub fn server_content(&self) -> Result<ServerContent> {
        let named = self.context.iter().filter_map(|path| ResourceAddress::of_context(path.to_str()?));
        let resources = named.collect::<Result<Vec<_>>>()?;
        if !resources.is_empty() && self.group.mode().is_some() {
            return Err(Error::usage("a resource of an MCP server can be sent to one model only")
                .hint("leave out --parallel or --debate, or keep it in a file for --context"));
        }
        let Some(given_prompt) = &self.server_prompt else {
            return Ok(ServerContent { resources, prompt: None });
        };
        let (server, name) = given_prompt
            .split_once('/')
            .filter(|(server, name)| !server.is_empty() && !name.is_empty())
            .ok_or_else(|| {
                Error::usage(format!("--prompt takes SERVER/NAME, not {given_prompt:?}"))
                    .hint("`lepo do --list-tools` lists them; a system prompt is `-n -S TEXT`")
            })?;
        let named = self.prompt_args.iter().map(|word| match word.split_once('=') {
            Some((name, value)) => Ok((name.to_string(), value.to_string())),
            None => Err(Error::usage(format!("--arg takes NAME=VALUE, not {word:?}"))),
        });
        let named = named.collect::<Result<Vec<_>>>()?;
        let prompt =
            ServerPrompt { server: server.to_string(), name: name.to_string(), named, args: Vec::new() };
        let prompt = Some(prompt);
        Ok(ServerContent { resources, prompt })
    }

    /// Parses `--approve` and `--deny`. Requires a full id: a part of one could later match another bubb.
    pub fn verdict(&self) -> Result<Option<(BubbId, Verdict)>> {
        let (option, text, verdict) = match (&self.approve, &self.deny) {
            (Some(id), _) if self.unheld => ("--approve", id, Verdict::ApproveUnheld),
            (Some(id), _) => ("--approve", id, Verdict::Approve),
            (None, Some(id)) => ("--deny", id, Verdict::Deny),
            (None, None) => return Ok(None),
        };
        match BubbId::parse(text.as_bytes()) {
            Some(id) => Ok(Some((id, verdict))),
            None => Err(Error::usage(format!("{option} needs the full id of a request, not {text:?}"))
                .hint("`lepo ls --pending` lists the requests that wait")),
        }
    }
}

fn prompt_argument(word: OsString) -> std::result::Result<String, String> {
    word.into_string().map_err(|word| {
        let bytes = word.as_encoded_bytes();
        let offset = bytes.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        not_utf8("PROMPT", bytes, offset).message
    })
}

fn command(text: &str) -> std::result::Result<String, String> {
    let is_blank = text.trim().is_empty();
    if is_blank { Err("it is blank".to_string()) } else { Ok(text.to_string()) }
}

fn tool_mode(text: &str) -> std::result::Result<ToolMode, String> {
    const MODES: &[ToolMode] = ToolMode::ALL;
    parse_keyword(text, MODES).ok_or_else(|| list_words(MODES))
}

fn temperature(text: &str) -> std::result::Result<serde_json::Number, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
    number.and_then(serde_json::Number::from_f64).ok_or_else(|| "expected a number from 0 to 2".to_string())
}

fn effort(word: &str) -> std::result::Result<String, String> {
    match word.trim().is_empty() {
        true => Err("expected a word like low, medium or high".to_string()),
        false => Ok(word.to_string()),
    }
}
