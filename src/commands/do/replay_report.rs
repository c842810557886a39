//! Reports a replay: the tails of its lines on stdout, and on stderr a table that compares old and new
//! answers.

use super::DoArgs;
use super::document::{DoDocument, ReplayFields};
use crate::commands::Context;
use crate::term::{Column, Table, columns, excerpt_within, print_status, stderr_is_terminal};
use crate::ui::{ShortIds, TurnDocument};
use crate::view::IdText;
use lepo_base::error::{Result, quoted};
use lepo_base::hint::{Hint, HintCommand, HintTarget};
use lepo_model::{ModelConfig, Usage};
use lepo_store::bubb::{BubbId, thousands};
use lepo_store::conv::ReadScope;
use lepo_store::store::{JournalIndex, Store};
use lepo_turn::config::short_cost;
use lepo_turn::replay::ReplayOutcome;

const QUESTION: usize = 30;

/// The question, which makes room for the figures on a narrow terminal; tokens, seconds and cost.
const COLUMNS: [Column; 4] = [Column::CUT.at_least(10), Column::RIGHT, Column::RIGHT, Column::RIGHT];

pub struct ReplayReport<'t> {
    pub args: &'t DoArgs,
    pub store: &'t Store,
    pub lines: &'t [ReplayOutcome],
    /// The configured models, with their prices.
    pub models: &'t [ModelConfig],
    pub configs: &'t [ModelConfig],
    /// `@` before the replay.
    pub before: Option<BubbId>,
}

/// Tokens, time and cost of an answer, as far as known.
#[derive(Default, Clone, Copy)]
struct AnswerCost {
    tokens: Option<u64>,
    ms: Option<u64>,
    cost: Option<f64>,
}

/// Prints the tails, or the document of `--json`; prints the rest on stderr.
pub fn print(replay: &ReplayReport<'_>, context: &mut Context<'_>) -> Result<()> {
    if replay.args.json {
        context.out.document(&document(replay, context.at));
    } else {
        for tail in replay.lines.iter().filter_map(|line| line.tail) {
            context.out.line(&tail.to_string());
        }
    }
    context.out.flush();
    if replay.args.quiet {
        return Ok(());
    }
    let facts = replay.store.journal().index();
    for (line, config) in replay.lines.iter().zip(replay.configs) {
        if !replay.args.json {
            table(replay, line, config, &facts).iter().for_each(print_status);
        }
        if replay.lines.len() > 1
            && let Some(error) = &line.error
        {
            print_status(&format!("{} stopped: {}", line.name, error.chain()));
            let command = resume_command(replay.args, std::slice::from_ref(line));
            context.print_hint(Hint::from("to continue: ").bare(command));
        }
    }
    let forest = replay.store.forest_for(&[ReadScope::newest(1)])?;
    if let Some(newest) = forest.newest() {
        let shorts = ShortIds::on_terminal(stderr_is_terminal(), forest.all().map(|ix| forest.name(ix).id));
        let now = format!("@ is now {}", shorts.show(forest.name(newest).id));
        let path: Vec<BubbId> = forest.conv(newest).path.iter().map(|ix| forest.name(*ix).id).collect();
        let stopped = replay.lines.iter().filter(|line| line.error.is_some());
        let is_part = stopped.filter_map(|line| line.tail).any(|tail| path.contains(&tail));
        match replay.before.filter(|before| is_part && !path.contains(before)) {
            Some(before) => {
                let command = HintCommand::Lepo(format!("do --tail {before}"));
                let text = format!("{now}, which the replay left unfinished; the conversation before it: ");
                context.print_hint(Hint::from(text).bare(command));
            }
            None => print_status(&now),
        }
    }
    Ok(())
}

fn document<'d>(replay: &'d ReplayReport<'_>, at: HintTarget<'_>) -> DoDocument<'d> {
    let line = |line: &'d ReplayOutcome| {
        let turns = line.turns.iter().map(|(_, outcome)| TurnDocument::new(replay.store, outcome, at));
        ReplayFields { name: &line.name, tail: line.tail.map(IdText), turns: turns.collect() }
    };
    DoDocument::Replay(replay.lines.iter().map(line).collect())
}

/// Formats a row for each question: tokens, seconds and cost, old and new.
fn table(
    replay: &ReplayReport<'_>,
    line: &ReplayOutcome,
    config: &ModelConfig,
    facts: &JournalIndex,
) -> Vec<String> {
    let mut rows = vec![[line.name.clone(), "tokens".into(), "seconds".into(), "cost".into()]];
    let (mut old_sum, mut new_sum) = (AnswerCost::default(), AnswerCost::default());
    for (step, outcome) in &line.turns {
        let old = step.answer.and_then(|answer| facts.get(answer.id)).unwrap_or_default();
        let by = replay.models.iter().find(|model| Some(&model.name) == old.model.as_ref());
        let usage = Usage { input: old.input, output: old.output, cached: old.cached, ..Usage::default() };
        let old = AnswerCost::from_usage(usage, old.ms, by);
        let answer = outcome.answer.as_ref();
        let new = answer.map(|answer| AnswerCost::from_usage(answer.usage, Some(answer.ms), Some(config)));
        let new = new.unwrap_or_default();
        old_sum.add(old);
        new_sum.add(new);
        let text = replay.store.excerpt_text(&step.question).unwrap_or_default();
        rows.push(row(excerpt_within(&text, QUESTION), old, new));
    }
    if line.turns.len() > 1 {
        rows.push(row("total".into(), old_sum, new_sum));
    }
    let table = Table::new(&COLUMNS, 2, &rows, stderr_is_terminal().then(columns));
    rows.iter().map(|row| table.line(row)).collect()
}

fn row(question: String, old: AnswerCost, new: AnswerCost) -> [String; 4] {
    let both = |old: Option<String>, new: Option<String>| match (old, new) {
        (None, None) => String::new(),
        (old, new) => {
            format!("{} → {}", old.unwrap_or_else(|| "?".into()), new.unwrap_or_else(|| "?".into()))
        }
    };
    let seconds = |ms: u64| format!("{}.{}", ms / 1000, ms % 1000 / 100);
    let cost = |cost: f64| match format!("{cost:.4}") {
        nothing if nothing == "0.0000" => short_cost((cost * 1e12).round() as u128),
        text => text,
    };
    [
        question,
        both(old.tokens.map(thousands), new.tokens.map(thousands)),
        both(old.ms.map(seconds), new.ms.map(seconds)),
        both(old.cost.map(cost), new.cost.map(cost)),
    ]
}

impl AnswerCost {
    fn from_usage(usage: Usage, ms: Option<u64>, model: Option<&ModelConfig>) -> AnswerCost {
        let known = usage.input.or(usage.output);
        let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
        let cached = usage.cached.unwrap_or(0).min(input);
        let price = model.and_then(|model| model.price).filter(|_| known.is_some());
        let cost = price.map(|price| {
            let parts = [(input - cached, price.input), (cached, price.cached), (output, price.output)];
            let sum: u128 =
                parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
            sum as f64 / 1e12
        });
        AnswerCost { tokens: known.map(|_| input.saturating_add(output)), ms, cost }
    }

    fn add(&mut self, more: AnswerCost) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        self.tokens = sum(self.tokens, more.tokens);
        self.ms = sum(self.ms, more.ms);
        self.cost = match (self.cost, more.cost) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
    }
}

/// Returns the command that resumes a replay.
pub fn resume_command(args: &DoArgs, lines: &[ReplayOutcome]) -> HintCommand {
    let mut command = format!("do --replay {}", quoted(args.replay.replay.as_deref().unwrap_or("@")));
    if args.replay.teacher {
        return HintCommand::Lepo(command + " --teacher");
    }
    for line in lines {
        let model = if args.model.is_empty() { String::new() } else { format!(" -m {}", quoted(&line.name)) };
        command.push_str(&model);
        if let Some(tail) = line.tail {
            command.push_str(&format!(" --onto {tail}"));
        }
    }
    HintCommand::Lepo(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_told() {
        let took = |tokens, ms| AnswerCost { tokens, ms, cost: None };
        let report = row("Q".into(), took(Some(1234), Some(1500)), took(None, Some(80)));
        assert_eq!(report, ["Q", "1,234 → ?", "1.5 → 0.0", ""].map(String::from));
        let mut sum = AnswerCost::default();
        sum.add(took(Some(1), None));
        sum.add(took(Some(2), Some(3)));
        assert_eq!((sum.tokens, sum.ms, sum.cost), (Some(3), Some(3), None));
    }
}
