//! Logs lepo's own events, one per line, to the file of the local day.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::sync::Arc;

use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use lepo_base::secret::Secret;
use lepo_base::time;
use lepo_secrets::{KnownValue, Masker, SecretFinder};
use lepo_store::store::now;
use lepo_turn::config::{LogLevel, Paths};

/// Starts logging to `application-lepo-YYYY-MM-DD.log`, named by the local day; its times are in UTC. Errors
/// are ignored. No line contains any of `keys`; `values` and apparent secrets are masked. With
/// `only_requests`, logs only one line for each request to a model, without foreign text.
pub fn start_log(
    paths: &Paths,
    (level, only_requests): (LogLevel, bool),
    keys: Vec<Secret>,
    values: Vec<KnownValue>,
) {
    let dir = paths.logs();
    if DirBuilder::new().recursive(true).mode(0o700).create(&dir).is_err() {
        return;
    }
    let name = format!("application-lepo-{}.log", time::day(now()));
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(dir.join(name));
    let Ok(file) = file else { return };
    let level = match level {
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Info => Level::INFO,
        LogLevel::Warn => Level::WARN,
        LogLevel::Error => Level::ERROR,
    };
    let _ = tracing::subscriber::set_global_default(LogWriter {
        file,
        level,
        only_requests,
        keys,
        masker: Masker::new(Arc::new(SecretFinder::new(values)), None),
    });
}

/// Log target of the line about a request.
const REQUESTS: &str = "lepo_model::request_log";

/// Writes lepo's events up to a level. Spans are ignored.
struct LogWriter {
    file: File,
    level: Level,
    only_requests: bool,
    keys: Vec<Secret>,
    /// Finds apparent secrets, and the values of secret variables.
    masker: Masker,
}

impl Subscriber for LogWriter {
    /// Only lepo's events: libraries log arbitrary data, such as URLs with tokens.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_selected = !self.only_requests || metadata.target() == REQUESTS;
        is_selected && *metadata.level() <= self.level && is_of_lepo(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::from_level(self.level))
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut fields = EventFields { text: String::new(), without_error: self.only_requests };
        event.record(&mut fields);
        let (level, target) = (metadata.level().as_str(), metadata.target());
        let mut message = fields.text;
        for key in &self.keys {
            if let Cow::Owned(hidden) = key.hide_in(&message) {
                message = hidden;
            }
        }
        if let Cow::Owned(masked) = self.masker.mask(&message).text {
            message = masked;
        }
        let line = format!("{:.6} {level:>5} {target}:{message}\n", Timestamp::now());
        // In one write, because other processes append to this file too.
        let _ = (&self.file).write_all(line.as_bytes());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn is_of_lepo(target: &str) -> bool {
    let rest = target.strip_prefix("lepo");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::") || rest.starts_with('_'))
}

/// Formats the message of an event, followed by its fields as `name=value`. Control characters are escaped,
/// so that an event stays on one line.
struct EventFields {
    text: String,
    /// Omits the field `error`, which contains foreign text.
    without_error: bool,
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.record_debug(field, &format_args!("{value}")),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.without_error && field.name() == "error" {
            return;
        }
        self.text.push(' ');
        if field.name() != "message" {
            self.text.push_str(field.name());
            self.text.push('=');
        }
        // Writing to a string cannot fail.
        let _ = write!(OneLine(&mut self.text), "{value:?}");
    }
}

struct OneLine<'t>(&'t mut String);

impl fmt::Write for OneLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c.is_control() {
                true => self.0.extend(c.escape_default()),
                false => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn an_event_is_one_line_and_only_lepos_are_told() {
        let mut file = tempfile::tempfile().unwrap();
        let keys = vec![Secret::new("sk-12345678")];
        let log = LogWriter {
            file: file.try_clone().unwrap(),
            level: Level::INFO,
            only_requests: false,
            keys,
            masker: Masker::for_imports(),
        };
        tracing::subscriber::with_default(log, || {
            tracing::info!(target: "lepo::model", model = "a\nb", ms = 3, said = %"x\ny", "request {}", "done\x1b");
            tracing::warn!(target: "lepo", error = None::<u8>, "failed");
            tracing::warn!(target: "lepo", said = "the key sk-12345678", "refused sk-12345678");
            tracing::debug!(target: "lepo::model", "too much");
            tracing::error!(target: "hyper", "not ours");
            tracing::error!(target: "lepos", "not ours");
        });
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_at(27)).collect();
        assert!(
            lines.iter().all(|(time, _)| time.ends_with('Z') && time.parse::<Timestamp>().is_ok()),
            "{text}"
        );
        let texts: Vec<&str> = lines.iter().map(|(_, said)| *said).collect();
        assert_eq!(
            texts,
            [
                r#"  INFO lepo::model: request done\u{1b} model="a\nb" ms=3 said=x\ny"#,
                "  WARN lepo: failed",
                r#"  WARN lepo: refused [secret] said="the key [secret]""#,
            ]
        );
    }
}
