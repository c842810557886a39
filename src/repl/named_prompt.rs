//! `/NAME WORDS` that is not a slash command: a server's prompt, the user's own prompt, or a skill.

use super::ask::{ask, ask_model};
use super::commands::COMMANDS;
use super::complete::CompletionWords;
use super::server_prompts::{ask_prompt, server_prompt};
use super::session::ReplSession;
use crate::term::print_status;
use crate::ui::{ViewState, listed_models};
use lepo_base::closest_name::closest_name;
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_turn::config::{TemplateValues, check_prompt_name};
use lepo_turn::{PromptLibrary, TurnEnv};

/// Returns commands, servers' offers and skills for completion.
pub(super) fn completion_words(env: &TurnEnv) -> Result<CompletionWords> {
    let skills = env.configured.skills()?.unwrap_or_default().counting.into_iter();
    let skills = skills.map(|skill| (skill.name, skill.description)).collect();
    let models = listed_models(&env.configured.settings, &env.configured.paths);
    Ok(CompletionWords {
        commands: COMMANDS.iter().map(|command| &command.is).collect(),
        catalogue: env.catalogue.clone(),
        skills,
        models: models.into_iter().map(|model| (model.name.clone(), model.line())).collect(),
    })
}

/// The start of the error for a name that is neither a slash command nor a prompt.
pub(super) const NO_COMMAND: &str = "no command /";

/// Habits of users of other programs, each with the hint at lepo's command for it.
const HABITS: &[(&[&str], &str)] = &[
    (&["bye", "q", "quit"], "/exit leaves"),
    (&["clear", "reset"], "/new begins a new conversation"),
    (&["continue", "resume", "sessions", "switch"], "/ls lists the conversations, and /tail continues one"),
    (&["history"], "/show prints the conversation, and /ls lists others"),
    (&["fork", "rewind", "checkpoint"], "/undo takes the last question back, and /tree shows the forks"),
    (&["context", "cost", "stats", "status", "usage"], "/tokens counts"),
    (&["find", "search"], "/grep finds what was said"),
    (&["add", "include", "paste", "read"], "/file sends a file"),
    (&["image"], "/attach attaches an image or a PDF"),
    (&["editor", "multi"], "/edit opens your editor"),
    (&["run", "shell"], "!COMMAND runs a command"),
    (&["tools"], "/mcp lists servers and tools"),
    (&["approvals", "permissions", "yolo"], "/set-tool-mode chooses what needs your yes"),
    (&["save"], "each message is a file already; /branch names this point"),
    (&["export", "share"], "`lepo export` writes a conversation to a file"),
    (&["config", "settings"], "`lepo config` lists the settings"),
    (&["auth", "key", "login"], "`lepo model add` adds a model with its key"),
    (&["memory", "init"], "AGENTS.md goes along with each conversation"),
    (&["?", "commands"], "/help lists the commands"),
];

/// Returns the error for a name that is neither a slash command nor a prompt.
fn unknown_command(name: &str) -> Error {
    if let Some((_, hint)) = HABITS.iter().find(|(names, _)| names.contains(&name)) {
        return Error::usage(format!("{NO_COMMAND}{name}")).hint(*hint);
    }
    match closest_name(name, COMMANDS.iter().map(|command| command.is.word.trim_start_matches('/'))) {
        Some(meant) => Error::usage(format!("{NO_COMMAND}{name}")).hint(format!("did you mean /{meant}?")),
        None => Error::usage(format!("{NO_COMMAND}{name}; /help lists them")),
    }
}

/// Runs the turn of a prompt or a skill. Prompts win over skills.
pub(super) async fn enter_prompt(
    session: &mut ReplSession<'_>,
    state: ViewState,
    name: &str,
    words: &str,
) -> Result<ViewState> {
    if let Some(prompt) = server_prompt(session, name, words) {
        return ask_prompt(session, state, prompt?).await;
    }
    match prompt(session, name, words) {
        Ok((text, model)) => ask_model(session, state, text, model).await,
        Err(unknown) if unknown.message.starts_with(NO_COMMAND) => {
            let skill = session.env.configured.skills()?.unwrap_or_default().get(name, unknown)?;
            let text = match words.trim() {
                "" => skill.asks_for_itself(),
                words => words.to_string(),
            };
            session.named_skill = Some(skill);
            let outcome = ask(session, state, Some(text)).await;
            session.named_skill = None;
            outcome
        }
        Err(error) => Err(error),
    }
}

/// Returns the filled text of a prompt, and the model that it names.
pub(super) fn prompt(
    session: &ReplSession<'_>,
    name: &str,
    words: &str,
) -> Result<(String, Option<ModelConfig>)> {
    let configured = &session.env.configured;
    let prompts = PromptLibrary { store: Some(&session.store), paths: &configured.paths };
    // A name that is not valid for a prompt is a mistyped command.
    let found = if check_prompt_name(name).is_ok() { prompts.find(name)? } else { None };
    let prompt = found.ok_or_else(|| unknown_command(name))?;
    let words = shlex::split(words).unwrap_or_else(|| vec![words.to_string()]);
    let (text, _) = prompt.fill(name, TemplateValues { args: &words, stdin: None })?;
    let model = prompt.model.map(|name| configured.settings.model(&name)).transpose()?;
    print_status(&format!("> {}", text.replace('\n', "\n  ")));
    Ok((text, model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::HintTarget;

    #[test]
    fn a_habit_is_no_command_and_its_hint_names_one() {
        let is_command = |name: &str| COMMANDS.iter().any(|command| command.is.word == format!("/{name}"));
        for (names, hint) in HABITS {
            for name in *names {
                assert!(!is_command(name), "{name}");
                assert_eq!(unknown_command(name).hint_for(HintTarget::Session).as_deref(), Some(*hint));
            }
            let named = hint.split(' ').filter_map(|word| word.trim_end_matches(',').strip_prefix('/'));
            for name in named {
                assert!(is_command(name), "{hint}");
            }
        }
        assert_eq!(
            unknown_command("nwe").hint_for(HintTarget::Session).as_deref(),
            Some("did you mean /new?")
        );
    }
}
