//! Subcommands, one per file or folder: arguments, help, `run`. A command reads top to bottom: resolve, do,
//! print.

pub mod add;
mod address_args;
pub mod branch;
pub mod browse;
mod changes;
mod code_blocks;
mod complete;
pub mod completions;
pub mod config;
pub mod diff;
pub mod r#do;
pub mod edit;
pub mod export;
pub mod fsck;
pub mod grep;
pub mod import;
pub mod init;
pub(crate) mod json_messages;
pub mod log;
pub mod ls;
pub mod mcp;
pub mod model;
mod open;
mod output_file;
mod own_newest;
mod program_files;
pub mod prompt;
pub mod rebase;
mod repo_files;
pub mod resolve;
pub mod rm;
pub mod root;
mod searched_files;
mod secret_finder;
pub mod show;
pub mod stats;
mod stores;
pub(crate) mod suggest;
mod summary_line;
pub mod sync;
mod text_source;
pub mod tidy;
mod tidy_after;
pub mod title;
pub mod trust;
pub mod undo;
mod user_env;
pub mod watch;

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::commands::user_env::{UserEnv, own_paths};
use crate::term::{Color, Out, Paint, StatusLine, print_status};
use crate::ui::pager_choice;
use lepo_base::env;
use lepo_base::error::{Error, Result, quoted};
use lepo_base::hint::{Hint, HintTarget};
use lepo_base::worktree::Worktree;
use lepo_store::store::{InitOutcome, STORE, ScratchStore, Store};
use lepo_turn::config::Insts;
use lepo_turn::{INSTS_FILE, WorktreeRecord, ignored_insts, note_made, untrusted_insts, user_prover};

pub struct Context<'o> {
    cwd: PathBuf,
    save_to: Option<PathBuf>,
    /// The command does not write to the store, which may then be anywhere.
    reads_only: bool,
    /// A store to delete when the command ends.
    scratch: RefCell<Option<ScratchStore>>,
    user_env: OnceCell<Rc<UserEnv>>,
    /// Where the user reads the hints, which decides how commands in them are written.
    pub at: HintTarget<'o>,
    pub out: &'o mut Out,
    /// For stdout.
    pub paint: Paint,
    /// For stderr and headings.
    pub forced_paint: Paint,
}

impl<'o> Context<'o> {
    /// Changes to `cd` first, so that the command runs as if started there.
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
        let is_terminal = out.is_terminal();
        Ok(Context::in_dir(cwd, save_to, (color, is_terminal), out))
    }

    /// Another command in `cwd`, whose output is text.
    pub fn elsewhere(cwd: PathBuf, save_to: Option<PathBuf>, color: Color, out: &'o mut Out) -> Self {
        Context::in_dir(cwd, save_to, (color, false), out)
    }

    fn in_dir(
        cwd: PathBuf,
        save_to: Option<PathBuf>,
        (color, is_terminal): (Color, bool),
        out: &'o mut Out,
    ) -> Self {
        Context {
            cwd,
            save_to,
            reads_only: false,
            scratch: RefCell::default(),
            user_env: OnceCell::new(),
            at: HintTarget::SHELL,
            out,
            paint: Paint::new(color, is_terminal, env::var),
            forced_paint: Paint::forced(color, is_terminal, env::var),
        }
    }

    /// Marks the command as read-only: `--store` may then name a store anywhere.
    pub fn for_reading(self, reads_only: bool) -> Self {
        Context { reads_only, ..self }
    }

    pub fn read_at(self, at: HintTarget<'o>) -> Self {
        Context { at, ..self }
    }

    /// Prints a line that contains a hint, with commands as typed on this command line.
    pub fn print_hint(&self, line: impl Into<Hint>) {
        print_status(&line.into().render(self.at));
    }

    /// Sends long output of a command through a pager, unless the settings say otherwise.
    pub fn page(&mut self, command: &str) {
        if self.out.is_terminal() && pager_choice().has_pager(command) {
            self.out.page();
        }
    }

    pub fn save_to(&self) -> Option<&Path> {
        self.save_to.as_deref()
    }

    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the environment and lepo's folders, read at the first call. Fails without a home directory.
    pub fn user_env(&self) -> Result<Rc<UserEnv>> {
        if let Some(user) = self.user_env.get() {
            return Ok(user.clone());
        }
        let user = Rc::new(UserEnv::read()?);
        Ok(self.user_env.get_or_init(|| user).clone())
    }

    pub fn is_at_home(&self) -> bool {
        let home = env::var("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
        home.is_some() && home == self.cwd.canonicalize().ok()
    }

    /// Finds the store that `--save-to` names, else `.lepo` here or in a parent; `None` if it does
    /// not exist.
    pub fn find_store(&self) -> Result<Option<Store>> {
        let is_project = |dir: PathBuf| dir.join(STORE).is_dir() && !dir.join(INSTS_FILE).exists();
        if let Some(project) = self.save_to.as_ref().filter(|path| is_project(self.cwd.join(path))) {
            let store = project.join(STORE);
            return Err(Error::usage(format!(
                "{} is a project; its store is {STORE} in it",
                project.display()
            ))
            .hint(format!("-s {}", quoted(&store.to_string_lossy()))));
        }
        match &self.save_to {
            Some(path) if path.is_absolute() && self.reads_only => Store::anywhere(path),
            Some(rel) => Ok(Store::at(&self.cwd, rel)?.map(proving)),
            None => find_from(&self.cwd),
        }
    }

    /// Working directory of turns if no store exists yet: the root of a git worktree, else the current
    /// directory.
    pub fn new_root(&self) -> PathBuf {
        let in_tree = worktree(&self.cwd).filter(|_| self.save_to.is_none());
        in_tree.map_or_else(|| self.cwd.clone(), |tree| tree.root)
    }

    /// Returns the main git worktree of a linked one.
    pub fn main_worktree(&self) -> Option<PathBuf> {
        worktree(&self.cwd)?.main()
    }

    pub fn store(&self) -> Result<Store> {
        let store = self.find_store()?;
        store.iter().filter(|_| !self.reads_only).for_each(remember);
        store.iter().for_each(print_linked_store);
        let store = store.map(|store| store.with_own_newest(own_newest::find_or_note));
        store.ok_or_else(|| match &self.save_to {
            Some(path) if path.is_absolute() => Error::nothing(format!("no store {}", path.display()))
                .hint("-s takes the directory that holds the messages, like PROJECT/.lepo"),
            Some(rel) => Error::nothing(format!("no store {} here", rel.display()))
                .hint("`lepo init` makes it; so does a first question: `lepo do QUESTION`"),
            None => Error::nothing(format!("no {STORE} here or in a parent directory"))
                .hint("`lepo init` makes one; so does a first question: `lepo do QUESTION`"),
        })
    }

    /// Returns the store, creating it if necessary; prints that unless `quiet`.
    pub fn store_or_make(&self, quiet: bool) -> Result<Store> {
        let Some(store) = self.find_store()? else { return self.make_in_tree(quiet) };
        remember(&store);
        if !quiet {
            print_linked_store(&store);
        }
        match store.is_unfinished()? {
            true => drop(store.complete_meta(Insts::default_file_text())?),
            false => self.preserve_line_ends(&store),
        }
        Ok(store)
    }

    fn make_in_tree(&self, quiet: bool) -> Result<Store> {
        if self.save_to.is_some() {
            return Ok(self.make_store()?.0);
        }
        // For a linked worktree, in the main one, where removing the linked tree does not delete it.
        let root = self.main_worktree().unwrap_or_else(|| self.new_root());
        let made = report_created(Store::make(&root, STORE.as_ref(), Insts::default_file_text())?).0;
        if !quiet {
            print_status(&format!("made {STORE} in {}", root.display()));
        }
        // Found again from the working directory, because its path may then start with `..`.
        let store = self.find_store()?.unwrap_or(made);
        remember(&store);
        Ok(store)
    }

    /// Creates a temporary store in the state directory, deleted at the end, with the working directory and the
    /// instructions of the existing store.
    pub fn scratch_store(&self) -> Result<Store> {
        let paths = &self.user_env()?.paths;
        let found = self.find_store()?;
        let root = found.as_ref().map_or_else(|| self.new_root(), |store| store.root().to_path_buf());
        // Instructions that need trust are not copied.
        let counts = |store: &&Store| match untrusted_insts(store, paths) {
            Ok(None) => true,
            Ok(Some(_)) | Err(_) => {
                print_status(&StatusLine::warning(ignored_insts(store)));
                false
            }
        };
        let insts = found.as_ref().filter(counts).map(|store| store.insts()).transpose()?.flatten();
        let insts = insts.and_then(|bytes| String::from_utf8(bytes).ok());
        let insts = insts.as_deref().unwrap_or_else(|| Insts::default_file_text());
        let (store, scratch) = Store::scratch(&paths.scratch_stores(), &root, insts)?;
        self.scratch.replace(Some(scratch));
        Ok(proving(store))
    }

    /// Adds `* -text` to the git attributes of a store from an older version, so that git changes no line
    /// ends. A store that is not writable is skipped: writing to it reports the error.
    pub fn preserve_line_ends(&self, store: &Store) {
        self.list_own_files(store);
        if store.complete_attributes().unwrap_or_default() {
            let shown = store.display_path().display();
            print_status(&StatusLine::note(format!(
                "added `* -text` to {shown}/.gitattributes: git changes no line ends there"
            )));
        }
    }

    /// Adds lepo's own files to the `.gitignore` of a store from an older version, once: a tracked journal
    /// changes after every answer and then blocks checkouts.
    fn list_own_files(&self, store: &Store) {
        if store.complete_ignores().unwrap_or_default() {
            let shown = store.display_path().display();
            print_status(&StatusLine::note(format!(
                "added the journal and other files of lepo's own to {shown}/.gitignore, as they would block git"
            )));
        }
    }

    /// Creates the store in the working directory, or its missing files.
    pub fn make_store(&self) -> Result<(Store, InitOutcome)> {
        let rel = self.save_to.as_deref().unwrap_or(Path::new(STORE));
        Ok(report_created(Store::make(&self.cwd, rel, Insts::default_file_text())?))
    }
}

/// Finds the store in a directory or its parents, but not above the home directory or the root of a git
/// worktree. A linked worktree without a store uses the store of its main worktree.
pub fn find_from(cwd: &Path) -> Result<Option<Store>> {
    let home = env::var("HOME").map(PathBuf::from);
    let tree = worktree(cwd);
    let found = Store::find(cwd, home.as_deref(), tree.as_ref().map(|tree| tree.root.as_path()))?;
    let found = match tree.filter(|_| found.is_none()).and_then(|tree| Some((tree.main()?, tree.root))) {
        Some((main, linked)) => Store::of_main(&cwd.canonicalize().unwrap_or(cwd.into()), &linked, &main),
        None => Ok(found),
    };
    Ok(found?.map(|store| proving(store).with_own_newest(own_newest::find)))
}

fn report_created((store, made): (Store, InitOutcome)) -> (Store, InitOutcome) {
    if let (InitOutcome::New, Ok(paths)) = (made, own_paths()) {
        note_made(&store, &paths);
    }
    (proving(store), made)
}

/// Lets the store make proofs with the user's key.
fn proving(store: Store) -> Store {
    match own_paths() {
        Ok(paths) => store.with_prover(user_prover(&paths)),
        Err(_) => store,
    }
}

/// Returns the git worktree of a directory; `None` if git would reject it.
fn worktree(dir: &Path) -> Option<Worktree> {
    Worktree::containing(dir).filter(|tree| tree.is_taken)
}

/// Reports once that a linked worktree uses the store of its main one.
fn print_linked_store(store: &Store) {
    let Ok(paths) = own_paths() else { return };
    let Some(record) = WorktreeRecord::find(&paths, store).filter(WorktreeRecord::is_new) else { return };
    let project = stores::KnownStores::at(&paths).project(&store.path());
    print_status(&StatusLine::note(format!("uses {STORE} of {project}, the main worktree")));
    record.record(&[]);
}

/// Adds a store to the list of `--everywhere` when it is written to.
fn remember(store: &Store) {
    if let Ok(stores) = stores::KnownStores::load() {
        stores.remember(store);
    }
}
