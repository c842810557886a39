//! `lepo title`: names a conversation.

use super::address_args::find_one;
use super::secret_finder::report_apparent_secret;
use super::{Context, complete};
use crate::term::{one_line, print_status, stderr_is_terminal};
use crate::ui::{ShortIds, change_title};
use crate::view::Overviews;
use lepo_base::error::{Error, Result, quoted};
use lepo_store::bubb::BubbId;
use lepo_store::store::Store;

/// Give a conversation a title
///
/// The title is shown wherever the conversation is named. All conversations with the same root share one title, the
/// latest. Without WORDS, prints the title. Titles are stored in the file `_titles` of the store.
///
/// The first word is an address if it is a full id, begins with `@`, or names a branch; otherwise all words are the
/// title of `@`. Words after `--` are always the title.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo title Dates and time zones\n  lepo title main Dates and time zones\n  lepo title\n  lepo title --delete @~2"
)]
pub struct TitleArgs {
    /// A message of the conversation (default: @), and the title
    #[arg(value_name = "[ADDR] WORDS", add = complete::address())]
    words: Vec<String>,
    /// The title
    #[arg(value_name = "WORDS", last = true, conflicts_with = "delete")]
    more: Vec<String>,
    /// Remove the title
    #[arg(short, long)]
    delete: bool,
}

impl TitleArgs {
    pub fn only_prints(&self) -> bool {
        let is_address = |word: &String| word.starts_with('@') || is_id(word);
        self.more.is_empty() && !self.delete && self.words.len() <= 1 && self.words.iter().all(is_address)
    }
}

fn is_id(word: &str) -> bool {
    BubbId::parse(word.as_bytes()).is_some()
}

pub fn run_title(args: TitleArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (address, words) = match args.words.split_first() {
        Some((first, rest)) if args.delete => match rest {
            [] => (first.as_str(), Vec::new()),
            _ => return Err(Error::usage("--delete takes one address, and no words")),
        },
        Some((first, rest)) if names_message(&store, first)? => (first.as_str(), rest.to_vec()),
        _ => ("@", args.words.clone()),
    };
    let title = [words, args.more].concat().join(" ");
    let (forest, found) = find_one(&store, address, &[])?;
    let overviews = Overviews::new(&store, &forest);
    let overview = overviews.overview(found.ix);
    // Shows the resulting title: the user sees if the first argument was not read as an address.
    let report = |text: &str| {
        if stderr_is_terminal() {
            let id = ShortIds::new(forest.all().map(|ix| forest.name(ix).id)).show(overview.tail.id);
            print_status(&one_line(&format!("title of {id}{text}")));
        }
    };
    if args.delete {
        change_title(&store, overview.root, "")?;
        report(" removed");
    } else if !title.is_empty() {
        change_title(&store, overview.root, &title)?;
        report_apparent_secret(title.as_bytes(), "the title", "lepo rm --redact --all");
        report(&format!(": {title}"));
    } else {
        match overview.title() {
            Some(title) => context.out.line(title),
            None => {
                let address = if address == "@" { String::new() } else { format!("{} ", quoted(address)) };
                context.print_hint(format!("no title; to set one: lepo title {address}WORDS"));
                return Ok(1);
            }
        }
    }
    Ok(0)
}

/// Whether an argument is an address, and not the start of a title.
fn names_message(store: &Store, word: &str) -> Result<bool> {
    Ok(word.starts_with('@') || is_id(word) || store.branches()?.iter().any(|(name, _)| name == word))
}
