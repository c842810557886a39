//! `lepo tidy`: moves messages of past days into folders.

use super::Context;
use super::changes::empty_old;
use super::repo_files::read_settings;
use crate::term::{ProgressMeter, StatusLine, print_status};
use lepo_base::error::Result;
use lepo_store::bubb::plural;
use lepo_store::store::{Store, TidyPlan};

const LONG_ABOUT: &str = "\
Move messages of past days into folders

    .lepo/01K9…-u0-….md                      recent messages
    .lepo/_old/2025-11/13/01K9…-a0-….md      past days: same names, same bytes

Commands then take as long in a store of ten million messages as in one of a thousand. Moves whole days, \
oldest first, that ended more than 48 hours ago. `do` and `add` move some thousands at a time automatically \
once .lepo has more than `tidy` messages (default 10000; false: never). Every command finds messages in both \
places; `grep -r PATTERN .lepo` reads all of them.

Deletes what `rm` removed longer ago than the setting `keep_removed` says.

Files that `lepo fsck` reports as misplaced are moved to the right folder.";

/// Move messages of past days into folders
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo tidy -n\n  lepo tidy\n  lepo tidy --keep 0      # all days that ended more than 48 hours ago",
    long_about = LONG_ABOUT
)]
pub struct TidyArgs {
    /// Leave about N messages in .lepo (default: half of the setting `tidy`); 0 moves all that can move
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Only list the folders and the number of messages that would move into each
    #[arg(short = 'n', long)]
    dry_run: bool,
}

impl TidyArgs {
    pub fn only_plans(&self) -> bool {
        self.dry_run
    }
}

pub fn run_tidy(args: TidyArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let keep = match args.keep {
        Some(keep) => keep,
        None => half_of_setting(context)?,
    };
    let plan = store.plan_tidy(keep)?;
    let why = reasons(&plan, args.keep.is_some());
    if args.dry_run {
        list_plan(&plan, &why, context);
        return Ok(0);
    }
    empty_old(&store)?;
    let mut progress = ProgressMeter::new(false);
    let total = plan.len() as u64;
    let tidied = store.tidy_by_plan(&plan, &mut |done| progress.show("tidying", done, total))?;
    drop(progress);
    let (messages, days) = (plural(tidied.moved, "message"), plural(plan.days.len(), "day"));
    let mut summary = format!("{messages} moved into {days}; {} stay{why}", plan.stay);
    if tidied.blobs > 0 {
        summary.push_str(&format!("; {} moved into folders", plural(tidied.blobs, "blob")));
    }
    for (count, what) in [
        (tidied.righted, "misplaced moved to the right folder"),
        (tidied.conflicting, "with different bytes in two places stay, see lepo fsck"),
    ] {
        if count > 0 {
            summary.push_str(&format!("; {count} {what}"));
        }
    }
    print_status(&summary);
    warn_of_large_directory(&store, plan.stay);
    Ok(0)
}

fn half_of_setting(context: &Context<'_>) -> Result<usize> {
    Ok(read_settings(context)?.tidy.limit().unwrap_or_default() as usize / 2)
}

/// Formats the reasons why messages stay, in brackets.
fn reasons(plan: &TidyPlan, has_keep_option: bool) -> String {
    let kept = plan.stay - plan.young - plan.unusual;
    let kept_by = match has_keep_option {
        true => "by --keep",
        false => "as half of the setting `tidy`; --keep 0 moves them",
    };
    let reasons = [
        (plan.young, "of days that ended less than 48 hours ago"),
        (plan.unusual, "that count in no folder of a day"),
        (kept, kept_by),
    ];
    let reasons: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!(" ({})", reasons.join(", ")),
    }
}

fn list_plan(plan: &TidyPlan, why: &str, context: &mut Context<'_>) {
    for (day, names) in &plan.days {
        context.out.line(&format!("{day} {}", names.len()));
    }
    for (path, _) in &plan.misplaced {
        context.out.line(&format!("{} misplaced", path.display()));
    }
    let moving = plan.days.values().map(Vec::len).sum::<usize>();
    let (messages, days) = (plural(moving, "message"), plural(plan.days.len(), "day"));
    print_status(&format!("{messages} would move into {days}; {} would stay{why}", plan.stay));
}

/// ext4 never shrinks a directory and reads all of it each time.
fn warn_of_large_directory(store: &Store, stay: usize) {
    const LARGE: u64 = 4 << 20;
    let size = store.directory_size();
    if size > LARGE && size > 1_000 * stay as u64 {
        print_status(&StatusLine::note(format!(
            "the directory {} still takes {} MB for names that were moved, which each command reads; \
             a copy of the store does not",
            store.display_path().display(),
            size >> 20
        )));
    }
}
