//! Notices: values that a turn tells the user besides the conversation; each view has the words for them.

use super::attach::LeftOut;

/// Something that the user is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Words of a server, a provider or another crate.
    Words(String),
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
    /// A file of instructions, and why it is left out.
    InstructionsLeftOut(String, String),
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
    /// A debate has had the most rounds, and the orchestrator sums up.
    LastRound(u32, String),
    /// The reply of the orchestrator decides nothing.
    NoDecision(String),
    /// There are no two answers that this model could judge.
    NothingToJudge(String),
}
