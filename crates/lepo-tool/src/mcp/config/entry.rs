//! Reads a server of `mcp.json`: its target, its details, and the keys that lepo does not know.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::identity::ClientIdentity;
use super::mistake::{EntryError, mistake};
use super::own_form::own_form;
use super::remote::{address, check_header, is_reserved};
use super::server::{ServerConfig, ServerDetails, ServerTarget, Transport};
use super::server_fields::{NonBlankText, PositiveNumber, ScalarText, ServerFields};
use super::variables::{EntryOrigin, ServerVariables, names_variables, used_variables};

use crate::mcp::notice::KeyFault;
use lepo_base::secret::Secret;

type EntryResult<T> = std::result::Result<T, EntryError>;

/// Keys of other clients that do not affect how a server is used.
const FOREIGN: &[&str] =
    &["dev", "gallery", "icon", "id", "isActive", "metadata", "name", "note", "notes", "source", "version"];

/// Keys of other clients that lepo does not honour, and what to use instead.
const NOT_HONOURED: &[(&str, &str)] = &[
    ("trust", "`tool_call_mode` in config.toml sets what runs without asking"),
    ("autoApprove", "`tool_call_mode` in config.toml sets what runs without asking"),
    ("alwaysAllow", "`tool_call_mode` in config.toml sets what runs without asking"),
    ("envFile", "put the variables into `env`"),
    ("oauth", "`client_id` and `lepo mcp login` are lepo's way to sign in"),
];

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
    let fields = ServerFields::read(if is_filled { &filled.fields } else { written })?;
    let mut ignored = Vec::new();
    let target = target(&fields, is_filled, &mut ignored)?;
    let mut details = details(&fields);
    details.origin = variables.map(|(_, origin)| origin).unwrap_or_default();
    details.notes.extend(ignored);
    details.variables = used_variables(written);
    details.written = (!details.variables.is_empty()).then(|| target_text(written));
    if matches!(target, ServerTarget::Remote { .. }) && written.contains_key("cwd") {
        details.notes.push(KeyFault::CwdAlone);
    }
    (details.filled, details.left_out) = (filled.values, filled.missing);
    let enabled = fields.enabled.unwrap_or(true) && !fields.disabled.unwrap_or(false);
    Ok(ServerConfig { name: name.to_string(), description: fields.description, enabled, target, details })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TransportWord {
    Stdio,
    Remote(Transport),
    /// Remote, over any transport.
    Anywhere,
}

fn target(fields: &ServerFields, is_filled: bool, ignored: &mut Vec<KeyFault>) -> EntryResult<ServerTarget> {
    let mut found = fields.addresses();
    let (address, more) = (found.next(), found.next());
    if let (Some((first, _)), Some((second, _))) = (&address, &more) {
        return mistake(format!("it has both `{first}` and `{second}`"), "leave one of them out");
    }
    let kind = kind(fields)?;
    match (text(&fields.command), address) {
        (Some(_), Some((key, _))) => {
            mistake(format!("it has both `command` and `{key}`"), "leave one of them out")
        }
        (None, None) => mistake("it has neither `command` nor `url`", "give it one of them"),
        (Some(command), None) if kind.is_none_or(|kind| kind == TransportWord::Stdio) => {
            let env = secrets("env", &fields.env)?;
            if let Some((key, _)) = env.iter().find(|(key, _)| key.is_empty() || key.contains(['=', '\0'])) {
                return mistake(format!("`env` has an invalid name: {key:?}"), "a name has no `=`");
            }
            let cwd = text(&fields.cwd).map(PathBuf::from);
            let (command, args) = parted(command, texts(&fields.args).unwrap_or_default());
            Ok(ServerTarget::Program { command, args, env, cwd })
        }
        (Some(_), None) => mistake("`transport` needs a `url`", "leave it out: there is a `command`"),
        (None, Some((key, url))) => remote(fields, (key, url), kind, is_filled, ignored),
    }
}

fn remote(
    fields: &ServerFields,
    (key, text): (&str, &str),
    kind: Option<TransportWord>,
    is_filled: bool,
    ignored: &mut Vec<KeyFault>,
) -> EntryResult<ServerTarget> {
    let unread = !is_filled && names_variables(text);
    let url =
        address(key, text).or_else(|mistake| if unread { address(key, NO_ADDRESS) } else { Err(mistake) })?;
    let (mut headers, mut has_env) = (Vec::new(), false);
    for (from, pairs) in [("env", &fields.env), ("headers", &fields.headers)] {
        for (name, value) in secrets(from, pairs)? {
            if is_reserved(&name) {
                ignored.push(KeyFault::Header(name));
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
    Ok(ServerTarget::Remote { url, transport, headers, identity: Box::new(identity(fields)?) })
}

fn details(fields: &ServerFields) -> ServerDetails {
    let mut details = ServerDetails { included: texts(&fields.include_tools), ..ServerDetails::default() };
    // GitHub's clients write a list of names, or `*`.
    if let Some(tools) = texts(&fields.tools).filter(|tools| !tools.iter().any(|tool| tool == "*")) {
        details.included.get_or_insert_default().extend(tools);
    }
    for tools in [&fields.exclude_tools, &fields.disabled_tools] {
        details.excluded.extend(texts(tools).unwrap_or_default());
    }
    details.connect = fields.startup_timeout_sec.map(|number| seconds(number.0));
    if let Some(PositiveNumber(number)) = fields.timeout {
        details.call_in_seconds = number < 1000.0;
        details.call = Some(seconds(if number < 1000.0 { number } else { number / 1000.0 }));
    }
    for (key, value) in &fields.others {
        let is_off = match value {
            Value::Null | Value::Bool(false) => true,
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        match NOT_HONOURED.iter().find(|(known, _)| key == known) {
            Some(_) if is_off => {}
            Some((_, instead)) => details.notes.push(KeyFault::NotSupported(key.clone(), instead)),
            None if FOREIGN.contains(&key.as_str()) => {}
            None => details.notes.push(KeyFault::Unknown(key.clone())),
        }
    }
    details
}

/// Returns the program with its arguments, or the address without its query, verbatim.
fn target_text(written: &Map<String, Value>) -> String {
    let text = |key: &str| written.get(key).and_then(Value::as_str);
    match ["url", "httpUrl", "serverUrl"].into_iter().find_map(text) {
        Some(url) => url.split('?').next().unwrap_or_default().to_string(),
        None => {
            let args = written.get("args").cloned().and_then(|args| serde_json::from_value(args).ok());
            let args = texts(&args).unwrap_or_default();
            format!("{:?} {args:?}", text("command").unwrap_or_default())
        }
    }
}

fn identity(fields: &ServerFields) -> EntryResult<ClientIdentity> {
    let (id, secret) = (text(&fields.client_id), text(&fields.client_secret));
    ClientIdentity::read(id, secret, text(&fields.client_metadata_url))
        .or_else(|(what, hint)| mistake(what, hint))
}

fn text(text: &Option<NonBlankText>) -> Option<&str> {
    text.as_ref().map(|text| text.0.as_str())
}

fn texts(texts: &Option<Vec<ScalarText>>) -> Option<Vec<String>> {
    texts.as_ref().map(|texts| texts.iter().map(|text| text.0.clone()).collect())
}

fn secrets(key: &str, pairs: &Option<Map<String, Value>>) -> EntryResult<Vec<(String, Secret)>> {
    let read = |(name, value): (&String, &Value)| match ScalarText::try_from(value.clone()) {
        Ok(ScalarText(text)) => Ok((name.clone(), Secret::new(text))),
        Err(_) => mistake(format!("`{key}`: the value of {name:?} is not a string"), "put it in quotes"),
    };
    pairs.iter().flatten().map(read).collect()
}

fn kind(fields: &ServerFields) -> EntryResult<Option<TransportWord>> {
    let kind = |word: &str| match word.to_lowercase().replace(['-', '_', ' '], "").as_str() {
        "stdio" | "local" => Some(TransportWord::Stdio),
        "sse" => Some(TransportWord::Remote(Transport::Sse)),
        "http" | "streamablehttp" | "streamable" | "httpstream" => {
            Some(TransportWord::Remote(Transport::Http))
        }
        "remote" => Some(TransportWord::Anywhere),
        _ => None,
    };
    let transport = match text(&fields.transport).map(|word| kind(word).filter(|_| word != "local")) {
        Some(None) => return mistake("`transport` is neither sse nor http", "say \"sse\" or \"http\""),
        transport => transport.flatten(),
    };
    let other = match text(&fields.kind).map(kind) {
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
