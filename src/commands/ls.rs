//! `lepo ls`: where conversations can be continued.

use std::collections::HashMap;

use super::line::question;
use super::{Context, name_json};
use crate::bubb::BubbId;
use crate::error::Result;
use crate::store::Store;
use crate::term::say;

/// List the tails, newest first
///
/// One line each: id, height (bubbs in its conv), and the first and last 12 characters of its last
/// question. On a terminal the branches that name it follow in brackets.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo ls | head -3 | cut -d' ' -f1\n  lepo ls -n 1 --paths")]
pub struct Args {
    /// Only the N newest
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// Spent ones too: tool calls beside a finished answer
    #[arg(long)]
    all: bool,
    /// The paths of their files
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// One JSON document: {"tails": [...]}
    #[arg(long)]
    pub json: bool,
}

/// Lists them.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let forest = store.forest()?;
    let mut tails = forest.tails(args.all);
    tails.truncate(args.n.unwrap_or(usize::MAX));
    let heights = forest.heights(&tails);
    let branches = if context.out.is_terminal() || args.json { branches(&store)? } else { HashMap::new() };

    if args.json {
        context.out.own("{\"tails\":[");
    }
    for (i, (&tail, height)) in tails.iter().zip(heights).enumerate() {
        let name = forest.name(tail);
        let names = branches.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        if args.paths {
            context.out.line(&store.path_of(&name).to_string_lossy());
        } else if args.json {
            let mut map = name_json(&store, &name);
            map.insert("height".into(), height.into());
            map.insert("excerpt".into(), question(&store, &forest, tail).into());
            map.insert("branches".into(), names.into());
            context.out.own(if i > 0 { ",\n" } else { "\n" });
            context.out.own(&serde_json::Value::Object(map).to_string());
        } else {
            let id = context.paint.yellow(&name.id.to_string());
            context.out.own(&format!("{id} ({height}):"));
            if let Some(question) = question(&store, &forest, tail) {
                context.out.text(format!(" {question}").as_bytes());
            }
            if !names.is_empty() && context.out.is_terminal() {
                context.out.own(&context.paint.cyan(&format!(" [{}]", names.join(", "))));
            }
            context.out.own("\n");
        }
        if context.out.closed() {
            break;
        }
    }
    if args.json {
        context.out.own("\n]}\n");
    } else if tails.is_empty() && context.out.is_terminal() {
        say("no conversations yet; ask something: lepo do QUESTION");
    }
    Ok(0)
}

fn branches(store: &Store) -> Result<HashMap<BubbId, Vec<String>>> {
    let mut map: HashMap<BubbId, Vec<String>> = HashMap::new();
    for (name, id) in store.branches()? {
        map.entry(id).or_default().push(name);
    }
    Ok(map)
}
