//! `lepo show`: prints a conv for reading, or a bubb verbatim.

use super::address_args::find_all;
use super::code_blocks::wanted_blocks;
use super::json_messages::write_messages;
use super::{Context, complete};
use crate::stats::Costs;
use crate::term::{StatusLine, print_status};
use crate::ui::{MessageView, copy_bubb, reading_settings, warn_incomplete};
use clap::ArgAction;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::BubbName;
use lepo_store::conv::{AddressMatch, Forest};
use lepo_store::store::Store;
use lepo_turn::StoppedAnswers;

/// Show a conversation, or only its last message (--one)
///
/// Each message is a line `# user ID`, its text, and an empty line. In a debate, the speaker's name follows the id.
/// Hidden messages are left out unless asked for. ADDR is any address of lepo(7), by default `@`, the end of the
/// newest conversation. A range A..B shows only the messages that B's conversation has and A's does not.
///
/// On a terminal, the line also has the time and the model, Markdown is rendered, and output longer than a screen
/// goes through a pager: LEPO_PAGER, PAGER, or `less -FRX`. If prices are configured, the cost of the conversation is
/// printed above it: `cost 0.42`, with `+` if the cost of some answers is unknown. Below a question without an answer,
/// a line says what became of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo show -1                   # the last answer, byte for byte\n  \
    lepo show                      # the whole conversation\n  lepo show -x > script.sh        # its first code block\n  lepo show --one @^\n  lepo show main..@\n  \
    lepo show --paths @ | xargs grep -n README\n  lepo show --blobs | xargs ls -l\n  lepo ls | head -3 | cut -d' ' -f1 | lepo show -")]
pub struct ShowArgs {
    /// The messages whose conversations are shown; `-` reads addresses from stdin, one per line
    #[arg(value_name = "ADDR", default_value = "@", add = complete::address())]
    addresses: Vec<String>,
    /// Print only that message, byte for byte; without ADDR, the last answer
    #[arg(short = '1', long)]
    one: bool,
    /// Print only the first code block of that message; with -xx, all of them
    ///
    /// If it has none, prints nothing and exits with 1.
    #[arg(short = 'x', long, action = ArgAction::Count, conflicts_with_all = ["one", "paths", "blobs", "json"])]
    code: u8,
    /// Show hidden messages too
    #[arg(short = 'a', long, alias = "all")]
    hidden: bool,
    /// Print the paths of the files instead of their text
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// Print the paths of the blobs that they name instead: attached files, long tool output
    #[arg(long, conflicts_with_all = ["json", "paths"])]
    blobs: bool,
    /// Do not render Markdown
    #[arg(long)]
    plain: bool,
    /// Print one JSON document: {"bubbs": [...]}, with model, usage, ms and exit from the journal
    #[arg(long)]
    pub json: bool,
}

impl ShowArgs {
    /// Whether whole conversations are printed, and not bytes or paths.
    pub fn is_for_reading(&self) -> bool {
        !self.paths && !self.blobs && !self.one && self.code == 0 && !self.json
    }
}

pub fn run_show(args: ShowArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, found) = find_all(&store, &args.addresses, &[])?;
    let stopped = StoppedAnswers::new(&store, &forest);
    if args.json {
        let names = found.iter().flat_map(|found| bubbs(&args, (&forest, &stopped), found));
        write_messages(&store, &forest, names, context.out)?;
        return Ok(0);
    }
    if args.code > 0 {
        let names: Vec<BubbName> =
            found.iter().flat_map(|found| bubbs(&args, (&forest, &stopped), found)).collect();
        return print_code(&args, &store, &names, context);
    }
    let tells_costs = context.out.is_terminal() && !args.paths && !args.blobs && !args.one;
    let (prices, math) = if tells_costs { reading_settings() } else { Default::default() };
    let view = MessageView::new(&store, &forest, context.out, context.forced_paint, (args.plain, math));
    for found in &found {
        if let (AddressMatch::One(found), Some(mut costs)) =
            (found, Costs::new(&forest, view.facts(), &prices))
            && let Some(cost) = costs.cost(found.ix).text()
        {
            context.out.trusted(&format!("{}\n", context.paint.dim(&format!("cost {cost}"))));
        }
        let names = bubbs(&args, (&forest, &stopped), found);
        if !(args.paths || args.blobs || args.one) {
            view.print_all(&names, context.out)?;
            continue;
        }
        for name in &names {
            if context.out.closed() {
                return Ok(0);
            }
            show(&args, (&store, name), context)?;
        }
    }
    Ok(0)
}

/// Prints the path, the blobs or the bytes of a bubb.
fn show(args: &ShowArgs, (store, name): (&Store, &BubbName), context: &mut Context<'_>) -> Result<()> {
    if args.paths {
        context.out.path(&store.bubb_path(name));
    } else if args.blobs {
        blobs(store, name, context)?;
    } else {
        copy_bubb(store, name, context.out)?;
        // Only the bytes; on a terminal also a newline, so that the prompt starts on its own line.
        if context.out.is_terminal() && !context.out.at_line_start() {
            context.out.trusted("\n");
        }
    }
    Ok(())
}

fn bubbs(
    args: &ShowArgs,
    (forest, stopped): (&Forest, &StoppedAnswers),
    found: &AddressMatch,
) -> Vec<BubbName> {
    let path = match found {
        AddressMatch::One(found) if args.one || args.code > 0 => return vec![forest.name(found.ix)],
        AddressMatch::One(found) => {
            let conv = forest.conv(found.ix);
            warn_incomplete(&conv);
            conv.path
        }
        AddressMatch::Range(bubbs) => bubbs.clone(),
    };
    path.into_iter().map(|ix| forest.name(ix)).filter(|name| args.hidden || stopped.is_shown(name)).collect()
}

/// Prints the requested code blocks; exit 1 without any.
fn print_code(args: &ShowArgs, store: &Store, names: &[BubbName], context: &mut Context<'_>) -> Result<u8> {
    let mut code: Vec<String> = Vec::new();
    for name in names {
        code.extend(wanted_blocks(&store.text(name)?, args.code));
    }
    if code.is_empty() {
        return Err(Error::nothing("no code block there").hint("`lepo show` prints the conversation"));
    }
    context.out.untrusted(code.join("\n").as_bytes());
    Ok(0)
}

/// Prints the paths of the blobs that a bubb names; warns about missing ones.
fn blobs(store: &Store, name: &BubbName, context: &mut Context<'_>) -> Result<()> {
    for hash in store.blobs_named_by(name)? {
        let path = store.blob_path(&hash);
        match store.open_blob(&hash)? {
            Some(_) => context.out.path(&path),
            None => print_status(&StatusLine::warning(format!(
                "{}, named by {}, is missing",
                path.display(),
                name.id
            ))),
        }
    }
    Ok(())
}
