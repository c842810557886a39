//! `lepo browse`: the forest on the full terminal.

use std::os::unix::process::CommandExt;
use std::process::Command;

use super::Context;
use crate::browse::browse;
use lepo_base::error::{Error, Result};

/// Browse conversations in a full-screen view
///
/// Lists the conversations on the left, newest first, and shows the selected one on the right. Changes nothing.
/// Arrows or j and k move, Enter opens, / finds, Space marks, d compares with the marked one, c continues the
/// conversation at a prompt, y copies its id (OSC 52), ? shows all keys, q quits. A terminal narrower than 60 columns
/// shows either the list or the conversation. Needs a terminal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo browse")]
pub struct BrowseArgs {}

/// Browses.
pub fn run_browse(_: BrowseArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    if !context.out.is_terminal() {
        return Err(Error::usage("browse needs a terminal").hint("in a pipe: lepo ls, lepo show, lepo log"));
    }
    let Some(id) = browse(&store, context.paint.is_on())? else { return Ok(0) };
    let this = std::env::current_exe().map_err(|error| Error::usage("cannot start lepo").because(error))?;
    let mut command = Command::new(this);
    if let Some(rel) = context.save_to() {
        command.arg("--save-to").arg(rel);
    }
    command.args(["do", "--tail", &id.to_string()]);
    Err(Error::usage("cannot start lepo").because(command.exec()))
}
