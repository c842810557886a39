//! A client for the protocol's own conformance suite, on the module that lepo speaks MCP with: it
//! opens a session with the server at URL, lists the tools and calls each, as the scenario wants it.
//!
//! `conformance client --command target/debug/examples/mcp_conformance --suite core`; see `scripts/conformance`.

use std::process::ExitCode;
use std::time::Duration;

use lepo_base::secret::Secret;
use lepo_tool::mcp::client::auth::{LiveSecrets, Login, RedirectParams};
use lepo_tool::mcp::client::{CallFailure, ListKind, McpClient, ProcessSetup, TimeLimits};
use lepo_tool::mcp::config::{ClientIdentity, ServerConfig, ServerDetails, ServerTarget, Transport};
use lepo_tool::mcp::{ElicitationHandler, ElicitationResult, FormField, ServerQuestion};
use serde_json::{Map, Value, json};

const LIMITS: TimeLimits = TimeLimits { idle: Duration::from_secs(20), total: Duration::from_secs(25) };

/// The scenario that wants one tool's schema told back to another tool.
const ECHO: &str = "json_schema_echo";

/// How often it signs in at most: for more rights, once more each time.
const SIGN_INS: usize = 3;

/// The address of the suite's own client metadata document; lepo has none.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1).and_then(|url| url.parse().ok()) else {
        eprintln!("usage: mcp_conformance URL");
        return ExitCode::from(2);
    };
    let Ok(dir) = tempfile::tempdir() else { return ExitCode::FAILURE };
    let place = ProcessSetup { sign_ins: dir.path().to_path_buf(), ..ProcessSetup::default() };
    match converse(&server(url), &place).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("{words}");
            ExitCode::FAILURE
        }
    }
}

/// The server, with the client that the scenario's context names.
fn server(url: url::Url) -> ServerConfig {
    let context = context();
    let text = |key: &str| context[key].as_str().map(str::to_string);
    let identity = ClientIdentity {
        client_id: text("client_id"),
        client_secret: text("client_secret").map(Secret::new),
        client_metadata_url: DOCUMENT.parse().ok(),
    };
    let identity = Box::new(identity);
    let target = ServerTarget::Remote { url, transport: Transport::Http, headers: Vec::new(), identity };
    ServerConfig {
        name: "conformance".into(),
        description: None,
        enabled: true,
        target,
        details: ServerDetails::default(),
    }
}

/// Lists the tools and calls each; signs in whenever that is wanted, up to a limit.
async fn converse(server: &ServerConfig, place: &ProcessSetup) -> Result<(), String> {
    let mut sign_ins = 0;
    loop {
        let needed = match session(server, place).await {
            Ok(()) => return Ok(()),
            Err(CallFailure::SignIn(needed)) => needed,
            Err(failure) => return Err(format!("{failure:?}")),
        };
        eprintln!("{}", needed.reason);
        sign_ins += 1;
        if sign_ins > SIGN_INS {
            return Err("it wants one sign-in after the other".to_string());
        }
        let scopes: Vec<String> =
            needed.scope.iter().flat_map(|all| all.split(' ')).map(str::to_string).collect();
        sign_in(server, place, needed.challenge.as_deref(), &scopes).await?;
    }
}

/// Signs in as a person would that says yes to everything: the address answers with where the browser goes.
async fn sign_in(
    server: &ServerConfig,
    place: &ProcessSetup,
    challenge: Option<&str>,
    scopes: &[String],
) -> Result<(), String> {
    let redirect = "http://127.0.0.1:39999/callback";
    let login = Login::start(server, &place.sign_ins, redirect, challenge, scopes).await?;
    eprintln!("visiting {}", login.address());
    let client =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).tls_certs_only([]).build();
    let failed = |error: reqwest::Error| error.to_string();
    let visited = client.map_err(failed)?.get(login.address().clone()).send().await.map_err(failed)?;
    let location = visited.headers().get("location").and_then(|value| value.to_str().ok());
    let location =
        location.and_then(|location| login.address().join(location).ok()).ok_or("it leads nowhere")?;
    match login.read(&location) {
        RedirectParams::Code(code, issuer) => login.finish(&code, issuer.as_deref()).await,
        other => Err(format!("{other:?}")),
    }
}

async fn session(server: &ServerConfig, place: &ProcessSetup) -> Result<(), CallFailure> {
    let mut client = McpClient::open(server, place, Duration::from_secs(15), &LiveSecrets::default()).await?;
    eprintln!("speaking {}", client.protocol());
    let listed = client.page(ListKind::Tools, None, LIMITS).await?;
    let tools = listed["tools"].as_array().cloned().unwrap_or_default();
    for (name, arguments) in calls(&tools) {
        match client.call(&name, &arguments, LIMITS, &mut Defaults).await {
            Ok(result) => eprintln!("{name}: {result}"),
            Err(failure @ CallFailure::SignIn(_)) => {
                client.close().await;
                return Err(failure);
            }
            Err(failure) => eprintln!("{name}: {failure:?}"),
        }
    }
    client.close().await;
    Ok(())
}

/// The suite's data for the scenario.
fn context() -> Value {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    serde_json::from_str(&context).unwrap_or_default()
}

/// The calls that the scenario's context names, else one of each tool.
fn calls(tools: &[Value]) -> Vec<(String, Map<String, Value>)> {
    let context = context();
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

impl ElicitationHandler for Defaults {
    fn on_progress(&mut self, _: &str) {}

    async fn elicit(&mut self, asked: ServerQuestion) -> ElicitationResult {
        let ServerQuestion::Form(form) = asked else { return ElicitationResult::Declined };
        let value = |field: &FormField| {
            let value = field.value("").ok().flatten();
            Some((
                field.name.clone(),
                value.or_else(|| field.value("text").or(field.value("1")).ok().flatten())?,
            ))
        };
        ElicitationResult::Filled(form.fields.iter().filter_map(value).collect())
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
