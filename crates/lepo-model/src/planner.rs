//! Planners: how a turn decides whether a command is needed.

use lepo_base::keyword::Keyword;

/// How lepo decides whether a command is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planner {
    /// The planner that suits the model (the default): native if its API carries tools, else the chooser, and off for
    /// the embedded model.
    Auto,
    /// A tool chooser decides, and a command writer writes the command.
    Chooser,
    /// The model itself decides: the command is one of its native tools.
    Native,
    /// Nothing decides: the answer comes at once.
    Off,
}

impl Planner {
    /// All planners.
    pub const ALL: &[Planner] = &[Planner::Auto, Planner::Chooser, Planner::Native, Planner::Off];
}

impl Keyword for Planner {
    fn as_str(self) -> &'static str {
        match self {
            Planner::Auto => "auto",
            Planner::Chooser => "chooser",
            Planner::Native => "native",
            Planner::Off => "off",
        }
    }
}
