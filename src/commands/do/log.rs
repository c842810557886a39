//! The log of `do`: one file a day. Offline commands start none.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use jiff::tz::TimeZone;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::time::SystemTime;
use tracing_subscriber::layer::SubscriberExt;

use crate::config::{LogLevel, Paths};

/// Begins to log to `application-lepo-YYYY-MM-DD.log`. A log that cannot be written is done without. Its day is
/// that of its lines, in UTC: to ask for the local one, all of the system's time zones would be looked through.
pub fn start(paths: &Paths, level: LogLevel) {
    let dir = paths.logs();
    if DirBuilder::new().recursive(true).mode(0o700).create(&dir).is_err() {
        return;
    }
    let name = format!("application-lepo-{}.log", jiff::Timestamp::now().to_zoned(TimeZone::UTC).date());
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(dir.join(name));
    let Ok(file) = file else { return };
    let level = match level {
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Info => Level::INFO,
        LogLevel::Warn => Level::WARN,
        LogLevel::Error => Level::ERROR,
    };
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_timer(SystemTime).with_writer(file);
    // Libraries log what they like: whole URLs, with the tokens in them.
    let lepo_alone = Targets::new().with_target("lepo", level);
    let subscriber = tracing_subscriber::registry().with(layer.with_filter(lepo_alone));
    let _ = tracing::subscriber::set_global_default(subscriber);
}
