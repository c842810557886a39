//! `lepo trust`: what a repository's own configuration would do, and a person's yes to it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::Context;
use crate::config::{Env, Flags, Paths, RepoFile, Settings, Trust};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::term::{clean, columns, marked, say, tty};

/// The files of a store that count only once trusted.
pub const REPO_FILES: [&str; 2] = ["_config.toml", "_mcp.json"];

/// Show what this repository's own configuration would do, and trust it on a yes
///
/// `_config.toml` and `_mcp.json` in the store are ignored until then. A yes covers these very
/// bytes at this path: one changed byte, or the same file elsewhere, asks again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo trust")]
pub struct Args {}

/// Shows, asks, keeps the yes.
pub fn run(_: Args, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let env = Env::from_process();
    let paths = Paths::from_env(&env)?;
    let trust = Trust::of(&paths);
    let mut files = Vec::new();
    for name in REPO_FILES {
        files.extend(repo_file(&store, name)?);
    }
    if files.is_empty() {
        let nothing =
            format!("nothing to trust: no {} in {}", REPO_FILES.join(", no "), store.shown().display());
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
        Error::usage("there is no terminal to say yes on").hint("run `lepo trust` in a terminal, by yourself")
    })?;
    terminal.forget_typed();
    let answer = terminal
        .ask("Trust this, as it is? (y/N): ", &AtomicBool::new(false))
        .map_err(|error| Error::usage("cannot ask on the terminal").because(error))?;
    if answer.is_none_or(|answer| !answer.eq_ignore_ascii_case("y")) {
        return Err(Error::nothing("nothing was trusted"));
    }
    trust.keep(&asked)?;
    Ok(0)
}

/// A file of the store that needs trust, as it is now; none if it is not there.
pub fn repo_file(store: &Store, name: &str) -> Result<Option<RepoFile>> {
    let Some(bytes) = store.furniture(name)? else { return Ok(None) };
    let dir = store.path();
    let dir = dir.canonicalize().map_err(|error| {
        Error::store(format!("cannot tell where {} is", store.shown().display())).because(error)
    })?;
    Ok(Some(RepoFile { path: dir.join(name), bytes }))
}

/// A file of the repository, if it counts. One that does not is told of in one line, unless all is to be quiet.
pub fn trusted(store: &Store, paths: &Paths, name: &str, quiet: bool) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let ignored = |why: &str| {
        if !quiet {
            say(&format!("note: {} is ignored: {why}", store.shown().join(name).display()));
        }
    };
    match repo_file(store, name) {
        Ok(Some(file)) if Trust::of(paths).covers(&file)? => return Ok(Some((file.path, file.bytes))),
        Ok(Some(_)) => ignored("it is not trusted; `lepo trust` shows what it would do"),
        Ok(None) => {}
        // A link, a fifo: nothing a person could have trusted.
        Err(error) => ignored(&error.chain()),
    }
    Ok(None)
}

/// The repository's own settings, if there is a store and they count.
pub fn trusted_config(context: &Context<'_>, paths: &Paths) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let Some(store) = context.find_store()? else { return Ok(None) };
    trusted(&store, paths, REPO_FILES[0], false)
}

/// Path, effects, and the whole text; nothing in it may speak to a terminal, hide in a pipe to a pager, or look
/// like lepo's own words.
fn show(file: &RepoFile, mine: &[&str], context: &mut Context<'_>) -> Result<()> {
    let effects = file.effects(mine)?;
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let path = clean(&file.path.to_string_lossy()).replace('\n', "␊");
    context.out.trusted(&format!("{}\n", context.paint.bold(&path)));
    for effect in effects {
        context.out.trusted(&marked("  ", &effect, columns));
    }
    context.out.trusted("\n");
    for line in String::from_utf8_lossy(&file.bytes).lines() {
        context.out.trusted(&marked("  | ", line, columns));
    }
    context.out.trusted("\n");
    Ok(())
}
