//! Requests of Anthropic's Messages API; `answer` parses the answers.
//! <https://platform.claude.com/docs/en/api/messages>

mod answer;
mod block;
mod messages;
mod prefill;
mod thinking;
mod web;

use messages::{CACHE_CONTROL, SYSTEM_ROLE};
use serde_json::{Value, json};
use thinking::{FEW_TOKENS, MAX_TOKENS};

use super::answer_reader::AnswerReader;
use super::body_context::BodyContext;
use super::call_layout::CALL_IDS;
use super::field_quirks::{STOP_SEQUENCES, TOOL_CHOICE, TOP_P};
use super::media::{FileSupport, IMAGES_AND_PDF};
use super::message::ToolSpec;
use super::model_facts::{CatalogSpec, LookupMethod, ModelFacts};
use super::payload::Payload;
use super::provider_spec::{Auth, ConversationFormat, HttpSpec, ProviderSpec, ToolFormat, check_model};
use super::quirks::{BEGINS_THINKING, FILES, MALFORMED, ONE_SCHEMA, Quirk, STREAM, TEMPERATURE, TOOLS};
use super::slots::{Slots, compact, with_field};
use super::sse_answer::SseAnswer;
use crate::Planner;

/// Any server that speaks the Messages API.
pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Native,
    planner: Planner::Native,
    path: ConversationFormat::Messages,
    attachments: FileSupport {
        media: IMAGES_AND_PDF,
        image: Some(5 << 20),
        max_side: Some(8000),
        many_images: Some((20, 2000)),
        count: Some(100),
        total: Some(32_000_000),
        documents: None,
    },
    own_tools: false,
    http: Some(&HttpSpec {
        name: "anthropic",
        path: &["v1", "messages"],
        auth: Auth::Header("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
        body,
        reader,
        quirks: &[
            &FILES,
            &STREAM,
            &BEGINS_THINKING,
            &TOOLS,
            &TEMPERATURE,
            &SYSTEM_ROLE,
            &OUTPUT_FORMAT,
            &SCHEMA,
            &THINKING,
            &EFFORT,
            &web::OLDER,
            &web::NO_FETCH,
            &CACHE_CONTROL,
            &FEWER_TOKENS,
            &STOP_SEQUENCES,
            &TOOL_CHOICE,
            &TOP_P,
            &CALL_IDS,
        ],
        missing: check_model,
        catalog: CatalogSpec {
            path: &["v1", "models"],
            one: LookupMethod::Get,
            needed: true,
            read: model_facts,
            running: &[],
        },
        prefill: prefill::takes_prefill,
        root_key: false,
        web: true,
    }),
};

static OUTPUT_FORMAT: Quirk = Quirk {
    word: "output_format",
    status: MALFORMED,
    named: &[&["output_config.format", "output_format", "json_schema", "structured output"]],
    notice: "does not accept `output_config.format`: retrying without it",
};

/// Rejection of this schema: the fault is the schema's, so it is not recorded for the model.
static SCHEMA: Quirk = Quirk {
    word: ONE_SCHEMA,
    status: MALFORMED,
    named: &[&["schema"], &["format.schema", "invalid schema", "schema is too", "schemas contain", "compil"]],
    notice: "does not accept this schema: retrying without it",
};

static THINKING: Quirk = Quirk {
    word: "thinking",
    status: MALFORMED,
    named: &[&[
        "thinking.type",
        "thinking is not supported",
        "thinking.adaptive",
        "thinking.enabled",
        "thinking: ",
    ]],
    notice: "does not accept `thinking` in this form: retrying without it",
};

static EFFORT: Quirk = Quirk {
    word: "effort",
    status: MALFORMED,
    named: &[&["effort"]],
    notice: "does not accept `effort`: retrying without it",
};

/// A server without a catalogue of its models does not say how long their answers may be.
static FEWER_TOKENS: Quirk = Quirk {
    word: "max_tokens_4096",
    status: MALFORMED,
    named: &[
        &["max_tokens", "maximum tokens"],
        &["maximum allowed number of output tokens", "model limit", "too large", "must be less than"],
    ],
    notice: "does not allow answers of 8192 tokens: retrying with 4096",
};

fn reader(tools: &[ToolSpec]) -> Box<dyn AnswerReader> {
    Box::new(SseAnswer::new(answer::MessagesDecoder::new(tools)))
}

/// Builds the JSON of a request, without options that the model does not accept.
fn body(asking: &mut BodyContext<'_>) -> Payload {
    let (request, config) = (asking.request, asking.config);
    let options = &config.options;
    let limit = match options.max_tokens.or(asking.facts.max_tokens) {
        Some(limit) => limit,
        None if asking.has(&FEWER_TOKENS) => FEW_TOKENS,
        None => MAX_TOKENS,
    };
    let mut slots = Slots::new();
    let own = request.tools.iter().map(tool);
    let web = if request.web && options.web { web::tools(asking) } else { Vec::new() };
    let tools: Vec<Value> = own.chain(web).collect();
    let (system, messages) = messages::conversation(&mut slots, asking);
    let streams = asking.accepts(&STREAM);
    let has_tools = !request.tools.is_empty();
    if has_tools {
        asking.has(&TOOLS);
    }
    let no_choice = has_tools && request.tools_ended && asking.accepts(&TOOL_CHOICE);
    let thinking = thinking::thinking_for(config, asking.facts, limit, messages::is_rebuilt(&request));
    let thinking = thinking.filter(|_| !prefill::is_prefilled(&request) && asking.accepts(&THINKING));
    let effort = options.effort.as_deref().filter(|effort| *effort != "none" && asking.accepts(&EFFORT));
    let schema = request.schema.filter(|_| asking.accepts(&OUTPUT_FORMAT) & asking.accepts(&SCHEMA));
    let format = schema.map(|schema| json!({"type": "json_schema", "schema": schema.schema}));
    let stop = Some(&options.stop).filter(|stop| !stop.is_empty() && asking.accepts(&STOP_SEQUENCES));
    let temperature = options.temperature.as_ref().filter(|_| asking.accepts(&TEMPERATURE));
    let body = json!({
        "model": config.model,
        "tools": compact(tools.into()),
        "system": compact(system.into()),
        "messages": null,
        "max_tokens": limit,
        "stream": streams,
        "tool_choice": no_choice.then(|| json!({"type": "none"})),
        "thinking": thinking,
        "output_config": compact(json!({"effort": effort, "format": format})),
        "temperature": temperature,
        "top_p": options.top_p.as_ref().filter(|_| asking.accepts(&TOP_P)),
        "stop_sequences": stop,
    });
    slots.into_payload(with_field(body, "messages", messages), &config.extra)
}

/// Converts a tool. The root of its schema must be an object.
fn tool(tool: &ToolSpec) -> Value {
    let mut schema = tool.schema.clone();
    if let Value::Object(fields) = &mut schema
        && !fields.contains_key("type")
    {
        fields.insert("type".to_owned(), "object".into());
    }
    json!({"name": tool.name, "description": tool.description, "input_schema": schema})
}

/// Parses the server's facts about a model.
fn model_facts(model: &Value) -> Option<ModelFacts> {
    let supported = |pointer: &str| model.pointer(pointer).and_then(Value::as_bool) == Some(true);
    let capabilities = &model["capabilities"];
    let names = capabilities.as_object().into_iter().flatten();
    let names = names.filter(|(_, about)| about["supported"] == true).map(|(name, _)| name.clone());
    let mut capabilities: Vec<String> = names.collect();
    for kind in ["adaptive", "enabled"] {
        if supported(&format!("/capabilities/thinking/types/{kind}/supported")) {
            capabilities.push(format!("thinking.{kind}"));
        }
    }
    Some(ModelFacts {
        id: model["id"].as_str()?.to_owned(),
        context: model["max_input_tokens"].as_u64().filter(|&tokens| tokens > 0),
        max_tokens: model["max_tokens"].as_u64().filter(|&tokens| tokens > 0),
        capabilities,
        ..ModelFacts::default()
    })
}

#[cfg(test)]
mod tests;
