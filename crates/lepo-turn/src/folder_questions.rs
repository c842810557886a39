//! Which folders are to be asked about before programs of the user's start in them.

use std::path::{Path, PathBuf};

use super::{Configured, server_folders};
use crate::config::{FolderQuestion, FolderTrust, Paths, work_folder};
use lepo_base::error::Result;
use lepo_model::{ModelConfig, PathForm, spec};
use lepo_tool::mcp::{Servers, program_label};

/// Programs of the user's that start in a folder if it is trusted.
pub(super) struct FolderPrograms {
    /// The folder that they work for.
    pub dir: PathBuf,
    /// The programs, as they are named to people.
    pub labels: Vec<String>,
    /// One of them is about to start.
    pub is_needed: bool,
}

/// The program of a model, and the folder that it works in; `None` for a model that is no program of the user's.
pub(super) fn model_programs(
    configured: &Configured,
    model: &ModelConfig,
    store_root: &Path,
) -> Option<FolderPrograms> {
    let (program, arguments) = model.command.split_first()?;
    if spec(model).path != PathForm::Program {
        return None;
    }
    let dir = if spec(model).own_tools { store_root.to_path_buf() } else { configured.cli_dir() };
    Some(FolderPrograms { dir, labels: vec![program_label(program, arguments)], is_needed: true })
}

/// One question a folder that has no answer yet and in which a program is about to start; it names all that would start
/// there.
pub(super) fn joined(
    programs: impl IntoIterator<Item = FolderPrograms>,
    trust: &FolderTrust,
) -> Result<Vec<FolderQuestion>> {
    let programs: Vec<FolderPrograms> =
        programs.into_iter().filter(|programs| !programs.labels.is_empty()).collect();
    if !programs.iter().any(|programs| programs.is_needed) {
        return Ok(Vec::new());
    }
    let mut found: Vec<(FolderQuestion, bool)> = Vec::new();
    for FolderPrograms { dir, labels, is_needed } in programs {
        let folder = work_folder(&dir)?;
        match found.iter_mut().find(|(question, _)| question.folder.identity == folder.identity) {
            Some((question, needed)) => {
                question.programs.extend(labels);
                *needed |= is_needed;
            }
            None => found.push((FolderQuestion { folder, programs: labels, words: Vec::new() }, is_needed)),
        }
    }
    let mut questions = Vec::new();
    for (mut question, is_needed) in found {
        question.programs.sort();
        question.programs.dedup();
        if is_needed && trust.answer(&question.folder)?.is_none() {
            questions.push(question);
        }
    }
    Ok(questions)
}

/// The questions before these models are asked at once, none of which can ask by itself.
pub fn questions_of_models<'m>(
    configured: &Configured,
    models: impl Iterator<Item = &'m ModelConfig>,
    store_root: &Path,
) -> Result<Vec<FolderQuestion>> {
    let programs: Vec<_> = models.filter_map(|model| model_programs(configured, model, store_root)).collect();
    joined(programs, &FolderTrust::new(&configured.paths))
}

/// The question before servers start outside of a turn: those that are asked for their tools, or all.
pub fn question_of_servers(
    servers: &mut Servers,
    all: bool,
    paths: &Paths,
) -> Result<Option<FolderQuestion>> {
    let names = servers.each().iter().filter(|_| all).map(|server| server.config.name.clone());
    let names: Vec<String> = names.collect();
    let is_needed =
        servers.is_trust_needed(None) || names.iter().any(|name| servers.is_trust_needed(Some(name)));
    let labels = servers.programs();
    let programs = FolderPrograms { dir: servers.folders().work_dir.clone(), labels, is_needed };
    Ok(joined([programs], &FolderTrust::new(paths))?.pop())
}

/// Has servers start where the answers that are kept by now let them.
pub fn take_answers(servers: &mut Servers, paths: &Paths) {
    if !servers.is_empty() {
        let folders = server_folders(paths, &servers.folders().work_dir);
        servers.set_folders(folders);
    }
}
