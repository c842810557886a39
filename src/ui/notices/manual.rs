//! Notices for the manual: the text of each with names instead of values, and an explanation if it needs one.

use std::time::Duration;

use super::notice_lines;
use lepo_base::hint::HintTarget;
use lepo_model::{ModelNotice as Model, Retry, TransientFailure};
use lepo_store::bubb::BubbId;
use lepo_tool::mcp::{KeyFault, ServerNotice as Server, ToolsFault};
use lepo_turn::attach::FolderSummary;
use lepo_turn::{AutorunFiles, CleanupItem, Notice, SecretsFound, UnsentFiles};

const MODELS: &str = "Models and answers";
const FILES: &str = "Files and the repository";
const SECRETS: &str = "Secrets";
const COMMANDS: &str = "Commands and agents";
const SERVERS: &str = "MCP servers";

const SUBJECTS: [&str; 5] = [MODELS, FILES, SECRETS, COMMANDS, SERVERS];

/// A notice in the manual: its text, and what it means for the reader.
pub type ManualNotice = (String, &'static str);

/// Returns the explained notices, grouped by heading.
pub fn explained_notices() -> Vec<(&'static str, Vec<ManualNotice>)> {
    let samples = samples();
    let below = |subject: &'static str| {
        let explained = samples.iter().filter_map(|notice| {
            let (_, meaning) = meaning(notice).filter(|(of, _)| *of == subject)?;
            let words: Vec<String> =
                notice_lines(notice, HintTarget::SHELL).iter().map(ToString::to_string).collect();
            Some((words.join("\n"), meaning))
        });
        (subject, explained.collect())
    };
    SUBJECTS.map(below).to_vec()
}

/// Returns the heading and the explanation of a notice; `None` for one that explains itself.
fn meaning(notice: &Notice) -> Option<(&'static str, &'static str)> {
    let (subject, meaning) = match notice {
        Notice::Model(notice) => return of_model(notice),
        Notice::Server(notice) => return of_server(notice),
        Notice::Left(left) => return of_left(left),
        Notice::AmbientModel(..) => {
            (MODELS, "No model is configured, so a variable decides. `lepo model add` configures one.")
        }
        Notice::NoNativeTools(_) => (
            MODELS,
            "Each question costs one more request; `planner = \"off\"` saves it, and the model runs no commands.",
        ),
        Notice::NoMoreCommands(_) => {
            (MODELS, "The model answers with what it has. Ask it to continue, or raise `max_rounds`.")
        }
        Notice::CutAtLimit => (MODELS, "Ask it to continue, or raise `max_tokens` of the model."),
        Notice::CutAtWindow => (MODELS, "`lepo do --compact` continues from a summary."),
        Notice::Compacts => (MODELS, "`compact = \"auto\"` does this. The original messages are unchanged."),
        Notice::Stopped(_) => (MODELS, "The reason is the provider's own word, like content_filter."),
        Notice::FilesNotSent(..) => {
            (FILES, "The file stays with its message, and is sent to a model that accepts it.")
        }
        Notice::Gathered(_) => {
            (FILES, "A directory adds its text files. A skipped file is sent if you name it itself.")
        }
        Notice::LeftOut(..) => (FILES, "An AGENTS.md or a skill that the model does not get."),
        Notice::SkillFault(..) => {
            (FILES, "The skill is used anyway. `lepo prompt check` lists the faults of skills.")
        }
        Notice::Secrets(_) => (
            SECRETS,
            "The store has masks instead of them, as `secrets` in lepo-config(5) says. The model got the originals.",
        ),
        Notice::TypedSecret(..) | Notice::PromptSecret(_) => (
            SECRETS,
            "Your own text is never changed without asking. The model may have received the secret: replace it where it is used.",
        ),
        Notice::EmbeddedAnswers
        | Notice::ChooserUnreadable
        | Notice::WriterUnreadable
        | Notice::NoMoreTools(_)
        | Notice::AskedAgain(_)
        | Notice::Recorded(_)
        | Notice::SkillGiven(_)
        | Notice::SkillsNotTrusted(_)
        | Notice::SkillOfRepository(..)
        | Notice::InstructionsGo(..)
        | Notice::ResourceRead(..)
        | Notice::ExitCode(_)
        | Notice::NoExit
        | Notice::AgentRefused(_)
        | Notice::Out(..)
        | Notice::OutUnasked(_)
        | Notice::LastRound(..)
        | Notice::NoDecision(_)
        | Notice::NothingToJudge(_) => return None,
        Notice::ProcessesLeft(_) => (COMMANDS, "They may still be running; ps(1) lists them."),
    };
    Some((subject, meaning))
}

fn of_model(notice: &Model) -> Option<(&'static str, &'static str)> {
    match notice {
        Model::Retries(_) => Some((
            MODELS,
            "The failure may pass. If the last try fails too, `lepo do --retry` asks again later.",
        )),
        Model::Learned(..) => Some((
            MODELS,
            "The server refused that part of the request. lepo remembers this for the model, and says it only once.",
        )),
        Model::OwnMessageRejected(..) => {
            Some((MODELS, "Its earlier thinking is not sent back; the answers are."))
        }
        Model::ToolLeftOut(..) => Some((
            MODELS,
            "The other tools are offered. The MCP server should fix the schema; another model may accept it.",
        )),
        Model::OtherAddress(..) => Some((
            MODELS,
            "The key goes to the same host. `lepo model` and lepo-config(5) say where it is configured.",
        )),
        Model::Slipped(..) => Some((MODELS, "Nothing was executed. A second failure is an error.")),
        Model::WasThinking(_) => Some((
            MODELS,
            "Only the answer is stored, and printed by \\-q and \\-\\-json. From now on, its answers are read as beginning with thinking.",
        )),
        Model::ToldAsText(_) => {
            Some((COMMANDS, "The agent has no session of this conversation that it could continue."))
        }
        Model::Held(..) => Some((
            COMMANDS,
            "Only an agent whose model runs in the same sandbox can answer; `sandbox = \"net\"` gives it a network.",
        )),
        Model::WebToolFailed(..) | Model::Program(_) => None,
    }
}

fn of_server(notice: &Server) -> Option<(&'static str, &'static str)> {
    match notice {
        Server::CannotBeUsed(..) => Some((
            SERVERS,
            "The question is answered without its tools. `lepo do --list-tools` tries all servers.",
        )),
        Server::KeptOut(..) | Server::LacksFolder(..) => Some((
            SERVERS,
            "A server that needs files of the folder cannot start before the folder is trusted.",
        )),
        Server::Tools(..) => Some((SERVERS, "The server's other tools are used.")),
        Server::Junk(_) => {
            Some((SERVERS, "This is an error of the server, whose stdout must contain only messages."))
        }
        Server::ToolsUnlisted(..) => Some((SERVERS, "The tools that were known before are used.")),
        Server::Key(..)
        | Server::OffersUnlisted(..)
        | Server::LeftOut(..)
        | Server::InSeconds(_)
        | Server::NameTaken(_) => None,
    }
}

fn of_left(item: &CleanupItem) -> Option<(&'static str, &'static str)> {
    match item {
        CleanupItem::RepositoryMoved(..) => {
            Some((COMMANDS, "Only a command with access `full` makes a repository that stays in place."))
        }
        CleanupItem::OwnersRightsRemoved(_) => {
            Some((COMMANDS, "Whoever started such a program would have had the rights of its owner."))
        }
        CleanupItem::WillRun(_) => {
            Some((COMMANDS, "They were written in a sandbox and run outside of it: read them first."))
        }
        CleanupItem::Repository(..)
        | CleanupItem::OwnersRights(..)
        | CleanupItem::MoreOwnersRights(_)
        | CleanupItem::MoreWillRun(_)
        | CleanupItem::Unread(_) => None,
    }
}

/// Returns each notice once, with names instead of values.
fn samples() -> Vec<Notice> {
    let text = |text: &str| text.to_string();
    let (model, name) = (|| "MODEL".to_string(), || "NAME".to_string());
    let (file, why) = (|| "FILE".to_string(), || "REASON".to_string());
    let retry = Retry {
        model: model(),
        after: TransientFailure::Status(503),
        wait: Duration::from_secs(1),
        attempt: 1,
        of: 3,
    };
    let of_models = [
        Model::Retries(retry),
        Model::Learned(model(), "does not accept `temperature`: retrying without it"),
        Model::OwnMessageRejected(model(), why()),
        Model::ToolLeftOut(model(), text("SERVER__TOOL"), why()),
        Model::OtherAddress(model(), text("URL")),
        Model::Slipped(model(), text("WORDS")),
        Model::WasThinking(model()),
        Model::WebToolFailed(text("TOOL"), text("CODE")),
        Model::ToldAsText(model()),
        Model::Held(model(), "read", "bubblewrap"),
        Model::Program(text("WORDS")),
    ];
    let of_servers = [
        Server::CannotBeUsed(name(), why()),
        Server::KeptOut(name(), "FOLDER".into()),
        Server::LacksFolder(vec![name()], "FOLDER".into()),
        Server::Tools(name(), ToolsFault::BadSchema(text("TOOL"))),
        Server::Junk(name()),
        Server::ToolsUnlisted(name(), why()),
        Server::OffersUnlisted(name(), why()),
        Server::Key(name(), KeyFault::Unknown(text("KEY"))),
        Server::LeftOut(name(), why()),
        Server::InSeconds(vec![name()]),
        Server::NameTaken(name()),
    ];
    let of_left = [
        CleanupItem::RepositoryMoved(text("the command"), text("PATH"), text("PATH.aside")),
        CleanupItem::Repository(text("the command"), text("PATH"), why()),
        CleanupItem::OwnersRightsRemoved(file()),
        CleanupItem::OwnersRights(file(), why()),
        CleanupItem::MoreOwnersRights(5),
        CleanupItem::WillRun(AutorunFiles { files: 1, named: vec![file()], when: "you run make" }),
        CleanupItem::MoreWillRun(5),
        CleanupItem::Unread(5),
    ];
    let secrets = SecretsFound {
        count: 1,
        sources: vec!["a command's output"],
        kinds: text("1 github-token"),
        masked: true,
        is_sent_masked: false,
    };
    let of_turns = [
        Notice::AmbientModel(model(), "VARIABLE", text("OTHER")),
        Notice::EmbeddedAnswers,
        Notice::NoNativeTools(model()),
        Notice::ChooserUnreadable,
        Notice::WriterUnreadable,
        Notice::NoMoreCommands(8),
        Notice::NoMoreTools(8),
        Notice::AskedAgain(why()),
        Notice::CutAtLimit,
        Notice::CutAtWindow,
        Notice::Compacts,
        Notice::Stopped(why()),
        Notice::Recorded(text("REQUEST")),
        Notice::FilesNotSent(model(), UnsentFiles { refused: vec![file()], ..UnsentFiles::default() }),
        Notice::Gathered(FolderSummary {
            folder: text("DIRECTORY"),
            files: 12,
            tokens: 900,
            skipped: Vec::new(),
        }),
        Notice::LeftOut(file(), why()),
        Notice::SkillGiven(name()),
        Notice::SkillsNotTrusted(1),
        Notice::SkillFault(text("DIRECTORY"), text("FAULT")),
        Notice::SkillOfRepository(name(), text("DIRECTORY")),
        Notice::InstructionsGo(text("AGENTS.md"), 0),
        Notice::Secrets(secrets),
        Notice::ProcessesLeft(2),
        Notice::AgentRefused(model()),
        Notice::ResourceRead(text("ADDRESS"), 100),
        Notice::ExitCode(1),
        Notice::NoExit,
        Notice::Out(model(), 3),
        Notice::OutUnasked(model()),
        Notice::LastRound(8, model()),
        Notice::NoDecision(model()),
        Notice::NothingToJudge(model()),
    ];
    // The example id of lepo(7).
    let question = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A");
    let typed = question.map(|question| Notice::TypedSecret(question, text("1 github-token")));
    let values = of_models.map(Notice::Model).into_iter().chain(of_turns).chain(typed);
    let values = values.chain([Notice::PromptSecret(text("1 github-token"))]);
    values.chain(of_left.map(Notice::Left)).chain(of_servers.map(Notice::Server)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_notice_has_one_line_and_each_explanation_its_heading() {
        for notice in samples() {
            let lines = notice_lines(&notice, HintTarget::SHELL);
            assert!(matches!(lines.as_slice(), [line] if !line.text.contains('\n')), "{notice:?}");
        }
        let explained = explained_notices();
        let count: usize = explained.iter().map(|(_, notices)| notices.len()).sum();
        assert_eq!(count, samples().iter().filter(|notice| meaning(notice).is_some()).count());
        assert!(explained.iter().all(|(_, notices)| !notices.is_empty()));
    }
}
