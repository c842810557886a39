//! `lepo ls`: where conversations can be continued, and what waits for consent.

mod row;

use std::collections::HashMap;
use std::ops::ControlFlow;

use row::{Known, Line, Table, document, entry, long_line, more, pipe_line};

use super::line::excerpt_of;
use super::words::resolve_all;
use super::{Context, complete};
use crate::bubb::{BubbId, Name};
use crate::conv::{Forest, Found, Heights, Ix, Origins, Siblings, Wanted};
use crate::error::Result;
use crate::search::{Outcome, Pattern, PatternOptions, search_files};
use crate::store::{Store, in_order, now};
use crate::term::{clean, excerpt, say};
use crate::tool::{Detected, Sandbox, ToolRequest};
use crate::ui::{known_windows, read_request, text_or_warn};

/// List the conversations by their tails, newest first
///
/// One line each: id, height (messages in its conversation), and the first and last 12 characters of its
/// last question. Where several tails answer the same question, the excerpt of the answer follows after
/// ` · `, with the name of the model if several were asked at once. On a terminal a line also has the time,
/// the model, the tokens, the branches that name the tail, the title, and the first and last question, as
/// far as they fit. With ADDR, only tails whose conversation contains one of these messages are listed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo ls | head -3 | cut -d' ' -f1\n  lepo ls -n 1 --paths\n  lepo ls --grep README\n  \
    lepo ls -l | awk '{ print $3, $4 }'\n  grep -rl --include='0*.md' panic .lepo | lepo ls -\n  lepo ls --pending"
)]
pub struct LsArgs {
    /// Only tails whose conversation contains one of these messages; `-` for addresses on stdin
    #[arg(value_name = "ADDR", add = complete::address())]
    addresses: Vec<String>,
    /// List only the N newest
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// Long lines in a pipe too: ID (HEIGHT) TIME MODEL TOKENS[/WINDOW] [BRANCHES] TITLE · FIRST · LAST; `-` for none
    #[arg(short, long, conflicts_with_all = ["pending", "paths", "json"])]
    long: bool,
    /// List spent tails too: ends of tool calls whose answer is finished
    #[arg(long, alias = "all")]
    spent: bool,
    /// Only tails whose conversation has a visible message that matches this regular expression
    #[arg(long, value_name = "PATTERN", conflicts_with = "pending")]
    grep: Option<String>,
    /// List the requests that wait for consent instead, each with its full text, access and sandbox
    #[arg(long, conflicts_with = "spent")]
    pending: bool,
    /// Print the paths of their files
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// Print one JSON document: {"tails": [...]} or {"pending": [...]}
    #[arg(long)]
    pub json: bool,
}

impl LsArgs {
    /// Only how new a tail is decides whether it is listed.
    fn is_of_newest(&self) -> bool {
        self.addresses.is_empty() && !self.pending && self.grep.is_none()
    }
}

/// The form of a tail's line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `ID (HEIGHT): EXCERPT`, as scripts know it; also requests that wait.
    Pipe,
    /// The columns of a terminal.
    Columns(usize),
    /// `--long`, cut at so many columns on a terminal.
    Long(Option<usize>),
    Paths,
    Json,
}

/// Lists them.
pub fn run_ls(args: LsArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let wanted = match args.n {
        Some(n) if args.is_of_newest() && args.spent => Wanted::Leaves(n),
        Some(n) if args.is_of_newest() => Wanted::Newest(n),
        _ => Wanted::All,
    };
    // Requests that wait are the user's own only; all other lists have other people's conversations too.
    let wanted = if args.pending || store.others().is_empty() { wanted } else { Wanted::Everyone };
    let forest = store.forest_for(&[wanted])?;
    let form = match (args.paths, args.json, args.long, context.out.columns()) {
        (true, ..) => Form::Paths,
        (_, true, ..) => Form::Json,
        (.., true, columns) => Form::Long(columns),
        (.., Some(columns)) if !args.pending => Form::Columns(columns),
        _ => Form::Pipe,
    };
    let with_more = matches!(form, Form::Columns(_) | Form::Long(_) | Form::Json);
    let branches = match with_more || context.out.is_terminal() {
        true => store.branch_names()?,
        false => HashMap::new(),
    };
    let known = match with_more {
        true => Known { facts: store.fact_index(), titles: store.titles(), windows: known_windows() },
        false => Known::default(),
    };
    let waiting = match args.pending {
        true => forest.pending(|ix| read_request(&store, &forest.name(ix))),
        false => Vec::new(),
    };
    let requests: HashMap<BubbId, &ToolRequest> =
        waiting.iter().map(|(ix, request)| (forest.name(*ix).id, request)).collect();
    let mut tails: Box<dyn Iterator<Item = Ix>> = match args.pending {
        true => Box::new(waiting.iter().map(|(ix, _)| *ix)),
        false => Box::new(forest.newest_first(args.spent)),
    };
    if !args.addresses.is_empty() {
        let found = resolve_all(&store, &forest, &args.addresses)?;
        let named: Vec<Ix> = found.iter().flat_map(Found::bubbs).copied().collect();
        let all: Vec<Ix> = tails.collect();
        tails = Box::new(forest.through(&all, &named).into_iter());
    }
    if let Some(pattern) = &args.grep {
        let pattern = Pattern::new(pattern, PatternOptions { first: true, ..PatternOptions::default() })?;
        let named = matching(&store, &forest, &pattern);
        let all: Vec<Ix> = tails.collect();
        tails = Box::new(forest.through(&all, &named).into_iter());
    }
    // Found out by trying, which takes a moment.
    let sandbox = match waiting.is_empty() || args.paths {
        true => Sandbox::None,
        false => Detected::now(store.root()),
    };
    let mut heights = Heights::of(&forest);
    let mut origins = with_more.then(|| Origins::of(&forest));
    let tells_answers = matches!(form, Form::Pipe | Form::Columns(_) | Form::Long(_)) && !args.pending;
    let tails: Box<dyn Iterator<Item = (Ix, Option<Ix>, bool)>> = match tells_answers {
        true => Box::new(Siblings::of(&forest, tails)),
        false => Box::new(tails.map(|tail| (tail, forest.last_question(tail), false))),
    };
    let lines = tails.take(args.n.unwrap_or(usize::MAX)).map(|(tail, question, shares_question)| Line {
        name: forest.name(tail),
        height: heights.height(tail),
        question: question.map(|ix| forest.name(ix)),
        answer: shares_question.then(|| forest.answer(tail)).flatten().map(|ix| forest.name(ix)),
        said: None,
        more: origins.as_mut().map(|origins| more(&forest, origins, &known, tail)),
        from: forest.store_of(tail).and_then(|number| Some(store.others().get(number)?.0.clone())),
    });
    let read = |mut line: Line| {
        let request = requests.get(&line.name.id).copied();
        let text = match request {
            _ if form == Form::Paths => None,
            Some(request) if args.json => Some(excerpt(&request.words())),
            Some(request) => Some(request.whole(&sandbox)),
            None if matches!(form, Form::Columns(_) | Form::Long(_)) => {
                line.question.and_then(|name| text_or_warn(&store, &name))
            }
            None => line.question.and_then(|name| excerpt_of(&store, &name)),
        };
        let is_whole = form != Form::Pipe;
        line.said = line.answer.and_then(|answer| said(&store, &forest, &answer, is_whole));
        let other =
            line.more.as_ref().and_then(|more| more.first).filter(|first| Some(*first) != line.question);
        let first = other.and_then(|name| text_or_warn(&store, &name));
        (line, text, first, request)
    };

    if args.json {
        context.out.trusted(if args.pending { "{\"pending\":[" } else { "{\"tails\":[" });
    }
    let mut table = Table::default();
    let mut row = 0;
    let now = now();
    in_order(lines, read, |(line, text, first, request)| {
        let name = line.name;
        let names = branches.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        match form {
            Form::Paths => context.out.line(&store.path_of(&name).to_string_lossy()),
            Form::Json => {
                context.out.trusted(if row > 0 { ",\n" } else { "\n" });
                let title = line.more.as_ref().and_then(|more| known.titles.get(&more.root));
                let mut document = document(&store, &line, text, first, title, names, request);
                if let Some(ToolRequest::Command(command)) = request {
                    document["sandbox"] = sandbox.holding(command.access).word().into();
                }
                context.out.untrusted(document.to_string().as_bytes());
            }
            Form::Columns(columns) => {
                let entry = entry(&line, text, first, &known.titles, names, now);
                table.push(entry, columns, context);
            }
            Form::Long(columns) => {
                let entry = entry(&line, text, first, &known.titles, names, now);
                long_line(&line, &entry, names, columns, context);
            }
            Form::Pipe => pipe_line(&line, text, names, args.pending, context),
        }
        context.out.row_done(row);
        row += 1;
        if context.out.closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    table.print(context);
    if args.json {
        context.out.trusted("\n]}\n");
    } else if row == 0 && context.out.is_terminal() {
        say(if args.pending {
            "nothing waits for approval"
        } else if args.addresses.is_empty() {
            "no conversations yet; ask something: lepo do QUESTION"
        } else {
            "no conversation has one of these messages"
        });
    }
    Ok(0)
}

/// An answer or its excerpt, behind the name of its speaker where there is one.
fn said(store: &Store, forest: &Forest, answer: &Name, is_whole: bool) -> Option<String> {
    let excerpt = if is_whole { text_or_warn(store, answer)? } else { excerpt_of(store, answer)? };
    Some(match store.speaker(forest, answer) {
        Some(speaker) => format!("{}: {excerpt}", clean(&speaker)),
        None => excerpt,
    })
}

/// The visible messages that match a pattern. One that cannot be read is said.
fn matching(store: &Store, forest: &Forest, pattern: &Pattern) -> Vec<Ix> {
    let names = forest.all().map(|ix| forest.name(ix)).filter(|name| !name.hidden);
    let mut found = Vec::new();
    let _ = search_files(store, pattern, names, |outcome| {
        match outcome {
            Outcome::Found(name, _) => found.extend(forest.find(name.id)),
            Outcome::Unreadable(error) => say(&format!("warning: {}", error.chain())),
        }
        ControlFlow::Continue(())
    });
    found
}
