//! The options of `--proxy`. The command behind `--` stands in the place of a question.

use lepo_base::error::{Error, Result};

/// Heading of these options in the help.
const PROXY: &str = "Proxy";

/// `--proxy`, its port and where requests go.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct ProxyArgs {
    /// Pass requests of any program on to its model, and keep them as conversations; -- COMMAND runs a program behind it
    ///
    /// COMMAND gets the proxy's address and a token in place of keys in its environment: OPENAI_BASE_URL, OPENAI_API_KEY
    /// and the like. Without COMMAND these are printed for a shell, and lepo serves until Ctrl+C. What programs say is
    /// masked before it is written; --recorded answers from the store.
    #[arg(long, conflicts_with_all = ["events", "file", "context", "attach", "run", "system", "template", "server_prompt", "new", "tail", "retry", "compact", "list_tools", "context_files", "approve", "deny", "schema", "code", "output", "dry_run", "show_past", "parallel", "debate", "replay", "acp", "no_keep", "continue", "model"], help_heading = PROXY)]
    pub proxy: bool,
    /// With --proxy: listen on this port of 127.0.0.1 (default: a free one)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = PROXY)]
    pub port: Option<u16>,
    /// With --proxy: send requests that name no configured model to this address
    #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url, help_heading = PROXY)]
    pub upstream: Option<String>,
}

impl ProxyArgs {
    /// Rejects options without `--proxy`.
    pub fn check(&self) -> Result<()> {
        let given = [(self.port.is_some(), "--port"), (self.upstream.is_some(), "--upstream")];
        match given.into_iter().find(|(is_given, _)| *is_given && !self.proxy) {
            Some((_, option)) => Err(Error::usage(format!("{option} needs --proxy")).hint("lepo do --help")),
            None => Ok(()),
        }
    }
}
