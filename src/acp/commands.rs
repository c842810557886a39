//! Slash commands of an editor's session, except those for a terminal, and prompts by name.

use super::question::text_part;
use lepo_acp::update::{AvailableCommand, CommandInput};
use lepo_base::error::{Error, Result};
use lepo_store::store::Store;
use lepo_turn::config::{TemplateValues, check_prompt_name};
use lepo_turn::skills::Skill;
use lepo_turn::{Configuration, PromptLibrary, Question, ServerPrompt, TurnEnv, Verdict, join_parts};

use crate::term::OfferedWord;

#[derive(Debug, PartialEq)]
pub enum SlashAction {
    /// Answer the last question again.
    Retry,
    /// Summarise the conversation and continue from the summary.
    Compact(String),
    /// Return to the position before the last question.
    Undo,
    /// Create a branch at the end of the conversation.
    Branch(String),
    Decide(Verdict),
    /// Ask a question, with the model that a prompt names.
    Ask(String, Option<String>),
    /// Ask with a prompt of an MCP server.
    Served(ServerPrompt),
    /// Ask a question with the skill of this name.
    Skill(String, String),
}

const COMMANDS: &[(&str, &str, Option<&str>)] = &[
    ("retry", "Answer the last question again", None),
    ("undo", "Undo the last question; nothing is deleted", None),
    ("compact", "Continue from a summary of the conversation", Some("what matters")),
    ("branch", "Name this conversation; the branch follows the answers", Some("name")),
    ("approve", "Run the pending request", None),
    ("deny", "Refuse the pending request", None),
];

pub fn available(store: &Store, configured: &Configuration) -> Vec<AvailableCommand> {
    let paths = &configured.paths;
    let input = |hint: &str| CommandInput { hint: hint.to_string() };
    let own = COMMANDS.iter().map(|&(name, about, hint)| AvailableCommand {
        name: name.to_string(),
        about: about.to_string(),
        input: hint.map(input),
    });
    let prompts = PromptLibrary { store: Some(store), paths }.list().unwrap_or_default();
    let prompts = prompts.into_iter().filter(|prompt| prompt.counts && prompt.prompt.is_some());
    let mut all: Vec<AvailableCommand> = own.collect();
    for prompt in prompts {
        if all.iter().all(|known| known.name != prompt.name) {
            let about = "One of your prompts".to_string();
            all.push(AvailableCommand { name: prompt.name, about, input: Some(input("words")) });
        }
    }
    let skills = configured.skills().ok().flatten().map(|skills| skills.counting).unwrap_or_default();
    for skill in skills {
        if all.iter().all(|known| known.name != skill.name) {
            all.push(AvailableCommand {
                name: skill.name,
                about: skill.description,
                input: Some(input("question")),
            });
        }
    }
    // Names may contain invisible characters, which `OfferedWord` rejects.
    all.retain(|command| OfferedWord::parse(&command.name).is_some());
    all
}

/// Returns the question for a skill, and the skill; without text, a default question.
pub fn skill_question(configured: &Configuration, name: &str, question: &str) -> Result<(Question, Skill)> {
    let unknown = Error::usage(format!("no command, prompt or skill /{name}"));
    let skill = configured.skills()?.unwrap_or_default().get(name, unknown)?;
    let text = match question.trim() {
        "" => skill.asks_for_itself(),
        question => question.to_string(),
    };
    Ok((join_parts(vec![text_part(&text)], Vec::new(), Vec::new())?, skill))
}

/// Parses a prompt's text, with the prompts and skills of the session.
pub fn entered(text: &str, store: &Store, env: &TurnEnv) -> Result<Option<SlashAction>> {
    let prompts = PromptLibrary { store: Some(store), paths: &env.configured.paths };
    let skills = env.configured.skills().ok().flatten().unwrap_or_default();
    let is_skill = |name: &str| skills.counting.iter().any(|skill| skill.name == name);
    parse_action(text, env.catalogue.names(), &prompts, &is_skill)
}

/// Parses a slash command; `None` for other text: several lines, text without a slash and a name at its start, or a
/// path.
fn parse_action(
    text: &str,
    servers: &[String],
    prompts: &PromptLibrary<'_>,
    is_skill: &dyn Fn(&str) -> bool,
) -> Result<Option<SlashAction>> {
    let line = text.trim_end();
    let Some(rest) = line.strip_prefix('/').filter(|rest| !rest.contains('\n')) else { return Ok(None) };
    let (word, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_path = word.split(':').next().is_some_and(|name| name.contains('/'));
    if word.is_empty() || is_path {
        return Ok(None);
    }
    let args = args.trim();
    let action = match word {
        "retry" => SlashAction::Retry,
        "undo" => SlashAction::Undo,
        "compact" => SlashAction::Compact(args.to_string()),
        "branch" => SlashAction::Branch(args.to_string()),
        "approve" => SlashAction::Decide(Verdict::Approve),
        "deny" => SlashAction::Decide(Verdict::Deny),
        name => return other_action(name, args, servers, (prompts, is_skill)).map(Some),
    };
    let takes_words = matches!(action, SlashAction::Compact(_) | SlashAction::Branch(_));
    match takes_words || args.is_empty() {
        true => Ok(Some(action)),
        false => Err(Error::usage(format!("/{word} takes no argument"))),
    }
}

/// Finds a server's prompt, the user's own prompt, or a skill.
fn other_action(
    name: &str,
    question: &str,
    servers: &[String],
    (prompts, is_skill): (&PromptLibrary<'_>, &dyn Fn(&str) -> bool),
) -> Result<SlashAction> {
    let args = shlex::split(question).unwrap_or_else(|| vec![question.to_string()]);
    let of_server = servers.iter().find_map(|server| {
        let prompt = name.strip_prefix(server.as_str())?.strip_prefix(':')?;
        Some((server.clone(), prompt.to_string()))
    });
    if let Some((server, name)) = of_server {
        return Ok(SlashAction::Served(ServerPrompt { server, name, named: Vec::new(), args }));
    }
    let found = if check_prompt_name(name).is_ok() { prompts.find(name)? } else { None };
    if found.is_none() && is_skill(name) {
        return Ok(SlashAction::Skill(name.to_string(), question.to_string()));
    }
    let prompt = found.ok_or_else(|| {
        Error::usage(format!("no command or prompt /{name}"))
            .hint("a space before the slash makes it a question")
    })?;
    let (text, _) = prompt.fill(name, TemplateValues { args: &args, stdin: None })?;
    Ok(SlashAction::Ask(text, prompt.model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::env::Env;
    use lepo_turn::config::{Flags, Paths};

    #[test]
    fn no_command_has_a_name_that_hides_a_letter() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::from_pairs(&[("HOME", home.path().to_str().unwrap())]);
        let paths = Paths::from_env(&env).unwrap();
        let store = Store::make(home.path(), ".lepo".as_ref(), "").unwrap().0;
        std::fs::create_dir_all(paths.prompts()).unwrap();
        for name in ["ok", "한글", "retry\u{3164}", "\u{115f}undo", "de\u{ffa0}ny", "\u{1160}"] {
            assert!(check_prompt_name(name).is_ok(), "{name:?}");
            std::fs::write(paths.prompts().join(format!("{name}.md")), "Say.").unwrap();
        }
        let configured = Configuration::load(paths, &env, None, Flags::default()).unwrap();
        let offered = available(&store, &configured);
        let names: Vec<&str> = offered.iter().map(|command| command.name.as_str()).collect();
        let own: Vec<&str> = COMMANDS.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, [&own[..], &["ok", "한글"]].concat());
    }

    #[test]
    fn a_slash_begins_a_command_unless_it_begins_a_path() {
        let paths = Paths::from_env(&Env::from_pairs(&[("HOME", "/nowhere")])).unwrap();
        let prompts = PromptLibrary { store: None, paths: &paths };
        let read = |text: &str| parse_action(text, &["docs".to_string()], &prompts, &|name| name == "deploy");
        assert_eq!(
            read("/deploy to  'the moon'").unwrap(),
            Some(SlashAction::Skill("deploy".into(), "to  'the moon'".into()))
        );
        assert_eq!(read("/retry ").unwrap(), Some(SlashAction::Retry));
        assert_eq!(read("/compact the figures").unwrap(), Some(SlashAction::Compact("the figures".into())));
        assert_eq!(read("/deny").unwrap(), Some(SlashAction::Decide(Verdict::Deny)));
        assert!(
            matches!(read("/docs:explain a 'b c'").unwrap(), Some(SlashAction::Served(action)) if action.args.len() == 2)
        );
        for question in ["hello", " /retry", "/etc/passwd is what?", "/", "/retry\nagain"] {
            assert_eq!(read(question).unwrap(), None, "{question}");
        }
        for wrong in ["/retry now", "/nothing"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
