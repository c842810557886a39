//! Options for the store: where a question continues, whether it is stored, and answers from the record.

use std::path::PathBuf;

use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_turn::recorded::RecordedOptions;

/// Heading in the help.
const PLACE: &str = "Conversation";

/// `--continue` and `--no-keep`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct KeepArgs {
    /// Continue the newest conversation, overriding the setting `new`
    ///
    /// Without a question, where the conversation ends in a stopped answer, its rest is asked for.
    #[arg(id = "continue", long = "continue", help_heading = PLACE)]
    pub(super) goes_on: bool,
    /// Keep nothing: like -n, in a store that is deleted at the end
    ///
    /// A request that would have to wait for consent is refused.
    #[arg(long, help_heading = PLACE)]
    pub(super) no_keep: bool,
    /// Send the secrets in files, output and pages that come with the question; otherwise they are sent masked
    #[arg(long, help_heading = "Question")]
    pub(super) unmasked: bool,
    /// Send files without asking: folders that fill more than half of the model's window, files that fill all of it, or
    /// over 50,000 tokens where the window is unknown
    #[arg(long, help_heading = "Question")]
    pub(super) yes: bool,
}

/// Heading in the help.
const RECORD: &str = "Recorded answers";

/// Value of `--recorded` that forbids sending a request.
const ONLY: &str = "only";

/// `--recorded[=only]` and the store to search.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub struct RecordedArgs {
    /// Answer from the store if the same request was made before, without sending anything; with =only, fail
    /// otherwise
    ///
    /// Requests are the same if the messages before them, the question, model, options, schema and tools are. A
    /// recorded answer writes nothing. With --proxy, requests of programs are answered in this way.
    /// LEPO_RECORDED=only sets --recorded=only for every lepo do of a test run.
    #[arg(long, value_name = "only", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = parse_recorded, help_heading = RECORD)]
    recorded: Option<bool>,
    /// Look for recorded answers in this store instead of the one in use
    #[arg(long, value_name = "STORE", value_hint = clap::ValueHint::DirPath, help_heading = RECORD)]
    recorded_from: Option<PathBuf>,
}

fn parse_recorded(text: &str) -> std::result::Result<bool, String> {
    match text {
        "" => Ok(false),
        ONLY => Ok(true),
        _ => Err(format!("expected {ONLY}, or no value")),
    }
}

impl RecordedArgs {
    /// Combines the options and the environment; `None` if recorded answers are not requested.
    pub fn options(&self) -> Result<Option<RecordedOptions>> {
        let env = Env::from_process();
        let by_env = match env.text("LEPO_RECORDED")? {
            None => false,
            Some(ONLY) => true,
            Some(other) => {
                return Err(Error::usage(format!("LEPO_RECORDED is {other:?}"))
                    .hint(format!("it is {ONLY}, or not set")));
            }
        };
        let only = by_env || self.recorded == Some(true);
        if !only && self.recorded.is_none() {
            return match self.recorded_from {
                None => Ok(None),
                Some(_) => Err(Error::usage("--recorded-from needs --recorded").hint("lepo do --help")),
            };
        }
        Ok(Some(RecordedOptions { only, from: self.recorded_from.clone() }))
    }
}
