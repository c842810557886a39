//! `lepo ls`: where conversations can be continued, and what waits for consent.

use std::collections::HashMap;

use super::line::{in_brackets, question, text_or_warn};
use super::words::resolve_all;
use super::{Context, name_json};
use crate::conv::{Forest, Found, Ix};
use crate::error::Result;
use crate::store::Store;
use crate::term::{excerpt, say};
use crate::tool::CommandRequest;

/// List the tails, newest first
///
/// One line each: id, height (bubbs in its conv), and the first and last 12 characters of its last
/// question. On a terminal the branches that name it follow in brackets. With ADDR only the tails
/// whose conv has one of these bubbs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo ls | head -3 | cut -d' ' -f1\n  lepo ls -n 1 --paths\n  \
    grep -l panic .lepo/*.md | lepo ls -\n  lepo ls --pending")]
pub struct Args {
    /// Only tails whose conv has one of these; `-` for addresses on stdin, one a line
    #[arg(value_name = "ADDR")]
    addresses: Vec<String>,
    /// Only the N newest
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// Spent ones too: tool calls beside a finished answer
    #[arg(long)]
    all: bool,
    /// The requests that wait for consent instead, each with its command
    #[arg(long, conflicts_with = "all")]
    pending: bool,
    /// The paths of their files
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// One JSON document: {"tails": [...]} or {"pending": [...]}
    #[arg(long)]
    pub json: bool,
}

/// Lists them.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let forest = store.forest()?;
    let mut tails = if args.pending {
        forest.pending(|ix| request(&store, &forest, ix).is_some())
    } else {
        forest.tails(args.all)
    };
    if !args.addresses.is_empty() {
        let found = resolve_all(&store, &forest, &args.addresses)?;
        let named: Vec<Ix> = found.iter().flat_map(Found::bubbs).copied().collect();
        tails = forest.through(&tails, &named);
    }
    tails.truncate(args.n.unwrap_or(usize::MAX));
    let heights = forest.heights(&tails);
    let branches =
        if context.out.is_terminal() || args.json { store.branch_names()? } else { HashMap::new() };

    if args.json {
        context.out.own(if args.pending { "{\"pending\":[" } else { "{\"tails\":[" });
    }
    for (i, (&tail, height)) in tails.iter().zip(heights).enumerate() {
        let name = forest.name(tail);
        let names = branches.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        let excerpt = || match args.pending {
            true => request(&store, &forest, tail).map(|request| excerpt(&request.command)),
            false => question(&store, &forest, tail),
        };
        if args.paths {
            context.out.line(&store.path_of(&name).to_string_lossy());
        } else if args.json {
            let mut map = name_json(&store, &name);
            map.insert("height".into(), height.into());
            map.insert("excerpt".into(), excerpt().into());
            map.insert("branches".into(), names.into());
            if let Some(request) = args.pending.then(|| request(&store, &forest, tail)).flatten() {
                map.insert("request".into(), request.to_json());
            }
            context.out.own(if i > 0 { ",\n" } else { "\n" });
            context.out.text(serde_json::Value::Object(map).to_string().as_bytes());
        } else {
            let id = context.paint.yellow(&name.id.to_string());
            context.out.own(&format!("{id} ({height}):"));
            if let Some(excerpt) = excerpt() {
                context.out.text(format!(" {excerpt}").as_bytes());
            }
            context.out.own(&context.paint.cyan(&in_brackets(names)));
            context.out.own("\n");
        }
        context.out.row_done(i);
        if context.out.closed() {
            break;
        }
    }
    if args.json {
        context.out.own("\n]}\n");
    } else if tails.is_empty() && context.out.is_terminal() {
        say(if args.pending {
            "nothing waits for consent"
        } else if args.addresses.is_empty() {
            "no conversations yet; ask something: lepo do QUESTION"
        } else {
            "no tail's conv has one of these"
        });
    }
    Ok(0)
}

/// The request that a bubb is, if it is one.
fn request(store: &Store, forest: &Forest, ix: Ix) -> Option<CommandRequest> {
    CommandRequest::from_canonical(&text_or_warn(store, &forest.name(ix))?)
}
