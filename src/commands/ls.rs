//! `lepo ls`: where conversations can be continued.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::line::excerpt_of;
use super::{Context, name_json};
use crate::bubb::{BubbId, Name};
use crate::conv::Heights;
use crate::error::Result;
use crate::store::{Store, in_order};
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

/// A tail, with what its line says.
struct Line {
    name: Name,
    height: u32,
    /// The last visible user bubb.
    question: Option<Name>,
}

/// Lists them.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let forest = store.forest()?;
    let branches = if context.out.is_terminal() || args.json { branches(&store)? } else { HashMap::new() };
    let mut heights = Heights::of(&forest);
    let tails = forest.newest_first(args.all).take(args.n.unwrap_or(usize::MAX)).map(|tail| Line {
        name: forest.name(tail),
        height: heights.height(tail),
        question: forest.last_question(tail).map(|ix| forest.name(ix)),
    });

    let mut first = true;
    if args.json {
        context.out.own("{\"tails\":[");
    }
    let read = |line: Line| {
        let question = if args.paths { None } else { line.question };
        (line, question.and_then(|name| excerpt_of(&store, &name)))
    };
    in_order(tails, read, |(line, question)| {
        let name = line.name;
        let names = branches.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        if args.paths {
            context.out.line(&store.path_of(&name).to_string_lossy());
        } else if args.json {
            let mut map = name_json(&store, &name);
            map.insert("height".into(), line.height.into());
            map.insert("excerpt".into(), question.into());
            map.insert("branches".into(), names.into());
            context.out.own(if first { "\n" } else { ",\n" });
            context.out.own(&serde_json::Value::Object(map).to_string());
        } else {
            context.out.own(&context.paint.yellow(&name.id.to_string()));
            context.out.own(&format!(" ({}):", line.height));
            if let Some(question) = question {
                context.out.own(" ");
                context.out.text(question.as_bytes());
            }
            if !names.is_empty() && context.out.is_terminal() {
                context.out.own(&context.paint.cyan(&format!(" [{}]", names.join(", "))));
            }
            context.out.own("\n");
        }
        first = false;
        if context.out.closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if args.json {
        context.out.own("\n]}\n");
    } else if first && context.out.is_terminal() {
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
