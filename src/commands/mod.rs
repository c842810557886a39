//! One file a subcommand: its arguments, its help, `run`. A command reads top to bottom: resolve, do, print.

pub mod add;
pub mod branch;
pub mod browse;
mod code_blocks;
mod complete;
pub mod completions;
pub mod config;
pub mod diff;
pub mod r#do;
pub mod edit;
pub mod export;
mod finder;
pub mod fsck;
pub mod grep;
pub mod import;
pub mod init;
mod json;
mod line;
pub mod log;
pub mod ls;
pub mod mcp;
pub mod model;
mod open;
mod output_file;
mod program_files;
pub mod prompt;
pub mod rebase;
mod repo_files;
pub mod resolve;
pub mod rm;
pub mod root;
mod searched;
mod shell_quote;
mod shells;
pub mod show;
pub mod stats;
mod stores;
pub(crate) mod suggest;
mod sweep;
pub mod sync;
pub mod tidy;
mod tidy_after;
pub mod title;
pub mod trust;
pub mod watch;
mod words;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::term::{Color, Line, Out, Paint, say};
use lepo_base::env::{self, Env};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{At, Hint};
use lepo_base::work_tree::WorkTree;
use lepo_store::store::{Made, STORE, Store, Unkept};
use lepo_turn::config::{Insts, Paths};
use lepo_turn::{WorktreeRecord, ignored_insts, note_made, untrusted_insts, user_prover};

/// The working directory, the store and the output of a command.
pub struct Context<'o> {
    cwd: PathBuf,
    save_to: Option<PathBuf>,
    /// The command writes nothing into the store, which may then be anywhere.
    reads_only: bool,
    /// The store that is deleted at the end.
    unkept: RefCell<Option<Unkept>>,
    /// The front at which its hints are read.
    pub at: At<'o>,
    /// stdout.
    pub out: &'o mut Out,
    /// For stdout.
    pub paint: Paint,
}

impl<'o> Context<'o> {
    /// Changes to `cd` first, so that all that follows is as if started there.
    pub fn new(
        cd: Option<PathBuf>,
        save_to: Option<PathBuf>,
        color: Color,
        out: &'o mut Out,
    ) -> Result<Self> {
        if let Some(path) = cd {
            std::env::set_current_dir(&path)
                .map_err(|e| Error::usage(format!("cannot change to {}", path.display())).because(e))?;
        }
        let cwd = std::env::current_dir()
            .map_err(|e| Error::store("the working directory does not exist or cannot be read").because(e))?;
        let paint = Paint::new(color, out.is_terminal(), env::var);
        Ok(Context { cwd, save_to, reads_only: false, unkept: RefCell::default(), at: At::SHELL, out, paint })
    }

    /// The context of the same command in another directory.
    pub fn elsewhere(cwd: PathBuf, save_to: Option<PathBuf>, color: Color, out: &'o mut Out) -> Self {
        let paint = Paint::new(color, false, env::var);
        Context { cwd, save_to, reads_only: false, unkept: RefCell::default(), at: At::SHELL, out, paint }
    }

    /// The context of a command that only reads: `--store` may name a store anywhere.
    pub fn for_reading(self, reads_only: bool) -> Self {
        Context { reads_only, ..self }
    }

    /// The context of a command line whose hints are read there.
    pub fn read_at(self, at: At<'o>) -> Self {
        Context { at, ..self }
    }

    /// Says a line with a hint in it, as a command in it is typed on this command line.
    pub fn say_hint(&self, line: impl Into<Hint>) {
        say(&line.into().told(self.at));
    }

    /// The store that `--save-to` names.
    pub fn save_to(&self) -> Option<&Path> {
        self.save_to.as_deref()
    }

    /// The working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// True if the user stands in the home directory.
    pub fn is_at_home(&self) -> bool {
        let home = env::var("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
        home.is_some() && home == self.cwd.canonicalize().ok()
    }

    /// The store, if there is one: what `--save-to` names, else `.lepo` here or in a parent.
    pub fn find_store(&self) -> Result<Option<Store>> {
        match &self.save_to {
            Some(path) if path.is_absolute() && self.reads_only => Store::anywhere(path),
            Some(rel) => Ok(Store::at(&self.cwd, rel)?.map(proving)),
            None => find_from(&self.cwd),
        }
    }

    /// The working directory of turns in a store that is not there yet: the root of a git work tree, else here.
    pub fn new_root(&self) -> PathBuf {
        let in_tree = work_tree(&self.cwd).filter(|_| self.save_to.is_none());
        in_tree.map_or_else(|| self.cwd.clone(), |tree| tree.root)
    }

    /// The main git work tree that the one of the working directory is linked to.
    pub fn main_work_tree(&self) -> Option<PathBuf> {
        work_tree(&self.cwd)?.main()
    }

    /// The store; none is an error.
    pub fn store(&self) -> Result<Store> {
        let store = self.find_store()?;
        store.iter().filter(|_| !self.reads_only).for_each(remember);
        store.iter().for_each(tell_linked);
        store.ok_or_else(|| match &self.save_to {
            Some(path) if path.is_absolute() => Error::nothing(format!("no store {}", path.display()))
                .hint("-s takes the directory that holds the messages, like PROJECT/.lepo"),
            Some(rel) => Error::nothing(format!("no store {} here", rel.display()))
                .hint("`lepo init` makes it; so does a first question: `lepo do QUESTION`"),
            None => Error::nothing(format!("no {STORE} here or in a parent directory"))
                .hint("`lepo init` makes one; so does a first question: `lepo do QUESTION`"),
        })
    }

    /// The store; without one, it is made, which is said unless `quiet`.
    pub fn store_or_make(&self, quiet: bool) -> Result<Store> {
        let Some(store) = self.find_store()? else { return self.make_in_tree(quiet) };
        remember(&store);
        if !quiet {
            tell_linked(&store);
        }
        match store.furniture().is_unfinished()? {
            true => drop(store.furniture().complete(Insts::default_file_text())?),
            false => self.keep_line_ends(&store),
        }
        Ok(store)
    }

    fn make_in_tree(&self, quiet: bool) -> Result<Store> {
        if self.save_to.is_some() {
            return Ok(self.make_store()?.0);
        }
        // That of a linked work tree is made where the removal of the tree does not delete it.
        let root = self.main_work_tree().unwrap_or_else(|| self.new_root());
        let made = noted(Store::make(&root, STORE.as_ref(), Insts::default_file_text())?).0;
        if !quiet {
            say(&format!("made {STORE} in {}", root.display()));
        }
        // From here, its path may lead up.
        let store = self.find_store()?.unwrap_or(made);
        remember(&store);
        Ok(store)
    }

    /// A store in the state directory that is deleted at the end, for the working directory and with the instructions of
    /// the store that there is.
    pub fn unkept_store(&self) -> Result<Store> {
        let paths = Paths::from_env(&Env::from_process())?;
        let found = self.find_store()?;
        let root = found.as_ref().map_or_else(|| self.new_root(), |store| store.root().to_path_buf());
        // Instructions that need trust do not come along.
        let counts = |store: &&Store| match untrusted_insts(store, &paths) {
            Ok(None) => true,
            Ok(Some(_)) | Err(_) => {
                say(&Line::warning(ignored_insts(store)));
                false
            }
        };
        let insts =
            found.as_ref().filter(counts).map(|store| store.furniture().insts()).transpose()?.flatten();
        let insts = insts.and_then(|bytes| String::from_utf8(bytes).ok());
        let insts = insts.as_deref().unwrap_or_else(|| Insts::default_file_text());
        let (store, unkept) = Store::unkept(&paths.unkept(), &root, insts)?;
        self.unkept.replace(Some(unkept));
        Ok(proving(store))
    }

    /// Tells git to change no line ends in a store that was made before lepo did. A store that cannot be written is
    /// left as it is: what needs to write says so.
    pub fn keep_line_ends(&self, store: &Store) {
        self.list_own_files(store);
        if store.furniture().complete_attributes().unwrap_or_default() {
            let shown = store.shown().display();
            say(&Line::note(format!(
                "added `* -text` to {shown}/.gitattributes: git changes no line ends there"
            )));
        }
    }

    /// Lists lepo's own files in the `.gitignore` of a store that was made before lepo did, once: a journal that git tracks
    /// changes after every answer, and then blocks checkouts.
    fn list_own_files(&self, store: &Store) {
        if store.furniture().complete_ignores().unwrap_or_default() {
            let shown = store.shown().display();
            say(&Line::note(format!(
                "added the journal and other files of lepo's own to {shown}/.gitignore, as they would block git"
            )));
        }
    }

    /// Makes the store here, or what is missing of it.
    pub fn make_store(&self) -> Result<(Store, Made)> {
        let rel = self.save_to.as_deref().unwrap_or(Path::new(STORE));
        Ok(noted(Store::make(&self.cwd, rel, Insts::default_file_text())?))
    }
}

/// The store in a directory or in a parent: not above the home directory, nor above the root of a git work tree. One that
/// is linked to a main work tree and has none uses that one's.
pub fn find_from(cwd: &Path) -> Result<Option<Store>> {
    let home = env::var("HOME").map(PathBuf::from);
    let tree = work_tree(cwd);
    let found = Store::find(cwd, home.as_deref(), tree.as_ref().map(|tree| tree.root.as_path()))?;
    let found = match tree.filter(|_| found.is_none()).and_then(|tree| Some((tree.main()?, tree.root))) {
        Some((main, linked)) => Store::of_main(&cwd.canonicalize().unwrap_or(cwd.into()), &linked, &main),
        None => Ok(found),
    };
    Ok(found?.map(proving))
}

/// A store that was made, if it was, as this user's.
fn noted((store, made): (Store, Made)) -> (Store, Made) {
    if let (Made::New, Ok(paths)) = (made, Paths::from_env(&Env::from_process())) {
        note_made(&store, &paths);
    }
    (proving(store), made)
}

/// The store, whose proofs are made with the user's key.
fn proving(store: Store) -> Store {
    match Paths::from_env(&Env::from_process()) {
        Ok(paths) => store.with_prover(user_prover(&paths)),
        Err(_) => store,
    }
}

/// The git work tree that a directory is in; none where git would not take it.
fn work_tree(dir: &Path) -> Option<WorkTree> {
    WorkTree::of(dir).filter(|tree| tree.is_taken)
}

/// Says once that a linked work tree uses the store of its main one.
fn tell_linked(store: &Store) {
    let Ok(paths) = Paths::from_env(&Env::from_process()) else { return };
    let Some(record) = WorktreeRecord::find(&paths, store).filter(WorktreeRecord::is_new) else { return };
    let project = stores::Stores::at(&paths).project(&store.path());
    say(&Line::note(format!("uses {STORE} of {project}, the main work tree")));
    record.record(None);
}

/// Puts a store that is written to on the list of `--everywhere`.
fn remember(store: &Store) {
    if let Ok(stores) = stores::Stores::of_user() {
        stores.remember(store);
    }
}
