//! Texts of a turn's notices.

mod cleanup;
mod files;
mod manual;
mod model;
mod server;

pub use manual::explained_notices;
pub use server::line as server_line;

use crate::term::{StatusLine, one_line};
use lepo_base::hint::{Hint, HintCommand, HintTarget};
use lepo_store::bubb::counted_in_thousands;
use lepo_turn::{Notice, SecretsFound};

/// Returns the lines of a notice, with commands as the user types them at `at`.
pub fn notice_lines(notice: &Notice, at: HintTarget<'_>) -> Vec<StatusLine> {
    let hint = |text: &str| Hint::from(text).render(at);
    let line = match notice {
        Notice::FilesNotSent(model, left) => return files::not_sent(model, left, at),
        Notice::Gathered(gathered) => {
            let StatusLine { level, text } = files::gathered(gathered);
            StatusLine { level, text: one_line(&text) }
        }
        Notice::Model(notice) => model::line(notice),
        Notice::Server(notice) => server::line(notice),
        Notice::Left(left) => cleanup::line(left),
        Notice::AmbientModel(taken, because, other) => {
            StatusLine::note(format!("{taken} answers, by {because}; for the other: -m {other}"))
        }
        Notice::EmbeddedAnswers => StatusLine::note(hint(
            "SmolLM2-135M answers, on this machine: a demonstration, often wrong; `lepo model` lists others",
        )),
        Notice::NoNativeTools(model) => StatusLine::note(format!(
            "{model} does not support native tools: a separate request asks whether a command is needed \
                (planner = \"chooser\")"
        )),
        Notice::ChooserUnreadable => {
            StatusLine::warning("cannot read the tool chooser's answer; `planner = \"off\"` skips this step")
        }
        Notice::WriterUnreadable => StatusLine::warning("cannot read the command writer's answer"),
        Notice::NoMoreCommands(limit) => {
            StatusLine::note(format!("no more commands in this turn: max_rounds ({limit}) is reached"))
        }
        Notice::NoMoreTools(limit) => {
            StatusLine::note(format!("no more tools in this turn: max_rounds ({limit}) is reached"))
        }
        Notice::AskedAgain(fault) => {
            StatusLine::note(format!("the answer does not match the schema ({fault}): retrying"))
        }
        Notice::CutAtLimit => {
            StatusLine::note("the answer was cut off at the model's token limit (max_tokens)")
        }
        Notice::CutAtWindow => StatusLine::note("the answer was cut off because the model's window is full"),
        Notice::Stopped(reason) => StatusLine::note(format!("the model stopped: {reason}")),
        Notice::Recorded(request) => StatusLine::plain(format!("recorded: {request}")),
        Notice::SkillGiven(name) => StatusLine::plain(format!("the model reads the skill {name}")),
        Notice::SkillsNotTrusted(1) => {
            StatusLine::note(hint("a skill of the repository is not trusted; `lepo trust` shows it"))
        }
        Notice::SkillsNotTrusted(count) => StatusLine::note(hint(&format!(
            "{count} skills of the repository are not trusted; `lepo trust` shows them"
        ))),
        Notice::InstructionsGo(first, more) => {
            let named =
                if *more == 0 { format!("{first} goes") } else { format!("{first} and {more} more go") };
            let off = Hint::from("turn it off: --no-agents, or ")
                .bare(HintCommand::Lepo("config agents false".into()));
            StatusLine::note(format!("{named} with your questions here; {}", off.render(at)))
        }
        Notice::LeftOut(path, why) => StatusLine::note(format!("{path} is left out: {why}")),
        Notice::SkillFault(folder, fault) => StatusLine::warning(format!("{folder}: {fault}")),
        Notice::SkillOfRepository(name, own) => {
            StatusLine::note(format!("the repository's skill {name} is used instead of {own}"))
        }
        Notice::Secrets(SecretsFound { count, sources, kinds, masked, is_sent_masked }) => {
            let secrets =
                if *count == 1 { "1 secret was".to_string() } else { format!("{count} secrets were") };
            let done = if *masked { "masked" } else { "found, and kept," };
            let found = format!("{secrets} {done} in {} ({kinds})", sources.join(" and "));
            let sent = Hint::from(", and sent so: ").either("--unmasked", "/unmasked before a question");
            let sent = if *is_sent_masked { sent.words(" sends the text").render(at) } else { String::new() };
            StatusLine::plain(format!("{found}{sent}"))
        }
        Notice::TypedSecret(question, kinds) => StatusLine::plain(hint(&format!(
            "your question has what looks like a secret ({kinds}); it is stored as typed. To remove it: \
             lepo rm --redact {question}"
        ))),
        Notice::PromptSecret(kinds) => StatusLine::plain(hint(&format!(
            "the system prompt has what looks like a secret ({kinds}); it is stored as typed. To remove it: \
             lepo rm --redact --all"
        ))),
        Notice::ProcessesLeft(count) => {
            StatusLine::warning(format!("{count} processes of the command could not be ended"))
        }
        Notice::AgentRefused(agent) => {
            StatusLine::note(format!("a request of {agent} was refused: nobody can be asked here"))
        }
        Notice::ResourceRead(address, bytes) => {
            StatusLine::plain(format!("read {address}: {}", counted_in_thousands(*bytes, "byte")))
        }
        Notice::ExitCode(code) => StatusLine::plain(format!("exit code: {code}")),
        Notice::NoExit => StatusLine::plain("it did not exit"),
        Notice::Compacts => {
            StatusLine::note("the conversation would not fit the model's window: continuing from a summary")
        }
        Notice::Out(name, failures) => {
            StatusLine::note(format!("{name} is out, after {failures} consecutive failures"))
        }
        Notice::OutUnasked(name) => StatusLine::note(format!("{name} is out: it cannot be asked")),
        Notice::LastRound(rounds, orchestrator) => {
            StatusLine::note(format!("the limit of {rounds} rounds is reached: {orchestrator} sums up"))
        }
        Notice::NoDecision(name) => StatusLine::note(format!(
            "the reply of {name} named no speaker and did not \
            end the debate"
        )),
        Notice::NothingToJudge(judge) => {
            StatusLine::note(format!("there are fewer than two answers, so {judge} is not asked to judge"))
        }
    };
    vec![line]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed_lines(notice: &Notice) -> Vec<String> {
        notice_lines(notice, HintTarget::SHELL).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_command_names_the_store_of_the_command_line() {
        let store = HintTarget::Shell(Some("my notes"));
        for (notice, words) in [
            (Notice::SkillsNotTrusted(1), "`lepo -s 'my notes' trust` shows it"),
            (Notice::InstructionsGo("A".into(), 0), "--no-agents, or lepo -s 'my notes' config agents false"),
            (Notice::ExitCode(1), "exit code: 1"),
            (Notice::Stopped("see: lepo ls".into()), "the model stopped: see: lepo ls"),
        ] {
            let lines = notice_lines(&notice, store);
            assert!(lines.iter().all(|line| line.text.ends_with(words)), "{lines:?}");
        }
    }

    #[test]
    fn one_and_many_are_told_apart() {
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
        ] {
            assert_eq!(printed_lines(&notice), [line]);
        }
    }
}
