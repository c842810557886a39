//! A model's request: a single exact action, in a single written form.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::mcp::CallRequest;
use super::{Access, Sandbox};

/// An action that a model requests.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolRequest {
    /// A shell command.
    Command(CommandRequest),
    /// A call of an MCP server's tool.
    Call(CallRequest),
}

impl Serialize for ToolRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl ToolRequest {
    /// Parses a bubb's text, which must be exactly the canonical form.
    pub fn from_canonical(text: &str) -> Option<ToolRequest> {
        let command = CommandRequest::from_canonical(text).map(ToolRequest::Command);
        command.or_else(|| CallRequest::from_canonical(text).map(ToolRequest::Call))
    }

    /// Returns the only form in which the request is written.
    pub fn canonical(&self) -> String {
        match self {
            ToolRequest::Command(request) => request.canonical(),
            ToolRequest::Call(request) => request.canonical(),
        }
    }

    /// Returns the request as a JSON object.
    pub fn to_json(&self) -> Value {
        match self {
            ToolRequest::Command(request) => request.to_json(),
            ToolRequest::Call(request) => request.to_json(),
        }
    }

    /// Returns a short form for a list: the command, or the tool with its arguments.
    pub fn summary(&self) -> String {
        match self {
            ToolRequest::Command(request) => request.command.clone(),
            ToolRequest::Call(request) => {
                let arguments = Value::Object(request.arguments.clone());
                format!("{}__{} {arguments}", request.server, request.tool)
            }
        }
    }

    /// Formats the request on one line, with everything that the user has to know before agreeing: access and sandbox,
    /// then the command.
    pub fn consent_line(&self, sandbox: &Sandbox) -> String {
        let (access, request) = self.consent_columns(sandbox);
        if access.is_empty() { request } else { format!("{access} {request}") }
    }

    /// Returns the parts of that line: access and sandbox, empty for a server's tool, and the request.
    pub fn consent_columns(&self, sandbox: &Sandbox) -> (String, String) {
        match self {
            ToolRequest::Command(request) => {
                let held = sandbox.holding(request.access);
                (format!("{} ({held})", request.access), in_one_line(&request.command))
            }
            ToolRequest::Call(_) => (String::new(), in_one_line(&self.summary())),
        }
    }

    /// Formats the request on one line, followed by the access: `ls (read)`.
    pub fn line(&self) -> String {
        match self {
            ToolRequest::Command(request) => {
                format!("{} ({})", in_one_line(&request.command), request.access)
            }
            ToolRequest::Call(_) => in_one_line(&self.summary()),
        }
    }

    /// Returns the name of the request's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            ToolRequest::Command(_) => "command",
            ToolRequest::Call(_) => "mcp",
        }
    }

    /// Whether the requests differ in nothing but the reason.
    pub fn same_action(&self, other: &ToolRequest) -> bool {
        match (self, other) {
            (ToolRequest::Command(one), ToolRequest::Command(other)) => one.same_action(other),
            (ToolRequest::Call(one), ToolRequest::Call(other)) => one.canonical() == other.canonical(),
            _ => false,
        }
    }
}

/// A shell command that a model requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// The argument of `sh -c`.
    pub command: String,
    /// Access of the command.
    pub access: Access,
    /// The model's reason, for the user to read.
    pub why: Option<String>,
}

impl CommandRequest {
    /// Parses a command writer's object; `None` if it is malformed. A missing `access` means `read`.
    pub fn from_json(value: &Value) -> Option<CommandRequest> {
        let object = value.as_object()?;
        let command = object.get("command")?.as_str()?;
        let access = match object.get("access") {
            None | Some(Value::Null) => Access::Read,
            Some(word) => Access::parse(word.as_str()?)?,
        };
        let why = match object.get("why") {
            None | Some(Value::Null) => None,
            Some(why) => Some(why.as_str()?.to_string()).filter(|why| !why.trim().is_empty()),
        };
        // Without a letter or a digit, it is the `...` from the form in the prompt.
        let sound = command.contains(char::is_alphanumeric) && !command.contains('\0');
        sound.then(|| CommandRequest { command: command.to_string(), access, why })
    }

    /// Returns why an object is not a command, with the name of the field; `None` if it is one.
    pub fn fault(value: &Value) -> Option<String> {
        let field = |name: &str| value.get(name).filter(|field| !field.is_null());
        let is_text = |name: &str| field(name).is_none_or(Value::is_string);
        let words = || Access::names().join(", ");
        match field("command") {
            None => return Some("`command` is missing".to_string()),
            Some(Value::String(command)) if command.contains('\0') => {
                return Some("`command` has a NUL character in it".to_string());
            }
            Some(Value::String(command)) if !command.contains(char::is_alphanumeric) => {
                return Some("`command` has no command in it".to_string());
            }
            Some(Value::String(_)) => {}
            Some(_) => return Some("`command` must be a string".to_string()),
        }
        let access = field("access").map(|word| word.as_str().and_then(Access::parse));
        match (access, is_text("why")) {
            (Some(None), _) => Some(format!("`access` must be one of {}", words())),
            (_, false) => Some("`why` must be a string".to_string()),
            _ => None,
        }
    }

    /// Parses a bubb's text, which must be exactly the canonical form.
    pub fn from_canonical(text: &str) -> Option<CommandRequest> {
        let request = CommandRequest::from_json(&serde_json::from_str(text).ok()?)?;
        (request.canonical() == text).then_some(request)
    }

    /// Returns the only form in which the command is written: compact JSON, keys sorted. The user approves these bytes.
    pub fn canonical(&self) -> String {
        self.to_json().to_string()
    }

    /// Returns the command as a JSON object, keys sorted.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("access".into(), json!(self.access.as_str()));
        object.insert("command".into(), json!(self.command));
        if let Some(why) = &self.why {
            object.insert("why".into(), json!(why));
        }
        Value::Object(object)
    }

    /// Whether the requests differ in nothing but the reason.
    pub fn same_action(&self, other: &CommandRequest) -> bool {
        self.command == other.command && self.access == other.access
    }
}

/// Replaces control characters by pictures, so that a newline differs from a backslash and an n.
fn in_one_line(text: &str) -> String {
    let picture = |c: char| match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or(c),
        '\u{7f}' => '␡',
        _ => c,
    };
    text.chars().map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_writers_write() {
        for (text, canonical) in [
            (r#"{"command":"ls"}"#, Some(r#"{"access":"read","command":"ls"}"#)),
            (
                r#"{ "why": "to see", "command": "git log", "access": "write", "extra": 1 }"#,
                Some(r#"{"access":"write","command":"git log","why":"to see"}"#),
            ),
            (
                r#"{"command":"echo 한글","access":null,"why":""}"#,
                Some(r#"{"access":"read","command":"echo 한글"}"#),
            ),
            (r#"{"command":""}"#, None),
            (r#"{"command":"  "}"#, None),
            (r#"{"access":"read","command":"...","why":"..."}"#, None),
            (r#"{"command":"a\u0000b"}"#, None),
            (r#"{"command":1}"#, None),
            (r#"{"command":"ls","access":"root"}"#, None),
            (r#"{"access":"read"}"#, None),
            ("[]", None),
        ] {
            let request = CommandRequest::from_json(&serde_json::from_str(text).unwrap());
            assert_eq!(request.map(|r| r.canonical()).as_deref(), canonical, "{text}");
        }
    }

    #[test]
    fn only_the_canonical_form_is_a_request() {
        for (text, good) in [
            (r#"{"access":"read","command":"ls"}"#, true),
            (r#"{"command":"ls","access":"read"}"#, false),
            (r#"{"access":"read","command":"ls"} "#, false),
            (r#"{"command":"ls"}"#, false),
            (r#"{"access":"read","command":"ls","x":1}"#, false),
            ("hello", false),
        ] {
            assert_eq!(CommandRequest::from_canonical(text).is_some(), good, "{text}");
        }
    }
}
