//! Checks, right before a configured program starts, that its files are those that the user agreed to.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lepo_base::error::{Error, Result};
use lepo_model::{CompareFiles, ModelConfig, ModelFolders};
use lepo_process::StartFolder;
use lepo_tool::mcp::ServerFolders;
use lepo_tool::mcp::config::ServerConfig;
use lepo_tool::{NamedProgram, RunningCheck, StartCheck, TouchedFiles};

use super::event::ask_to_start;
use super::program_changes::{ChangedProgram, ProgramRole};
use super::{Interrupt, StartQuestion, View};
use crate::config::{FolderTrust, Paths, ProgramTrust};

/// A program to be started, with its role.
pub(crate) type StartingProgram = (ProgramRole, NamedProgram);

/// How to agree to changed files.
const HINT: &str = "`lepo trust` shows what changed, and asks";

/// Returns the check before the start of a server that works for this folder.
pub(crate) fn start_check(paths: &Paths, dir: &Path) -> StartCheck {
    let (state, dir) = (paths.state.clone(), dir.to_path_buf());
    let running = RunningServers { state: state.clone(), dir: dir.clone() };
    let compare = move |program: &NamedProgram| ProgramTrust::of_start(&state, &dir)?.check(program);
    StartCheck::new(move |program| compare(program).map_err(|what| format!("{what}; {HINT}")), running)
}

/// Checks before each call of a running server.
struct RunningServers {
    state: PathBuf,
    dir: PathBuf,
}

impl RunningCheck for RunningServers {
    fn stamp(&self) -> u64 {
        TouchedFiles::in_state(&self.state).stamp()
    }

    fn compare(&self, program: &NamedProgram) -> std::result::Result<(), String> {
        let trust = ProgramTrust::of_start(&self.state, &self.dir)?;
        trust.check_touched(program).map_err(|what| format!("{what} while it ran; {HINT}"))
    }
}

/// Compares the files before the program of a model starts.
fn compare_files(paths: &Paths, dir: &Path) -> CompareFiles {
    let (state, work_dir) = (paths.state.clone(), dir.to_path_buf());
    Arc::new(move |words, dir| match words.split_first() {
        Some((program, args)) => {
            ProgramTrust::of_start(&state, &work_dir)?.check(&NamedProgram::new(program, args, dir))
        }
        None => Ok(None),
    })
}

/// Returns the folders in which programs of models start, by the trust at that time. A `cli` model works in
/// `cli_dir`.
pub fn model_folders(paths: &Paths, cli_dir: PathBuf) -> ModelFolders {
    let trust = FolderTrust::new(paths);
    ModelFolders {
        find_start: Arc::new(move |dir| trust.start_in(dir)),
        compare_files: compare_files(paths, &cli_dir),
        cli_dir,
        is_trial: false,
    }
}

/// Returns an error if the program that prints the key of a model changed since the user agreed to it. No command
/// starts until the returned lock is closed.
pub(crate) fn check_key_program(paths: &Paths, model: &ModelConfig, dir: &Path) -> Result<Option<OwnedFd>> {
    let Some((ProgramRole::Key(name), program)) = key_program(model) else { return Ok(None) };
    ProgramTrust::of_start(&paths.state, dir).and_then(|trust| trust.check(&program)).map_err(|what| {
        Error::usage(format!("the program that prints the key of model {name} is not started: {what}"))
            .hint(HINT)
    })
}

/// Returns the program that prints the key of a model. It starts in an empty folder, represented by `/`.
pub(crate) fn key_program(model: &ModelConfig) -> Option<StartingProgram> {
    let (program, args) = model.key.command.split_first().filter(|_| model.key.value.is_none())?;
    Some((ProgramRole::Key(model.name.clone()), NamedProgram::new(program, args, Path::new("/"))))
}

/// Returns the program that runs a model outside of every sandbox, if it works for `dir`, by the current trust.
pub(crate) fn model_program(paths: &Paths, model: &ModelConfig, dir: &Path) -> Option<StartingProgram> {
    let start = FolderTrust::new(paths).start_in(dir);
    model_program_in(model, StartFolder::path(&start).unwrap_or(Path::new("/")))
}

/// Returns the program of a model that starts in `dir`.
pub(crate) fn model_program_in(model: &ModelConfig, dir: &Path) -> Option<StartingProgram> {
    let (program, args) = model.command.split_first().filter(|_| model.sandbox.is_none())?;
    Some((ProgramRole::Model(model.name.clone()), NamedProgram::new(program, args, dir)))
}

/// Asks the user about the program that prints the key of a model, if its files changed. This must happen before the
/// turn, which needs the key for its client. Refuses the model unless the user agrees.
pub(crate) async fn ask_about_key(
    model: &ModelConfig,
    (paths, dir): (&Paths, &Path),
    (view, interrupt): (&mut dyn View, &Interrupt),
) -> Result<()> {
    let changed = changed_of(key_program(model), (paths, dir))?;
    if changed.is_empty() {
        return Ok(());
    }
    let question = StartQuestion::about_files(changed);
    match interrupt.or(ask_to_start(view, &question)).await? {
        Some(answer) => question.record_answer(answer, paths, dir),
        None => Ok(()),
    }
}

/// Returns the programs of servers and models that work for a repository and whose files changed.
pub fn changed_programs(
    paths: &Paths,
    (servers, folders): (&[ServerConfig], &ServerFolders),
    (models, model_dirs): (&[ModelConfig], &[PathBuf]),
) -> Result<Vec<ChangedProgram>> {
    let server =
        |server: &ServerConfig| Some((ProgramRole::Server(server.name.clone()), folders.program(server)?));
    let mut programs: Vec<StartingProgram> = servers.iter().filter_map(server).collect();
    for model in models {
        programs.extend(key_program(model));
        programs.extend(model_dirs.iter().filter_map(|dir| model_program(paths, model, dir)));
    }
    changed_of(programs, (paths, &folders.work_dir))
}

/// Returns the programs whose files changed since the user agreed to them in the repository of `dir`, without
/// the changes of earlier programs in the list.
pub(crate) fn changed_of(
    programs: impl IntoIterator<Item = StartingProgram>,
    (paths, dir): (&Paths, &Path),
) -> Result<Vec<ChangedProgram>> {
    let mut programs = programs.into_iter().peekable();
    if programs.peek().is_none() {
        return Ok(Vec::new());
    }
    let Some(trust) = ProgramTrust::of_folder(&paths.state, dir) else { return Ok(Vec::new()) };
    let mut found: Vec<ChangedProgram> = Vec::new();
    for (role, program) in programs {
        // If the changes are unknown, the start reports it.
        let Ok(mut files) = trust.changes(&program) else { continue };
        files.retain(|file| !found.iter().any(|other| other.files.contains(file)));
        if !files.is_empty() {
            found.push(ChangedProgram { role, files });
        }
    }
    Ok(found)
}
