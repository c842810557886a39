//! `lepo diff`: compares two convs or two bubbs.

mod compare;
mod inline;
pub mod turns;

use super::address_args::find_all;
use super::{Context, complete};
use crate::term::{Out, Paint, titled};
use crate::ui::ShortIds;
use compare::{ChangeKind, counts, hunks};
use inline::print_words;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbName;
use lepo_store::conv::{AddressMatch, BubbPair, Forest, Ix, ReadScope};
use lepo_store::store::Store;
use lepo_turn::StoppedAnswers;

/// Compare two conversations after their common ancestor
///
/// Text that is only in A's conversation is shown as removed, text that is only in B's as added. Messages are matched
/// in order and by kind, so two answers to one question are compared line by line. Without A and B,
/// the two newest conversations are compared. Exits with 0 if there is no difference, with 1 if there is one.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo diff\n  lepo diff main @\n  lepo diff --one --word main @\n  lepo diff --turns main \
        @\n  \
    lepo ls -n 2 | lepo diff --stat -"
)]
pub struct DiffArgs {
    /// The first message; `-` reads addresses from stdin, one per line
    #[arg(value_name = "A", add = complete::address())]
    a: Option<String>,
    /// The second message (default: @); omit it if stdin names both
    #[arg(value_name = "B", add = complete::address())]
    b: Option<String>,
    /// Compare only the two messages, not their conversations
    #[arg(long)]
    one: bool,
    /// Compare hidden messages too
    #[arg(short = 'a', long, alias = "all", conflicts_with = "one")]
    hidden: bool,
    /// Mark differences word by word: [-removed-]{+added+}, or in colour
    #[arg(long)]
    word: bool,
    /// Print the number of lines added and removed, per message and in total
    #[arg(long, conflicts_with = "word")]
    stat: bool,
    /// Compare question by question: each question once, then both answers, side by side if they fit
    #[arg(long, conflicts_with_all = ["one", "hidden", "word", "stat"])]
    turns: bool,
    /// With --turns: print one JSON document
    #[arg(long, requires = "turns")]
    pub json: bool,
}

pub fn run_diff(args: DiffArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, (a, b)) = compared(&store, args.a, args.b)?;
    if args.turns {
        let same = turns::compare(&store, &forest, (a, b), args.json, context)?;
        return Ok(u8::from(!same));
    }
    let stopped = StoppedAnswers::new(&store, &forest);
    let pairs = match args.one {
        true => vec![BubbPair::Both(a, b)],
        false => forest.pairs(a, b, |name| args.hidden || stopped.is_shown(name)),
    };
    let shorts = ShortIds::on_terminal(context.out.is_terminal(), forest.all().map(|ix| forest.name(ix).id));
    let mut differ = false;
    let (mut added, mut removed) = (0, 0);
    for pair in pairs {
        if context.out.closed() {
            break;
        }
        let (a, b) = match pair {
            BubbPair::Both(a, b) => (Some(forest.name(a)), Some(forest.name(b))),
            BubbPair::First(a) => (Some(forest.name(a)), None),
            BubbPair::Second(b) => (None, Some(forest.name(b))),
        };
        let bytes =
            |name: &Option<BubbName>| name.as_ref().map_or(Ok(Vec::new()), |name| store.read_bubb(name));
        let (old, new) = (bytes(&a)?, bytes(&b)?);
        if a.is_some() && b.is_some() && old == new {
            continue;
        }
        differ = true;
        if args.stat {
            let (plus, minus) = counts(&old, &new);
            context.out.line(&stat(plus, minus, (a, b), &shorts));
            (added, removed) = (added + plus, removed + minus);
        } else {
            headings((a, b), (&shorts, &stopped), context.out, context.paint);
            let print = if args.word { print_words } else { print_lines };
            print(&old, &new, context.out, context.paint);
        }
    }
    if args.stat {
        context.out.line(&format!("+{added} -{removed} total"));
    }
    Ok(u8::from(differ))
}

/// Returns the messages to compare: the named ones, A and @, or the tails of the two newest conversations.
fn compared(store: &Store, a: Option<String>, b: Option<String>) -> Result<(Forest, (Ix, Ix))> {
    let Some(a) = a else {
        let forest = store.forest_for(&[ReadScope::newest(2)])?;
        let new = forest.newest();
        let old = forest.newest_first(false).find(|&tail| Some(tail) != new);
        let (Some(new), Some(old)) = (new, old) else {
            return Err(Error::nothing("there are no two conversations to compare")
                .hint("lepo diff A B compares any two messages, as in: lepo diff @~2 @"));
        };
        return Ok((forest, (old, new)));
    };
    let b = b.or_else(|| (a != "-").then(|| "@".to_string()));
    let addresses: Vec<String> = [a].into_iter().chain(b).collect();
    let (forest, found) = find_all(store, &addresses, &[])?;
    match found[..] {
        [AddressMatch::One(a), AddressMatch::One(b)] => Ok((forest, (a.ix, b.ix))),
        _ => Err(Error::usage("diff takes two messages, not a range")
            .hint("lepo diff A B, as in: lepo diff main @")),
    }
}

/// Formats `+3 -2 assistant A B`, with `-` for a missing side.
fn stat(
    added: usize,
    removed: usize,
    (a, b): (Option<BubbName>, Option<BubbName>),
    shorts: &ShortIds,
) -> String {
    let kind = a.or(b).map(|name| name.role.as_str()).unwrap_or_default();
    let id = |name: Option<BubbName>| name.map_or("-".to_string(), |name| shorts.show(name.id));
    format!("+{added} -{removed} {kind} {} {}", id(a), id(b))
}

fn headings(
    (a, b): (Option<BubbName>, Option<BubbName>),
    (shorts, stopped): (&ShortIds, &StoppedAnswers),
    out: &mut Out,
    paint: Paint,
) {
    let shown = |name: BubbName| titled(&name, &shorts.show(name.id), stopped.contains(name.id));
    let title = |name: Option<BubbName>| name.map_or("/dev/null".to_string(), shown);
    for line in [format!("--- {}", title(a)), format!("+++ {}", title(b))] {
        out.trusted(&paint.bold(&line));
        out.trusted("\n");
    }
}

fn print_lines(old: &[u8], new: &[u8], out: &mut Out, paint: Paint) {
    for hunk in hunks(old, new) {
        out.trusted(&paint.cyan(&hunk.header));
        out.trusted("\n");
        for (tag, line) in hunk.lines {
            let (sign, (begin, end)) = match tag {
                ChangeKind::Same => (" ", ("", "")),
                ChangeKind::Removed => ("-", paint.red_ends()),
                ChangeKind::Added => ("+", paint.green_ends()),
            };
            out.trusted(begin);
            out.trusted(sign);
            let text = line.strip_suffix(b"\n");
            out.untrusted(text.unwrap_or(&line));
            out.trusted(end);
            out.trusted(if text.is_some() { "\n" } else { "\n\\ No newline at end of file\n" });
        }
    }
}
