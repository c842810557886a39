//! The formats of `lepo export`: names, extensions, and how many conversations are in a file.

/// The form to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// A document to read
    #[default]
    Markdown,
    /// The messages, as `lepo show --json` gives them
    Json,
    /// Messages only
    Session,
    /// A page for a browser
    Html,
    /// Messages in the form of APIs, one per line
    Messages,
    /// The tree as ChatGPT exports it, which other tools read too
    Chatgpt,
    /// The tree as Open WebUI stores it
    Openwebui,
    /// The tree as a session of pi
    Pi,
    /// A text from which another agent can continue
    Handoff,
    /// A session of Claude Code
    ClaudeCode,
    /// A session of Codex
    Codex,
}

/// How many conversations are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileScope {
    /// A single conversation; `--all` is refused.
    One,
    /// A single conversation; `--all` makes a file for each.
    Each,
    /// All exported conversations.
    All,
}

impl ExportFormat {
    /// Returns the row of a format: its extension, and how many conversations are in a file.
    fn row(self) -> (&'static str, FileScope) {
        match self {
            ExportFormat::Markdown => ("md", FileScope::One),
            ExportFormat::Json => ("json", FileScope::One),
            ExportFormat::Session => ("json", FileScope::One),
            ExportFormat::Html => ("html", FileScope::All),
            ExportFormat::Messages => ("jsonl", FileScope::All),
            ExportFormat::Chatgpt => ("json", FileScope::All),
            ExportFormat::Openwebui => ("json", FileScope::All),
            ExportFormat::Pi => ("jsonl", FileScope::Each),
            ExportFormat::Handoff => ("md", FileScope::One),
            ExportFormat::ClaudeCode => ("jsonl", FileScope::Each),
            ExportFormat::Codex => ("jsonl", FileScope::Each),
        }
    }

    pub fn extension(self) -> &'static str {
        self.row().0
    }

    pub fn scope(self) -> FileScope {
        self.row().1
    }

    /// Returns the name that the user types.
    pub fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map(|word| word.get_name().to_string()).unwrap_or_default()
    }

    /// Joins the names of the matching formats.
    pub fn list(is_listed: impl Fn(ExportFormat) -> bool) -> String {
        let variants = <ExportFormat as clap::ValueEnum>::value_variants().iter().copied();
        variants.filter(|format| is_listed(*format)).map(ExportFormat::name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the format for a file extension; `None` if it is unknown.
    pub fn from_extension(extension: &str) -> Option<ExportFormat> {
        match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(ExportFormat::Markdown),
            "html" | "htm" => Some(ExportFormat::Html),
            "json" => Some(ExportFormat::Json),
            "jsonl" => Some(ExportFormat::Messages),
            _ => None,
        }
    }
}
