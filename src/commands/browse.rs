//! `lepo browse`: the forest on the full terminal.

use std::ops::ControlFlow;
use std::process::Command;

use super::{Context, own_newest};
use crate::browse::{BrowserStart, browse};
use crate::ui::reading_settings;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbId;

/// Browse conversations in a full-screen view
///
/// Lists the conversations on the left, newest first, and shows the selected one on the right, with the Markdown of
/// answers rendered as by `lepo show`. Changes nothing.
/// Arrows or j and k move, l opens, / finds, Space marks, d compares with the marked one, y copies the id (OSC 52), ?
/// shows all keys, q quits. Enter continues there at a prompt, and comes back when that session ends.
///
/// With t, the list becomes the tree of the conversation, as `lepo log --graph` draws it, with its newest message at the
/// top: Left goes to the parent, Right to the next sibling, f folds what follows a message. The message is next to the
/// tree, below it on a terminal of under 100 columns, and after l on one of under 60 columns or 20 lines. A terminal of
/// under 60 columns shows either the list or the conversation. Needs a terminal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo browse")]
pub struct BrowseArgs {}

/// Opens the browser of conversations.
pub fn run_browse(_: BrowseArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?.with_own_newest(own_newest::find);
    if !context.out.is_terminal() {
        return Err(Error::usage("browse needs a terminal").hint("in a pipe: lepo ls, lepo show, lepo log"));
    }
    let (_, math) = reading_settings();
    let mut go_on = |id: BubbId| {
        let failed = |error: std::io::Error| Error::usage("cannot start lepo").because(error);
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        if let Some(rel) = context.save_to() {
            command.arg("--save-to").arg(rel);
        }
        // A session that failed has said why.
        command.args(["do", "--tail", &id.to_string()]).status().map_err(failed)?;
        Ok(ControlFlow::Continue(()))
    };
    browse(
        &store,
        BrowserStart { tree_at: None, paint: context.paint, math: Some(math), go_on: &mut go_on },
    )?;
    Ok(0)
}
