//! The log of `do`: one file a day. Offline commands start none.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use tracing::Level;
use tracing_subscriber::fmt::time::SystemTime;

use crate::config::{LogLevel, Paths};

/// Begins to log to `application-lepo-YYYY-MM-DD.log`. A log that cannot be written is done without.
pub fn start(paths: &Paths, level: LogLevel) {
    let dir = paths.logs();
    if DirBuilder::new().recursive(true).mode(0o700).create(&dir).is_err() {
        return;
    }
    let name = format!("application-lepo-{}.log", jiff::Zoned::now().date());
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(dir.join(name));
    let Ok(file) = file else { return };
    let level = match level {
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Info => Level::INFO,
        LogLevel::Warn => Level::WARN,
        LogLevel::Error => Level::ERROR,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_timer(SystemTime)
        .with_writer(file)
        .finish();
    let _ = tracing::subscriber::set_global_default(subscriber);
}
