//! `lepo grep -c`: counts the matching lines in the conversation of each tail.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::commands::Context;
use crate::term::{excerpt, warn};
use lepo_base::error::Result;
use lepo_search::{ConvPositions, FileResult, LineKind, Pattern, search_files};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Forest;
use lepo_store::store::Store;

/// Prints `COUNT ID first question` for each tail with a match, newest first, up to a limit. `is_torn`:
/// unreadable folders were already reported.
pub fn run(
    store: &Store,
    (forest, is_torn): (&Forest, bool),
    pattern: &Pattern,
    (names, most): (Vec<BubbName>, Option<usize>),
    context: &mut Context<'_>,
) -> Result<(usize, bool)> {
    let mut counts: HashMap<BubbId, u32> = HashMap::new();
    let mut unreadable = is_torn;
    let _ = search_files(store, pattern, names.into_iter(), |outcome| {
        match outcome {
            FileResult::Found(name, lines) => {
                let matching = lines.iter().filter(|line| line.kind == LineKind::Match).count();
                counts.insert(name.id, u32::try_from(matching).unwrap_or(u32::MAX));
            }
            FileResult::Unreadable(error) => {
                unreadable = true;
                warn(&error);
            }
        }
        ControlFlow::Continue(())
    });
    let mut convs = ConvPositions::new(|id| forest.find(id).map(|ix| forest.name(ix)));
    let mut sums = forest.sums(|ix| counts.get(&forest.name(ix).id).copied().unwrap_or_default());
    let mut row = 0;
    for tail in forest.newest_first(false) {
        let count = sums.value(tail);
        if count == 0 {
            continue;
        }
        if most.is_some_and(|most| row >= most) {
            break;
        }
        let name = forest.name(tail);
        let first = convs.position(&name).first.and_then(|first| store.excerpt_text(&first).ok());
        context.out.trusted(&format!("{count} {} ", context.paint.yellow(&name.id.to_string())));
        context.out.untrusted(excerpt(&first.unwrap_or_default()).as_bytes());
        context.out.trusted("\n");
        context.out.row_done(row);
        row += 1;
        if context.out.closed() {
            break;
        }
    }
    Ok((row, unreadable))
}
