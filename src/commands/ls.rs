//! `lepo ls`: where conversations can be continued, and what waits for consent.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::line::{excerpt_of, in_brackets};
use super::words::resolve_all;
use super::{Context, complete, name_json};
use crate::bubb::{BubbId, Name};
use crate::conv::{Found, Heights, Ix};
use crate::error::Result;
use crate::store::in_order;
use crate::term::{excerpt, excerpt_within, say};
use crate::tool::ToolRequest;
use crate::ui::request;

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
    #[arg(value_name = "ADDR", add = complete::address())]
    addresses: Vec<String>,
    /// Only the N newest
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// Spent ones too: tool calls beside a finished answer
    #[arg(long)]
    all: bool,
    /// The requests that wait for consent instead, each whole, a command after its access
    #[arg(long, conflicts_with = "all")]
    pending: bool,
    /// The paths of their files
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// One JSON document: {"tails": [...]} or {"pending": [...]}
    #[arg(long)]
    pub json: bool,
}

/// A tail or a request, with what its line says.
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
    let branches =
        if context.out.is_terminal() || args.json { store.branch_names()? } else { HashMap::new() };
    let waiting = match args.pending {
        true => forest.pending(|ix| request(&store, &forest.name(ix))),
        false => Vec::new(),
    };
    let requests: HashMap<BubbId, &ToolRequest> =
        waiting.iter().map(|(ix, request)| (forest.name(*ix).id, request)).collect();
    let mut tails: Box<dyn Iterator<Item = Ix>> = match args.pending {
        true => Box::new(waiting.iter().map(|(ix, _)| *ix)),
        false => Box::new(forest.newest_first(args.all)),
    };
    if !args.addresses.is_empty() {
        let found = resolve_all(&store, &forest, &args.addresses)?;
        let named: Vec<Ix> = found.iter().flat_map(Found::bubbs).copied().collect();
        let all: Vec<Ix> = tails.collect();
        tails = Box::new(forest.through(&all, &named).into_iter());
    }
    let mut heights = Heights::of(&forest);
    let lines = tails.take(args.n.unwrap_or(usize::MAX)).map(|tail| Line {
        name: forest.name(tail),
        height: heights.height(tail),
        question: forest.last_question(tail).map(|ix| forest.name(ix)),
    });
    let read = |line: Line| {
        let request = requests.get(&line.name.id).copied();
        let text = match request {
            _ if args.paths => None,
            Some(request) if args.json => Some(excerpt(&request.words())),
            Some(request) => Some(request.whole()),
            None => line.question.and_then(|name| excerpt_of(&store, &name)),
        };
        (line, text, request)
    };

    if args.json {
        context.out.trusted(if args.pending { "{\"pending\":[" } else { "{\"tails\":[" });
    }
    let mut row = 0;
    in_order(lines, read, |(line, text, request)| {
        let name = line.name;
        let names = branches.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        if args.paths {
            context.out.line(&store.path_of(&name).to_string_lossy());
        } else if args.json {
            let mut map = name_json(&store, &name);
            map.insert("height".into(), line.height.into());
            map.insert("excerpt".into(), text.into());
            map.insert("branches".into(), names.into());
            if let Some(request) = request {
                map.insert("request".into(), request.to_json());
            }
            context.out.trusted(if row > 0 { ",\n" } else { "\n" });
            context.out.untrusted(serde_json::Value::Object(map).to_string().as_bytes());
        } else {
            context.out.trusted(&format!(
                "{} ({}):",
                context.paint.yellow(&name.id.to_string()),
                line.height
            ));
            if let Some(mut text) = text {
                if let (true, Some(columns)) = (args.pending, context.out.columns()) {
                    let taken = format!("{} ({}): ", name.id, line.height).len();
                    text = excerpt_within(&text, columns.saturating_sub(taken));
                }
                context.out.untrusted(format!(" {text}").as_bytes());
            }
            context.out.trusted(&context.paint.cyan(&in_brackets(names)));
            context.out.trusted("\n");
        }
        context.out.row_done(row);
        row += 1;
        if context.out.closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if args.json {
        context.out.trusted("\n]}\n");
    } else if row == 0 && context.out.is_terminal() {
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
