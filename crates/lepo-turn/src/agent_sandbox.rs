//! Agents in lepo's sandbox: `sandbox` and `sandbox_home` of a model with `provider = "acp"`.

use std::collections::HashSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::cleanup::{self, CleanupItem};
use super::{Notice, TurnEvent, View};
use crate::config::{Paths, ProgramTrust, Settings};
use lepo_base::env::expand_home;
use lepo_base::error::{Error, Result};
use lepo_model::{AgentAccess, AgentCommand, AgentSandboxer, SandboxedAgent};
use lepo_process::ConfiguredProgram;
use lepo_tool::{
    Access, CleanupReport, NamedProgram, Policy, SandboxDetector, SandboxHold, TouchedFiles, covers_home,
    sandboxed_program,
};

/// Data about sandboxed agents, shared by all turns of a process.
#[derive(Clone, Default)]
pub struct AgentSandboxes {
    /// The store, once it exists: a sandboxed agent never changes it.
    store: Arc<Mutex<Option<PathBuf>>>,
    /// Programs that run outside of every sandbox: a sandboxed agent never changes the files that they name.
    programs: Arc<Mutex<Arc<[NamedProgram]>>>,
    sandbox: SandboxDetector,
    /// Models whose lack of a network was already reported.
    noted_models: Arc<Mutex<HashSet<String>>>,
    /// Leftovers of agents, not reported yet.
    leftovers: Arc<Mutex<Vec<CleanupItem>>>,
}

impl AgentSandboxes {
    /// Sets the store, and the programs whose files agents must not change, for this value and all its clones.
    pub(crate) fn protect(&self, store: PathBuf, programs: Arc<[NamedProgram]>) {
        *locked(&self.store) = Some(store);
        *locked(&self.programs) = programs;
    }

    /// Reports the files that agents left, each once.
    pub(crate) fn report_leftovers(&self, view: &mut dyn View) {
        for item in std::mem::take(&mut *locked(&self.leftovers)) {
            view.on_event(TurnEvent::Notice(&Notice::Cleanup(item)));
        }
    }
}

/// Starts agents in lepo's sandbox.
pub struct ProcessSandboxer {
    shared: AgentSandboxes,
    own_paths: Vec<PathBuf>,
    state: PathBuf,
    read_only: Vec<PathBuf>,
    home: Option<PathBuf>,
    patience: Duration,
}

impl ProcessSandboxer {
    /// `own_paths` are lepo's own directories.
    pub fn new(
        shared: AgentSandboxes,
        settings: &Settings,
        paths: &Paths,
        own_paths: Vec<PathBuf>,
    ) -> ProcessSandboxer {
        ProcessSandboxer {
            shared,
            own_paths,
            state: paths.state.clone(),
            read_only: settings.sandbox_read_only.clone(),
            home: paths.home.clone(),
            patience: settings.command_timeout,
        }
    }

    /// Returns the folders in `sandbox_home`, with links resolved.
    fn folders(&self, agent: AgentCommand<'_>) -> Result<Vec<PathBuf>> {
        agent.sandbox.home.iter().map(|path| self.folder(agent.model, path)).collect()
    }

    fn folder(&self, model: &str, path: &Path) -> Result<PathBuf> {
        let wrong =
            |what: &str| Error::usage(format!("{} in `sandbox_home` of {model} {what}", path.display()));
        let folder = expand_home(path.to_path_buf(), self.home.as_deref())
            .canonicalize()
            .ok()
            .filter(|folder| folder.is_dir())
            .ok_or_else(|| wrong("is not a folder").hint(format!("mkdir -p {}", path.display())))?;
        if covers_home(&folder) {
            return Err(wrong("is the whole home directory").hint("name the agent's own folder in it"));
        }
        let own_path = self.own_paths.iter().filter_map(|own_path| own_path.canonicalize().ok());
        match own_path.into_iter().any(|own_path| folder.starts_with(own_path)) {
            true => Err(wrong("belongs to lepo")),
            false => Ok(folder),
        }
    }

    async fn sandboxed_agent(&self, agent: AgentCommand<'_>) -> Result<SandboxedAgent> {
        let access = match agent.sandbox.access {
            AgentAccess::Read => Access::Read,
            AgentAccess::Write => Access::Write,
            AgentAccess::Net => Access::Net,
        };
        let writable = self.folders(agent)?;
        let store = locked(&self.shared.store).clone().unwrap_or_else(|| agent.dir.join(".lepo"));
        let programs = locked(&self.shared.programs).clone();
        if access != Access::Read
            && let Some(trust) = ProgramTrust::of_folder(&self.state, agent.dir)
        {
            trust.note_first_sight(&programs)?;
        }
        let policy = Policy {
            dir: agent.dir,
            start: agent.dir,
            store: &store,
            own_paths: &self.own_paths,
            read_only: &self.read_only,
            writable: &writable,
            programs: &programs,
            touched: &TouchedFiles::in_state(&self.state),
        };
        let sandbox = self.shared.sandbox.get(agent.dir).await;
        let program = agent.command.first().map(String::as_str).unwrap_or_default();
        let arguments = agent.command.iter().skip(1);
        let program = ConfiguredProgram::new(program.as_ref(), agent.dir, agent.start).args(arguments);
        let sandboxed = sandboxed_program(sandbox, program, access, policy, self.patience).await;
        let (program, sandboxed) = sandboxed.map_err(|error| {
            let access_name = access.as_str();
            Error::usage(format!(
                "{} is not started: nothing here can enforce its sandbox \
                `{access_name}`",
                agent.model
            ))
            .because(error)
            .hint(
                "`lepo --version --verbose` names the sandboxes of this machine; `sandbox` of the model sets its \
                access",
            )
        })?;
        let net = if access == Access::Net { "" } else { ", without a network" };
        let homes: Vec<String> = agent.sandbox.home.iter().map(|path| path.display().to_string()).collect();
        let homes = match homes.as_slice() {
            [] => String::new(),
            paths => format!("; it may also write in {}", paths.join(", ")),
        };
        let sandbox_name = sandbox.name();
        let is_new =
            access != Access::Net && locked(&self.shared.noted_models).insert(agent.model.to_string());
        let note =
            || lepo_model::ModelNotice::Sandboxed(agent.model.to_string(), access.as_str(), sandbox_name);
        Ok(SandboxedAgent {
            program,
            description: format!("sandboxed by {sandbox_name} with access `{}`{net}{homes}", access.as_str()),
            note: is_new.then(note),
            rest: Box::new(LeftoverGuard {
                report: sandboxed.report(),
                hold: Some(sandboxed),
                model: agent.model.to_string(),
                leftovers: Arc::clone(&self.shared.leftovers),
            }),
        })
    }
}

impl AgentSandboxer for ProcessSandboxer {
    fn sandbox_agent<'h>(
        &'h self,
        agent: AgentCommand<'h>,
    ) -> Pin<Box<dyn Future<Output = Result<SandboxedAgent>> + 'h>> {
        Box::pin(self.sandboxed_agent(agent))
    }
}

/// Guard of a running agent. When dropped, records the files that the agent left.
struct LeftoverGuard {
    hold: Option<SandboxHold>,
    report: Arc<Mutex<CleanupReport>>,
    model: String,
    leftovers: Arc<Mutex<Vec<CleanupItem>>>,
}

impl Drop for LeftoverGuard {
    fn drop(&mut self) {
        // Fills the report.
        drop(self.hold.take());
        let found = std::mem::take(&mut *locked(&self.report));
        locked(&self.leftovers).extend(cleanup::items(&self.model, &found));
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
