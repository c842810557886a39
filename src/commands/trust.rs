//! `lepo trust`: shows the effects of a repository's configuration, and records the user's consent.

mod steering;

use std::path::{Path, PathBuf};

use self::steering::{SteeringHere, agreed_messages};
use super::Context;
use super::program_files::{ProgramFileTrust, print_changed, print_named};
use super::repo_files::repo_files;
use crate::commands::user_env::UserEnv;
use crate::term::{columns, extent, fold, one_line, print_status, quote, tty};
use crate::ui::{folder_name, notice_lines};
use lepo_base::error::{Error, Result};
use lepo_base::work_folder::WorkFolder;
use lepo_base::worktree::Worktree;
use lepo_store::bubb::plural_in_thousands;
use lepo_store::store::Store;
use lepo_turn::Masking;
use lepo_turn::config::{FolderTrust, Paths, RepoFile, Trust, work_folder};
use lepo_turn::instructions::{InstructionsConsent, agreements};
use lepo_turn::skills::{Skill, SkillOrigin, Skills, files_of};

/// Show what this repository's own configuration does, and trust it after confirmation
///
/// Until then, `_config.toml`, `_mcp.json` and `_prompts/` in the store and the skills of the git repository are
/// ignored, and your own MCP servers, agents and `cli` models do not start in this folder. Trust in a file covers
/// exactly these bytes at this path: after any change, or for the same file elsewhere, lepo asks again. Trust in a
/// folder covers its linked worktrees and whatever comes into it later, except the files that your programs are
/// started from: if one changed since you agreed to it, or a sandboxed command changed one that they may run, it is
/// shown here, with its differences, and trusted after confirmation. A folder that you refused is asked about again
/// only if there is nothing else to ask about. `_insts.toml` of a store that lepo did not make for you, or that git
/// tracks, is ignored until then, too.
///
/// Also agreed to beforehand: the repository's instructions (AGENTS.md), and the hidden and system messages of the
/// newest conversation that you did not write. While nobody has agreed to them, `auto` asks before it does more than
/// reading, and the question agrees to them too. Lists what was trusted or agreed to here.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo trust\n  lepo trust --forget AGENTS.md\n  lepo trust --forget .    # your programs no longer start here"
)]
pub struct TrustArgs {
    /// Revoke all trust in this file, or in this folder and everything in it
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    forget: Option<PathBuf>,
}

pub fn run_trust(args: TrustArgs, context: &mut Context<'_>) -> Result<u8> {
    let user = context.user_env()?;
    let UserEnv { env, paths } = &*user;
    let trust = Trust::new(paths);
    if let Some(path) = &args.forget {
        return forget(path, (&trust, paths), context);
    }
    let settings = user.settings(None)?;
    let masking = Masking::new(&settings, env, &paths.state);
    let agreed = print_agreed(&trust, &masking, context)?;
    let store = context.find_store()?;
    let speaks = Some(context.cwd()).filter(|_| settings.agents);
    let steering = SteeringHere::read(speaks, store.as_ref(), (&trust, &masking))?;
    let files = store.as_ref().map(repo_files).transpose()?.unwrap_or_default();
    let skills = Skills::read(context.cwd(), paths)?;
    let known = skills.counting.iter().filter(|skill| skill.origin == SkillOrigin::Repository).count();
    let is_asked = |file: &RepoFile| Ok(!trust.covers(file)?);
    let nothing_else = files.iter().map(is_asked).collect::<Result<Vec<bool>>>()?.iter().all(|asked| !asked);
    let mut folders = folders_here(store.as_ref(), context)?;
    let folder_trust = FolderTrust::new(paths);
    let trusted_folders = print_folder_trust(&mut folders, &folder_trust)?;
    let programs = ProgramFileTrust::new(paths, env, store.as_ref(), context);
    let mut changed = programs.changed(store.as_ref(), context)?;
    // A yes to something else does not take back the no to a folder.
    if !(nothing_else && skills.untrusted.is_empty() && steering.is_empty() && changed.is_empty()) {
        folders.retain(|folder| !matches!(folder_trust.answer(folder), Ok(Some(false))));
    }
    let is_as_agreed = steering.is_empty() && changed.is_empty();
    let is_list = agreed + known + trusted_folders + files.len() > 0;
    // Without a terminal nobody can be asked: the folder's state is printed with the list.
    if is_list && nothing_else && skills.untrusted.is_empty() && is_as_agreed && tty().is_none() {
        let unanswered = folders.drain(..).filter(|folder| matches!(folder_trust.answer(folder), Ok(None)));
        for folder in unanswered {
            print_status(&format!(
                "{} is not trusted yet: programs of yours start elsewhere",
                folder_name(&folder.root)
            ));
        }
    }
    let mut asked = Vec::new();
    for file in files {
        match trust.covers(&file)? {
            true => print_status(&format!("{} is trusted", file.path.display())),
            false => asked.push(file),
        }
    }
    for file in &asked {
        changed.extend(programs.touched_servers(file)?);
    }
    print_trusted(&skills);
    if asked.is_empty() && skills.untrusted.is_empty() && folders.is_empty() && is_as_agreed {
        return Ok(0);
    }
    let mine: Vec<&str> = settings.models.iter().map(|model| model.name.as_str()).collect();
    for file in &asked {
        show(file, &mine, &programs.named_files(file)?, context)?;
    }
    skills
        .warnings
        .iter()
        .flat_map(|notice| notice_lines(notice, context.at))
        .for_each(|line| print_status(&line));
    skills.untrusted.iter().for_each(|skill| show_skill(skill, context));
    steering.show(context);
    folders.iter().for_each(|folder| show_folder(folder, context));
    print_changed(&changed, context);
    context.out.flush();
    let mut terminal = tty().ok_or_else(|| {
        Error::usage("there is no terminal to ask on").hint("run `lepo trust` yourself, in a terminal")
    })?;
    // A long text has scrolled away: the question contains its size.
    let shown: Vec<_> = asked.iter().map(|file| String::from_utf8_lossy(&file.bytes)).collect();
    let extent = extent(&(shown.concat() + &steering.text()), columns());
    if !terminal.confirm(&format!("{extent}Trust this, as it is? (y/N): "))? {
        return Err(Error::nothing("nothing was trusted"));
    }
    asked.iter().try_for_each(|file| programs.record_server_consent(file))?;
    programs.record_consent(&changed)?;
    asked.extend(skills.untrusted.into_iter().map(|skill| skill.file));
    trust.save(&asked)?;
    steering.record_consent(&trust)?;
    folders.iter().try_for_each(|folder| folder_trust.record_answer(folder, true))?;
    programs.note_first_sight(store.as_ref(), context)?;
    Ok(0)
}

/// Returns the folders in which programs would start from here: the store's, for servers and agents, and the
/// current one.
fn folders_here(store: Option<&Store>, context: &Context<'_>) -> Result<Vec<WorkFolder>> {
    let root = store.map_or_else(|| context.new_root(), |store| store.root().to_path_buf());
    let mut folders = vec![work_folder(&root)?];
    let here = work_folder(context.cwd())?;
    if folders.iter().all(|folder| folder.identity != here.identity) {
        folders.push(here);
    }
    Ok(folders)
}

/// Prints the user's decision on each folder, removes the trusted ones from `folders`, and returns their
/// number.
fn print_folder_trust(folders: &mut Vec<WorkFolder>, trust: &FolderTrust) -> Result<usize> {
    let mut trusted = 0;
    for folder in std::mem::take(folders) {
        let name = folder_name(&folder.root);
        match trust.answer(&folder)? {
            Some(true) => {
                print_status(&format!("{name} is trusted: programs of yours start in it"));
                trusted += 1;
                continue;
            }
            Some(false) => print_status(&format!(
                "{name} is not trusted, as you said: programs of yours start elsewhere"
            )),
            None => {}
        }
        folders.push(folder);
    }
    Ok(trusted)
}

fn show_folder(folder: &WorkFolder, context: &mut Context<'_>) {
    let name = context.paint.bold(&folder_name(&folder.root));
    context.out.trusted(&format!("{name}\n"));
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let about = "  your own servers, agents and `cli` models start in it and may run its files";
    context.out.trusted(&format!("{}\n\n", fold(about, columns)));
}

fn print_trusted(skills: &Skills) {
    for skill in skills.counting.iter().filter(|skill| skill.origin == SkillOrigin::Repository) {
        print_status(&format!("{} is trusted", skill.file.path.display()));
    }
}

/// Prints path, name and description of a skill, quoted, so that none of it resembles lepo's own output.
fn show_skill(skill: &Skill, context: &mut Context<'_>) {
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let path = one_line(&skill.file.path.to_string_lossy());
    context.out.trusted(&format!("{}\n", context.paint.bold(&path)));
    context.out.trusted(&quote("  skill ", &skill.name, columns));
    context.out.trusted(&quote("  | ", &skill.description, columns));
    let size = plural_in_thousands(skill.file.bytes.len(), "byte");
    let files = plural_in_thousands(files_of(skill).len(), "other file");
    context.out.trusted(&format!(
        "  models are told its name, and read its instructions ({size}, {files}) when they ask\n\n"
    ));
}

/// Revokes every consent for this path and the paths below it.
fn forget(path: &Path, (trust, paths): (&Trust, &Paths), context: &Context<'_>) -> Result<u8> {
    let path = context.cwd().join(path);
    // The path may be a symbolic link itself, or may not exist any more.
    let named = match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.canonicalize().unwrap_or(path),
    };
    let folder = WorkFolder::read(&named).ok().filter(|folder| folder.root == named);
    let folder_trust = FolderTrust::new(paths);
    let was_folder = match folder {
        Some(folder) => folder_trust.forget(&folder)?,
        None if named.exists() => false,
        None => folder_trust.forget_path(&named)?,
    };
    match trust.forget(&named)? {
        _ if was_folder => Ok(0),
        0 => Err(Error::nothing(format!("neither {} nor a file in it was trusted", named.display()))
            .hint("`lepo trust` lists what is trusted here")),
        _ => Ok(0),
    }
}

/// Prints which instructions and messages here are trusted; returns their number.
fn print_agreed(trust: &Trust, masking: &Masking, context: &Context<'_>) -> Result<usize> {
    let root = Worktree::containing(context.cwd()).map(|tree| tree.root);
    let store = context.find_store()?.map(|store| store.root().to_path_buf());
    let folders: Vec<&Path> = root.iter().chain(&store).map(PathBuf::as_path).collect();
    let agreements = agreements(trust, masking, &folders)?;
    for InstructionsConsent { path, is_as_now } in &agreements {
        let state = if *is_as_now { "is agreed to" } else { "was agreed to, but has changed since" };
        print_status(&format!("{path} {state}"));
    }
    let messages = agreed_messages(trust, &folders)?;
    messages.iter().for_each(|message| print_status(&format!("{message} is agreed to")));
    Ok(agreements.len() + messages.len())
}

/// Prints path, effects and the whole text, so that nothing in it can control a terminal, hide in a pipe to a
/// pager, or resemble lepo's own output.
fn show(file: &RepoFile, mine: &[&str], started_from: &[String], context: &mut Context<'_>) -> Result<()> {
    let effects = file.effects(mine)?;
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    let path = one_line(&file.path.to_string_lossy());
    context.out.trusted(&format!("{}\n", context.paint.bold(&path)));
    for effect in effects {
        context.out.trusted(&quote("  ", &effect, columns));
    }
    print_named(started_from, context);
    context.out.trusted("\n");
    for line in String::from_utf8_lossy(&file.bytes).lines() {
        context.out.trusted(&quote("  | ", line, columns));
    }
    context.out.trusted("\n");
    Ok(())
}
