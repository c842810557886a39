//! `lepo resolve`: prints the ids that an address refers to.

use super::address_args::find_all;
use super::{Context, complete};
use lepo_base::error::Result;
use lepo_store::conv::AddressMatch;

/// Print the full id of an address
///
/// Plumbing: all commands take the same addresses, see lepo(7). A range A..B prints each message that B's
/// conversation has and A's does not, oldest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo resolve --path main^ | xargs wc -w\n  \
    grep -rl --include='0*.md' panic .lepo | lepo resolve -")]
pub struct ResolveArgs {
    /// The addresses to resolve; `-` reads addresses from stdin, one per line
    #[arg(value_name = "ADDR", required = true, add = complete::address())]
    addresses: Vec<String>,
    /// Print the path of the file instead
    #[arg(long)]
    path: bool,
}

pub fn run_resolve(args: ResolveArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, found) = find_all(&store, &args.addresses, &[])?;
    for &ix in found.iter().flat_map(AddressMatch::bubbs) {
        let name = forest.name(ix);
        if args.path {
            context.out.path(&store.bubb_path(&name));
        } else {
            context.out.line(&name.id.to_string());
        }
    }
    Ok(0)
}
