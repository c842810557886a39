//! `lepo watch`: bubbs as they are written, by whomever.

use std::time::Duration;

use super::Context;
use super::json::name_json;
use super::line::{bubb_line, excerpt_of};
use crate::error::Result;
use crate::term::stdout_is_read;

/// How often it is looked whether anybody reads, and whether the store is there.
const TICK: Duration = Duration::from_millis(500);

/// Print bubbs as they are written, by any process
///
/// One line each, as in `lepo log`: id, kind, and the first and last 12 characters. It ends with
/// Ctrl+C, or when nobody reads its output any more.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo watch\n  lepo watch --json | jq -r 'select(.kind == \"assistant\") | .path'\n  \
    lepo watch | while read id kind rest; do notify-send \"$rest\"; done"
)]
pub struct WatchArgs {
    /// Hidden bubbs too
    #[arg(short, long)]
    all: bool,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Watches until the end.
pub fn run_watch(args: WatchArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let mut watch = store.watch()?;
    while !context.out.closed() && stdout_is_read() {
        let Some(name) = watch.next(TICK)? else { continue };
        if name.hidden && !args.all {
            continue;
        }
        if args.json {
            let mut map = name_json(&store, &name);
            map.insert("excerpt".into(), excerpt_of(&store, &name).into());
            context.out.line(&serde_json::Value::Object(map).to_string());
        } else {
            bubb_line(&store, &name, "", &[], &[], context);
        }
        context.out.flush();
    }
    Ok(0)
}
