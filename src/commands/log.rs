//! `lepo log`: lists bubbs one per line, optionally with a graph of the forest.

use schemars::JsonSchema;
use serde::Serialize;

use super::address_args::find_all;
use super::summary_line::{bubb_line, excerpt_of};
use super::{Context, complete};
use crate::term::{clean, cut, padded, width};
use crate::ui::{ShortIds, ended_early, warn_incomplete};
use crate::view::NameFields;
use lepo_base::error::Result;
use lepo_base::time;
use lepo_store::bubb::{BubbName, model_label};
use lepo_store::conv::{AddressMatch, Forest, GraphRow, Ix, ReadScope};
use lepo_store::store::{JournalIndex, Store, now};
use lepo_turn::StoppedAnswers;

/// List the messages of a conversation, newest first
///
/// One per line: id, kind as in the file name (u0 is a question, a0 an answer), and an excerpt; on a terminal, also
/// the date and the model. With --graph, draws the tree of ADDR on the left, with each fork where it branches off;
/// with --all, every conversation of the store.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo log\n  lepo log --graph --all\n  lepo log main..@\n  \
    lepo log --all | grep -i tally | cut -d' ' -f1 | lepo ls -")]
pub struct LogArgs {
    /// The messages whose conversations are listed (default: @); `-` reads addresses from stdin, one per line
    #[arg(value_name = "ADDR", add = complete::address())]
    addresses: Vec<String>,
    /// List only the N newest messages
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// List hidden messages too
    #[arg(short = 'a', long, alias = "show-all")]
    hidden: bool,
    /// List every conversation
    #[arg(long, conflicts_with = "addresses")]
    all: bool,
    /// Draw the tree of the conversation on the left
    #[arg(long)]
    graph: bool,
    /// Print one JSON object per line, for each message
    #[arg(long, conflicts_with = "graph")]
    pub json: bool,
}

/// An object per line, for each message, newest first.
#[derive(Serialize, JsonSchema)]
pub struct LogDocument<'d> {
    #[serde(flatten)]
    fields: NameFields,
    /// The beginning and end of the text, on one line.
    excerpt: Option<String>,
    branches: &'d [String],
    speaker: Option<String>,
    /// Whether it is a stopped answer, which is part of the talk though it is hidden.
    stopped: bool,
}

pub fn run_log(args: LogArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, mut bubbs) = bubbs(&args, &store)?;
    let stopped = StoppedAnswers::new(&store, &forest);
    bubbs.retain(|&ix| args.hidden || stopped.is_shown(&forest.name(ix)));
    if args.graph && !args.hidden {
        bubbs.extend(forest.hidden_joints(&bubbs));
        bubbs.sort_unstable_by(|a, b| b.cmp(a));
    }
    let on_terminal = context.out.is_terminal();
    let facts = if on_terminal { store.journal().index() } else { JournalIndex::default() };
    let now = now();
    let branches = store.branches_by_bubb()?;
    let rows = match args.graph {
        true => forest.graph(&bubbs),
        false => bubbs.into_iter().map(|ix| GraphRow { drawing: String::new(), bubb: Some(ix) }).collect(),
    };
    let model =
        |name: &BubbName| facts.get(name.id).and_then(|fact| Some(model_label(&fact.model?).to_string()));
    let widest = match context.out.columns() {
        Some(columns) => widest_model(&rows, columns, |ix| model(&forest.name(ix))),
        None => 0,
    };
    let shorts = ShortIds::on_terminal(on_terminal, forest.all().map(|ix| forest.name(ix).id));
    let mut left = args.n.unwrap_or(usize::MAX);
    for (i, row) in rows.iter().enumerate() {
        if left == 0 || context.out.closed() {
            break;
        }
        let Some(name) = row.bubb.map(|ix| forest.name(ix)) else {
            context.out.line(&row.drawing);
            continue;
        };
        left -= 1;
        let names = branches.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        if args.json {
            context.out.document(&LogDocument {
                fields: NameFields::new(&store, &name),
                excerpt: excerpt_of(&store, &name),
                branches: names,
                speaker: store.speaker(&forest, &name),
                stopped: stopped.contains(name.id),
            });
        } else {
            let speaker = store.speaker(&forest, &name);
            let about = match on_terminal {
                true => {
                    let date = padded(&time::day_and_hour(name.id.time(), now), DATE_WIDTH);
                    let about = match speaker {
                        Some(speaker) => format!("{speaker}:"),
                        None => padded(&cut(&clean(&model(&name).unwrap_or_default()), widest), widest),
                    };
                    vec![date, about]
                }
                false => {
                    let mark = stopped.contains(name.id).then(|| "(stopped)".to_string());
                    speaker.into_iter().map(|speaker| format!("{speaker}:")).chain(mark).collect()
                }
            };
            let fact = facts.get(name.id).unwrap_or_default();
            let early = stopped.contains(name.id).then_some("stopped").or_else(|| ended_early(&fact));
            bubb_line((&store, &shorts), &name, &row.drawing, &about, early, names, context);
        }
        context.out.row_done(i);
    }
    Ok(0)
}

/// Width of a date with the time: `22 Nov 16:55`.
const DATE_WIDTH: usize = 12;

/// Width of the model column: the longest name in the first rows, within a limit; 0 on a narrow terminal.
fn widest_model(rows: &[GraphRow], columns: usize, model: impl Fn(Ix) -> Option<String>) -> usize {
    const FIRST: usize = 64;
    const NARROW: usize = 56;
    if columns < NARROW {
        return 0;
    }
    let most = if columns < 100 { 12 } else { 20 };
    let names = rows.iter().filter_map(|row| row.bubb).take(FIRST).filter_map(model);
    names.map(|name| width(&clean(&name))).max().unwrap_or_default().min(most)
}

fn bubbs(args: &LogArgs, store: &Store) -> Result<(Forest, Vec<Ix>)> {
    if args.all {
        let forest = store.forest_for(&[ReadScope::All { peers: true }])?;
        let whole = forest.all().rev().collect();
        return Ok((forest, whole));
    }
    let newest = ["@".to_string()];
    let addresses = if args.addresses.is_empty() { &newest } else { args.addresses.as_slice() };
    let also: &[ReadScope] = if args.graph { &[ReadScope::All { peers: false }] } else { &[] };
    let (forest, found) = find_all(store, addresses, also)?;
    let whole: Vec<Ix> = forest.all().rev().collect();
    let mut bubbs = Vec::new();
    for found in found {
        match found {
            AddressMatch::Range(range) => bubbs.extend(range),
            AddressMatch::One(found) => {
                let conv = forest.conv(found.ix);
                warn_incomplete(&conv);
                match args.graph {
                    true => bubbs.extend(forest.tails_through(&whole, &conv.path[..1])),
                    false => bubbs.extend(conv.path),
                }
            }
        }
    }
    bubbs.sort_unstable_by(|a, b| b.cmp(a));
    bubbs.dedup();
    Ok((forest, bubbs))
}
