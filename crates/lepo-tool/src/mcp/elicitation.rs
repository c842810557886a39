//! Questions that a server asks while it works: a form of a few plain fields, or a URL to visit. Questions are parsed
//! leniently, and answers always fit the form.

use serde_json::{Map, Value, json};
use url::Url;

/// The user's side while a server works on a request.
pub trait ElicitationHandler {
    /// Receives the server's progress, as text.
    fn on_progress(&mut self, text: &str);

    /// Answers a question of the server.
    fn elicit(&mut self, question: ServerQuestion) -> impl Future<Output = ElicitationResult>;
}

/// For non-interactive runs: declines every question.
pub struct NonInteractiveHandler;

impl ElicitationHandler for NonInteractiveHandler {
    fn on_progress(&mut self, _: &str) {}

    async fn elicit(&mut self, _: ServerQuestion) -> ElicitationResult {
        ElicitationResult::Declined
    }
}

/// A question of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerQuestion {
    /// A form to fill in.
    Form(ElicitationForm),
    /// A URL to visit, with the server's reason.
    Visit(String, Url),
    /// A question that lepo does not understand.
    Unknown,
}

/// A form.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationForm {
    /// Purpose of the form, by the server.
    pub message: String,
    /// Fields in the server's order.
    pub fields: Vec<FormField>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Key of the value in the answer.
    pub name: String,
    /// Title, by default the key.
    pub title: String,
    /// The server's description.
    pub description: Option<String>,
    /// Whether the field requires a value.
    pub required: bool,
    /// Value if the user enters nothing.
    pub default: Option<Value>,
    kind: FieldKind,
}

#[derive(Debug, Clone, PartialEq)]
enum FieldKind {
    Text { least: Option<u64>, most: Option<u64> },
    Number { whole: bool, least: Option<f64>, most: Option<f64> },
    Flag,
    One(Vec<FormChoice>),
    Several(Vec<FormChoice>, Option<u64>, Option<u64>),
}

#[derive(Debug, Clone, PartialEq)]
struct FormChoice {
    value: String,
    title: String,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationResult {
    /// The completed form.
    Filled(Map<String, Value>),
    /// The user has visited the URL.
    Visited,
    /// The user declines, or nobody can answer.
    Declined,
    /// The user cancels.
    Cancelled,
}

impl ElicitationResult {
    /// Converts the answer to the result of `elicitation/create`.
    pub fn to_json(self) -> Value {
        match self {
            ElicitationResult::Filled(content) => json!({ "action": "accept", "content": content }),
            ElicitationResult::Visited => json!({ "action": "accept" }),
            ElicitationResult::Declined => json!({ "action": "decline" }),
            ElicitationResult::Cancelled => json!({ "action": "cancel" }),
        }
    }
}

impl ServerQuestion {
    /// Parses the parameters of `elicitation/create`.
    pub fn read(params: &Value) -> ServerQuestion {
        let message = text(params, "message").unwrap_or_default();
        if params.get("mode").and_then(Value::as_str) == Some("url") {
            let url = params.get("url").and_then(Value::as_str).and_then(|url| Url::parse(url).ok());
            let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
            return url.map_or(ServerQuestion::Unknown, |url| ServerQuestion::Visit(message, url));
        }
        let schema = &params["requestedSchema"];
        let Some(properties) = schema["properties"].as_object() else { return ServerQuestion::Unknown };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let field = |(name, property): (&String, &Value)| FormField::read(name, property, &required);
        match properties.iter().map(field).collect::<Option<Vec<FormField>>>() {
            Some(fields) => ServerQuestion::Form(ElicitationForm { message, fields }),
            None => ServerQuestion::Unknown,
        }
    }
}

impl FormField {
    fn read(name: &str, property: &Value, required: &[&str]) -> Option<FormField> {
        let count = |key: &str| property.get(key).and_then(Value::as_u64);
        let bound = |key: &str| property.get(key).and_then(Value::as_f64);
        let kind = match (choices(property), property["type"].as_str()?) {
            (Some(choices), "string") => FieldKind::One(choices),
            (None, "string") => FieldKind::Text { least: count("minLength"), most: count("maxLength") },
            (_, kind @ ("number" | "integer")) => FieldKind::Number {
                whole: kind == "integer",
                least: bound("minimum"),
                most: bound("maximum"),
            },
            (_, "boolean") => FieldKind::Flag,
            (_, "array") => {
                FieldKind::Several(choices(&property["items"])?, count("minItems"), count("maxItems"))
            }
            _ => return None,
        };
        let mut field = FormField {
            name: name.to_string(),
            title: text(property, "title").unwrap_or_else(|| name.to_string()),
            description: text(property, "description"),
            required: required.contains(&name),
            default: None,
            kind,
        };
        // A default that would not be valid as an answer is ignored.
        field.default = property.get("default").filter(|value| field.fits(value)).cloned();
        Some(field)
    }

    /// Describes the accepted values: `a number from 0 to 9`.
    pub fn expected(&self) -> String {
        let listed = |choices: &[FormChoice]| {
            let each: Vec<String> = choices
                .iter()
                .map(|choice| match choice.value == choice.title {
                    true => choice.value.clone(),
                    false => format!("{} ({})", choice.value, choice.title),
                })
                .collect();
            each.join(", ")
        };
        match &self.kind {
            FieldKind::Text { least, most } => match (least.filter(|&least| least > 0), most) {
                (None, None) => "text".to_string(),
                (Some(least), None) => format!("text of at least {least} characters"),
                (None, Some(most)) => format!("text of at most {most} characters"),
                (Some(least), Some(most)) => format!("text of {least} to {most} characters"),
            },
            FieldKind::Number { whole, least, most } => {
                let kind = if *whole { "a whole number" } else { "a number" };
                match (least, most) {
                    (None, None) => kind.to_string(),
                    (Some(least), None) => format!("{kind} from {least}"),
                    (None, Some(most)) => format!("{kind} up to {most}"),
                    (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
                }
            }
            FieldKind::Flag => "yes or no".to_string(),
            FieldKind::One(choices) => format!("one of {}", listed(choices)),
            FieldKind::Several(choices, ..) => {
                format!("any of {}, with commas between", listed(choices))
            }
        }
    }

    /// Parses the user's input; `Ok(None)` if the field is not sent.
    pub fn value(&self, entered: &str) -> Result<Option<Value>, String> {
        let entered = entered.trim();
        if entered.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, false) => Ok(None),
                (None, true) => Err(format!("a value is required: {}", self.expected())),
            };
        }
        let value = match &self.kind {
            FieldKind::Text { .. } => Some(json!(entered)),
            FieldKind::Number { whole: true, .. } => entered.parse::<i64>().ok().map(|number| json!(number)),
            FieldKind::Number { .. } => {
                entered.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| json!(number))
            }
            FieldKind::Flag => match entered.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Some(json!(true)),
                "n" | "no" | "false" => Some(json!(false)),
                _ => None,
            },
            FieldKind::One(choices) => find_choice(choices, entered).map(|value| json!(value)),
            FieldKind::Several(choices, ..) => {
                let words = entered.split(',').map(str::trim).filter(|word| !word.is_empty());
                words
                    .map(|word| find_choice(choices, word))
                    .collect::<Option<Vec<&str>>>()
                    .map(|all| json!(all))
            }
        };
        match value.filter(|value| self.fits(value)) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("expected {}", self.expected())),
        }
    }

    fn fits(&self, value: &Value) -> bool {
        let within = |count: usize, least: &Option<u64>, most: &Option<u64>| {
            let count = count as u64;
            least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
        };
        match &self.kind {
            FieldKind::Text { least, most } => {
                value.as_str().is_some_and(|text| within(text.chars().count(), least, most))
            }
            FieldKind::Number { whole, least, most } => value.as_f64().is_some_and(|number| {
                (!whole || number.fract() == 0.0)
                    && least.is_none_or(|least| number >= least)
                    && most.is_none_or(|most| number <= most)
            }),
            FieldKind::Flag => value.is_boolean(),
            FieldKind::One(choices) => {
                value.as_str().is_some_and(|text| choices.iter().any(|choice| choice.value == text))
            }
            FieldKind::Several(choices, least, most) => value.as_array().is_some_and(|all| {
                within(all.len(), least, most)
                    && all
                        .iter()
                        .all(|one| choices.iter().any(|choice| Some(choice.value.as_str()) == one.as_str()))
            }),
        }
    }
}

/// Finds the value that `word` names, as itself or by its title.
fn find_choice<'c>(choices: &'c [FormChoice], word: &str) -> Option<&'c str> {
    let exact = choices.iter().find(|choice| choice.value == word);
    let found = exact.or_else(|| choices.iter().find(|choice| choice.title.eq_ignore_ascii_case(word)));
    found.map(|choice| choice.value.as_str())
}

/// Parses the choices of an enumeration in any of its forms.
fn choices(property: &Value) -> Option<Vec<FormChoice>> {
    let titled = property.get("oneOf").or_else(|| property.get("anyOf")).and_then(Value::as_array);
    if let Some(titled) = titled {
        let choice = |one: &Value| {
            let value = one.get("const")?.as_str()?.to_string();
            Some(FormChoice { title: text(one, "title").unwrap_or_else(|| value.clone()), value })
        };
        return titled.iter().map(choice).collect();
    }
    let values = property.get("enum")?.as_array()?;
    let names = property.get("enumNames").and_then(Value::as_array);
    let choice = |(i, value): (usize, &Value)| {
        let value = value.as_str()?.to_string();
        let title = names.and_then(|names| names.get(i)?.as_str()).unwrap_or(&value).to_string();
        Some(FormChoice { value, title })
    };
    values.iter().enumerate().map(choice).collect()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(property: Value, required: bool) -> FormField {
        let required = if required { json!(["f"]) } else { json!([]) };
        let params =
            json!({"message": "m", "requestedSchema": {"properties": {"f": property}, "required": required}});
        match ServerQuestion::read(&params) {
            ServerQuestion::Form(mut form) => form.fields.remove(0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_entered_fits_the_field_or_is_refused() {
        let some = |value: Value| Ok(Some(value));
        let titled = json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]});
        let several =
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "maxItems": 2});
        for (property, required, entered, value) in [
            (json!({"type": "string"}), true, " 한글 ", some(json!("한글"))),
            (json!({"type": "string"}), false, "", Ok(None)),
            (json!({"type": "string"}), true, "", Err("a value is required: text")),
            (json!({"type": "string", "default": "d"}), true, "", some(json!("d"))),
            (json!({"type": "string", "default": 7}), false, "", Ok(None)),
            (
                json!({"type": "string", "maxLength": 2}),
                true,
                "abc",
                Err("expected text of at most 2 characters"),
            ),
            (json!({"type": "integer", "minimum": 1, "maximum": 9}), true, "7", some(json!(7))),
            (
                json!({"type": "integer", "minimum": 1, "maximum": 9}),
                true,
                "10",
                Err("expected a whole number from 1 to 9"),
            ),
            (json!({"type": "integer"}), true, "1.5", Err("expected a whole number")),
            (json!({"type": "number"}), true, "1.5", some(json!(1.5))),
            (json!({"type": "number"}), true, "inf", Err("expected a number")),
            (json!({"type": "boolean"}), true, "Yes", some(json!(true))),
            (json!({"type": "boolean"}), true, "maybe", Err("expected yes or no")),
            (
                json!({"type": "string", "enum": ["a", "b"], "enumNames": ["Ay", "Be"]}),
                true,
                "be",
                some(json!("b")),
            ),
            (titled.clone(), true, "r", some(json!("r"))),
            (titled, true, "x", Err("expected one of r (Red), g (Green)")),
            (several.clone(), true, "c, a", some(json!(["c", "a"]))),
            (several, true, "a,b,c", Err("expected any of a, b, c, with commas between")),
        ] {
            let value = value.map_err(str::to_string);
            assert_eq!(field(property.clone(), required).value(entered), value, "{property} {entered:?}");
        }
    }

    #[test]
    fn what_cannot_be_asked_is_unknown() {
        let form = |properties: Value| json!({"message": "m", "requestedSchema": {"properties": properties}});
        for (params, known) in [
            (form(json!({"a": {"type": "string"}})), true),
            (form(json!({})), true),
            (form(json!({"a": {"type": "object"}})), false),
            (form(json!({"a": 3})), false),
            (json!({"message": "m"}), false),
            (json!({"mode": "url", "message": "m", "url": "https://h/x"}), true),
            (json!({"mode": "url", "message": "m", "url": "file:///etc/passwd"}), false),
            (json!({"mode": "url", "message": "m", "url": "javascript:alert(1)"}), false),
        ] {
            assert_eq!(ServerQuestion::read(&params) != ServerQuestion::Unknown, known, "{params}");
        }
    }
}
