//! Words for what a turn tells besides the conversation.

use super::line::Line;
use lepo_store::bubb::counted_in_thousands;
use lepo_turn::{LeftOut, Notice};

/// The lines that tell of something.
pub fn notice_lines(notice: &Notice) -> Vec<Line> {
    let line = match notice {
        Notice::FilesNotSent(model, left) => return files_not_sent(model, left),
        Notice::Words(words) => Line::of(words),
        Notice::NoNativeTools(model) => Line::note(format!(
            "{model} does not support native tools: a separate request asks whether a command is needed \
                (planner = \"chooser\")"
        )),
        Notice::ChooserUnreadable => {
            Line::warning("cannot read the tool chooser's answer; `planner = \"off\"` skips this step")
        }
        Notice::WriterUnreadable => Line::warning("cannot read the command writer's answer"),
        Notice::NoMoreCommands(limit) => {
            Line::note(format!("no more commands in this turn: max_rounds ({limit}) is reached"))
        }
        Notice::NoMoreTools(limit) => {
            Line::note(format!("no more tools in this turn: max_rounds ({limit}) is reached"))
        }
        Notice::AskedAgain(fault) => {
            Line::note(format!("the answer does not match the schema ({fault}): retrying"))
        }
        Notice::CutAtLimit => Line::note("the answer was cut off at the model's token limit (max_tokens)"),
        Notice::CutAtWindow => Line::note("the answer was cut off because the model's window is full"),
        Notice::Stopped(reason) => Line::note(format!("the model stopped: {reason}")),
        Notice::Recorded(request) => Line::plain(format!("recorded: {request}")),
        Notice::SkillGiven(name) => Line::plain(format!("the model reads the skill {name}")),
        Notice::SkillsNotTrusted(1) => {
            Line::note("a skill of the repository is not trusted; `lepo trust` shows it")
        }
        Notice::SkillsNotTrusted(count) => {
            Line::note(format!("{count} skills of the repository are not trusted; `lepo trust` shows them"))
        }
        Notice::InstructionsGo(first, more) => {
            let named =
                if *more == 0 { format!("{first} goes") } else { format!("{first} and {more} more go") };
            let off = "turn it off: --no-agents, or lepo config agents false";
            Line::note(format!("{named} with your questions here; {off}"))
        }
        Notice::InstructionsLeftOut(path, why) => Line::note(format!("{path} is left out: {why}")),
        Notice::ProcessesLeft(count) => {
            Line::warning(format!("{count} processes of the command could not be ended"))
        }
        Notice::AgentRefused(agent) => {
            Line::note(format!("a request of {agent} was refused: nobody can be asked here"))
        }
        Notice::ResourceRead(address, bytes) => {
            Line::plain(format!("read {address}: {}", counted_in_thousands(*bytes, "byte")))
        }
        Notice::ExitCode(code) => Line::plain(format!("exit code: {code}")),
        Notice::NoExit => Line::plain("it did not end by itself"),
        Notice::Compacts => {
            Line::note("the conversation would not fit the model's window: continuing from a summary")
        }
        Notice::Out(name, failures) => {
            Line::note(format!("{name} is out, after {failures} failures in a row"))
        }
        Notice::LastRound(rounds, orchestrator) => {
            Line::note(format!("the limit of {rounds} rounds is reached: {orchestrator} sums up"))
        }
        Notice::NoDecision(name) => Line::note(format!(
            "the reply of {name} named no speaker and did not \
            end the debate"
        )),
        Notice::NothingToJudge(judge) => {
            Line::note(format!("there are fewer than two answers, so {judge} is not asked to judge"))
        }
    };
    vec![line]
}

/// A line for each reason why files are not sent.
fn files_not_sent(model: &str, left: &LeftOut) -> Vec<Line> {
    let sentence = |names: &[String], why: String| match names {
        [] => None,
        [one] => Some(Line::note(format!("{one} is not sent: {why}"))),
        [first, rest @ ..] => {
            let more = if rest.len() == 1 { "file" } else { "files" };
            Some(Line::note(format!("{first} and {} more {more} are not sent: {why}", rest.len())))
        }
    };
    let lines = [
        sentence(&left.broken, "missing in the store, or changed; `lepo fsck` names them".into()),
        sentence(&left.refused, format!("{model} does not accept them")),
        sentence(&left.beyond, format!("earlier files that exceed what {model} accepts in one request")),
    ];
    lines.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::line::Level;

    fn told(notice: &Notice) -> Vec<String> {
        notice_lines(notice).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn words_of_others_keep_their_weight() {
        for (words, level, text) in [
            ("note: a", Level::Note, "a"),
            ("warning: b", Level::Warning, "b"),
            ("c: note: d", Level::Plain, "c: note: d"),
        ] {
            let lines = notice_lines(&Notice::Words(words.into()));
            assert_eq!(lines, [Line { level, text: text.into() }]);
            assert_eq!(lines[0].to_string(), words);
        }
    }

    #[test]
    fn one_and_many_are_told_apart() {
        let files = |names: &[&str]| LeftOut {
            refused: names.iter().map(ToString::to_string).collect(),
            ..LeftOut::default()
        };
        for (notice, line) in [
            (
                Notice::SkillsNotTrusted(1),
                "note: a skill of the repository is not trusted; `lepo trust` shows it",
            ),
            (
                Notice::SkillsNotTrusted(2),
                "note: 2 skills of the repository are not trusted; `lepo trust` shows them",
            ),
            (
                Notice::InstructionsGo("AGENTS.md".into(), 1),
                "note: AGENTS.md and 1 more go with your questions here; turn it off: --no-agents, or lepo config agents false",
            ),
            (Notice::FilesNotSent("m".into(), files(&["a"])), "note: a is not sent: m does not accept them"),
            (
                Notice::FilesNotSent("m".into(), files(&["a", "b"])),
                "note: a and 1 more file are not sent: m does not accept them",
            ),
        ] {
            assert_eq!(told(&notice), [line]);
        }
        assert!(told(&Notice::FilesNotSent("m".into(), LeftOut::default())).is_empty());
    }
}
