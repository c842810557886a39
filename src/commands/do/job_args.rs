//! Options that ask for another job than a question: `--replay`, and to serve another program, `--acp` and `--proxy`.

use crate::commands::complete;

/// Heading of these options in the help.
const REPLAY: &str = "Replay";

/// `--replay` and where the new lines begin.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct ReplayArgs {
    /// Ask the questions of a conversation again, in order, in a new conversation for each -m
    ///
    /// Copies every visible message except the answers; each answer is asked for again and builds on the new ones. No
    /// command runs automatically: tools are off, and with --tools a request that was recorded after the same
    /// question gets the recorded result, while any other needs consent. --system sets a new system prompt.
    #[arg(long, value_name = "ADDR", add = complete::address(), help_heading = REPLAY)]
    pub replay: Option<String>,
    /// With --replay: start at this message, and share everything before it
    #[arg(long, value_name = "ADDR", add = complete::address(), help_heading = REPLAY)]
    pub from: Option<String>,
    /// With --replay: the message to continue from, like the end of a stopped replay; repeatable, in the order of -m
    #[arg(long, value_name = "ADDR", add = complete::address(), help_heading = REPLAY)]
    pub onto: Vec<String>,
    /// With --replay: ask for each answer after the recorded history, and store it next to the recorded answer
    #[arg(long, help_heading = REPLAY)]
    pub teacher: bool,
}

/// The option that makes lepo the agent of an editor.
#[derive(Debug, Default, clap::Args)]
pub struct AcpArgs {
    /// Serve an editor over the Agent Client Protocol, on stdin and stdout
    ///
    /// Each chat in the editor is a conversation in the `.lepo` of its folder. The editor asks for consent; a request
    /// without an answer waits for --approve or --deny.
    #[arg(long, help_heading = "Output")]
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
    #[arg(long, help_heading = PROXY)]
    pub proxy: bool,
    /// With --proxy: listen on this port of 127.0.0.1 (default: a free one)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = PROXY)]
    pub port: Option<u16>,
    /// With --proxy: send requests that name no configured model to this address
    #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url, help_heading = PROXY)]
    pub upstream: Option<String>,
}
