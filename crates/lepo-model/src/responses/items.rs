//! The items of a response, assembled from events: an item starts, grows, is complete, and is repeated at the end.

use serde_json::{Value, json};

use crate::arguments::{ArgumentText, read_arguments};
use crate::call_pieces::{own_ids, text_of};
use crate::message::ToolCall;
use crate::tool_names::{ToolNames, legal_name};

/// The items so far, in the order of their start.
#[derive(Default)]
pub(super) struct ResponseItems(Vec<ResponseItem>);

struct ResponseItem {
    value: Value,
    /// The index in the output, as text.
    position: Option<String>,
    arguments: ArgumentText,
    /// Whether the complete item has arrived.
    is_whole: bool,
}

/// The id of an item, and its index in the output: either may be missing.
type ItemPlace<'v> = (Option<&'v Value>, Option<&'v Value>);

impl ResponseItems {
    pub fn start_item(&mut self, position: Option<&Value>, item: Value) {
        let mut arguments = ArgumentText::default();
        arguments.add(&argument_text(item.get("arguments")));
        let position = position.map(text_of).filter(|position| !position.is_empty());
        self.0.push(ResponseItem { value: item, position, arguments, is_whole: false });
    }

    /// Appends to the arguments of a call.
    pub fn add_arguments(&mut self, position: ItemPlace<'_>, piece: &str) {
        if let Some(item) = self.call_at(position) {
            item.arguments.add(piece);
        }
    }

    pub fn set_arguments(
        &mut self,
        position: ItemPlace<'_>,
        arguments: Option<&Value>,
        name: Option<&Value>,
    ) {
        let text = argument_text(arguments);
        let Some(item) = self.call_at(position) else { return };
        if !matches!(text.trim(), "" | "{}") || item.arguments.is_empty() {
            item.arguments.replace(&text);
        }
        let name = name.map(text_of).unwrap_or_default();
        if !name.is_empty() && text_of(&item.value["name"]).is_empty() {
            item.value["name"] = name.into();
        }
    }

    /// Whether an item of a final response is new. Its id may differ from the streamed one, so a call is compared
    /// by its content and any other item by its type.
    pub fn is_new(&self, item: &Value) -> bool {
        let mut whole = self.0.iter().filter(|known| known.is_whole && known.value["type"] == item["type"]);
        if item["type"] != "function_call" {
            return whole.next().is_none();
        }
        let arguments = read_arguments(&argument_text(item.get("arguments")));
        !whole.any(|known| {
            let is_equal = known.value["name"] == item["name"] && known.arguments.value() == arguments;
            is_equal || known.is_the_same(item)
        })
    }

    /// Completes an item. Fields that it lacks have their streamed value.
    pub fn end(&mut self, position: Option<&Value>, mut item: Value) {
        let position = position.map(text_of).filter(|position| !position.is_empty());
        let by_place = |known: &&mut ResponseItem| {
            position.is_some() && known.position == position && known.value["type"] == item["type"]
        };
        let known = match self.0.iter().any(|known| known.is_the_same(&item)) {
            true => self.0.iter_mut().find(|known| known.is_the_same(&item)),
            false => self.0.iter_mut().find(by_place),
        };
        let Some(known) = known else {
            self.start_item(None, item);
            if let Some(last) = self.0.last_mut() {
                (last.position, last.is_whole) = (position, true);
            }
            return;
        };
        for field in ["call_id", "name", "id"] {
            if text_of(&item[field]).is_empty() && !text_of(&known.value[field]).is_empty() {
                item[field] = known.value[field].clone();
            }
        }
        let text = argument_text(item.get("arguments"));
        if !matches!(text.trim(), "" | "{}") {
            known.arguments.replace(&text);
        }
        // A repeated item may lack some of the content.
        if !known.is_whole || item["type"] == "function_call" {
            known.value = item;
        }
        known.is_whole = true;
    }

    /// Returns a call: the one with the id, else the one with the index, else the last one.
    fn call_at(&mut self, (id, position): ItemPlace<'_>) -> Option<&mut ResponseItem> {
        let (id, position) = (id.map(text_of).unwrap_or_default(), position.map(text_of).unwrap_or_default());
        let is_call = |item: &ResponseItem| item.value["type"] == "function_call";
        let at = |is_it: &dyn Fn(&ResponseItem) -> bool| {
            self.0.iter().rposition(|item| is_call(item) && is_it(item))
        };
        let by_id = || {
            let own =
                |item: &ResponseItem| ["id", "call_id"].iter().any(|name| text_of(&item.value[*name]) == id);
            (!id.is_empty()).then(|| at(&own)).flatten()
        };
        let by_place = || {
            (!position.is_empty()).then(|| at(&|item| item.position.as_deref() == Some(&*position))).flatten()
        };
        let last = || at(&|item: &ResponseItem| !item.is_whole);
        let found = by_id().or_else(by_place).or_else(last)?;
        self.0.get_mut(found)
    }

    /// Returns the calls, and all items for later requests: incomplete items are omitted, unless they are calls.
    pub fn into_calls(self, names: &ToolNames) -> (Vec<ToolCall>, Vec<Value>) {
        let mut kept: Vec<ResponseItem> = Vec::new();
        for item in self.0 {
            let is_again = kept.iter().any(|before| before.is_repeated_by(&item));
            if (item.is_whole || item.value["type"] == "function_call") && !is_again {
                kept.push(item);
            }
        }
        let is_call = |item: &&ResponseItem| item.value["type"] == "function_call";
        let id = |item: &ResponseItem| {
            let own = text_of(&item.value["call_id"]);
            if own.is_empty() { text_of(&item.value["id"]) } else { own }
        };
        let ids = own_ids(kept.iter().filter(is_call).map(id).collect());
        let mut ids = ids.into_iter();
        let (mut calls, mut items) = (Vec::new(), Vec::new());
        for mut item in kept {
            if item.value["type"] == "function_call"
                && let Some(id) = ids.next()
            {
                let name = names.resolve(&text_of(&item.value["name"]));
                item.value["call_id"] = id.clone().into();
                item.value["name"] = legal_name(&name).into();
                let text = item.arguments.text();
                item.value["arguments"] = if text.is_empty() { "{}".into() } else { text.into() };
                if item.value.get("status").is_some_and(|status| status == "in_progress") {
                    item.value["status"] = json!("completed");
                }
                calls.push(ToolCall { id, name, arguments: item.arguments.value() });
            }
            items.push(item.value);
        }
        (calls, items)
    }
}

impl ResponseItem {
    fn is_the_same(&self, item: &Value) -> bool {
        let is_one = |name: &str| {
            let (own, other) = (text_of(&self.value[name]), text_of(&item[name]));
            !own.is_empty() && own == other
        };
        self.value["type"] == item["type"] && (is_one("id") || is_one("call_id")) || self.value == *item
    }

    /// Whether a call repeats this one: with the same id, name and arguments.
    fn is_repeated_by(&self, other: &ResponseItem) -> bool {
        let is_one = |name: &str| {
            let (own, other) = (text_of(&self.value[name]), text_of(&other.value[name]));
            !own.is_empty() && own == other
        };
        other.value["type"] == "function_call"
            && self.value["type"] == "function_call"
            && is_one("call_id")
            && is_one("name")
            && self.arguments.value() == other.arguments.value()
    }
}

/// Returns arguments of any JSON type as text.
fn argument_text(arguments: Option<&Value>) -> String {
    match arguments {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_string(),
    }
}
