//! Reads a server of `mcp.json`, key by key. Known keys are checked, unknown ones are reported.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::identity::ClientIdentity;
use super::mistake::{EntryError, mistake};
use super::own_form::own_form;
use super::remote::{address, check_header, is_reserved};
use super::server::{ServerConfig, ServerDetails, ServerTarget, Transport};
use super::variables::{EntryOrigin, ServerVariables, names_variables, used};

use crate::mcp::notice::KeyFault;
use lepo_base::secret::Secret;

type EntryResult<T> = std::result::Result<T, EntryError>;

/// Keys that lepo reads.
const OWN: &[&str] = &[
    "description",
    "enabled",
    "disabled",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "transport",
    "type",
    "headers",
    "timeout",
    "startup_timeout_sec",
    "includeTools",
    "excludeTools",
    "disabledTools",
    "tools",
    "client_id",
    "client_secret",
    "client_metadata_url",
];

/// Keys of other clients that do not affect how a server is used.
const FOREIGN: &[&str] = &["gallery", "icon", "id", "metadata", "name", "note", "notes", "version"];

/// Keys of other clients that lepo does not honour, and what to use instead.
const NOT_HONOURED: &[(&str, &str)] = &[
    ("trust", "`tool_call_mode` in config.toml sets what runs without asking"),
    ("autoApprove", "`tool_call_mode` in config.toml sets what runs without asking"),
    ("alwaysAllow", "`tool_call_mode` in config.toml sets what runs without asking"),
    ("envFile", "put the variables into `env`"),
    ("oauth", "`client_id` and `lepo mcp login` are lepo's way to sign in"),
];

/// Keys that may contain the address.
const ADDRESSES: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// Replaces an address whose variables have no values.
const NO_ADDRESS: &str = "http://variable.invalid/";

/// Longest time limit: a day, in seconds.
const DAY: f64 = 86_400.0;

/// Reads a server's entry. Without `variables`, or if any variable has no value, texts stay verbatim.
pub(super) fn read(
    name: &str,
    fields: &Value,
    variables: Option<(&ServerVariables<'_>, EntryOrigin)>,
) -> EntryResult<ServerConfig> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return mistake("it needs a name without control characters", "rename it");
    }
    let Value::Object(entry) = fields else {
        return mistake("it is not an object", "it is {\"command\": …} or {\"url\": …}");
    };
    let written = &own_form(entry);
    let filled = variables.map(|(variables, origin)| variables.fill(written, origin)).unwrap_or_default();
    let is_filled = variables.is_some() && filled.missing.is_none();
    let fields = EntryFields::new(if is_filled { &filled.fields } else { written }, is_filled);
    let target = fields.target()?;
    let mut details = fields.details()?;
    details.origin = variables.map(|(_, origin)| origin).unwrap_or_default();
    details.notes.extend(fields.ignored.take());
    details.variables = used(written);
    details.written =
        (!details.variables.is_empty()).then(|| EntryFields::new(written, is_filled).target_text());
    if matches!(target, ServerTarget::Remote { .. }) && written.contains_key("cwd") {
        details.notes.push(KeyFault::CwdAlone);
    }
    (details.filled, details.left_out) = (filled.values, filled.missing);
    let enabled = fields.flag("enabled")?.unwrap_or(true) && !fields.flag("disabled")?.unwrap_or(false);
    let description = fields.text("description")?.map(str::to_string);
    Ok(ServerConfig { name: name.to_string(), description, enabled, target, details })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TransportWord {
    Stdio,
    Remote(Transport),
    /// Remote, over any transport.
    Anywhere,
}

struct EntryFields<'f> {
    all: &'f Map<String, Value>,
    is_filled: bool,
    /// Faults of reserved headers, which are not sent.
    ignored: RefCell<Vec<KeyFault>>,
}

impl<'f> EntryFields<'f> {
    fn new(all: &'f Map<String, Value>, is_filled: bool) -> EntryFields<'f> {
        EntryFields { all, is_filled, ignored: RefCell::default() }
    }

    fn target(&self) -> EntryResult<ServerTarget> {
        let command = self.text("command")?;
        let mut found = ADDRESSES.iter().filter_map(|key| Some((*key, self.text(key).transpose()?)));
        let (address, more) = (found.next(), found.next());
        if let (Some((first, _)), Some((second, _))) = (&address, &more) {
            return mistake(format!("it has both `{first}` and `{second}`"), "leave one of them out");
        }
        let (kind, args) = (self.kind()?, self.texts("args")?.unwrap_or_default());
        match (command, address) {
            (Some(_), Some((key, _))) => {
                mistake(format!("it has both `command` and `{key}`"), "leave one of them out")
            }
            (None, None) => mistake("it has neither `command` nor `url`", "give it one of them"),
            (Some(command), None) if kind.is_none_or(|kind| kind == TransportWord::Stdio) => {
                let env = self.secrets("env")?;
                if let Some((key, _)) =
                    env.iter().find(|(key, _)| key.is_empty() || key.contains(['=', '\0']))
                {
                    return mistake(format!("`env` has an invalid name: {key:?}"), "a name has no `=`");
                }
                let cwd = self.text("cwd")?.map(PathBuf::from);
                let (command, args) = parted(command, args);
                Ok(ServerTarget::Program { command, args, env, cwd })
            }
            (Some(_), None) => mistake("`transport` needs a `url`", "leave it out: there is a `command`"),
            (None, Some((key, url))) => self.remote(key, url?, kind),
        }
    }

    fn remote(&self, key: &str, text: &str, kind: Option<TransportWord>) -> EntryResult<ServerTarget> {
        let unread = !self.is_filled && names_variables(text);
        let url = address(key, text)
            .or_else(|mistake| if unread { address(key, NO_ADDRESS) } else { Err(mistake) })?;
        let (mut headers, mut has_env) = (Vec::new(), false);
        for from in ["env", "headers"] {
            for (name, value) in self.secrets(from)? {
                if is_reserved(&name) {
                    self.ignored.borrow_mut().push(KeyFault::Header(name));
                    continue;
                }
                check_header(from, &name, value.reveal())?;
                headers.push((name, value));
                has_env |= from == "env";
            }
        }
        let transport = match kind {
            Some(TransportWord::Stdio) => {
                return mistake("`type` stdio needs a `command`", "use sse or http");
            }
            Some(TransportWord::Remote(Transport::Sse)) if key == "httpUrl" => {
                return mistake("`httpUrl` cannot be used with sse", "put the address under `url`");
            }
            Some(TransportWord::Remote(transport)) => transport,
            _ if key == "httpUrl" => Transport::Http,
            None if has_env => Transport::SseFirst,
            _ => Transport::HttpFirst,
        };
        Ok(ServerTarget::Remote { url, transport, headers, identity: Box::new(self.identity()?) })
    }

    fn details(&self) -> EntryResult<ServerDetails> {
        let mut details = ServerDetails { included: self.texts("includeTools")?, ..ServerDetails::default() };
        // GitHub's clients write a list of names, or `*`.
        if let Some(Value::Array(_)) = self.all.get("tools") {
            let tools = self.texts("tools")?.unwrap_or_default();
            if !tools.iter().any(|tool| tool == "*") {
                details.included.get_or_insert_default().extend(tools);
            }
        }
        for key in ["excludeTools", "disabledTools"] {
            details.excluded.extend(self.texts(key)?.unwrap_or_default());
        }
        details.connect = self.number("startup_timeout_sec")?.map(seconds);
        if let Some(number) = self.number("timeout")? {
            details.call_in_seconds = number < 1000.0;
            details.call = Some(seconds(if number < 1000.0 { number } else { number / 1000.0 }));
        }
        for (key, value) in self.all {
            let is_off = match value {
                Value::Null | Value::Bool(false) => true,
                Value::Array(items) => items.is_empty(),
                _ => false,
            };
            let instead = NOT_HONOURED.iter().find(|(known, _)| key == known);
            match instead {
                Some(_) if is_off => {}
                Some((_, instead)) => details.notes.push(KeyFault::NotSupported(key.clone(), instead)),
                None if OWN.contains(&key.as_str()) || FOREIGN.contains(&key.as_str()) => {}
                None => details.notes.push(KeyFault::Unknown(key.clone())),
            }
        }
        Ok(details)
    }

    /// Returns the program with its arguments, or the address without its query.
    fn target_text(&self) -> String {
        let text = |key: &str| self.all.get(key).and_then(Value::as_str);
        match ADDRESSES.iter().find_map(|key| text(key)) {
            Some(url) => url.split('?').next().unwrap_or_default().to_string(),
            None => {
                let args = self.texts("args").ok().flatten().unwrap_or_default();
                format!("{:?} {args:?}", text("command").unwrap_or_default())
            }
        }
    }

    fn text(&self, key: &str) -> EntryResult<Option<&str>> {
        match self.all.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if key == "description" || !text.trim().is_empty() => Ok(Some(text)),
            Some(Value::String(_)) => mistake(format!("`{key}` is empty"), "leave it out, or say what it is"),
            Some(_) => mistake(format!("`{key}` is not a string"), "put it in quotes"),
        }
    }

    fn texts(&self, key: &str) -> EntryResult<Option<Vec<String>>> {
        let wrong =
            || mistake(format!("`{key}` is not a list of strings"), "it is like [\"-y\", \"a-server\"]");
        match self.all.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| plain_text(item).filter(|text| !text.contains('\0')))
                .collect::<Option<_>>()
                .map_or_else(wrong, |texts| Ok(Some(texts))),
            Some(_) => wrong(),
        }
    }

    /// Parses a number above zero.
    fn number(&self, key: &str) -> EntryResult<Option<f64>> {
        match self.all.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) if number.as_f64().is_some_and(|number| number > 0.0) => {
                Ok(number.as_f64())
            }
            Some(_) => mistake(format!("`{key}` is not a number above 0"), "leave it out, or say how long"),
        }
    }

    fn flag(&self, key: &str) -> EntryResult<Option<bool>> {
        match self.all.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => mistake(format!("`{key}` is neither true nor false"), "leave the quotes out"),
        }
    }

    fn identity(&self) -> EntryResult<ClientIdentity> {
        let (id, secret) = (self.text("client_id")?, self.text("client_secret")?);
        ClientIdentity::read(id, secret, self.text("client_metadata_url")?)
            .or_else(|(what, hint)| mistake(what, hint))
    }

    fn secrets(&self, key: &str) -> EntryResult<Vec<(String, Secret)>> {
        let object = match self.all.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(object)) => object,
            Some(_) => {
                return mistake(format!("`{key}` is not an object"), "it is like {\"NAME\": \"value\"}");
            }
        };
        let read = |(name, value): (&String, &Value)| match plain_text(value)
            .filter(|text| !text.contains('\0'))
        {
            Some(text) => Ok((name.clone(), Secret::new(text))),
            None => mistake(format!("`{key}`: the value of {name:?} is not a string"), "put it in quotes"),
        };
        object.iter().map(read).collect()
    }

    fn kind(&self) -> EntryResult<Option<TransportWord>> {
        let kind = |word: &str| match word {
            "stdio" | "local" => Some(TransportWord::Stdio),
            "sse" => Some(TransportWord::Remote(Transport::Sse)),
            "http" | "streamable-http" | "streamable_http" | "streamableHttp" => {
                Some(TransportWord::Remote(Transport::Http))
            }
            "remote" => Some(TransportWord::Anywhere),
            _ => None,
        };
        let transport = match self.text("transport")?.map(|word| kind(word).filter(|_| word != "local")) {
            Some(None) => return mistake("`transport` is neither sse nor http", "say \"sse\" or \"http\""),
            transport => transport.flatten(),
        };
        let other = match self.text("type")?.map(kind) {
            Some(None) => {
                return mistake("`type` is not stdio, sse or http", "leave it out, or say one of them");
            }
            other => other.flatten(),
        };
        match (transport, other) {
            (Some(a), Some(TransportWord::Anywhere)) => Ok(Some(a)),
            (Some(a), Some(b)) if a != b => mistake("`transport` and `type` differ", "leave one of them out"),
            _ => Ok(transport.or(other)),
        }
    }
}

/// Returns a string, or a number or boolean as text.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Splits a command that includes its arguments, as some write it, at white space; no shell is involved. A path may
/// contain blanks, and so may a command that has separate arguments: both stay whole.
fn parted(command: &str, args: Vec<String>) -> (String, Vec<String>) {
    let mut words = command.split_ascii_whitespace().map(str::to_string);
    match words.next() {
        Some(first) if args.is_empty() && !first.contains(['/', '\\', '"', '\'']) => (first, words.collect()),
        _ => (command.to_string(), args),
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.min(DAY))
}
