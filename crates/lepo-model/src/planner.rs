//! The way it is decided that a command is needed.

use lepo_base::word::Word;

/// The way it is decided that a command is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planner {
    /// The planner that suits the model (the default): native where its API carries tools, the chooser
    /// where not, off for the embedded model.
    Auto,
    /// A tool chooser, then a command writer.
    Chooser,
    /// The model itself: the command is one of its native tools.
    Native,
    /// Not at all: the answer comes at once.
    Off,
}

impl Planner {
    /// All of them.
    pub const ALL: &[Planner] = &[Planner::Auto, Planner::Chooser, Planner::Native, Planner::Off];
}

impl Word for Planner {
    fn word(self) -> &'static str {
        match self {
            Planner::Auto => "auto",
            Planner::Chooser => "chooser",
            Planner::Native => "native",
            Planner::Off => "off",
        }
    }
}
