//! The end of a turn whose output nobody reads any more.

use std::time::Duration;

use super::DoArgs;
use crate::term::stdout_is_read;
use lepo_turn::Interrupt;

/// The time for which an answer is received that nobody reads.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two looks at the pipe.
const STEP: Duration = Duration::from_millis(200);

/// Does the work of a turn. With its output unread for a while, it is stopped as Ctrl+C would; where it is written to a
/// file too, it goes on to its end.
pub async fn while_read<T>(args: &DoArgs, interrupt: Interrupt, work: impl Future<Output = T>) -> T {
    let unread = async {
        while args.output.is_some() || stdout_is_read() {
            tokio::time::sleep(STEP).await;
        }
        tokio::time::sleep(PATIENCE).await;
        interrupt.unread();
        std::future::pending::<T>().await
    };
    tokio::select! {
        biased;
        done = work => done,
        never = unread => never,
    }
}
