//! `lepo diff --turns`: compares two conversations question by question, with both answers.

use std::borrow::Cow;

use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, model_label, thousands};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, Store};
use lepo_turn::StoppedAnswers;
use schemars::JsonSchema;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::inline::{print_words, push_lines};
use crate::commands::Context;
use crate::term::{Wrap, clean, columns, fold, padded, width, wrap_line};
use crate::ui::set_apart;
use crate::view::{IdText, UsageFields};

/// On fewer columns, answers are printed one after the other.
const WIDE: usize = 100;

struct DiffTurn {
    id: BubbId,
    question: String,
    answer: Option<AnswerText>,
}

/// All visible answers, joined.
struct AnswerText {
    id: BubbId,
    text: String,
}

struct TurnPair {
    a: Option<DiffTurn>,
    b: Option<DiffTurn>,
}

#[derive(Default, Serialize, JsonSchema)]
struct Counts {
    questions: usize,
    /// Questions with the same answer.
    same: usize,
    /// Questions with two answers that differ.
    different: usize,
    /// Questions that are in one conversation only, or answered in one only.
    only: usize,
}

/// A single document: two conversations question by question.
#[derive(Serialize, JsonSchema)]
pub struct DiffDocument<'d> {
    pairs: Vec<PairFields<'d>>,
    #[serde(flatten)]
    counts: &'d Counts,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct PairFields<'d> {
    /// From A, or from B if A has none.
    question: &'d str,
    a: Option<SideFields<'d>>,
    b: Option<SideFields<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "side")]
struct SideFields<'d> {
    /// The question.
    user: IdText,
    question: &'d str,
    /// The last message of the answer, or null without one.
    id: Option<IdText>,
    text: Option<&'d str>,
    model: Option<String>,
    usage: UsageFields,
    /// Milliseconds from the request to the end.
    ms: Option<u64>,
}

/// Compares the conversations and prints each question with both answers; returns whether all are equal.
pub fn compare(
    store: &Store,
    forest: &Forest,
    ends: (Ix, Ix),
    as_json: bool,
    context: &mut Context<'_>,
) -> Result<bool> {
    let pairs = pairs(turns(store, forest, ends.0)?, turns(store, forest, ends.1)?);
    let counts = count(&pairs);
    let facts = store.journal().index();
    if as_json {
        let pairs = pairs.iter().map(|pair| PairFields::new(pair, &facts)).collect();
        context.out.document(&DiffDocument { pairs, counts: &counts });
    } else {
        for (at, pair) in pairs.iter().enumerate() {
            if context.out.closed() {
                break;
            }
            print(at + 1, pair, &facts, context);
        }
        let summary = format!(
            "{}: {} the same, {} different, {} in one only",
            lepo_store::bubb::plural(counts.questions, "question"),
            counts.same,
            counts.different,
            counts.only
        );
        context.out.line(&folded(summary, context));
    }
    Ok(counts.same == counts.questions)
}

fn turns(store: &Store, forest: &Forest, end: Ix) -> Result<Vec<DiffTurn>> {
    let mut turns: Vec<DiffTurn> = Vec::new();
    let stopped = StoppedAnswers::new(store, forest);
    for ix in forest.conv(end).path {
        let name = forest.name(ix);
        match (name.role, !stopped.is_shown(&name)) {
            (Role::User, false) => {
                turns.push(DiffTurn { id: name.id, question: store.excerpt_text(&name)?, answer: None });
            }
            (Role::Assistant, false) => {
                let Some(turn) = turns.last_mut() else { continue };
                let text = store.text(&name)?;
                let text = if name.hidden { format!("{} (stopped)", text.trim_end()) } else { text };
                turn.answer = Some(match turn.answer.take() {
                    Some(before) => AnswerText { id: name.id, text: format!("{}\n\n{text}", before.text) },
                    None => AnswerText { id: name.id, text },
                });
            }
            _ => {}
        }
    }
    Ok(turns)
}

/// Pairs equal questions; between those, questions at the same position.
fn pairs(a: Vec<DiffTurn>, b: Vec<DiffTurn>) -> Vec<TurnPair> {
    let texts =
        |turns: &[DiffTurn]| turns.iter().map(|turn| turn.question.trim().to_string()).collect::<Vec<_>>();
    let ops = capture_diff_slices(Algorithm::Myers, &texts(&a), &texts(&b));
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut pairs = Vec::new();
    for op in ops {
        let (old, new) = match op {
            DiffOp::Equal { len, .. } => (len, len),
            DiffOp::Delete { old_len, .. } => (old_len, 0),
            DiffOp::Insert { new_len, .. } => (0, new_len),
            DiffOp::Replace { old_len, new_len, .. } => (old_len, new_len),
        };
        for at in 0..old.max(new) {
            let take = |turns: &mut std::vec::IntoIter<DiffTurn>, count| {
                if at < count { turns.next() } else { None }
            };
            pairs.push(TurnPair { a: take(&mut a, old), b: take(&mut b, new) });
        }
    }
    pairs
}

fn count(pairs: &[TurnPair]) -> Counts {
    let mut counts = Counts { questions: pairs.len(), ..Counts::default() };
    for pair in pairs {
        match (answer(&pair.a), answer(&pair.b)) {
            (Some(a), Some(b)) if a.text.trim_end() == b.text.trim_end() => counts.same += 1,
            (Some(_), Some(_)) => counts.different += 1,
            _ => counts.only += 1,
        }
    }
    counts
}

fn answer(turn: &Option<DiffTurn>) -> Option<&AnswerText> {
    turn.as_ref()?.answer.as_ref()
}

impl<'d> PairFields<'d> {
    fn new(pair: &'d TurnPair, facts: &JournalIndex) -> PairFields<'d> {
        let asked = pair.a.as_ref().or(pair.b.as_ref());
        let side = |turn: &'d Option<DiffTurn>| turn.as_ref().map(|turn| SideFields::new(turn, facts));
        PairFields {
            question: asked.map(|turn| turn.question.as_str()).unwrap_or_default(),
            a: side(&pair.a),
            b: side(&pair.b),
        }
    }
}

impl<'d> SideFields<'d> {
    fn new(turn: &'d DiffTurn, facts: &JournalIndex) -> SideFields<'d> {
        let answer = turn.answer.as_ref();
        let fact = answer.and_then(|answer| facts.get(answer.id)).unwrap_or_default();
        SideFields {
            user: IdText(turn.id),
            question: &turn.question,
            id: answer.map(|answer| IdText(answer.id)),
            text: answer.map(|answer| answer.text.as_str()),
            model: fact.model,
            usage: UsageFields { input: fact.input, output: fact.output },
            ms: fact.ms,
        }
    }
}

/// Formats `A: MODEL · 12 in · 34 out · 1.2 s`.
fn head(side: &str, turn: &Option<DiffTurn>, facts: &JournalIndex) -> String {
    let Some(answer) = answer(turn) else {
        let lacks = if turn.is_some() { "not answered" } else { "not asked" };
        return format!("{side}: {lacks}");
    };
    let fact = facts.get(answer.id).unwrap_or_default();
    let mut parts: Vec<String> =
        fact.model.iter().map(|model| clean(model_label(model)).to_string()).collect();
    parts.extend(fact.input.map(|input| format!("{} in", thousands(input))));
    parts.extend(fact.output.map(|output| format!("{} out", thousands(output))));
    parts.extend(fact.ms.map(|ms| format!("{}.{} s", ms / 1000, ms % 1000 / 100)));
    if parts.is_empty() { side.to_string() } else { format!("{side}: {}", parts.join(" · ")) }
}

fn print(number: usize, pair: &TurnPair, facts: &JournalIndex, context: &mut Context<'_>) {
    let (a, b) = (answer(&pair.a), answer(&pair.b));
    let heads = (head("A", &pair.a, facts), head("B", &pair.b, facts));
    let title = format!("# {number}");
    context.out.trusted(&context.paint.bold(&title));
    context.out.trusted("\n");
    let asked = [pair.a.as_ref(), pair.b.as_ref()].into_iter().flatten().map(|turn| turn.question.as_str());
    let mut asked: Vec<&str> = asked.collect();
    asked.dedup_by(|one, other| one.trim() == other.trim());
    let headings = ["# ".to_string(), "## A".to_string(), "## B".to_string()];
    for question in asked {
        print_prose(question, &headings, context);
        context.out.trusted("\n");
    }
    match (a, b, context.out.columns()) {
        (Some(a), Some(b), Some(columns)) if columns >= WIDE => {
            let (left, right) = ((&*heads.0, &*a.text), (&*heads.1, &*b.text));
            print_side_by_side(columns, left, right, context)
        }
        (Some(a), Some(b), Some(columns)) => {
            for line in heads_within(&heads, columns) {
                context.out.trusted(&context.paint.bold(&line));
                context.out.trusted("\n");
            }
            print_words(a.text.as_bytes(), b.text.as_bytes(), context.out, context.paint);
            context.out.trusted("\n");
        }
        _ => {
            for (head, answer) in [(heads.0, a), (heads.1, b)] {
                let head = folded(format!("## {head}"), context);
                context.out.trusted(&context.paint.bold(&head));
                context.out.trusted("\n");
                if let Some(answer) = answer {
                    print_prose(&answer.text, &headings, context);
                }
                context.out.trusted("\n");
            }
        }
    }
}

fn folded(text: String, context: &Context<'_>) -> String {
    match context.out.columns() {
        Some(columns) => fold(&text, columns),
        None => text,
    }
}

/// Prints a text and a newline. No line of it can be mistaken for a heading, and it is wrapped on a terminal.
fn print_prose(text: &str, headings: &[String], context: &mut Context<'_>) {
    let text: Cow<'_, [u8]> = set_apart(text.trim_end().as_bytes(), headings);
    if context.out.columns().is_none() {
        context.out.untrusted(&text);
    } else {
        let (mut wrap, mut shown) = (Wrap::new(columns), String::new());
        push_lines(&clean(&String::from_utf8_lossy(&text)), &mut wrap, &mut shown);
        wrap.finish(&mut shown);
        context.out.trusted(&shown);
    }
    context.out.trusted("\n");
}

/// Formats `A: … | B: …`, on two lines if it does not fit on one.
fn heads_within(heads: &(String, String), columns: usize) -> Vec<String> {
    let whole = format!("{} | {}", heads.0, heads.1);
    match width(&whole) <= columns {
        true => vec![whole],
        false => [&heads.0, &heads.1].map(|head| fold(head, columns)).into(),
    }
}

/// Prints both answers in two columns, each a heading and a text.
fn print_side_by_side(
    columns: usize,
    (head_a, a): (&str, &str),
    (head_b, b): (&str, &str),
    context: &mut Context<'_>,
) {
    let room = (columns - 3) / 2;
    let lines = |text: &str| {
        let mut pieces = Vec::new();
        clean(text.trim_end()).lines().for_each(|line| wrap_line(line, room, &mut pieces));
        pieces
    };
    let (left, right) = (lines(a), lines(b));
    let (mut heads_a, mut heads_b) = (Vec::new(), Vec::new());
    wrap_line(head_a, room, &mut heads_a);
    wrap_line(head_b, room, &mut heads_b);
    let mut row = |left: Option<&String>, right: Option<&String>, bold: bool| {
        let (left, right) = (left.map_or("", String::as_str), right.map_or("", String::as_str));
        let line = format!("{} | {right}", padded(left, room));
        let line = line.trim_end();
        context.out.trusted(&if bold { context.paint.bold(line) } else { line.to_string() });
        context.out.trusted("\n");
    };
    for at in 0..heads_a.len().max(heads_b.len()) {
        row(heads_a.get(at), heads_b.get(at), true);
    }
    for at in 0..left.len().max(right.len()) {
        row(left.get(at), right.get(at), false);
    }
    context.out.trusted("\n");
}
