//! `lepo do --acp`: serves an editor on stdin and stdout.

use std::path::{Path, PathBuf};

use super::DoArgs;
use super::setup::{Setup, store_of_turn};
use crate::acp::{FolderOpener, OpenFolder, serve};
use crate::commands::Context;
use crate::term::{Color, Out};
use lepo_base::error::{Error, Result};
use lepo_net::runtime::current_thread;
use lepo_store::store::Store;

/// Serves until the editor disconnects.
pub fn run_acp(args: DoArgs, context: &mut Context<'_>) -> Result<u8> {
    check_acp(&args)?;
    // Reports an invalid option once, and not in each session.
    args.flags()?;
    let cwd = context.cwd().to_path_buf();
    let save_to = context.save_to().map(Path::to_path_buf);
    let folders = Box::new(CommandFolders { args, save_to });
    let runtime = current_thread()?;
    let ended = runtime.block_on(serve(folders, cwd));
    // Does not wait for a thread that is still reading stdin.
    runtime.shutdown_background();
    ended.map(|()| 0)
}

/// Opens folders like `do`, with the options of the command line.
struct CommandFolders {
    args: DoArgs,
    save_to: Option<PathBuf>,
}

impl CommandFolders {
    fn with<T>(&self, cwd: &Path, work: impl FnOnce(&Context<'_>) -> Result<T>) -> Result<T> {
        // The protocol's messages are the only output on stdout.
        let mut out = Out::stdout();
        work(&Context::elsewhere(cwd.to_path_buf(), self.save_to.clone(), Color::Never, &mut out))
    }
}

impl FolderOpener for CommandFolders {
    fn open(&self, cwd: &Path) -> Result<OpenFolder> {
        self.with(cwd, |context| {
            let setup = Setup::read(&self.args, context)?;
            let store = store_of_turn(&self.args, context)?;
            let (dir, repo_servers) = setup.dir_and_servers();
            Ok(OpenFolder { configured: setup.configured, dir, repo_servers, store })
        })
    }

    fn store(&self, cwd: &Path) -> Result<Option<Store>> {
        self.with(cwd, |context| context.find_store())
    }
}

/// Rejects options that apply to a single question.
fn check_acp(args: &DoArgs) -> Result<()> {
    let lonely = [
        (!args.prompt.is_empty(), "a question"),
        (args.tail.is_some(), "--tail"),
        (!args.run.is_empty(), "--run"),
        (args.group.mode().is_some(), "--parallel and --debate"),
        (args.keeping.no_keep, "--no-keep"),
        (args.model.len() > 1, "a second --model"),
    ];
    match lonely.iter().find(|(is_there, _)| *is_there) {
        Some((_, what)) => Err(Error::usage(format!("{what} cannot be used with --acp"))
            .hint("with --acp, questions and their folder come from the editor")),
        None => Ok(()),
    }
}
