//! `lepo resolve`: what an address means.

use super::{Context, resolve};
use crate::error::Result;

/// Print the full id of an address
///
/// Plumbing: every command that takes a bubb understands the same addresses; see lepo(7).
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lepo resolve --path main^ | xargs $EDITOR")]
pub struct Args {
    /// The addresses
    #[arg(value_name = "ADDR", required = true)]
    addresses: Vec<String>,
    /// The path of its file instead
    #[arg(long)]
    path: bool,
}

/// Prints them.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let forest = store.forest()?;
    for address in &args.addresses {
        let name = forest.name(resolve(&store, &forest, address)?.ix);
        if args.path {
            context.out.line(&store.path_of(&name).to_string_lossy());
        } else {
            context.out.line(&name.id.to_string());
        }
    }
    Ok(0)
}
