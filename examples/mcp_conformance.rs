//! A client for the protocol's own conformance suite, on the module that lepo speaks MCP with: it
//! opens a session with the server at URL, lists the tools and calls each, as the scenario wants it.
//!
//! `conformance client --command target/debug/examples/mcp_conformance --suite core`; see `scripts/conformance`.

use std::process::ExitCode;
use std::time::Duration;

use lepo::testing::config::{ServerConfig, Target, Transport};
use lepo::testing::tool::{Asked, Caller, Failure, Field, FormAnswer, Limits, List, Place, Wire};
use serde_json::{Map, Value, json};

const LIMITS: Limits = Limits { idle: Duration::from_secs(20), total: Duration::from_secs(25) };

/// The scenario that wants one tool's schema told back to another tool.
const ECHO: &str = "json_schema_echo";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1).and_then(|url| url.parse().ok()) else {
        eprintln!("usage: mcp_conformance URL");
        return ExitCode::from(2);
    };
    match converse(url).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            ExitCode::FAILURE
        }
    }
}

async fn converse(url: url::Url) -> Result<(), Failure> {
    let target = Target::Remote { url, transport: Transport::Http, headers: Vec::new() };
    let server = ServerConfig { name: "conformance".into(), description: None, enabled: true, target };
    let mut wire = Wire::open(&server, &Place::default(), Duration::from_secs(15)).await?;
    eprintln!("speaking {}", wire.protocol());
    let listed = wire.page(List::Tools, None, LIMITS).await?;
    let tools = listed["tools"].as_array().cloned().unwrap_or_default();
    for (name, arguments) in calls(&tools) {
        match wire.call(&name, &arguments, LIMITS, &mut Defaults).await {
            Ok(result) => eprintln!("{name}: {result}"),
            Err(failure) => eprintln!("{name}: {failure:?}"),
        }
    }
    wire.close().await;
    Ok(())
}

/// The calls that the scenario's context names, else one of each tool.
fn calls(tools: &[Value]) -> Vec<(String, Map<String, Value>)> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_string();
    if let Some(calls) = context["toolCalls"].as_array() {
        let arguments = |call: &Value| call["arguments"].as_object().cloned().unwrap_or_default();
        return calls.iter().map(|call| (name(call), arguments(call))).collect();
    }
    let schema_of_another = || {
        let other = tools.iter().find(|tool| tool["name"] != ECHO);
        other.map(|tool| tool["inputSchema"].clone()).unwrap_or_default()
    };
    let arguments = |tool: &Value| match tool["name"].as_str() {
        Some(ECHO) => json!({ "schema": schema_of_another() }),
        _ => filled(&tool["inputSchema"], true),
    };
    tools.iter().map(|tool| (name(tool), arguments(tool).as_object().cloned().unwrap_or_default())).collect()
}

/// Answers each form with its defaults.
struct Defaults;

impl Caller for Defaults {
    fn hears(&mut self, _: &str) {}

    async fn answers(&mut self, asked: Asked) -> FormAnswer {
        let Asked::Form(form) = asked else { return FormAnswer::Declined };
        let value = |field: &Field| {
            let value = field.value("").ok().flatten();
            Some((
                field.name.clone(),
                value.or_else(|| field.value("text").or(field.value("1")).ok().flatten())?,
            ))
        };
        FormAnswer::Filled(form.fields.iter().filter_map(value).collect())
    }
}

/// A value for each property: only those that are required, if `required`.
fn filled(schema: &Value, required: bool) -> Value {
    let wanted: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let kept = properties.filter(|(name, _)| !required || wanted.contains(&name.as_str()));
    kept.map(|(name, property)| (name.clone(), value(property))).collect::<Map<_, _>>().into()
}

fn value(property: &Value) -> Value {
    if let Some(default) = property.get("default").or_else(|| property.get("enum")?.get(0)) {
        return default.clone();
    }
    match property["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    }
}
