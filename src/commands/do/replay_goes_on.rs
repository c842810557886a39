//! The command that resumes a replay.

use super::DoArgs;
use lepo_base::error::quoted;
use lepo_base::hint::HintCommand;
use lepo_store::bubb::BubbId;
use lepo_turn::replay::ReplayOutcome;

pub fn resume_command(args: &DoArgs, lines: &[ReplayOutcome]) -> HintCommand {
    let mut command = format!("do --replay {}", quoted(args.replay.replay.as_deref().unwrap_or("@")));
    if args.replay.teacher {
        return HintCommand::Lepo(command + " --teacher");
    }
    let of = |id: Option<BubbId>| id.map(|id| id.to_string()).unwrap_or_default();
    for line in lines {
        let model = if args.model.is_empty() { String::new() } else { format!(" -m {}", quoted(&line.name)) };
        command.push_str(&model);
        if line.tail.is_some() {
            command.push_str(&format!(" --onto {}", of(line.tail)));
        }
    }
    HintCommand::Lepo(command)
}
