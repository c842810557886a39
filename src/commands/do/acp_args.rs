//! The option `--acp`.

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
