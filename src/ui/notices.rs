//! Texts of a turn's notices, for the user and for the manual.

mod cleanup;
mod files;
mod model;
mod server;
mod table;

pub use table::ManualNotice;

use crate::term::{StatusLine, one_line, print_status};
use lepo_base::hint::{Hint, HintCommand, HintTarget};
use lepo_store::bubb::plural_in_thousands;
use lepo_tool::mcp::ServerNotice;
use lepo_turn::{Notice, SecretsFound};
use table::{COMMANDS, FILES, MODELS, SECRETS, SERVERS, name_values, notices};

pub use lines as notice_lines;

pub fn print_server_notices(notices: &[ServerNotice]) {
    for notice in notices {
        server::lines(notice, HintTarget::SHELL).iter().for_each(print_status);
    }
}

/// Returns the notices that the manual explains, grouped by heading.
pub fn explained_notices() -> [(&'static str, Vec<ManualNotice>); 5] {
    let subjects = [MODELS, FILES, SECRETS, COMMANDS, SERVERS];
    let mut groups = subjects.map(|subject| (subject, Vec::new()));
    let tables = [model::explained(), explained(), cleanup::explained(), server::explained()];
    for notice in tables.into_iter().flatten() {
        if let Some((_, notices)) = groups.iter_mut().find(|(subject, _)| *subject == notice.subject) {
            notices.push(notice);
        }
    }
    groups
}

notices! { Notice, at;
    Notice::Model(notice) => lines { model::lines(notice, at) };
    Notice::Server(notice) => lines { server::lines(notice, at) };
    Notice::Cleanup(item) => lines { cleanup::lines(item, at) };
    Notice::AmbientModel(model, variable, other) =>
        note "{model} answers, by {variable}; for the other: -m {other}",
        MODELS: "No model is configured, so a variable decides. `lepo model add` configures one.";
    Notice::EmbeddedAnswers =>
        note(at) "SmolLM2-135M answers, on this machine: a demonstration, often wrong; `lepo model` lists others";
    Notice::NoNativeTools(model) =>
        note "{model} does not support native tools: a separate request asks whether a command is needed (planner = \"chooser\")",
        MODELS: "Each question costs one more request; `planner = \"off\"` saves it, and the model runs no commands.";
    Notice::ChooserUnreadable => warning "cannot read the tool chooser's answer; `planner = \"off\"` skips this step";
    Notice::WriterUnreadable => warning "cannot read the command writer's answer";
    Notice::NoMoreCommands(limit) => note "no more commands in this turn: max_rounds ({limit}) is reached",
        MODELS: "The model answers with what it has. Ask it to continue, or raise `max_rounds`.";
    Notice::NoMoreTools(limit) => note "no more tools in this turn: max_rounds ({limit}) is reached";
    Notice::AskedAgain(fault) => note "the answer does not match the schema ({fault}): retrying";
    Notice::CutAtLimit => note "the answer was cut off at the model's token limit (max_tokens)",
        MODELS: "Ask it to continue, or raise `max_tokens` of the model.";
    Notice::CutAtWindow => note "the answer was cut off because the model's window is full",
        MODELS: "`lepo do --compact` continues from a summary.";
    Notice::Compacts => note "the conversation would not fit the model's window: continuing from a summary",
        MODELS: "`compact = \"auto\"` does this. The original messages are unchanged.";
    Notice::Stopped(reason) => note "the model stopped: {reason}",
        MODELS: "The reason is the provider's own word, like content_filter.";
    Notice::Recorded(request) => plain "recorded: {request}";
    Notice::FilesNotSent(model, unsent) => lines { files::not_sent(model, unsent, at) }
        as "{file} is not sent: {model} does not accept them",
        FILES: "The file stays with its message, and is sent to a model that accepts it.";
    Notice::Gathered(folder), summary = one_line(&files::gathered(folder)) => note "{summary}"
        as "12 files in {directory}, about 900 tokens",
        FILES: "A directory adds its text files. A skipped file is sent if you name it itself.";
    Notice::LeftOut(file, reason) => note "{file} is left out: {reason}",
        FILES: "An AGENTS.md or a skill that the model does not get.";
    Notice::SkillGiven(name) => plain "the model reads the skill {name}";
    Notice::SkillsNotTrusted(1) => note(at) "a skill of the repository is not trusted; `lepo trust` shows it";
    Notice::SkillsNotTrusted(count) =>
        note(at) "{count} skills of the repository are not trusted; `lepo trust` shows them";
    Notice::SkillFault(directory, fault) => warning "{directory}: {fault}",
        FILES: "The skill is used anyway. `lepo prompt check` lists the faults of skills.";
    Notice::SkillOfRepository(name, own) => note "the repository's skill {name} is used instead of {own}";
    Notice::InstructionsGo(first, more), sentence = instructions_go(first, *more, at) => note "{sentence}";
    Notice::Secrets(found), sentence = secrets_found(found, at) => plain "{sentence}"
        as "1 secret was masked in a command's output (1 github-token)",
        SECRETS: "The store has masks instead of them, as `secrets` in lepo-config(5) says. The model got the originals.";
    Notice::TypedSecret(id, kinds) =>
        plain(at) "your question has what looks like a secret ({kinds}); it is stored as typed. To remove it: lepo rm --redact {id}",
        SECRETS: "Your own text is never changed without asking. The model may have received the secret: replace it where it is used.";
    Notice::PromptSecret(kinds) =>
        plain(at) "the system prompt has what looks like a secret ({kinds}); it is stored as typed. To remove it: lepo rm --redact --all",
        SECRETS: "Your own text is never changed without asking. The model may have received the secret: replace it where it is used.";
    Notice::ProcessesLeft(count) => warning "{count} processes of the command could not be ended",
        COMMANDS: "They may still be running; ps(1) lists them.";
    Notice::AgentRefused(agent) => note "a request of {agent} was refused: nobody can be asked here";
    Notice::ResourceRead(address, bytes), size = plural_in_thousands(*bytes, "byte") =>
        plain "read {address}: {size}";
    Notice::ExitCode(code) => plain "exit code: {code}";
    Notice::NoExit => plain "it did not exit";
    Notice::ParticipantOut(name, failures) => note "{name} is out, after {failures} consecutive failures";
    Notice::ParticipantUnavailable(name) => note "{name} is out: it cannot be asked";
    Notice::LastRound(rounds, orchestrator) => note "the limit of {rounds} rounds is reached: {orchestrator} sums up";
    Notice::NoDecision(name) => note "the reply of {name} named no speaker and did not end the debate";
    Notice::NothingToJudge(judge) => note "there are fewer than two answers, so {judge} is not asked to judge";
}

fn instructions_go(first: &str, more: usize, at: HintTarget<'_>) -> String {
    let files = if more == 0 { format!("{first} goes") } else { format!("{first} and {more} more go") };
    let off =
        Hint::from("turn it off: --no-agents, or ").bare(HintCommand::Lepo("config agents false".into()));
    format!("{files} with your questions here; {}", off.render(at))
}

fn secrets_found(found: &SecretsFound, at: HintTarget<'_>) -> String {
    let SecretsFound { count, sources, kinds, masked, is_sent_masked } = found;
    let secrets = if *count == 1 { "1 secret was".to_string() } else { format!("{count} secrets were") };
    let done = if *masked { "masked" } else { "found, and kept," };
    let sentence = format!("{secrets} {done} in {} ({kinds})", sources.join(" and "));
    if !is_sent_masked {
        return sentence;
    }
    let remedy = Hint::from(", and sent so: ").either("--unmasked", "/unmasked before a question");
    sentence + &remedy.text(" sends the text").render(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_explained_notice_is_under_a_heading_of_the_manual() {
        let tables = [model::explained(), explained(), cleanup::explained(), server::explained()];
        let listed = explained_notices().into_iter().map(|(_, notices)| notices.len());
        assert_eq!(listed.sum::<usize>(), tables.iter().map(Vec::len).sum::<usize>());
    }

    fn printed_lines(notice: &Notice) -> Vec<String> {
        notice_lines(notice, HintTarget::SHELL).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_command_names_the_store_of_the_command_line() {
        let store = HintTarget::Shell(Some("-s 'my notes'"));
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
