//! The options with which lepo serves another program: `--acp` and `--proxy`.

use lepo_base::error::{Error, Result};

/// The option that makes lepo the agent of an editor.
#[derive(Debug, Default, clap::Args)]
pub struct AcpArgs {
    /// Serve an editor over the Agent Client Protocol, on stdin and stdout
    ///
    /// Each chat in the editor is a conversation in the `.lepo` of its folder. The editor asks for consent; a request
    /// without an answer waits for --approve or --deny.
    #[arg(long, conflicts_with_all = ["json", "events", "file", "context", "attach", "retry", "new", "approve", "deny", "compact", "list_tools", "template", "server_prompt", "schema", "line", "output", "show_past"], help_heading = "Output")]
    pub acp: bool,
}

/// Heading of these options in the help.
const PROXY: &str = "Proxy";

/// `--proxy`, its port and where requests go.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct ProxyArgs {
    /// Pass requests of any program on to its model, and record them as conversations; -- COMMAND starts a program
    ///
    /// COMMAND gets the proxy's address, and a token for keys, in its environment: OPENAI_BASE_URL, OPENAI_API_KEY and the
    /// like. Without COMMAND these are printed for a shell, and lepo serves until Ctrl+C. Secrets are masked before texts
    /// are written.
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
