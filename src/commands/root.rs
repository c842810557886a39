//! `lepo root`: prints the path of the store.

use super::Context;
use lepo_base::error::Result;

/// Print the path of the store
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo root\n  ls \"$(lepo root)\" | wc -l")]
pub struct RootArgs {}

pub fn run_root(_: RootArgs, context: &mut Context<'_>) -> Result<u8> {
    let path = context.store()?.path();
    context.out.path(&path);
    Ok(0)
}
