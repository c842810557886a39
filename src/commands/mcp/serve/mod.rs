//! `lepo mcp serve`: serves conversations as memory for other agents, over the Model Context Protocol.

mod arguments;
mod backend;
mod context;
mod list;
mod masked_texts;
mod note;
mod quote;
mod search;
mod show;
mod stores;

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::commands::Context;
use crate::term::Out;
use context::ServeContext;
use lepo_base::error::{Error, Result};
use lepo_tool::mcp::serve::serve;
use stores::ServedStores;

/// Serve conversations to other agents over MCP, on stdin and stdout
///
/// An MCP server for Claude Code, Codex, editors and others: they can search and read the conversations of this
/// project. It is offline and read-only, with the tools search, show, list and about_file, and each conversation as a
/// resource lepo://STORE/ID. Text is quoted line by line, at most 32,768 bytes at a time unless the client asks for
/// more, and secrets are masked.
///
/// --write adds the tool note, which adds a message to the first store. -s names a store and is repeatable here; a
/// missing store is treated as an empty one.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo mcp serve < requests.jsonl\n  lepo mcp serve -s .lepo -s .lepo/notes < requests.jsonl\n\n\
    lepo-mcp-serve(1) has the lines to paste for Claude Code, Codex and Zed."
)]
pub struct ServeArgs {
    /// A store to serve: a directory below the working directory, or an absolute path; repeatable
    #[arg(id = "save_to", short, long = "save-to", visible_alias = "store", value_name = "PATH")]
    stores: Vec<PathBuf>,
    /// Offer the tool note, which adds a message
    #[arg(long)]
    write: bool,
    /// Serve the conversations of other people too, as fetched by `lepo sync`
    #[arg(long)]
    others: bool,
}

/// Serves until stdin ends.
pub fn run(args: &ServeArgs, context: &Context<'_>) -> Result<u8> {
    let stores = ServedStores::new(context.cwd(), &args.stores, args.others);
    // Reports an invalid store now, and not with each request.
    stores.all()?;
    if args.write {
        check_first(&stores, args.stores.first().map(PathBuf::as_path))?;
    }
    let mut out = Out::stdout();
    let output = move |line: &str| {
        out.line(line);
        out.flush();
        if out.closed() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    };
    let input = Box::new(BufReader::new(io::stdin()));
    serve(Arc::new(ServeContext::new(stores, args.write)), input, Box::new(output))?;
    Ok(0)
}

/// Checks that notes can be written to the first store.
fn check_first(stores: &ServedStores, named: Option<&Path>) -> Result<()> {
    if let Some(path) = named.filter(|path| path.is_absolute()) {
        return Err(Error::usage(format!(
            "--write needs a store below the working directory, not {}",
            path.display()
        ))
        .hint("change there first: lepo -c PROJECT mcp serve --write"));
    }
    match stores.open(0)? {
        Some(_) => Ok(()),
        None => Err(Error::nothing(format!("no store {} to write notes to", stores.display_name(0)))
            .hint("`lepo init` makes one")),
    }
}
