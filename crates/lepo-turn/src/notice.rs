//! Notices: values that a turn tells the user besides the conversation; each view has the words for them.

use super::aftermath::Left;
use super::attach::{Gathered, LeftOut};
use lepo_store::bubb::BubbId;
use lepo_tool::mcp;

/// Something that the user is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Something that the model, or its provider, tells.
    Model(lepo_model::Notice),
    /// Something about an MCP server.
    Server(mcp::Notice),
    /// Something that a command or an agent left behind.
    Left(Left),
    /// Nothing is configured, and the environment offers several models: the one that answers, the variable that
    /// decides, and the other.
    AmbientModel(String, &'static str, String),
    /// Nothing is configured, and the embedded model answers.
    EmbeddedAnswers,
    /// A model has no native tools, so that it is asked beforehand whether a command is needed.
    NoNativeTools(String),
    /// The answer of the tool chooser could not be read.
    ChooserUnreadable,
    /// The answer of the command writer could not be read.
    WriterUnreadable,
    /// So many rounds of commands were run, which is the most.
    NoMoreCommands(u32),
    /// So many rounds of tools were run, which is the most.
    NoMoreTools(u32),
    /// An answer does not fit the schema, for this reason, and is asked for again.
    AskedAgain(String),
    /// The answer ends at the model's limit of tokens.
    CutAtLimit,
    /// The answer ends where the model's window is full.
    CutAtWindow,
    /// The model stopped, for this reason.
    Stopped(String),
    /// This request has a recorded result, which is given again.
    Recorded(String),
    /// The model is given this skill.
    SkillGiven(String),
    /// So many skills of the repository are not trusted.
    SkillsNotTrusted(usize),
    /// Instructions go along: the first file, and how many more.
    InstructionsGo(String, usize),
    /// A file of instructions or a folder of skills, and why it is left out.
    LeftOut(String, String),
    /// The folder of a skill, and a fault of the skill that does not hinder its use.
    SkillFault(String, String),
    /// The repository's skill of this name is used, not that in this folder.
    SkillOfRepository(String, String),
    /// Files of a folder that go along.
    Gathered(Gathered),
    /// Secrets were found in what was written.
    Secrets(Secrets),
    /// This question has secrets of these kinds, and is kept as typed.
    TypedSecret(BubbId, String),
    /// The system prompt has secrets of these kinds, and is kept as typed.
    PromptSecret(String),
    /// Files that are not sent to the model of this name.
    FilesNotSent(String, LeftOut),
    /// So many processes of a command could not be ended.
    ProcessesLeft(usize),
    /// An agent, of this name, was refused what it asked for, as nobody can be asked.
    AgentRefused(String),
    /// A resource was read: its address, and its bytes.
    ResourceRead(String, usize),
    /// The exit code of the user's own command, which is not 0.
    ExitCode(i32),
    /// The user's own command did not come to an end of its own.
    NoExit,
    /// The conversation would not fit the model's window.
    Compacts,
    /// A participant of a debate is out, after so many failures.
    Out(String, u32),
    /// A participant of a debate is out at once: it cannot be asked.
    OutUnasked(String),
    /// A debate has had the most rounds, and the orchestrator sums up.
    LastRound(u32, String),
    /// The reply of the orchestrator decides nothing.
    NoDecision(String),
    /// There are no two answers that this model could judge.
    NothingToJudge(String),
}

/// Secrets that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secrets {
    /// The number of them.
    pub count: usize,
    /// The texts that have them.
    pub sources: Vec<&'static str>,
    /// Their kinds, each with its number.
    pub kinds: String,
    /// They were masked; else kept.
    pub masked: bool,
}
