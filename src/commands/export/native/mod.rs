//! Exports sessions in the formats of Claude Code and Codex: a file for each conversation, and the command
//! that installs it. Nothing is written into the folders of these tools.

mod claude_code;
mod codex;
mod install;
mod session;

use std::path::Path;

use super::args::ExportArgs;
use super::format::ExportFormat;
use super::output;
use super::tree::exported_trees;
use crate::commands::Context;
use crate::commands::output_file::check_folder;
use crate::commands::secret_finder::warn_secrets;
use crate::term::{print_status, print_verbatim};
use install::{SessionFile, SessionHome};
use lepo_base::error::{Error, Result};
use lepo_store::store::Store;
use session::NativeSession;
pub use session::moment;

pub fn run(args: &ExportArgs, format: ExportFormat, store: &Store, context: &mut Context<'_>) -> Result<u8> {
    let trees = exported_trees(args, store)?;
    // These tools resolve symbolic links too.
    let cwd = std::fs::canonicalize(context.cwd()).unwrap_or_else(|_| context.cwd().to_path_buf());
    let home = SessionHome::from_env(format, context.cwd())?;
    let sessions = trees.iter().flat_map(|tree| match args.all {
        true => NativeSession::every(tree),
        false => vec![NativeSession::new(tree, &tree.path())],
    });
    let sessions: Vec<NativeSession<'_>> = sessions.filter(|session| !session.turns.is_empty()).collect();
    let written: Vec<SessionFile> = sessions.iter().map(|session| write(format, session, &cwd)).collect();
    let Some(first) = written.first() else {
        return Err(Error::nothing("nothing to export: all messages are hidden or empty"));
    };
    warn_secrets(written.iter().map(|session| session.text.as_bytes()));
    match args.output.as_deref() {
        None if written.len() > 1 => {
            return Err(Error::usage(format!("{} sessions need a file each", written.len()))
                .hint(format!("lepo export --format {} --all -o DIR", format.name())));
        }
        None => {
            context.out.untrusted(first.text.as_bytes());
            let tip = sessions.first().map(|session| session.id.to_string()).unwrap_or_default();
            let again = install::export_command(format, &tip, args.hidden, context.save_to());
            end(format, &written, &cwd, &home.install_pipe(&again, first));
        }
        Some(dir) => {
            check_folder(dir)?;
            home.check_own_folder(dir)?;
            let mut paths = Vec::new();
            for session in &written {
                let path = output::write_named(dir, &session.name, session.text.as_bytes())?;
                context.out.path(&path);
                paths.push(path);
            }
            end(format, &written, &cwd, &home.install_files(&paths, &written));
        }
    }
    Ok(0)
}

/// Prints how to continue, and finally the command that installs the sessions.
fn end(format: ExportFormat, written: &[SessionFile], cwd: &Path, install: &str) {
    let resume = match format {
        ExportFormat::Codex => "codex resume",
        _ => "claude --resume",
    };
    let id = match written {
        [one] => &one.id,
        _ => "ID",
    };
    print_status(&format!("after the command below, in {}: {resume} {id}", cwd.display()));
    print_verbatim(install);
}

fn write(format: ExportFormat, session: &NativeSession<'_>, cwd: &Path) -> SessionFile {
    match format {
        ExportFormat::Codex => codex::write(session, cwd),
        _ => claude_code::write(session, cwd),
    }
}
