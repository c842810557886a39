//! `lepo trust`: what a repository's own configuration would do, and a person's yes to it.

use super::Context;
use super::repo_files::{REPO_FILES, repo_files};
use crate::term::{columns, extent, one_line, quote, say, tty};
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_turn::config::{Flags, Paths, RepoFile, Settings, Trust};

/// Show the effects of this repository's own configuration, and trust it on a yes
///
/// `_config.toml`, `_mcp.json` and `_prompts/` in the store are ignored until then. A yes covers these very
/// bytes at this path: one changed byte, or the same file elsewhere, asks again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo trust")]
pub struct TrustArgs {}

/// Shows, asks, keeps the yes.
pub fn run_trust(_: TrustArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let env = Env::from_process();
    let paths = Paths::from_env(&env)?;
    let trust = Trust::of(&paths);
    let files = repo_files(&store)?;
    if files.is_empty() {
        let nothing = format!(
            "nothing to trust: no {} and no _prompts in {}",
            REPO_FILES.join(", no "),
            store.shown().display()
        );
        return Err(Error::nothing(nothing));
    }
    let mut asked = Vec::new();
    for file in files {
        match trust.covers(&file)? {
            true => say(&format!("{} is trusted", file.path.display())),
            false => asked.push(file),
        }
    }
    if asked.is_empty() {
        return Ok(0);
    }
    let mine = Settings::load(&paths, &env, None, &Flags::default())?.models;
    let mine: Vec<&str> = mine.iter().map(|model| model.name.as_str()).collect();
    for file in &asked {
        show(file, &mine, context)?;
    }
    context.out.flush();
    let mut terminal = tty().ok_or_else(|| {
        Error::usage("there is no terminal to ask on").hint("run `lepo trust` in a terminal, by yourself")
    })?;
    // A long text has scrolled away: the question tells how much there is to read.
    let shown: Vec<_> = asked.iter().map(|file| String::from_utf8_lossy(&file.bytes)).collect();
    let extent = extent(&shown.concat(), columns());
    if !terminal.confirm(&format!("{extent}Trust this, as it is? (y/N): "))? {
        return Err(Error::nothing("nothing was trusted"));
    }
    trust.keep(&asked)?;
    Ok(0)
}

/// Path, effects, and the whole text; nothing in it may speak to a terminal, hide in a pipe to a pager, or look
/// like lepo's own words.
fn show(file: &RepoFile, mine: &[&str], context: &mut Context<'_>) -> Result<()> {
    let effects = file.effects(mine)?;
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let path = one_line(&file.path.to_string_lossy());
    context.out.trusted(&format!("{}\n", context.paint.bold(&path)));
    for effect in effects {
        context.out.trusted(&quote("  ", &effect, columns));
    }
    context.out.trusted("\n");
    for line in String::from_utf8_lossy(&file.bytes).lines() {
        context.out.trusted(&quote("  | ", line, columns));
    }
    context.out.trusted("\n");
    Ok(())
}
