//! `lepo prompt check`: reports errors in skills.

use std::path::{Path, PathBuf};

use crate::commands::Context;
use crate::term::one_line;
use lepo_base::error::{Error, Result};
use lepo_turn::config::Paths;
use lepo_turn::skills::{Skills, check_skill, is_skill};

/// Prints a line for each error of the skill in `dir`, or of the skills below it; exit 1 if there are any.
pub fn check(dir: Option<&Path>, paths: &Paths, context: &mut Context<'_>) -> Result<u8> {
    let skills = match dir {
        Some(dir) if !dir.is_dir() => {
            return Err(Error::usage(format!("{} is not a directory", dir.display())));
        }
        Some(dir) => in_folder(dir),
        None if is_skill(Path::new(".")) => vec![context.cwd().to_path_buf()],
        None => Skills::folders(context.cwd(), paths),
    };
    if skills.is_empty() {
        return Err(Error::nothing("no skill to check").hint("name its folder: lepo prompt check DIR"));
    }
    let mut code = 0;
    for folder in skills {
        for fault in check_skill(&folder) {
            context.out.line(&one_line(&format!("{}: {fault}", folder.display())));
            code = 1;
        }
    }
    Ok(code)
}

/// Returns `dir` if it is a skill; else the skills in it; else `dir` itself, to report what it lacks.
fn in_folder(dir: &Path) -> Vec<PathBuf> {
    if is_skill(dir) {
        return vec![dir.to_path_buf()];
    }
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut skills: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_skill(path)).collect();
    skills.sort();
    if skills.is_empty() { vec![dir.to_path_buf()] } else { skills }
}
