//! `-T NAME`: finds a prompt of this name, or else a skill.

use super::DoArgs;
use crate::commands::Context;
use crate::commands::user_env::UserEnv;
use lepo_base::error::{Error, Result};
use lepo_turn::config::{PromptTemplate, load_settings};
use lepo_turn::skills::{Skill, Skills};
use lepo_turn::{PromptLibrary, no_such_prompt};

/// Returns the prompt that `-T` names, preferring the store's if it is trusted; or else the skill to ask
/// with. Without a question, a skill asks for itself.
pub fn find_prompt_or_skill(
    args: &mut DoArgs,
    context: &Context<'_>,
) -> Result<(Option<PromptTemplate>, Option<Skill>)> {
    let Some(name) = args.template.clone() else { return Ok((None, None)) };
    let user = context.user_env()?;
    let UserEnv { env, paths } = &*user;
    let store = context.find_store()?;
    if let Some(prompt) = (PromptLibrary { store: store.as_ref(), paths }).find(&name)? {
        return Ok((Some(prompt), None));
    }
    let settings = load_settings(paths, env, None, &args.flags()?)?;
    if !settings.skills {
        return Err(no_such_prompt(&name));
    }
    let skill = Skills::read(context.cwd(), paths)?.get(&name, no_such_prompt(&name))?;
    if args.group.mode().is_some() {
        return Err(Error::usage(format!("{name} is a skill, which only one model can use"))
            .hint("leave out --parallel or --debate"));
    }
    if args.prompt.is_empty() && args.file.is_empty() {
        args.prompt.push(skill.asks_for_itself());
    }
    Ok((None, Some(skill)))
}
