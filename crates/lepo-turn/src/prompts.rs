//! Prompts by name: the store's, which are inactive until the user trusts them, and the user's own.

use std::path::{Path, PathBuf};

use crate::config::{Paths, PromptTemplate, RepoFile, Trust, check_prompt_name, prompt_names};
use lepo_base::error::{Error, Result};
use lepo_store::store::Store;

/// The folder of prompts in a store.
const FOLDER: &str = "_prompts";

/// The sources of prompts.
pub struct PromptLibrary<'p> {
    /// The store, if there is one.
    pub store: Option<&'p Store>,
    /// The user's files.
    pub paths: &'p Paths,
}

/// A prompt in a list.
#[derive(Debug, Clone)]
pub struct ListedPrompt {
    /// Name of the prompt.
    pub name: String,
    /// File of the prompt.
    pub path: PathBuf,
    /// Whether the prompt is the store's, and not the user's own.
    pub of_store: bool,
    /// Whether the prompt is active: the user's own always, a store's prompts if they are trusted.
    pub counts: bool,
    /// The text; `None` if it cannot be read.
    pub prompt: Option<PromptTemplate>,
}

/// Returns a file of the store that needs trust, in its current state; `None` if it does not exist.
pub fn repo_file(store: &Store, name: &str) -> Result<Option<RepoFile>> {
    let Some(bytes) = store.read_settings_file(name)? else { return Ok(None) };
    Ok(Some(RepoFile { path: store_dir(store)?.join(name), bytes }))
}

fn store_dir(store: &Store) -> Result<PathBuf> {
    store.path().canonicalize().map_err(|error| {
        Error::store(format!("cannot find the real path of {}", store.display_path().display()))
            .because(error)
    })
}

/// Returns the paths of a store's prompts, relative to the store.
pub fn repo_prompts(store: &Store) -> Vec<String> {
    prompt_names(&store.path().join(FOLDER)).into_iter().map(|name| in_store(&name)).collect()
}

fn in_store(name: &str) -> String {
    format!("{FOLDER}/{name}.md")
}

/// Returns the error for an unknown prompt.
pub fn no_such_prompt(name: &str) -> Error {
    Error::usage(format!("no prompt {name}"))
        .hint("`lepo prompt ls` lists them, `lepo prompt edit NAME` makes one")
}

impl PromptLibrary<'_> {
    /// Returns the prompt of this name, if it exists. Exit 2 if only the store has it, and it is not trusted.
    pub fn find(&self, name: &str) -> Result<Option<PromptTemplate>> {
        self.counting(name)?.map(|(path, bytes)| PromptTemplate::parse(&path, &bytes)).transpose()
    }

    /// Returns the file and the bytes of the active prompt. Exit 2 if only the store has it, and it is not
    /// trusted.
    pub fn counting(&self, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>> {
        check_prompt_name(name)?;
        let of_store = self.of_store(name)?;
        if let Some((file, true)) = of_store {
            return Ok(Some((file.path, file.bytes)));
        }
        match (self.of_user(name)?, of_store) {
            (None, Some((file, _))) => {
                Err(Error::usage(format!("prompt {} is not trusted", file.path.display()))
                    .hint("`lepo trust` shows it, and trusts it on a yes"))
            }
            (own, _) => Ok(own),
        }
    }

    /// Lists all prompts, the store's first.
    pub fn list(&self) -> Result<Vec<ListedPrompt>> {
        let mut listed = Vec::new();
        for name in self.store.map(|store| prompt_names(&store.path().join(FOLDER))).unwrap_or_default() {
            if let Some((file, counts)) = self.of_store(&name)? {
                let prompt = PromptTemplate::parse(&file.path, &file.bytes).ok();
                listed.push(ListedPrompt { name, path: file.path, of_store: true, counts, prompt });
            }
        }
        for name in prompt_names(&self.paths.prompts()) {
            if let Some((path, bytes)) = self.of_user(&name)? {
                let prompt = PromptTemplate::parse(&path, &bytes).ok();
                listed.push(ListedPrompt { name, path, of_store: false, counts: true, prompt });
            }
        }
        Ok(listed)
    }

    /// Returns the file and the bytes of a prompt to edit: the active one, or else an inactive one, or else
    /// the file that the user's prompt would have.
    pub fn raw(&self, name: &str) -> Result<(PathBuf, Option<Vec<u8>>)> {
        check_prompt_name(name)?;
        Ok(match (self.of_store(name)?, self.of_user(name)?) {
            (Some((file, true)), _) | (Some((file, false)), None) => (file.path, Some(file.bytes)),
            (_, Some((path, bytes))) => (path, Some(bytes)),
            (None, None) => (self.user_path(name), None),
        })
    }

    /// Returns the file of a store's prompt, which may not exist.
    pub fn store_path(&self, name: &str) -> Result<PathBuf> {
        check_prompt_name(name)?;
        let store = self
            .store
            .ok_or_else(|| Error::nothing("there is no store here").hint("`lepo init` makes one"))?;
        let folder = store_dir(store)?.join(FOLDER);
        match folder.symlink_metadata() {
            Ok(there) if !there.is_dir() => {
                Err(Error::usage(format!("{} is not a directory", folder.display())))
            }
            _ => Ok(folder.join(format!("{name}.md"))),
        }
    }

    /// Returns the prompt of the store, and whether it is trusted.
    fn of_store(&self, name: &str) -> Result<Option<(RepoFile, bool)>> {
        let Some(store) = self.store else { return Ok(None) };
        let Some(file) = repo_file(store, &in_store(name))? else { return Ok(None) };
        let counts = Trust::new(self.paths).covers(&file)?;
        Ok(Some((file, counts)))
    }

    /// Returns the file of a user's prompt, which may not exist.
    pub fn user_path(&self, name: &str) -> PathBuf {
        self.paths.prompts().join(format!("{name}.md"))
    }

    fn of_user(&self, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>> {
        let path = self.user_path(name);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some((path, bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&path, error)),
        }
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::usage(format!("cannot read {}", path.display())).because(error)
}
