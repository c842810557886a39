//! `lepo watch`: prints bubbs as any process writes them.

use std::collections::VecDeque;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::Context;
use super::summary_line::{bubb_line, excerpt_of};
use crate::term::{clean, stdout_is_read};
use crate::ui::ShortIds;
use crate::view::NameFields;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::store::{StoreWatch, WatchedBubb};

/// Interval for checking the reader of the output and the store.
const TICK: Duration = Duration::from_millis(500);

/// Number of recent hidden system bubbs to remember, which may name a speaker.
const MOST_SELECTS: usize = 256;

/// Print messages as they are written, by any process
///
/// One per line, as in `lepo log`: id, kind, the speaker in a debate, and the first and last 12 characters. Messages
/// of other people are printed when `lepo sync` fetches them, after the author's name. Ends with Ctrl+C, or when its
/// output is closed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo watch\n  lepo watch --json | jq -r 'select(.kind == \"assistant\") | .path'\n  \
    lepo watch | while read id kind rest; do notify-send \"$rest\"; done"
)]
pub struct WatchArgs {
    /// Print hidden messages too
    #[arg(short = 'a', long, alias = "all")]
    hidden: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// An object per line, for each message written.
#[derive(Serialize, JsonSchema)]
pub struct WatchDocument<'d> {
    #[serde(flatten)]
    fields: NameFields,
    /// The other user who wrote the message.
    from: Option<&'d str>,
    /// The beginning and end of the text, on one line.
    excerpt: Option<String>,
    speaker: Option<String>,
}

pub fn run_watch(args: WatchArgs, context: &mut Context<'_>) -> Result<u8> {
    let mut known = None;
    let mut shorts = ShortIds::default();
    // In a debate, the bubb that names the speaker is written just before the answer.
    let mut selects: VecDeque<BubbName> = VecDeque::new();
    loop {
        let store = context.store()?;
        let mut watch = StoreWatch::start(&store, known)?;
        while !watch.is_outdated() {
            if context.out.closed() || !stdout_is_read() {
                return Ok(0);
            }
            let Some(seen) = watch.next(TICK)? else { continue };
            let name = seen.name;
            if name.hidden && name.role == Role::System {
                selects.truncate(MOST_SELECTS - 1);
                selects.push_front(name);
            }
            let speaker = selects.iter().find_map(|before| seen.store.speaker_after(&name, before));
            if context.out.is_terminal() {
                shorts.read(name.id);
            }
            if args.hidden || !name.hidden {
                print((&seen, &shorts), speaker, &args, context);
            }
        }
        known = Some(watch.into_known());
    }
}

fn print(
    (seen, shorts): (&WatchedBubb<'_>, &ShortIds),
    speaker: Option<String>,
    args: &WatchArgs,
    context: &mut Context<'_>,
) {
    let WatchedBubb { name, store, from } = *seen;
    if args.json {
        let (fields, excerpt) = (NameFields::new(store, &name), excerpt_of(store, &name));
        context.out.document(&WatchDocument { fields, from, excerpt, speaker });
    } else {
        let whose = from.map(|clone| clean(&format!("{clone}/")).into_owned()).unwrap_or_default();
        let about: Vec<String> = speaker.into_iter().map(|speaker| format!("{speaker}:")).collect();
        bubb_line((store, shorts), &name, &whose, &about, None, &[], context);
    }
    context.out.flush();
}
