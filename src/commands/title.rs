//! `lepo title`: a name for a conversation, for people to find it by.

use super::words::find_one;
use super::{Context, complete};
use crate::term::say;
use lepo_base::error::{Result, quoted};
use lepo_store::conv::Origins;

/// Give a conversation a title
///
/// `lepo ls` shows it on a terminal. All conversations that begin at the same root share a title; the latest
/// one counts. Without WORDS the title is printed. Titles are kept in the file `_titles` of the store.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo title @ Dates and time zones\n  lepo title @\n  lepo title --delete @"
)]
pub struct TitleArgs {
    /// A message of the conversation
    #[arg(value_name = "ADDR", add = complete::address())]
    address: String,
    /// The title
    #[arg(value_name = "WORDS", conflicts_with = "delete")]
    words: Vec<String>,
    /// Remove the title
    #[arg(short, long)]
    delete: bool,
}

impl TitleArgs {
    /// No title is changed.
    pub fn only_prints(&self) -> bool {
        self.words.is_empty() && !self.delete
    }
}

/// Sets, prints or takes away.
pub fn run_title(args: TitleArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, found) = find_one(&store, &args.address, &[])?;
    let bubb = found.ix;
    let root = forest.name(Origins::of(&forest).origin(bubb).root).id;
    if args.delete {
        store.titles().set(root, "")?;
    } else if !args.words.is_empty() {
        store.titles().set(root, &args.words.join(" "))?;
    } else {
        match store.titles().all().get(&root) {
            Some(title) => context.out.line(title),
            None => {
                say(&format!("no title; to give it one: lepo title {} WORDS", quoted(&args.address)));
                return Ok(1);
            }
        }
    }
    Ok(0)
}
