//! The table of refusals: status and texts, and their meaning. The first matching row counts; without one, the
//! status alone decides.
//!
//! Each meaning has one reaction and one hint, in `refusal` and `remote`. The texts are in lower case.

use serde_json::Value;

use super::failure::status_in;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The credit or a spending limit is used up.
    UsedUp,
    /// This request alone exceeds a limit per minute: waiting does not help.
    OverMinute,
    /// The conversation is too long.
    Overflow,
    /// The server could not parse a call or JSON from the model.
    Slip,
    /// The key is missing, wrong, or lacks the permission.
    Key,
    /// A country, moderation, a firewall: the key is not at fault.
    Forbidden,
    /// The model does not exist.
    Model,
    /// The URL does not belong to the API.
    Path,
    /// The model rejects a field: the word of a quirk.
    Field(&'static str),
    Wait,
    /// A proxy requires authentication.
    Proxy,
    /// The server redirects.
    Moved,
    /// The request is refused for another reason.
    Request,
}

struct RefusalRow {
    /// The statuses; if empty, all statuses of a refusal.
    statuses: &'static [u16],
    /// All of these occur in the body.
    phrases: &'static [&'static str],
    meaning: Meaning,
    /// The server that sends these texts.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test of the table"))]
    source: &'static str,
}

const fn row(
    meaning: Meaning,
    statuses: &'static [u16],
    phrases: &'static [&'static str],
    source: &'static str,
) -> RefusalRow {
    RefusalRow { statuses, phrases, meaning, source }
}

use Meaning::{Field, Forbidden, Key, Model, OverMinute, Overflow, Path, Slip, UsedUp};

/// Statuses for a blocked account.
const ACCOUNT: &[u16] = &[400, 402, 403, 429];
/// Statuses for a request that is too large.
const LARGE: &[u16] = &[400, 413, 422, 500];
/// Statuses for a malformed request.
const FORM: &[u16] = &[400, 422];
/// Statuses for rejected tools.
const TOOLS: &[u16] = &[400, 404, 422, 500, 501];

const ROWS: &[RefusalRow] = &[
    row(UsedUp, ACCOUNT, &["insufficient_quota"], "OpenAI"),
    row(UsedUp, ACCOUNT, &["billing_hard_limit_reached"], "OpenAI"),
    row(UsedUp, ACCOUNT, &["billing_not_active"], "OpenAI"),
    row(UsedUp, ACCOUNT, &["credit_balance_exhausted"], "OpenAI"),
    row(UsedUp, ACCOUNT, &["spend_limit_exceeded"], "OpenAI"),
    row(UsedUp, ACCOUNT, &["organization_usage_limit_exceeded"], "OpenAI"),
    row(UsedUp, ACCOUNT, &["credit balance is too low"], "Anthropic"),
    row(UsedUp, ACCOUNT, &["credit_balance_too_low"], "Anthropic"),
    row(UsedUp, ACCOUNT, &["billing_error"], "Anthropic"),
    row(UsedUp, ACCOUNT, &["insufficient balance"], "DeepSeek"),
    row(UsedUp, ACCOUNT, &["insufficient_balance"], "MiniMax, Zhipu"),
    row(UsedUp, ACCOUNT, &["insufficient credits"], "OpenRouter"),
    row(UsedUp, ACCOUNT, &["key limit exceeded"], "OpenRouter"),
    row(UsedUp, ACCOUNT, &["exceeded_current_quota_error"], "Moonshot"),
    row(UsedUp, ACCOUNT, &["used all available credits"], "xAI"),
    row(UsedUp, ACCOUNT, &["exceeded your monthly included credits"], "Hugging Face"),
    row(UsedUp, ACCOUNT, &["arrearage"], "Alibaba"),
    row(OverMinute, &[413], &["tokens per min"], "Groq"),
    row(OverMinute, &[413], &["(tpm)"], "Groq"),
    row(OverMinute, &[413], &["rate_limit_exceeded"], "Groq"),
    row(OverMinute, &[429], &["request too large"], "OpenAI"),
    row(Overflow, LARGE, &["context_length_exceeded"], "OpenAI"),
    row(Overflow, LARGE, &["maximum context length"], "OpenAI, vLLM, DeepSeek, OpenRouter"),
    row(Overflow, LARGE, &["context window", "exceed"], "OpenAI, MiniMax, Cloudflare, LiteLLM"),
    row(Overflow, LARGE, &["contextwindowexceedederror"], "LiteLLM"),
    row(Overflow, LARGE, &["exceeds the context"], "OpenAI"),
    row(Overflow, LARGE, &["context length", "exceed"], "Ollama, LM Studio"),
    row(Overflow, LARGE, &["context length is only"], "vLLM"),
    row(Overflow, LARGE, &["context size", "exceed"], "llama.cpp"),
    row(Overflow, LARGE, &["exceed_context_size_error"], "llama.cpp"),
    row(Overflow, LARGE, &["n_prompt_tokens", "n_ctx"], "llama.cpp"),
    row(Overflow, LARGE, &["n_keep", "n_ctx"], "LM Studio"),
    row(Overflow, LARGE, &["keep the first", "tokens", "context"], "LM Studio"),
    row(Overflow, LARGE, &["number of tokens to keep", "context length"], "LM Studio"),
    row(Overflow, LARGE, &["exceeded model token limit"], "Kimi"),
    row(Overflow, LARGE, &["model_max_prompt_tokens_exceeded"], "Copilot"),
    row(Overflow, LARGE, &["prompt token count", "exceeds the limit"], "Copilot"),
    row(Overflow, LARGE, &["tokens_limit_reached"], "GitHub Models"),
    row(Overflow, LARGE, &["request body too large", "tokens"], "GitHub Models"),
    row(Overflow, LARGE, &["inputs", "tokens", "must be <="], "TGI, Together"),
    row(Overflow, LARGE, &["inputs", "must have less than", "tokens"], "TGI"),
    row(Overflow, LARGE, &["range of input length should be"], "DashScope"),
    row(Overflow, LARGE, &["prompt exceeds max length"], "Zhipu"),
    row(Overflow, LARGE, &["prompt is too long"], "Anthropic, Fireworks"),
    row(Overflow, LARGE, &["input length and", "exceed context limit"], "Anthropic"),
    row(Overflow, LARGE, &["request_too_large"], "Anthropic"),
    row(Overflow, LARGE, &["request exceeds the maximum size"], "Anthropic"),
    row(Overflow, LARGE, &["exceed", "maximum allowed number of input tokens"], "Anthropic"),
    row(Overflow, LARGE, &["input", "exceeds", "context"], "Ollama"),
    row(Overflow, LARGE, &["prompt too long"], "Ollama"),
    row(Overflow, LARGE, &["input token count", "exceeds the maximum number of tokens"], "Google"),
    row(Overflow, LARGE, &["maximum prompt length"], "xAI"),
    row(Overflow, LARGE, &["reduce the length of the messages"], "Groq, Cerebras"),
    row(Overflow, LARGE, &["current length is", "limit is"], "Cerebras"),
    row(Overflow, LARGE, &["too large for model with", "maximum context"], "Mistral"),
    row(Overflow, LARGE, &["longer than the maximum model length"], "vLLM"),
    row(Overflow, LARGE, &["longer than the model's context length"], "SGLang"),
    row(Overflow, LARGE, &["input length", "exceeds the maximum"], "SGLang, Volcengine"),
    row(Overflow, LARGE, &["max_seq_len"], "SiliconFlow, TabbyAPI, TensorRT-LLM"),
    row(Overflow, LARGE, &["prompt length", "exceed"], "TensorRT-LLM, Replicate"),
    row(Overflow, LARGE, &["input is too long"], "Bedrock"),
    row(Overflow, LARGE, &["too many input tokens"], "Bedrock"),
    row(Overflow, LARGE, &["too many tokens"], "Cohere"),
    row(Overflow, LARGE, &["token limit exceeded"], "Azure"),
    row(Overflow, LARGE, &["number of input tokens", "exceed"], "StepFun"),
    row(Overflow, LARGE, &["exceed max message tokens"], "Volcengine"),
    row(Overflow, LARGE, &["prompt tokens too long"], "Baidu"),
    row(Overflow, LARGE, &["more than max tokens allowed"], "GLM"),
    row(Overflow, LARGE, &["max input token limit"], "Bedrock"),
    row(Overflow, LARGE, &["total tokens exceed"], "Cohere"),
    row(Overflow, LARGE, &["maximum number of input tokens"], "many"),
    row(Slip, &[400, 422, 500], &["tool_use_failed"], "Groq"),
    row(Slip, &[400, 422, 500], &["failed_generation"], "Groq"),
    row(Slip, &[400, 422, 500], &["tool call validation failed"], "Groq"),
    row(Slip, &[400, 422, 500], &["error parsing tool call"], "Ollama"),
    row(Slip, &[400, 422, 500], &["failed to parse tool call"], "llama.cpp"),
    row(Slip, &[400, 422, 500], &["failed to parse input at pos"], "llama.cpp"),
    row(Slip, &[400, 422, 500], &["model produced invalid content"], "OpenAI"),
    row(Forbidden, &[400, 403, 451], &["unsupported_country"], "OpenAI"),
    row(Forbidden, &[400, 403, 451], &["country, region"], "OpenAI"),
    row(Forbidden, &[400, 403, 451], &["location is not supported"], "Google"),
    row(Forbidden, &[400, 403, 451], &["not available in your"], "Anthropic"),
    row(Forbidden, &[403, 451], &["region"], "Anthropic, Bedrock"),
    row(Forbidden, &[403], &["moderation"], "OpenRouter"),
    row(Forbidden, &[403], &["flagged"], "OpenRouter"),
    row(Forbidden, &[400, 403], &["content management policy"], "Azure"),
    row(Forbidden, &[400, 403], &["content_policy_violation"], "OpenAI"),
    row(Forbidden, &[400, 403], &["data_inspection_failed"], "DashScope"),
    row(Forbidden, &[400, 403], &["content exists risk"], "DeepSeek"),
    row(Forbidden, &[400, 403], &["prohibited_content"], "Google"),
    row(Forbidden, &[403, 503], &["cloudflare"], "Cloudflare"),
    row(Forbidden, &[403, 503], &["you have been blocked"], "Cloudflare"),
    row(Forbidden, &[403, 503], &["just a moment"], "Cloudflare"),
    row(Forbidden, &[403], &["security service to protect"], "Cloudflare"),
    row(Forbidden, &[403], &["access denied", "reference #"], "Akamai"),
    row(Forbidden, &[403], &["incapsula"], "Imperva"),
    row(Forbidden, &[403], &["firewall"], "firewalls"),
    row(Forbidden, &[403], &["captcha"], "firewalls"),
    row(Key, &[400, 403, 404, 422, 500], &["api key not valid"], "Google"),
    row(Key, &[400, 403, 404, 422, 500], &["api_key_invalid"], "Google"),
    row(Key, &[400, 403, 404, 422, 500], &["api key expired"], "Google"),
    row(Key, &[400, 403, 404, 422, 500], &["missing or invalid authorization header"], "Google"),
    row(Key, &[400, 403, 404, 422, 500], &["incorrect api key"], "xAI"),
    row(Key, &[400, 403, 404, 422, 500], &["invalid api key"], "many"),
    row(Key, &[400, 403, 404, 422, 500], &["invalid_api_key"], "many"),
    row(Key, &[400, 403, 404, 422, 500], &["invalidapikey"], "DashScope"),
    row(Key, &[400, 403, 404, 422, 500], &["invalid api-key"], "DashScope"),
    row(Key, &[400, 403, 404, 422, 500], &["missing api key"], "many"),
    row(Key, &[400, 403, 404, 422, 500], &["no api key"], "many"),
    row(Key, &[400, 403, 404, 422, 500], &["no auth credentials"], "OpenRouter"),
    row(Key, &[400, 403, 404, 422, 500], &["invalid x-api-key"], "Anthropic"),
    row(Path, &[200, 400, 404, 405, 500], &["unexpected endpoint or method"], "LM Studio, with status 200"),
    row(Path, &[400, 404, 405], &["invalid url (post"], "OpenAI"),
    row(Path, &[400, 404, 405], &["unknown request url"], "Groq"),
    row(Model, &[400, 404, 422], &["model_not_found"], "OpenAI"),
    row(Model, &[400, 404, 422], &["not a valid model id"], "OpenRouter"),
    row(Model, &[400, 404, 422], &["no allowed providers are available"], "OpenRouter"),
    row(Model, &[400, 404, 422], &["deploymentnotfound"], "Azure"),
    row(Model, &[400, 404, 422], &["model not exist"], "DeepSeek"),
    row(Field("tools"), TOOLS, &["tool", "not support"], "Ollama, OpenRouter, many"),
    row(Field("tools"), TOOLS, &["tool", "unsupported"], "many"),
    row(Field("tools"), TOOLS, &["tool", "does not take"], "many"),
    row(Field("tools"), TOOLS, &["tool", "no endpoints"], "OpenRouter"),
    row(Field("tools"), TOOLS, &["tool", "--jinja"], "llama.cpp"),
    row(Field("tools"), TOOLS, &["tool", "--enable-auto-tool-choice"], "vLLM"),
    row(Field("tools"), TOOLS, &["argument", "supplied: tools"], "Azure"),
    row(Field("tools"), TOOLS, &["argument", "supplied: tool_choice, tools"], "Azure"),
    row(Field("tools"), TOOLS, &["function calling is not enabled"], "Google, Gemma"),
    row(Field("tools"), TOOLS, &["function calling is not supported"], "many"),
    row(Field("tools"), TOOLS, &["not support function"], "many"),
    row(Field("tools"), TOOLS, &["functions are not supported"], "many"),
    row(Field("tools"), TOOLS, &["tool use is not enabled"], "many"),
    row(Field("tools"), FORM, &["extra inputs are not permitted", "tools"], "FastAPI"),
    row(Field("stream"), FORM, &["must be verified to stream"], "OpenAI"),
    row(Field("stream"), FORM, &["'stream' does not support"], "OpenAI"),
    row(Field("stream"), FORM, &["does not support streaming"], "many"),
    row(Field("stream"), FORM, &["streaming is not supported"], "many"),
    row(Field("stream"), FORM, &["streaming not supported"], "many"),
    row(Field("stream"), FORM, &["stream is not supported"], "many"),
    row(Field("stream"), FORM, &["streaming is not enabled"], "many"),
];

impl RefusalRow {
    fn fits(&self, status: u16, body: &str) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&status))
            && self.phrases.iter().all(|word| body.contains(word))
    }
}

/// Returns the meaning of a refusal with this status and body; `model` is the requested name.
pub(super) fn meaning(status: u16, body: &str, model: &str) -> Meaning {
    let body = body.to_lowercase();
    if matches!(status, 413 | 429) && is_over_minute(&body) && !body.contains("insufficient_quota") {
        return OverMinute;
    }
    match ROWS.iter().find(|row| row.fits(status, &body)) {
        Some(row) => row.meaning,
        None => of_status(status, &body, model),
    }
}

fn of_status(status: u16, body: &str, model: &str) -> Meaning {
    match status {
        401 => Key,
        402 => UsedUp,
        407 => Meaning::Proxy,
        403 | 451 if speaks_of_key(body) => Key,
        403 | 451 => Forbidden,
        404 | 405 if speaks_of_model(body, model) => Model,
        404 | 405 => Path,
        408 | 425 | 429 | 500..=599 => Meaning::Wait,
        413 => Overflow,
        300..=399 => Meaning::Moved,
        _ => Meaning::Request,
    }
}

/// Returns the rejected field, as the word of a quirk.
pub(super) fn field(status: u16, body: &str) -> Option<&'static str> {
    let body = body.to_lowercase();
    ROWS.iter().filter(|row| row.fits(status, &body)).find_map(|row| match row.meaning {
        Field(word) => Some(word),
        _ => None,
    })
}

/// Whether the text means a blocked account, whatever the status.
pub(super) fn is_quota_used_up(body: &str) -> bool {
    let body = body.to_lowercase();
    ROWS.iter().any(|row| row.meaning == UsedUp && row.phrases.iter().all(|word| body.contains(word)))
}

/// Whether the text has a limit and a request that exceeds it: `Limit 8000, Requested 9100`.
fn is_over_minute(body: &str) -> bool {
    let number = |word: &str| {
        body.split(word).skip(1).find_map(|behind| {
            let digits = behind.trim_start_matches([':', ' ']);
            let end = digits.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(digits.len());
            digits.split_at(end).0.replace(',', "").parse::<u64>().ok()
        })
    };
    matches!((number("limit"), number("requested")), (Some(limit), Some(requested)) if requested > limit)
}

/// Texts about a key if they are separate, unlike the one in `max_tokens`.
const KEY_WORDS: &[&str] = &[
    "key",
    "keys",
    "apikey",
    "token",
    "credential",
    "credentials",
    "permission",
    "permissions",
    "unauthorized",
    "unauthorised",
    "authentication",
    "authorization",
    "authenticated",
    "authorized",
];

fn speaks_of_key(body: &str) -> bool {
    body.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| KEY_WORDS.contains(&word))
}

fn speaks_of_model(body: &str, model: &str) -> bool {
    let model = model.to_lowercase();
    ["model", "deployment", "endpoints found"].iter().any(|word| body.contains(word))
        || model.len() > 2 && body.contains(&model)
}

/// The HTTP statuses of error codes and types.
const STATUSES: &[(&str, u16)] = &[
    ("invalid_request_error", 400),
    ("invalid_argument", 400),
    ("bad_request", 400),
    ("context_length_exceeded", 400),
    ("exceed_context_size_error", 400),
    ("invalid_prompt", 400),
    ("authentication_error", 401),
    ("unauthenticated", 401),
    ("invalid_api_key", 401),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("not_found_error", 404),
    ("not_found", 404),
    ("model_not_found", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("rate_limit_reached", 429),
    ("rate_limit", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("internal_error", 500),
    ("internal_server_error", 500),
    ("internal", 500),
    ("bad_gateway", 502),
    ("upstream_error", 502),
    ("server_is_overloaded", 503),
    ("slow_down", 503),
    ("service_unavailable", 503),
    ("unavailable", 503),
    ("timeout_error", 504),
    ("timeout", 504),
    ("deadline_exceeded", 504),
    ("overloaded_error", 529),
    ("engine_overloaded_error", 529),
];

/// Returns the HTTP status that an error within a stream would have had; `None` if it is unknown.
pub(super) fn status_of(error: &Value) -> Option<u16> {
    let text = error.to_string().to_lowercase();
    if is_quota_used_up(&text) {
        return Some(402);
    }
    if let Some(status) = status_in(error) {
        return Some(status);
    }
    let by_words = || {
        let says = |row: &&RefusalRow| row.phrases.iter().all(|word| text.contains(word));
        ROWS.iter().find(says).and_then(|row| row.statuses.first().copied())
    };
    known_code(error).and_then(of_word).or_else(by_words)
}

/// Returns the code or type of an error if its status is known.
pub(super) fn known_code(error: &Value) -> Option<&str> {
    let fields = ["code", "type", "status", "error_type"].into_iter();
    fields.filter_map(|name| error.get(name)?.as_str()).find(|word| of_word(word).is_some())
}

fn of_word(word: &str) -> Option<u16> {
    STATUSES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, status)| *status)
}

#[cfg(test)]
mod tests;
