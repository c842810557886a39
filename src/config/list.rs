//! The settings in force as `lepo config` shows them: name, value, place. No key is among them,
//! and of a program only its name, since an argument may be a key.

use std::time::Duration;

use super::source::{Set, Source};
use super::word::Word;
use super::{ModelConfig, Settings};

/// One setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `max_rounds`, `http.idle_timeout`, `models.gpt`.
    pub name: String,
    /// The value as a person reads it; times in seconds, empty if there is none.
    pub value: String,
    /// Where it comes from.
    pub source: Source,
}

impl Settings {
    /// Every setting and every model, in the order of the manual.
    pub fn lines(&self) -> Vec<Line> {
        let many = &self.many;
        let paths = self.sandbox_read_only.iter().map(|path| path.display().to_string());
        let planner = self.planner.map_or("chooser", Word::word);
        let settings = [
            ("log_level", self.log_level.word().to_string()),
            ("tool_call_mode", self.tool_call_mode.word().to_string()),
            ("auto_access", self.auto_access.word().to_string()),
            ("planner", planner.to_string()),
            ("max_rounds", self.max_rounds.to_string()),
            ("command_timeout", seconds(self.command_timeout)),
            ("output_limit", self.output_limit.to_string()),
            ("http.connect_timeout", seconds(self.http_connect)),
            ("http.idle_timeout", seconds(self.http_idle)),
            ("mcp.connect_timeout", seconds(self.mcp_connect)),
            ("mcp.idle_timeout", seconds(self.mcp_idle)),
            ("mcp.total_timeout", seconds(self.mcp_total)),
            ("sandbox.read_only", paths.collect::<Vec<_>>().join(", ")),
            ("many.orchestrator", many.orchestrator.clone().unwrap_or_default()),
            ("many.participants", many.participants.join(", ")),
            ("many.max_rounds", many.max_rounds.to_string()),
            ("many.timeout", seconds(many.timeout)),
        ];
        let settings = settings.map(|(name, value)| (name.to_string(), value));
        let models = self.models.iter().map(|model| (format!("models.{}", model.name), about(model)));
        let line = |(name, value): (String, String)| {
            let source = self.source(&name).clone();
            Line { name, value, source }
        };
        let none = Set { value: String::new(), source: Source::Default };
        let Set { value, source } = self.chosen().unwrap_or(none);
        let model = Line { name: "model".into(), value, source };
        [model].into_iter().chain(settings.into_iter().chain(models).map(line)).collect()
    }
}

fn seconds(time: Duration) -> String {
    time.as_secs_f64().to_string()
}

fn about(model: &ModelConfig) -> String {
    let mut words = vec![model.provider.word().to_string()];
    words.extend(model.command.first().cloned());
    if !model.model.is_empty() {
        words.push(model.model.clone());
    }
    if !model.base_url.is_empty() {
        words.push(format!("at {}", model.base_url));
    }
    let mut text = words.join(" ");
    match (&model.key.value, model.key.looked_for.is_empty()) {
        (Some(_), _) => text.push_str(", with a key"),
        (None, false) => text.push_str(", its key is missing"),
        (None, true) => {}
    }
    if model.active {
        text.push_str(", active");
    }
    text
}
