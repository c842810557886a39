//! Notices: values that a turn reports to the user in addition to the conversation; each display has its own
//! text for them.

use super::attach::{FolderSummary, UnsentFiles};
use super::cleanup::CleanupItem;
use lepo_store::bubb::BubbId;
use lepo_tool::mcp;

/// A notice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A notice about the model, or its provider.
    Model(lepo_model::ModelNotice),
    /// A notice about an MCP server.
    Server(mcp::ServerNotice),
    /// A change that a command or an agent caused.
    Cleanup(CleanupItem),
    /// Nothing is configured, and the environment offers several models: the answering model, the variable
    /// that decides, and the other.
    AmbientModel(String, &'static str, String),
    /// Nothing is configured, and the embedded model answers.
    EmbeddedAnswers,
    /// This model has no native tools, so it is asked in advance whether a command is needed.
    NoNativeTools(String),
    /// The answer of the tool chooser is invalid.
    ChooserUnreadable,
    /// The answer of the command writer is invalid.
    WriterUnreadable,
    /// The limit of rounds of commands was reached, which is this many.
    NoMoreCommands(u32),
    /// The limit of rounds of tools was reached, which is this many.
    NoMoreTools(u32),
    /// An answer does not match the schema, for this reason, and is requested again.
    AskedAgain(String),
    /// The answer ends at the model's limit of tokens.
    CutAtLimit,
    /// The answer ends because the model's window is full.
    CutAtWindow,
    /// The model stopped, for this reason.
    Stopped(String),
    /// This request has a recorded result, which is used again.
    Recorded(String),
    /// The model receives this skill.
    SkillGiven(String),
    /// This many skills of the repository are not trusted.
    SkillsNotTrusted(usize),
    /// Instructions are added: the first file, and the number of further files.
    InstructionsGo(String, usize),
    /// A file of instructions or a folder of skills, and the reason for skipping it.
    LeftOut(String, String),
    /// The folder of a skill, and a fault of the skill that does not prevent its use.
    SkillFault(String, String),
    /// The repository's skill of this name is used, and not the one in this folder.
    SkillOfRepository(String, String),
    /// Added files of a folder.
    Gathered(FolderSummary),
    /// Secrets were found in written text.
    Secrets(SecretsFound),
    /// This question has secrets of these kinds, and is stored unmasked.
    TypedSecret(BubbId, String),
    /// The system prompt has secrets of these kinds, and is stored unmasked.
    PromptSecret(String),
    /// Files that are not sent to the model of this name.
    FilesNotSent(String, UnsentFiles),
    /// This many processes of a command could not be terminated.
    ProcessesLeft(usize),
    /// The request of the agent with this name was refused, because nobody can be asked.
    AgentRefused(String),
    /// A resource was read: its URI, and its length in bytes.
    ResourceRead(String, usize),
    /// The exit code of the user's own command, which is not 0.
    ExitCode(i32),
    /// The user's own command did not exit normally.
    NoExit,
    /// The conversation would not fit the model's window, and is compacted.
    Compacts,
    /// A participant of a debate is out, after this many failures.
    ParticipantOut(String, u32),
    /// A participant of a debate is out at once, because it cannot be asked.
    ParticipantUnavailable(String),
    /// A debate has reached its limit of rounds, and the orchestrator writes the conclusion.
    LastRound(u32, String),
    /// The reply of the orchestrator contains no decision.
    NoDecision(String),
    /// There are fewer than two answers for this model to judge.
    NothingToJudge(String),
}

/// Secrets in written text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsFound {
    /// Number of secrets.
    pub count: usize,
    /// Sources of the texts.
    pub sources: Vec<&'static str>,
    /// Their kinds, each with its number.
    pub kinds: String,
    /// Whether they were masked; otherwise they were stored.
    pub masked: bool,
    /// Whether texts that came with the question were sent with masks, too.
    pub is_sent_masked: bool,
}
