//! Stops a turn when the reader of its output is gone.

use std::time::Duration;

use super::DoArgs;
use crate::term::stdout_is_read;
use lepo_turn::Interrupt;

/// Time for which an answer without a reader is still received.
const PATIENCE: Duration = Duration::from_secs(5);

const STEP: Duration = Duration::from_millis(200);

/// Runs `work`. If the reader of stdout is gone, interrupts it after a while as Ctrl+C would; with `--output`
/// it continues to its end.
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
