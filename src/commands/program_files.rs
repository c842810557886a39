//! Trust in the files that configured programs start from: lists changes and records consent.

use std::path::{Path, PathBuf};

use super::Context;
use super::repo_files::{REPO_FILES, trusted};
use crate::term::{columns, quote};
use crate::ui::changed_text;
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_store::store::Store;
use lepo_tool::mcp::config::{EntryOrigin, ServerConfig, ServerVariables, all_servers};
use lepo_turn::config::{Flags, Paths, ProgramTrust, RepoFile, Settings, load_settings};
use lepo_turn::{ChangedProgram, ProgramRole, TrustedFile, changed_programs, programs_of, server_folders};

/// The configured programs that start for a folder, and the user's trust in their files.
pub struct ProgramFileTrust<'p> {
    paths: &'p Paths,
    env: &'p Env,
    /// The folder that servers and agents work for.
    root: PathBuf,
}

impl<'p> ProgramFileTrust<'p> {
    /// Uses the folder of the store, or the folder that a new store would be created in.
    pub fn new(
        paths: &'p Paths,
        env: &'p Env,
        store: Option<&Store>,
        context: &Context<'_>,
    ) -> ProgramFileTrust<'p> {
        let root = store.map_or_else(|| context.new_root(), |store| store.root().to_path_buf());
        ProgramFileTrust { paths, env, root }
    }

    /// Returns the programs of servers and models whose files changed since the user trusted them.
    pub fn changed(&self, store: Option<&Store>, context: &Context<'_>) -> Result<Vec<ChangedProgram>> {
        let (servers, settings) = self.configured(store)?;
        let folders = server_folders(self.paths, &self.root);
        let dirs = [self.root.clone(), context.cwd().to_path_buf()];
        changed_programs(self.paths, (&servers, &folders), (&settings.models, &dirs))
    }

    /// Returns the servers of the user and the trusted ones of the repository, and the settings.
    fn configured(&self, store: Option<&Store>) -> Result<(Vec<ServerConfig>, Settings)> {
        let repo = store.map(|store| trusted(store, self.paths, REPO_FILES[1], true)).transpose()?.flatten();
        Ok((self.servers(repo)?, load_settings(self.paths, self.env, None, &Flags::default())?))
    }

    /// Records the current files of all programs that were never seen.
    pub fn note_first_sight(&self, store: Option<&Store>, context: &Context<'_>) -> Result<()> {
        let Some(trust) = ProgramTrust::of_folder(&self.paths.state, &self.root) else { return Ok(()) };
        let (servers, settings) = self.configured(store)?;
        let dirs = [self.root.clone(), context.cwd().to_path_buf()];
        let dirs: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
        trust.note_first_sight(&programs_of(&settings.models, servers.iter(), &dirs))
    }

    /// Returns the servers in a repository's file that may run what a sandboxed command changed.
    pub fn touched_servers(&self, file: &RepoFile) -> Result<Vec<ChangedProgram>> {
        let folders = server_folders(self.paths, &self.root);
        let Some(trust) = ProgramTrust::of_folder(&self.paths.state, &self.root) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for server in self.servers_of(file)? {
            let Some(program) = folders.program(&server) else { continue };
            let files = trust.touched_by_commands(&program)?;
            if !files.is_empty() {
                found.push(ChangedProgram { role: ProgramRole::Server(server.name.clone()), files });
            }
        }
        Ok(found)
    }

    /// Returns the files that the servers in a repository's file start from, for display: sorted, without duplicates.
    pub fn named_files(&self, file: &RepoFile) -> Result<Vec<String>> {
        let folders = server_folders(self.paths, &self.root);
        let Some(trust) = ProgramTrust::of_folder(&self.paths.state, &self.root) else {
            return Ok(Vec::new());
        };
        let programs = self.servers_of(file)?.into_iter().filter_map(|server| folders.program(&server));
        let files = programs.flat_map(|program| program.read_only(trust.root()));
        let mut names: Vec<String> = files
            .map(|path| path.strip_prefix(trust.root()).unwrap_or(&path).display().to_string())
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Records consent to the current files of the servers in this file.
    pub fn record_server_consent(&self, file: &RepoFile) -> Result<()> {
        let folders = server_folders(self.paths, &self.root);
        let Some(trust) = ProgramTrust::of_folder(&self.paths.state, &self.root) else { return Ok(()) };
        for program in self.servers_of(file)?.iter().filter_map(|server| folders.program(server)) {
            trust.agree_to_others(&program)?;
        }
        Ok(())
    }

    /// Records consent to these files, as displayed.
    pub fn record_consent(&self, changed: &[ChangedProgram]) -> Result<()> {
        let Some(trust) = ProgramTrust::of_folder(&self.paths.state, &self.root) else { return Ok(()) };
        changed.iter().try_for_each(|program| trust.record_consent(&program.files))
    }

    /// Returns the servers that a repository's file defines; empty if the file is not for servers.
    fn servers_of(&self, file: &RepoFile) -> Result<Vec<ServerConfig>> {
        if !file.path.ends_with(REPO_FILES[1]) {
            return Ok(Vec::new());
        }
        let mut servers = self.servers(Some((file.path.clone(), file.bytes.clone())))?;
        servers.retain(|server| server.details.origin == EntryOrigin::Repository);
        Ok(servers)
    }

    /// Returns the servers of the user, and those in the repository's file.
    fn servers(&self, repo: Option<TrustedFile>) -> Result<Vec<ServerConfig>> {
        let settings = load_settings(self.paths, self.env, None, &Flags::default())?;
        let keys = settings.keys();
        let variables = ServerVariables { env: self.env, own_names: settings.key_variables(), keys: &keys };
        all_servers(&self.paths.mcp_file(), repo, Some(&variables))
    }
}

/// Prints programs with their changed files.
pub fn print_changed(changed: &[ChangedProgram], context: &mut Context<'_>) {
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    for program in changed {
        context.out.trusted(&changed_text(program, columns));
        context.out.trusted("\n");
    }
}

/// Prints the files that a repository's servers start from.
pub fn print_named(names: &[String], context: &mut Context<'_>) {
    let columns = if context.out.is_terminal() { columns() } else { usize::MAX };
    if !names.is_empty() {
        context.out.trusted(&quote("  started from ", &names.join(", "), columns));
    }
}
