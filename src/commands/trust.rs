//! `lepo trust`: what a repository's own configuration would do, and a person's yes to it.

use std::path::{Path, PathBuf};

use super::Context;
use super::repo_files::{REPO_FILES, repo_files};
use crate::term::{columns, extent, one_line, quote, say, tty};
use crate::ui::notice_lines;
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_base::work_tree::WorkTree;
use lepo_store::bubb::counted_in_thousands;
use lepo_turn::Masking;
use lepo_turn::agents::{Agreement, agreements};
use lepo_turn::config::{Flags, Paths, RepoFile, Trust, load_settings};
use lepo_turn::skills::{Origin, Skill, Skills, files_of};

/// Show what this repository's own configuration does, and trust it after confirmation
///
/// Until then, `_config.toml`, `_mcp.json` and `_prompts/` in the store and the skills of the git repository are
/// ignored. Trust covers exactly these bytes at this path: after any change, or for the same file elsewhere, lepo
/// asks again. Lists what was trusted or agreed to here, including the repository's instructions (AGENTS.md), which
/// are agreed to together with a request that they may have led to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo trust\n  lepo trust --forget AGENTS.md")]
pub struct TrustArgs {
    /// Revoke all trust in this file, or in everything in this folder
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    forget: Option<PathBuf>,
}

/// Shows, asks, keeps the yes.
pub fn run_trust(args: TrustArgs, context: &mut Context<'_>) -> Result<u8> {
    let env = Env::from_process();
    let paths = Paths::from_env(&env)?;
    let trust = Trust::of(&paths);
    if let Some(path) = &args.forget {
        return forget(path, &trust, context);
    }
    let agreed = tell_agreed(&trust, (&paths, &env), context)?;
    let store = context.find_store()?;
    let files = store.as_ref().map(repo_files).transpose()?.unwrap_or_default();
    let skills = Skills::of(context.cwd(), &paths)?;
    let known = skills.counting.iter().filter(|skill| skill.origin == Origin::Repository).count();
    if files.is_empty() && skills.untrusted.is_empty() && agreed + known > 0 {
        tell_trusted(&skills);
        return Ok(0);
    }
    if files.is_empty() && skills.untrusted.is_empty() {
        let store = match store {
            Some(store) => store,
            None => context.store()?,
        };
        let nothing = format!(
            "nothing to trust: no {} and no _prompts in {}, and no skill of the repository",
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
    tell_trusted(&skills);
    if asked.is_empty() && skills.untrusted.is_empty() {
        return Ok(0);
    }
    let mine = load_settings(&paths, &env, None, &Flags::default())?.models;
    let mine: Vec<&str> = mine.iter().map(|model| model.name.as_str()).collect();
    for file in &asked {
        show(file, &mine, context)?;
    }
    skills.warnings.iter().flat_map(|notice| notice_lines(notice, context.at)).for_each(|line| say(&line));
    skills.untrusted.iter().for_each(|skill| show_skill(skill, context));
    context.out.flush();
    let mut terminal = tty().ok_or_else(|| {
        Error::usage("there is no terminal to ask on").hint("run `lepo trust` yourself, in a terminal")
    })?;
    // A long text has scrolled away: the question tells how much there is to read.
    let shown: Vec<_> = asked.iter().map(|file| String::from_utf8_lossy(&file.bytes)).collect();
    let extent = extent(&shown.concat(), columns());
    if !terminal.confirm(&format!("{extent}Trust this, as it is? (y/N): "))? {
        return Err(Error::nothing("nothing was trusted"));
    }
    asked.extend(skills.untrusted.into_iter().map(|skill| skill.file));
    trust.keep(&asked)?;
    Ok(0)
}

/// Says which skills of the repository are trusted.
fn tell_trusted(skills: &Skills) {
    for skill in skills.counting.iter().filter(|skill| skill.origin == Origin::Repository) {
        say(&format!("{} is trusted", skill.file.path.display()));
    }
}

/// Path, name and description of a skill; nothing in it may look like lepo's own words.
fn show_skill(skill: &Skill, context: &mut Context<'_>) {
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let path = one_line(&skill.file.path.to_string_lossy());
    context.out.trusted(&format!("{}\n", context.paint.bold(&path)));
    context.out.trusted(&quote("  skill ", &skill.name, columns));
    context.out.trusted(&quote("  | ", &skill.description, columns));
    let size = counted_in_thousands(skill.file.bytes.len(), "byte");
    let files = counted_in_thousands(files_of(skill).len(), "other file");
    context.out.trusted(&format!(
        "  models are told its name, and read its instructions ({size}, {files}) when they ask\n\n"
    ));
}

/// Takes back every yes to what is at this path or below it.
fn forget(path: &Path, trust: &Trust, context: &Context<'_>) -> Result<u8> {
    let path = context.cwd().join(path);
    // A link itself, and what is not there any more, can be meant.
    let named = match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.canonicalize().unwrap_or(path),
    };
    match trust.forget(&named)? {
        0 => Err(Error::nothing(format!("nothing of {} was trusted", named.display()))
            .hint("`lepo trust` lists what is trusted here")),
        _ => Ok(0),
    }
}

/// Says which instructions of the repository here are agreed to; gives their number.
fn tell_agreed(trust: &Trust, (paths, env): (&Paths, &Env), context: &Context<'_>) -> Result<usize> {
    let root = WorkTree::of(context.cwd()).map(|tree| tree.root);
    let store = context.find_store()?.map(|store| store.root().to_path_buf());
    let folders: Vec<&Path> = root.iter().chain(&store).map(PathBuf::as_path).collect();
    let settings = load_settings(paths, env, None, &Flags::default())?;
    let agreements = agreements(trust, &Masking::new(&settings, env, &paths.state), &folders)?;
    for Agreement { path, is_as_now } in &agreements {
        let state = if *is_as_now { "is agreed to" } else { "was agreed to, but has changed since" };
        say(&format!("{path} {state}"));
    }
    Ok(agreements.len())
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
