//! A row of `lepo ls`: what it tells of a tail, and its forms on a terminal, in a pipe and in JSON.

use std::collections::{HashMap, HashSet};

use crate::commands::Context;
use crate::commands::columns::{Entry, Widths, bracketed, lay_out, short_count, tokens_of};
use crate::commands::json::name_json;
use crate::commands::line::in_brackets;
use crate::stats::{Cost, Costs};
use crate::term::{clean, excerpt, excerpt_within, fold, quote, width};
use crate::ui::ShortIds;
use lepo_base::when;
use lepo_store::bubb::{BubbId, Name, counted_in_thousands, shown_model};
use lepo_store::conv::{Forest, Ix, Origins};
use lepo_store::store::{Fact, FactIndex, Store};
use lepo_tool::ToolRequest;
use lepo_turn::config::Prices;

/// A tail or a request, with what its line says.
pub struct Line {
    pub name: Name,
    pub height: u32,
    /// The number of its questions, where that is shown.
    pub questions: Option<u32>,
    /// The last visible user bubb.
    pub question: Option<Name>,
    /// The visible answer at its end, where another tail answers the same question.
    pub answer: Option<Name>,
    /// Words of that answer.
    pub said: Option<String>,
    /// The facts that only the longer forms show: few bytes to move where they are not.
    pub more: Option<Box<More>>,
    /// The person whose store it is in, if it is not the user's own.
    pub from: Option<String>,
}

impl Line {
    /// The address as a terminal shows it.
    pub fn shown(&self, shorts: &ShortIds) -> String {
        match &self.from {
            Some(from) => clean(&format!("{from}/{}", shorts.show(self.name.id))).into_owned(),
            None => shorts.show(self.name.id),
        }
    }

    /// Id of the tail, after the name of its owner: an address as it stands.
    fn address(&self) -> String {
        match &self.from {
            Some(from) => clean(&format!("{from}/{}", self.name.id)).into_owned(),
            None => self.name.id.to_string(),
        }
    }
}

/// The facts about a conv besides its tail and last question.
pub struct More {
    pub root: BubbId,
    pub first: Option<Name>,
    /// The newest of its bubbs that the journal has tokens of.
    pub fact: Option<Fact>,
    /// The window of the model that it is of, in tokens.
    pub window: Option<u64>,
    /// The cost of its answers, where it is shown.
    pub cost: Cost,
}

impl More {
    /// The tokens: the last request and its answer.
    pub fn tokens(&self) -> Option<u64> {
        let fact = self.fact.as_ref()?;
        Some(fact.input? + fact.output.unwrap_or_default())
    }
}

/// Facts that the longer forms show besides the bubbs themselves.
#[derive(Default)]
pub struct Known {
    pub facts: FactIndex,
    pub titles: HashMap<BubbId, String>,
    /// The windows of models, by name.
    pub windows: HashMap<String, u64>,
    /// The prices of tokens.
    pub prices: Prices,
}

pub fn more(
    forest: &Forest,
    (origins, costs): (&mut Origins<'_>, Option<&mut Costs<'_>>),
    known: &Known,
    tail: Ix,
) -> More {
    let origin = origins.origin(tail);
    let with_tokens = |fact: &Fact| fact.input.is_some() || fact.model.is_some();
    // An answer is near the end; a long import has none at all.
    let near = forest.up(tail).take(64);
    let fact = near.into_iter().find_map(|ix| known.facts.get(forest.name(ix).id).filter(with_tokens));
    let model = fact.as_ref().and_then(|fact| fact.model.as_ref());
    let window = model.and_then(|model| known.windows.get(model)).copied();
    let cost = costs.map(|costs| costs.cost(tail)).unwrap_or_default();
    let first = origin.question.map(|ix| forest.name(ix));
    More { root: forest.name(origin.root).id, first, fact, window, cost }
}

/// `ID (HEIGHT): EXCERPT`, with the branches behind it on a terminal. A request is whole there, on rows of its own
/// where it is longer than one.
pub fn pipe_line(
    line: &Line,
    text: Option<String>,
    names: &[String],
    pending: bool,
    context: &mut Context<'_>,
) {
    let address = line.address();
    context.out.trusted(&format!("{} ({}):", context.paint.yellow(&address), line.height));
    if let Some(text) = text {
        let taken = || format!("{address} ({}): ", line.height).len();
        let columns = pending.then(|| context.out.columns()).flatten();
        match columns.filter(|columns| taken() + width(&clean(&text)) > *columns) {
            Some(columns) => {
                let rows = quote("  ", &text, columns);
                context.out.trusted(&format!("\n{}", rows.trim_end_matches('\n')));
            }
            None => {
                context.out.untrusted(b" ");
                context.out.untrusted(text.as_bytes());
            }
        }
    }
    if context.out.is_terminal() {
        context.out.trusted(&context.paint.cyan(&in_brackets(names)));
    }
    context.out.trusted("\n");
}

/// The cells of a tail, with as much of its questions as any terminal holds.
pub fn entry(
    line: &Line,
    text: Option<String>,
    first: Option<String>,
    titles: &HashMap<BubbId, String>,
    names: &[String],
    now: u64,
) -> Entry {
    const MOST: usize = 500;
    let fact = line.more.as_ref().and_then(|more| more.fact.clone()).unwrap_or_default();
    let tokens = line.more.as_deref().and_then(More::tokens);
    let window = line.more.as_ref().and_then(|more| more.window);
    let title = line.more.as_ref().and_then(|more| titles.get(&more.root));
    Entry {
        id: line.address(),
        length: counted_in_thousands(line.questions.unwrap_or_default() as usize, "question"),
        when: when::short(line.name.id.time(), now),
        model: fact.model.map(|model| clean(shown_model(&model)).into_owned()).unwrap_or_default(),
        tokens: tokens.map(|tokens| tokens_of(tokens, window, short_count)).unwrap_or_default(),
        branches: bracketed(names),
        title: title.map(|title| excerpt_within(title, MOST)).unwrap_or_default(),
        is_fork: false,
        questions: first
            .iter()
            .chain(&text)
            .chain(&line.said)
            .map(|text| excerpt_within(text, MOST))
            .collect(),
    }
}

/// The line of `--long`.
pub fn long_line(
    line: &Line,
    entry: &Entry,
    names: &[String],
    columns: Option<usize>,
    context: &mut Context<'_>,
) {
    let more = line.more.as_deref();
    let tokens = more.and_then(More::tokens);
    let tokens = tokens.map(|tokens| tokens_of(tokens, more.and_then(|more| more.window), |n| n.to_string()));
    let or_none =
        |text: &str| if text.is_empty() { "-".to_string() } else { text.replace(char::is_whitespace, "_") };
    // Lines in a pipe keep their columns.
    let cost = columns.and_then(|_| more?.cost.words()).map(|cost| format!("{cost} ")).unwrap_or_default();
    let facts = format!(
        " ({}) {} {} {} {cost}{} ",
        line.height,
        when::iso_minute(line.name.id.time()),
        or_none(&entry.model),
        tokens.unwrap_or_else(|| "-".to_string()),
        if names.is_empty() { "-".to_string() } else { format!("[{}]", names.join(",")) },
    );
    let title = Some(&entry.title).filter(|title| !title.is_empty());
    let words = title.into_iter().chain(&entry.questions).cloned().collect::<Vec<_>>().join(" · ");
    // On a terminal without room behind them, the excerpts have a line of their own.
    let (between, room) = match columns {
        None => ("", usize::MAX),
        Some(columns) => match columns.saturating_sub(entry.id.len() + width(&facts)) {
            0..24 => ("\n    ", columns.saturating_sub(4)),
            room => ("", room),
        },
    };
    context.out.trusted(&context.paint.yellow(&entry.id));
    let facts = match columns.filter(|columns| entry.id.len() + width(facts.trim_end()) > *columns) {
        None => facts,
        // No date is broken: behind the height comes a new line.
        Some(columns) => {
            let (height, rest) = facts.trim().split_once(' ').unwrap_or_default();
            format!(" {height}\n    {}", fold(rest, columns.saturating_sub(4)).replace('\n', "\n    "))
        }
    };
    let words = excerpt_within(&words, room);
    context.out.untrusted(
        format!("{}{between}{words}", facts.trim_end_matches(if between.is_empty() { '\0' } else { ' ' }))
            .trim_end()
            .as_bytes(),
    );
    context.out.trusted("\n");
}

pub fn document(
    store: &Store,
    line: &Line,
    text: Option<String>,
    first: Option<String>,
    title: Option<&String>,
    names: &[String],
    request: Option<&ToolRequest>,
) -> serde_json::Value {
    let mut map = name_json(store, &line.name);
    if let Some(from) = &line.from {
        map.insert("from".into(), from.clone().into());
    }
    map.insert("height".into(), line.height.into());
    map.insert("excerpt".into(), text.clone().into());
    map.insert("branches".into(), names.into());
    match request {
        Some(request) => {
            map.insert("request".into(), request.to_json());
        }
        None => {
            let more = line.more.as_deref();
            let fact = more.and_then(|more| more.fact.clone()).unwrap_or_default();
            map.insert("root".into(), more.map(|more| more.root.to_string()).into());
            map.insert("title".into(), title.cloned().into());
            map.insert("first".into(), first.map(|text| excerpt(&text)).or(text).into());
            map.insert("answer".into(), line.said.as_ref().map(|said| excerpt(said)).into());
            map.insert("model".into(), fact.model.into());
            map.insert("usage".into(), serde_json::json!({ "input": fact.input, "output": fact.output }));
            map.insert("window".into(), more.and_then(|more| more.window).into());
            let cost = more.map(|more| more.cost).unwrap_or_default();
            map.insert("cost".into(), cost.amount().into());
            map.insert("cost_partial".into(), cost.is_partial().into());
        }
    }
    map.into()
}

/// Entries whose columns stand under each other: those of the first screens decide how wide they are.
#[derive(Default)]
pub struct Table {
    waiting: Vec<Entry>,
    columns: usize,
    widths: Option<Widths>,
    titles: HashSet<String>,
    /// Prefix of each row.
    before: String,
}

impl Table {
    const FIRST: usize = 64;

    /// The columns a project's path has, of so many.
    const OF_PATH: usize = 24;

    /// The rows of a project, where there are several.
    pub fn of_project(project: Option<&str>) -> Table {
        let before = project.map(|project| {
            let path = clean(project);
            let skipped = path.chars().count().saturating_sub(Table::OF_PATH);
            match skipped {
                0 => format!("{path} "),
                skipped => format!("…{} ", path.chars().skip(skipped + 1).collect::<String>()),
            }
        });
        Table { before: before.unwrap_or_default(), ..Table::default() }
    }

    pub fn push(&mut self, mut entry: Entry, columns: usize, context: &mut Context<'_>) {
        self.columns = columns.saturating_sub(width(&self.before));
        entry.is_fork = !entry.title.is_empty() && !self.titles.insert(entry.title.clone());
        self.waiting.push(entry);
        if self.widths.is_some() || self.waiting.len() == Table::FIRST {
            self.print(context);
        }
    }

    pub fn print(&mut self, context: &mut Context<'_>) {
        let widths = *self.widths.get_or_insert_with(|| Widths::of(&self.waiting, self.columns));
        for entry in self.waiting.drain(..) {
            context.out.trusted(&context.paint.dim(&self.before));
            context.out.trusted(&lay_out(&entry, widths, self.columns, context.paint));
        }
    }
}
