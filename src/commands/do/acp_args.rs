//! The option of an editor's agent.

/// The option that makes lepo the agent of an editor.
#[derive(Debug, Default, clap::Args)]
pub struct AcpArgs {
    /// Speak the Agent Client Protocol on stdin and stdout: the agent of an editor
    ///
    /// Each conversation of the editor is one in the `.lepo` of its folder. Consent is asked for in the editor; what
    /// is left without an answer waits for --approve and --deny.
    #[arg(long, conflicts_with_all = ["json", "events", "file", "context", "attach", "retry", "new", "approve", "deny", "compact", "list_tools", "template", "server_prompt", "schema", "output", "show_past"], help_heading = "Output")]
    pub acp: bool,
}
