//! `--context-files`: what the repository says to the model, and why the rest of it does not go along.

use super::DoArgs;
use super::setup::Setup;
use crate::commands::Context;
use lepo_base::error::Result;
use lepo_net::runtime::current_thread;
use lepo_store::bubb::counted_in_thousands;
use lepo_turn::Configured;
use lepo_turn::agents::Instructions;

/// Lists the files. Nothing is asked and nothing is written.
pub fn list_context_files(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    let config = current_thread()?.block_on(setup.configured.choose())?;
    let configured = &setup.configured;
    let why_not = configured.repository_speaks(&config).err();
    instructions(configured, why_not, context);
    Ok(0)
}

fn instructions(configured: &Configured, why_not: Option<&str>, context: &mut Context<'_>) {
    let found = Instructions::of(context.cwd());
    let why_not = why_not.or_else(|| (!configured.settings.agents).then_some("`agents` is false"));
    for file in &found.files {
        match why_not {
            Some(why) => context.out.line(&format!("left out: {}: {why}", file.path)),
            None => {
                let size = counted_in_thousands(file.text.len(), "byte");
                let tokens = counted_in_thousands(file.text.len().div_ceil(4), "token");
                context.out.line(&format!("instructions: {} ({size}, about {tokens})", file.path));
            }
        }
    }
    for (path, why) in &found.left_out {
        context.out.line(&format!("left out: {path}: {why}"));
    }
    if found.files.is_empty() && found.left_out.is_empty() {
        let why = match &found.root {
            Some(root) => format!("no AGENTS.md from {} down to here", root.display()),
            None => "not in a git repository".to_string(),
        };
        context.out.line(&format!("no instructions: {why}"));
    }
}
