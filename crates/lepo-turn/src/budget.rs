//! Budgets: a request is sent only if the money spent, the open requests and its own estimated cost fit.
//!
//! The day is counted from the journal of the store, so that all processes count; the turn and this `do` are
//! counted in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::{Budgets, Money, Prices, Settings};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::hint::{Hint, HintCommand, ResumeAction, ResumeCommand};
use lepo_base::time;
use lepo_model::{Meter, ModelConfig, Price, RequestEstimate, RequestUsage, Usage};
use lepo_store::bubb::BubbId;
use lepo_store::store::{JournalCursor, JournalRecord, Store, now};

/// Money and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SpentAmount {
    /// In the unit of [`Money::units`].
    cost: u128,
    tokens: u64,
}

impl SpentAmount {
    fn plus(self, other: SpentAmount) -> SpentAmount {
        SpentAmount {
            cost: self.cost.saturating_add(other.cost),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }

    fn from_usage(usage: Usage, price: Option<Price>) -> SpentAmount {
        let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
        let cost = price.map_or(0, |price| price.cost(input, usage.cached.unwrap_or(0), output));
        SpentAmount { cost, tokens: input.saturating_add(output) }
    }
}

/// Older lines of the journal cannot be of the current local day. In milliseconds.
const DAYS: u64 = 3 * 24 * 3600 * 1000;

/// The costs of a local day, according to the journal.
#[derive(Default)]
struct SpendingDay {
    name: String,
    /// The position up to which the journal was read.
    cursor: JournalCursor,
    /// The sum up to this position.
    journal_cost: u128,
    /// The sum when this process started to count.
    start: u128,
    /// The costs of this process.
    own_cost: u128,
}

/// Spending of this process.
#[derive(Default)]
struct SpendingState {
    day: SpendingDay,
    turn: u128,
    all: SpentAmount,
    /// Open requests, each with its estimated maximum.
    open: HashMap<u64, SpentAmount>,
    tickets: u64,
}

/// The budget of a process.
pub struct Budget {
    limits: Budgets,
    prices: Prices,
    store: Arc<Store>,
    /// Whether the conversation is not in this store, so that its requests add lines of their own to the journal here.
    is_untracked: bool,
    spending: Mutex<SpendingState>,
}

impl Budget {
    /// Creates the budget of the settings, counted in `store`; `None` without a limit. `is_untracked`: the
    /// conversation is in another store, or not stored, and adds no lines to this one.
    pub fn new(
        settings: &Settings,
        limits: Budgets,
        store: Arc<Store>,
        is_untracked: bool,
    ) -> Option<Arc<Budget>> {
        let prices = settings.prices();
        let spending = Mutex::default();
        limits.is_any().then(|| Arc::new(Budget { limits, prices, store, is_untracked, spending }))
    }

    /// Rejects a model without a known price, if there is a limit in money.
    pub fn check(&self, config: &ModelConfig) -> Result<()> {
        match self.limits.is_in_money() && self.price(config).is_none() {
            true => Err(Error::usage(format!("a budget needs the price of model \"{}\"", config.name)).hint(
                "put it into config.toml: [[prices]] with model, input and output, per million tokens",
            )),
            false => Ok(()),
        }
    }

    /// Starts to count a turn.
    pub fn new_turn(&self) {
        self.state().turn = 0;
    }

    fn price(&self, config: &ModelConfig) -> Option<Price> {
        config.price.or_else(|| self.prices.price_of(&config.name, Some(&config.model)))
    }

    fn state(&self) -> MutexGuard<'_, SpendingState> {
        self.spending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cost of a line of the journal, if it is of this local day.
    fn cost_on(&self, day: &str, record: &JournalRecord) -> u128 {
        let moment = record.bubb.map_or(record.time, BubbId::time).max(record.time);
        if record.copy_of.is_some() || record.what == "imported" || time::day(moment) != day {
            return 0;
        }
        let price = record.model.as_deref().and_then(|model| self.prices.price_of(model, None));
        let usage =
            Usage { input: record.input, cached: record.cached, output: record.output, ..Usage::default() };
        SpentAmount::from_usage(usage, price).cost
    }

    /// Returns the spending of today, of all processes: the larger of the journal's sum and the sum of this
    /// process, whose own line may not be written yet.
    fn today(&self, day: &mut SpendingDay) -> u128 {
        let now = now();
        let name = time::day(now);
        let is_new = day.name != name;
        if is_new {
            *day = SpendingDay { name, ..SpendingDay::default() };
        }
        let mut new = 0u128;
        let anew = day.cursor.read_on(&self.store.journal(), now.saturating_sub(DAYS), |record| {
            new = new.saturating_add(self.cost_on(&day.name, &record));
        });
        day.journal_cost = if anew { new } else { day.journal_cost.saturating_add(new) };
        if is_new {
            day.start = day.journal_cost;
        }
        day.journal_cost.max(day.start.saturating_add(day.own_cost))
    }
}

impl Budget {
    /// Fails if a line cannot be written to the journal and read back, because then the spending could not be
    /// counted.
    fn check_journal(&self) -> Result<()> {
        let checked = self
            .store
            .journal()
            .add_checked(JournalRecord { what: "budget".into(), ..JournalRecord::default() });
        checked.map_err(|error| {
            let what = format!("the budget cannot be counted, and nothing was sent: {}", error.chain());
            Error::new(ExitKind::Budget, what)
                .hint("move away what has the name of that file, or make it writable")
        })
    }
}

impl Meter for Budget {
    fn before(&self, planned: RequestEstimate<'_>) -> Result<u64> {
        self.check(planned.config)?;
        let price = self.price(planned.config);
        let usage = Usage { input: Some(planned.input), output: planned.output, ..Usage::default() };
        let this = SpentAmount::from_usage(usage, price);
        let is_free = price.is_none_or(|price| price.input == 0 && price.output == 0 && price.cached == 0);
        let mut spending = self.state();
        let open = spending.open.values().fold(SpentAmount::default(), |sum, open| sum.plus(*open));
        let limits = &self.limits;
        let today = if limits.day.is_some() { self.today(&mut spending.day) } else { 0 };
        for (name, limit, so_far) in [
            ("budget.turn", limits.turn, spending.turn),
            ("budget.day", limits.day, today),
            ("--max-cost", limits.max_cost, spending.all.cost),
        ] {
            let so_far = so_far.saturating_add(open.cost);
            // Nothing more fits into a completely used budget, however little the request itself is estimated
            // to cost.
            if let Some(amount) = limit.filter(|_| !is_free)
                && let limit = amount.units()
                && (so_far >= limit || so_far.saturating_add(this.cost) > limit)
            {
                let enough = Money::of_units(limit.max(so_far).saturating_add(this.cost)).to_string();
                let (limit, so_far) = (amount.to_string(), Money::of_units(so_far).to_string());
                return Err(refused(
                    name,
                    (&limit, &so_far, enough),
                    Some(this.cost).filter(|cost| *cost > 0).map(Money::of_units),
                    planned,
                ));
            }
        }
        let so_far = spending.all.tokens.saturating_add(open.tokens);
        if let Some(limit) = limits.max_tokens_total
            && (so_far >= limit || so_far.saturating_add(this.tokens) > limit)
        {
            let enough = limit.max(so_far).saturating_add(this.tokens).to_string();
            let (limit, so_far) = (limit.to_string(), so_far.to_string());
            return Err(refused("--max-tokens-total", (&limit, &so_far, enough), None, planned));
        }
        self.check_journal()?;
        spending.tickets += 1;
        let ticket = spending.tickets;
        spending.open.insert(ticket, this);
        Ok(ticket)
    }

    fn after(&self, used: RequestUsage<'_>) {
        let sum = SpentAmount::from_usage(used.usage, self.price(used.config));
        let mut spending = self.state();
        spending.open.remove(&used.ticket);
        spending.turn = spending.turn.saturating_add(sum.cost);
        spending.day.own_cost = spending.day.own_cost.saturating_add(sum.cost);
        spending.all = spending.all.plus(sum);
        // Other processes count from the journal, so costs that no line of the conversation has get their own
        // line.
        if self.limits.day.is_some() && sum.tokens > 0 && (self.is_untracked || used.is_estimate) {
            let Usage { input, cached, output, .. } = used.usage;
            let model = Some(used.config.name.clone());
            let what = if self.is_untracked { "unkept" } else { "estimate" };
            self.store.journal().add(JournalRecord {
                what: what.into(),
                model,
                input,
                cached,
                output,
                ..JournalRecord::default()
            });
        }
    }
}

/// Returns the error of a rejected request, with a limit that would suffice.
fn refused(
    name: &'static str,
    (limit, spending, enough): (&str, &str, String),
    cost: Option<Money>,
    planned: RequestEstimate<'_>,
) -> Error {
    let about = match planned.output {
        Some(output) => format!("{} tokens, and {output} of its answer", planned.input),
        None => format!("{} tokens", planned.input),
    };
    let about = match cost {
        Some(cost) => format!("{cost} ({about})"),
        None => about,
    };
    let what =
        format!("{name} is {limit}, of which {spending} is spent, and this request needs about {about}");
    let hint = match name.starts_with("--") {
        true => Hint::from("with a higher limit: ").bare(ResumeCommand::retry_within(name, enough)),
        // A setting that no option overrides.
        false => Hint::default()
            .command(HintCommand::Lepo(format!("config {name} {enough}")))
            .text(" raises it; then ")
            .command(ResumeAction::Retry),
    };
    Error::new(ExitKind::Budget, what).hint(hint)
}
