//! `--context-files`: lists the repository's instructions and skills that the model gets, and why others are
//! omitted.

use super::DoArgs;
use super::setup::Setup;
use crate::commands::Context;
use crate::term::one_line;
use crate::ui::notice_lines;
use lepo_base::error::Result;
use lepo_model::{ModelConfig, ToolFormat, spec};
use lepo_net::runtime::current_thread;
use lepo_store::bubb::plural_in_thousands;
use lepo_turn::Configuration;
use lepo_turn::instructions::Instructions;
use lepo_turn::skills::Skills;

/// Lists the files. No model is asked and nothing is written.
pub fn list_context_files(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    let config = current_thread()?.block_on(setup.configured.choose())?;
    let configured = &setup.configured;
    let why_not = configured.repository_speaks(&config).err();
    instructions(configured, why_not, context);
    skills(configured, why_not, &config, context)?;
    Ok(0)
}

fn skills(
    configured: &Configuration,
    why_not: Option<&str>,
    config: &ModelConfig,
    context: &mut Context<'_>,
) -> Result<()> {
    let found = Skills::read(context.cwd(), &configured.paths)?;
    let native = spec(config).tools == ToolFormat::Native;
    let why_not = why_not.or_else(|| (!configured.settings.skills).then_some("`skills` is false"));
    let why_not =
        why_not.or_else(|| (!native).then_some("the model has no tools of its own to ask for them"));
    for skill in &found.counting {
        let folder = skill.folder.display();
        match why_not {
            Some(why) => print(context, &format!("left out: skill {} ({folder}): {why}", skill.name)),
            None => print(context, &format!("skill: {} ({folder}): {}", skill.name, skill.description)),
        }
    }
    for skill in &found.untrusted {
        let folder = skill.folder.display();
        print(context, &format!("left out: skill {} ({folder}): not trusted; see `lepo trust`", skill.name));
    }
    let at = context.at;
    for line in found.warnings.iter().flat_map(|notice| notice_lines(notice, at)) {
        print(context, &line.to_string());
    }
    Ok(())
}

fn instructions(configured: &Configuration, why_not: Option<&str>, context: &mut Context<'_>) {
    let found = Instructions::read(context.cwd());
    let why_not = why_not.or_else(|| (!configured.settings.agents).then_some("`agents` is false"));
    for file in &found.files {
        match why_not {
            Some(why) => print(context, &format!("left out: {}: {why}", file.path)),
            None => {
                let size = plural_in_thousands(file.text.len(), "byte");
                let tokens = plural_in_thousands(file.text.len().div_ceil(4), "token");
                print(context, &format!("instructions: {} ({size}, about {tokens})", file.path));
            }
        }
    }
    for (path, why) in &found.left_out {
        print(context, &format!("left out: {path}: {why}"));
    }
    if found.files.is_empty() && found.left_out.is_empty() {
        let why = match &found.root {
            Some(root) => format!("no AGENTS.md from {} down to here", root.display()),
            None => "not in a git repository".to_string(),
        };
        print(context, &format!("no instructions: {why}"));
    }
}

/// Prints a line; text from files cannot start another one.
fn print(context: &mut Context<'_>, line: &str) {
    context.out.line(&one_line(line));
}
