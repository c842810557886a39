//! The JSON Schemas of `docs/schemas/`, each made from the type that its command prints.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::commands::branch::BranchDocument;
use crate::commands::config::ConfigDocument;
use crate::commands::diff::turns::DiffDocument;
use crate::commands::r#do::TrafficDocument;
use crate::commands::r#do::document::DoDocument;
use crate::commands::fsck::document::FsckDocument;
use crate::commands::grep::print::GrepDocument;
use crate::commands::import::document::ImportDocument;
use crate::commands::json_messages::MessagesDocument;
use crate::commands::log::LogDocument;
use crate::commands::ls::document::LsDocument;
use crate::commands::mcp::list::McpDocument;
use crate::commands::model::ModelsDocument;
use crate::commands::prompt::ls::PromptsDocument;
use crate::commands::rebase::report::RebaseDocument;
use crate::commands::rm::outcome::RedactDocument;
use crate::commands::stats::StatsDocument;
use crate::commands::undo::UndoDocument;
use crate::commands::watch::WatchDocument;
use crate::ui::EventDocument;
use crate::view::FailureDocument;

/// Returns the name and the text of each schema.
pub fn schemas() -> Vec<(&'static str, String)> {
    vec![
        ("branch", schema::<BranchDocument>("lepo branch --json")),
        ("config", schema::<ConfigDocument>("lepo config --json")),
        ("diff", schema::<DiffDocument>("lepo diff --turns --json")),
        ("do", schema::<DoDocument>("lepo do --json")),
        ("events", event_schema()),
        ("fsck", schema::<FsckDocument>("lepo fsck --json")),
        ("grep", schema::<GrepDocument>("lepo grep --json")),
        ("import", schema::<ImportDocument>("lepo import --json")),
        ("log", schema::<LogDocument>("lepo log --json")),
        ("ls", schema::<LsDocument<()>>("lepo ls --json")),
        ("mcp-ls", schema::<McpDocument>("lepo mcp ls --json")),
        ("model-ls", schema::<ModelsDocument>("lepo model ls --json")),
        ("prompt-ls", schema::<PromptsDocument>("lepo prompt ls --json")),
        ("proxy", line_schema::<TrafficDocument>("lepo do --proxy --json")),
        ("rebase", schema::<RebaseDocument>("lepo rebase --json")),
        ("rm", schema::<RedactDocument>("lepo rm --redact --json")),
        ("show", schema::<MessagesDocument<()>>("lepo show --json, lepo export --format json")),
        ("stats", schema::<StatsDocument>("lepo stats --json")),
        ("undo", schema::<UndoDocument>("lepo undo --list --json")),
        ("watch", schema::<WatchDocument>("lepo watch --json")),
    ]
}

/// The promise to readers, after the description of each document.
const PROMISE: &str = "Fields may be added; existing fields keep their meaning and type.";

/// Makes the schema of a document, or of each of its lines: a form of `T`, or where the command fails, the failure.
fn schema<T: JsonSchema>(title: &str) -> String {
    let mut generator = generator();
    let mut document = document::<T>(&mut generator);
    let description = document.remove("description");
    let mut forms = match document.remove("anyOf") {
        Some(Value::Array(forms)) => forms,
        _ => vec![Value::Object(document)],
    };
    forms.push(generator.subschema_for::<FailureDocument>().to_value());
    text(title, description, json!({ "anyOf": forms }), generator)
}

/// Makes the schema of lines that report no failure of the command.
fn line_schema<T: JsonSchema>(title: &str) -> String {
    let mut generator = generator();
    let mut document = document::<T>(&mut generator);
    let description = document.remove("description");
    text(title, description, Value::Object(document), generator)
}

/// Makes the schema of the lines of `--events`: a form for each event, and one for events of later versions.
fn event_schema() -> String {
    let mut generator = generator();
    let mut document = document::<EventDocument>(&mut generator);
    let description = document.remove("description");
    if let Some(Value::Array(forms)) = document.get_mut("oneOf") {
        let known: Vec<Value> =
            forms.iter().filter_map(|form| form.pointer("/properties/event/const").cloned()).collect();
        forms.push(json!({
            "description": "An event of a later version.",
            "type": "object",
            "properties": { "event": { "type": "string", "not": { "enum": known } } },
            "required": ["event"],
        }));
    }
    text("lepo do --events", description, Value::Object(document), generator)
}

fn generator() -> SchemaGenerator {
    // When it is written, a field that may be null is required, too.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.with_transform(RecursiveTransform(simplify)).into_generator()
}

fn document<T: JsonSchema>(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut schema = T::json_schema(generator);
    generator.transforms_mut().for_each(|transform| transform.transform(&mut schema));
    schema.ensure_object().clone()
}

fn text(title: &str, description: Option<Value>, form: Value, mut generator: SchemaGenerator) -> String {
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut schema = json!({
        "$schema": generator.settings().meta_schema,
        "title": title,
        "description": format!("{description} {PROMISE}"),
    });
    for part in [form, json!({ "$defs": generator.take_definitions(true) })] {
        if let (Value::Object(schema), Value::Object(part)) = (&mut schema, part) {
            schema.extend(part);
        }
    }
    format!("{schema:#}\n")
}

/// Removes the width of a number, which JSON does not have, and the permission for more fields, which is the default;
/// joins the lines of a description.
fn simplify(schema: &mut Schema) {
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    let has_number = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_number),
        Some(kind) => is_number(kind),
        None => false,
    };
    if has_number {
        schema.remove("format");
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
        schema.remove("additionalProperties");
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}
