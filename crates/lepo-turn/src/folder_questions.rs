//! Determines about which folders to ask before the user's programs start in them.

use std::path::{Path, PathBuf};

use super::program_start::{StartingProgram, changed_of, key_program, model_program, model_program_in};
use super::{Configuration, ProgramRole, StartQuestion, server_folders};
use crate::config::{FolderQuestion, FolderTrust, Paths, work_folder};
use lepo_base::error::Result;
use lepo_base::search_path::may_exist;
use lepo_model::{ConversationFormat, ModelConfig, spec};
use lepo_tool::mcp::config::{ServerConfig, ServerTarget};
use lepo_tool::mcp::{Servers, program_label, programs_to_start};

/// Programs of the user that start in a folder if it is trusted.
pub(super) struct FolderPrograms {
    /// The folder for which they run.
    pub dir: PathBuf,
    /// The programs, in displayed form.
    pub labels: Vec<String>,
    /// Whether any of them is about to start.
    pub is_needed: bool,
}

/// Returns the program of a model, and its working folder; `None` for a model without a program of the user, or whose
/// program is missing.
pub(super) fn model_programs(
    configured: &Configuration,
    model: &ModelConfig,
    store_root: &Path,
) -> Option<FolderPrograms> {
    let (program, arguments) = model.command.split_first()?;
    if spec(model).path != ConversationFormat::Program || !may_exist(program) {
        return None;
    }
    let dir = if spec(model).own_tools { store_root.to_path_buf() } else { configured.cli_dir() };
    Some(FolderPrograms { dir, labels: vec![program_label(program, arguments)], is_needed: true })
}

/// Returns a question for each folder without an answer in which a program is about to start; it lists all
/// programs that would start there.
pub(super) fn questions_per_folder(
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
            None => found.push((FolderQuestion { folder, programs: labels }, is_needed)),
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

/// Returns the question to ask before these models run concurrently, when they cannot ask on their own.
pub(super) fn questions_of_models<'m>(
    configured: &Configuration,
    models: impl Iterator<Item = &'m ModelConfig>,
    store_root: &Path,
) -> Result<StartQuestion> {
    let (paths, mut programs, mut starting) = (&configured.paths, Vec::new(), Vec::new());
    let models: Vec<&ModelConfig> = models.collect();
    programs.extend(models.iter().filter_map(|model| model_programs(configured, model, store_root)));
    let folders = questions_per_folder(programs, &FolderTrust::new(paths))?;
    for model in models {
        starting.extend(key_program(model));
        let dir = if spec(model).own_tools { store_root.to_path_buf() } else { configured.cli_dir() };
        starting.extend(model_once_trusted(paths, model, &dir, &folders));
    }
    let changed = changed_of(starting, (paths, store_root))?;
    Ok(StartQuestion { folders, ..StartQuestion::about_files(changed) })
}

/// Returns the program of a model that runs for `dir`, as it would start after a yes to these questions.
pub(super) fn model_once_trusted(
    paths: &Paths,
    model: &ModelConfig,
    dir: &Path,
    asked: &[FolderQuestion],
) -> Option<StartingProgram> {
    match is_asked_about(asked, dir) {
        true => model_program_in(model, dir),
        false => model_program(paths, model, dir),
    }
}

/// Whether any of these questions is about the folder of `dir`.
pub(super) fn is_asked_about(asked: &[FolderQuestion], dir: &Path) -> bool {
    !asked.is_empty()
        && work_folder(dir)
            .is_ok_and(|folder| asked.iter().any(|question| question.folder.identity == folder.identity))
}

/// Returns the question about the folder in which the program of a new server would start.
pub fn question_of_server(
    config: &ServerConfig,
    dir: &Path,
    paths: &Paths,
) -> Result<Option<FolderQuestion>> {
    let ServerTarget::Program { command, args, .. } = &config.target else { return Ok(None) };
    if !server_folders(paths, dir).depends_on_trust(config) {
        return Ok(None);
    }
    let labels = vec![program_label(command, args)];
    let programs = FolderPrograms { dir: dir.to_path_buf(), labels, is_needed: true };
    Ok(questions_per_folder([programs], &FolderTrust::new(paths))?.pop())
}

/// Returns the question to ask before all servers start outside of a turn.
pub fn question_of_servers(servers: &mut Servers, paths: &Paths) -> Result<StartQuestion> {
    let names: Vec<String> = servers.each().iter().map(|server| server.config.name.clone()).collect();
    let is_needed =
        servers.is_trust_needed(None) || names.iter().any(|name| servers.is_trust_needed(Some(name)));
    let (labels, dir) = (servers.programs(), servers.folders().work_dir.clone());
    let programs = FolderPrograms { dir: dir.clone(), labels, is_needed };
    let folders = questions_per_folder([programs], &FolderTrust::new(paths))?;
    let in_folders = match folders.is_empty() {
        true => servers.folders().clone(),
        false => servers.folders().once_trusted(),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let starting = programs_to_start(servers, Some(&names), &in_folders);
    let starting = starting.into_iter().map(|(name, program)| (ProgramRole::Server(name), program));
    let changed = changed_of(starting, (paths, &dir))?;
    Ok(StartQuestion { folders, ..StartQuestion::about_files(changed) })
}

/// Allows servers to start in their folders according to the recorded answers.
pub fn take_answers(servers: &mut Servers, paths: &Paths) {
    if !servers.is_empty() {
        let folders = server_folders(paths, &servers.folders().work_dir);
        servers.set_folders(folders);
    }
}
