//! A server's resources to read and prompts to fill in. lepo fetches only those that the user names.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::client::{CallFailure, ListKind, McpClient, TimeLimits};
use super::tools::next_cursor;

/// Most pages of a list.
const PAGES: usize = 100;

/// Most entries of a list.
const ENTRIES: usize = 10_000;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offers {
    /// Resources, and templates for more of them.
    pub resources: Vec<Resource>,
    pub prompts: Vec<McpPrompt>,
}

/// A resource, or a template for resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Address; for a template, a pattern of addresses.
    pub uri: String,
    /// Name of the resource.
    pub name: String,
    /// The server's description; may be empty.
    pub description: String,
    /// MIME type, if the server names it.
    pub mime: Option<String>,
    /// Whether this is a template.
    pub is_template: bool,
}

/// A prompt of a server, to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpPrompt {
    /// Name, as the server expects it.
    pub name: String,
    /// The server's description; may be empty.
    pub description: String,
    /// Arguments in the server's order.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// Name of the argument.
    pub name: String,
    /// The server's description; may be empty.
    pub description: String,
    /// Whether the argument is required.
    pub required: bool,
}

impl Offers {
    /// Requests those lists that the server declares.
    pub(super) async fn list(client: &mut McpClient, limits: TimeLimits) -> Result<Offers, CallFailure> {
        let mut offers = Offers::default();
        for list in [ListKind::Resources, ListKind::Templates] {
            let entries = match entries(client, list, limits).await {
                // A server that has resources need not support templates.
                Err(CallFailure::Refused(_)) if list == ListKind::Templates => Vec::new(),
                entries => entries?,
            };
            offers.resources.extend(entries.iter().filter_map(|entry| Resource::read(entry, list)));
        }
        offers.prompts =
            entries(client, ListKind::Prompts, limits).await?.iter().filter_map(McpPrompt::read).collect();
        Ok(offers)
    }
}

async fn entries(
    client: &mut McpClient,
    list: ListKind,
    limits: TimeLimits,
) -> Result<Vec<Value>, CallFailure> {
    let (mut entries, mut cursor, mut seen) = (Vec::new(), None, HashSet::new());
    if !client.has(list) {
        return Ok(entries);
    }
    for _ in 0..PAGES {
        let page = client.page(list, cursor.take(), limits).await?;
        entries.extend(page.get(list.key()).and_then(Value::as_array).into_iter().flatten().cloned());
        let next = next_cursor(&page);
        // Cursors that form a cycle end the list, as the last page does.
        match next.filter(|next| seen.insert(next.clone())) {
            Some(next) if entries.len() < ENTRIES => cursor = Some(next),
            _ => break,
        }
    }
    entries.truncate(ENTRIES);
    Ok(entries)
}

impl Resource {
    fn read(entry: &Value, list: ListKind) -> Option<Resource> {
        let is_template = list == ListKind::Templates;
        let uri = label(entry, if is_template { "uriTemplate" } else { "uri" })?;
        let name = text(entry, "title").or_else(|| text(entry, "name")).unwrap_or_default();
        let (description, mime) = (text(entry, "description").unwrap_or_default(), text(entry, "mimeType"));
        Some(Resource { uri, name, description, mime, is_template })
    }
}

impl McpPrompt {
    fn read(entry: &Value) -> Option<McpPrompt> {
        let argument = |entry: &Value| {
            let required = entry.get("required").and_then(Value::as_bool).unwrap_or_default();
            let description = text(entry, "description").unwrap_or_default();
            Some(PromptArgument { name: label(entry, "name")?, description, required })
        };
        let arguments = entry.get("arguments").and_then(Value::as_array);
        Some(McpPrompt {
            name: label(entry, "name")?,
            description: text(entry, "description").or_else(|| text(entry, "title")).unwrap_or_default(),
            arguments: arguments.into_iter().flatten().filter_map(argument).collect(),
        })
    }

    /// Formats the arguments as in a usage line: `CITY [DAY]`.
    pub fn usage(&self) -> String {
        let shown = |argument: &PromptArgument| match argument.required {
            true => argument.name.clone(),
            false => format!("[{}]", argument.name),
        };
        self.arguments.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    /// Returns the required arguments that have no value.
    pub fn missing(&self, named: &[(String, String)], words: &[String]) -> Vec<&str> {
        let is_named = |name: &str| {
            let in_word = |word: &String| word.split_once('=').is_some_and(|(given, _)| given == name);
            named.iter().any(|(given, _)| given == name) || words.iter().any(in_word)
        };
        let by_place = words.iter().filter(|word| match word.split_once('=') {
            Some((name, _)) => !self.has_argument(name),
            None => true,
        });
        let open = self.arguments.iter().filter(|argument| !is_named(&argument.name));
        let open = open.skip(by_place.count()).filter(|argument| argument.required);
        open.map(|argument| argument.name.as_str()).collect()
    }

    /// Assigns values to the arguments, from `named` and from `words`: `NAME=VALUE`, or values in the prompt's order,
    /// the last of which gets all remaining words.
    pub fn arguments(
        &self,
        named: &[(String, String)],
        words: &[String],
    ) -> Result<Map<String, Value>, String> {
        let named = named.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        let (mut given, mut rest) = (named.collect::<Map<_, _>>(), Vec::new());
        for word in words {
            let named = word.split_once('=').filter(|(name, _)| self.has_argument(name));
            match named {
                Some((name, value)) => drop(given.insert(name.to_string(), value.into())),
                None => rest.push(word.as_str()),
            }
        }
        let mut open =
            self.arguments.iter().filter(|argument| !given.contains_key(&argument.name)).peekable();
        let (mut placed, mut rest) = (Vec::new(), rest.as_slice());
        while let Some((first, after)) = rest.split_first() {
            let Some(argument) = open.next() else {
                return Err(format!("prompt {} takes {}, not {first:?}", self.name, self.argument_list()));
            };
            let value = if open.peek().is_none() { rest.join(" ") } else { first.to_string() };
            rest = if open.peek().is_none() { &[] } else { after };
            placed.push((argument.name.clone(), Value::from(value)));
        }
        given.extend(placed);
        self.check(&given)?;
        Ok(given)
    }

    /// Checks that the prompt has these arguments, and that all required ones have values.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), String> {
        if let Some(unknown) = given.keys().find(|name| !self.has_argument(name)) {
            return Err(format!("prompt {} takes {}, not {unknown:?}", self.name, self.argument_list()));
        }
        match self.arguments.iter().find(|argument| argument.required && !given.contains_key(&argument.name))
        {
            Some(missing) => {
                Err(format!("prompt {} needs {}; it takes {}", self.name, missing.name, self.usage()))
            }
            None => Ok(()),
        }
    }

    fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument.name == name)
    }

    fn argument_list(&self) -> String {
        if self.arguments.is_empty() { "no arguments".to_string() } else { self.usage() }
    }
}

/// Returns a text that is not empty and has no control characters.
fn label(entry: &Value, key: &str) -> Option<String> {
    text(entry, key).filter(|text| !text.contains(char::is_control))
}

fn text(entry: &Value, key: &str) -> Option<String> {
    entry.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(arguments: Value) -> McpPrompt {
        McpPrompt::read(&json!({"name": "p", "arguments": arguments})).unwrap()
    }

    #[test]
    fn required_arguments_that_are_not_given_are_missing() {
        let two =
            json!([{"name": "city", "required": true}, {"name": "who", "required": true}, {"name": "day"}]);
        for (named, words, missing) in [
            (&[][..], &[][..], &["city", "who"][..]),
            (&["city"], &[], &["who"]),
            (&["day"], &[], &["city", "who"]),
            (&[], &["Seoul"], &["who"]),
            (&[], &["who=Ada"], &["city"]),
            (&[], &["a=b", "Ada"], &[]),
            (&["city", "who"], &[], &[]),
        ] {
            let named: Vec<_> = named.iter().map(|name: &&str| (name.to_string(), "x".to_string())).collect();
            let words: Vec<String> = words.iter().map(|word: &&str| word.to_string()).collect();
            assert_eq!(prompt(two.clone()).missing(&named, &words), missing, "{named:?} {words:?}");
        }
    }

    #[test]
    fn words_become_arguments() {
        let two = json!([{"name": "city", "required": true}, {"name": "day"}]);
        for (arguments, words, given) in [
            (two.clone(), vec!["Seoul"], Ok(json!({"city": "Seoul"}))),
            (
                two.clone(),
                vec!["Seoul", "this", "Monday"],
                Ok(json!({"city": "Seoul", "day": "this Monday"})),
            ),
            (two.clone(), vec!["day=now", "San", "José"], Ok(json!({"day": "now", "city": "San José"}))),
            (two.clone(), vec![], Err("prompt p needs city; it takes city [day]")),
            (two.clone(), vec!["day=x"], Err("prompt p needs city; it takes city [day]")),
            (two, vec!["city=a=b"], Ok(json!({"city": "a=b"}))),
            (json!([]), vec![], Ok(json!({}))),
            (json!([]), vec!["x"], Err("prompt p takes no arguments, not \"x\"")),
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_string).collect();
            let read = prompt(arguments).arguments(&[], &words).map(Value::Object);
            assert_eq!(read, given.map_err(str::to_string), "{words:?}");
        }
        let named = [("colour".to_string(), "red".to_string())];
        let read = prompt(json!([{"name": "x"}])).arguments(&named, &[]);
        assert_eq!(read, Err("prompt p takes [x], not \"colour\"".to_string()));
    }

    #[test]
    fn an_entry_that_cannot_be_read_costs_only_itself() {
        assert_eq!(McpPrompt::read(&json!({"description": "nameless"})), None);
        assert_eq!(McpPrompt::read(&json!({"name": "a\u{9b}2J"})), None);
        assert_eq!(prompt(json!([{"name": 3}, {"name": "x"}])).usage(), "[x]");
        let template =
            Resource::read(&json!({"uriTemplate": "a://{b}", "name": "n"}), ListKind::Templates).unwrap();
        assert!(template.is_template && template.uri == "a://{b}");
        assert_eq!(Resource::read(&json!({"name": "n"}), ListKind::Resources), None);
    }
}
