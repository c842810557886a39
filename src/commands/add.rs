//! `lepo add`: writes a bubb, for scripts.

use super::own_newest::note_used;
use super::repo_files::{REPO_FILES, trusted};
use super::secret_finder::masked;
use super::text_source::TextSource;
use super::tidy_after::tidy_after;
use super::{Context, complete};
use crate::commands::user_env::UserEnv;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::time;
use lepo_store::conv::ReadScope;
use lepo_store::store::Store;
use lepo_turn::config::{Flags, load_settings};
use lepo_turn::{write_bubb, write_bubb_at};

/// Add one message from stdin and print its id
///
/// Plumbing: stdin is stored byte for byte. Without --prev the message continues the newest conversation, or starts
/// one if the store is empty.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  echo 'why?' | lepo add\n  git diff | lepo add --kind s --prev main\n  \
    echo 'what was said' | lepo add --prev head --time 2025-03-01T12:00Z")]
pub struct AddArgs {
    /// The kind of the message: s (system), u (user), a (assistant) or t (tool)
    #[arg(long, default_value = "u", value_parser = kind, value_name = "KIND", add = complete::kind())]
    kind: Role,
    /// Hide the message: only -a shows it
    #[arg(long)]
    hidden: bool,
    /// The message to follow, or `head` to start a conversation
    #[arg(long, value_name = "ADDR|head", add = complete::address())]
    prev: Option<String>,
    /// The time of the message, like 2025-03-01T12:00Z, local if it has no zone; always after that of --prev
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<u64>,
}

/// Parses a time into milliseconds since 1970.
fn time(text: &str) -> std::result::Result<u64, String> {
    time::parse(text, lepo_store::store::now(), time::DayEnd::First)
        .ok_or_else(|| format!("expected {}", time::FORMS))
}

fn kind(text: &str) -> std::result::Result<Role, String> {
    let found = match text.as_bytes() {
        [letter] => Role::from_letter(*letter),
        _ => Role::ALL.into_iter().find(|role| role.as_str() == text),
    };
    found.ok_or_else(|| "expected s, u, a or t".to_string())
}

pub fn run_add(args: AddArgs, context: &mut Context<'_>) -> Result<u8> {
    let bytes = TextSource::Stdin.read()?;
    if bytes.is_empty() {
        return Err(Error::usage("stdin is empty: a message needs at least one byte"));
    }
    let store = context.store_or_make(false)?;
    let kept = masked(&bytes, "stdin");
    let forest = match args.prev.as_deref() {
        Some("head") => store.forest_for(&[ReadScope::Tip])?,
        prev => store.forest_to_append(prev)?,
    };
    let prev = match args.prev.as_deref() {
        Some("head") => None,
        Some(address) => Some(store.find_bubb(&forest, address)?.ix),
        None if forest.newest().is_none() => None,
        None => Some(store.find_bubb(&forest, "@")?.ix),
    };
    let prev = prev.map(|prev| forest.name(prev).id);
    let name = match (args.time, prev) {
        (Some(time), _) => write_bubb_at(&store, (args.kind, args.hidden), prev, time, &kept)?,
        (None, Some(_)) => write_bubb(&store, (args.kind, args.hidden), prev, 0, &kept)?,
        (None, None) => {
            let time = forest.root_time();
            write_bubb(&store, (args.kind, args.hidden), None, time, &kept)?
        }
    };
    if name.is_steering() && !name.is_proven_when_written() {
        store.journal().prove([name.id]);
    }
    note_used(&store, name.id);
    context.out.line(&name.id.to_string());
    tidy_after(&store, tidy_limit(&store), false, context.out);
    Ok(0)
}

/// Returns the setting `tidy`. The message is already written, so a broken configuration is not reported
/// here.
fn tidy_limit(store: &Store) -> Option<u32> {
    const LEAST: usize = 100;
    if !store.is_untidy(LEAST) {
        return None;
    }
    let UserEnv { env, paths } = UserEnv::read().ok()?;
    let repo = trusted(store, &paths, REPO_FILES[0], true).ok()?;
    load_settings(&paths, &env, repo, &Flags::default()).ok()?.tidy.limit()
}
