//! The table of refusals: each row has statuses, texts in lower case, and their meaning.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
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
    /// The model is not served by this API of the server, but by another.
    Wire,
    /// The requested limit of the answer is more than the model allows.
    Limit,
    /// The request offers more tools than the server accepts.
    ManyTools,
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

pub(super) struct RefusalRow {
    /// The statuses; if empty, all statuses of a refusal.
    pub statuses: &'static [u16],
    /// All of these occur in the body.
    pub phrases: &'static [&'static str],
    pub meaning: Meaning,
    /// The server that sends these texts.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test of the table"))]
    pub source: &'static str,
}

const fn row(
    meaning: Meaning,
    statuses: &'static [u16],
    phrases: &'static [&'static str],
    source: &'static str,
) -> RefusalRow {
    RefusalRow { statuses, phrases, meaning, source }
}

use Meaning::{
    Field, Forbidden, Key, Limit, ManyTools, Model, OverMinute, Overflow, Path, Request, Slip, UsedUp, Wire,
};

/// Statuses for a blocked account.
const ACCOUNT: &[u16] = &[400, 402, 403, 429];
/// Statuses for a request that is too large.
const LARGE: &[u16] = &[400, 413, 422, 500];
/// Statuses for a malformed request.
const FORM: &[u16] = &[400, 422];
/// Statuses for rejected tools.
const TOOLS: &[u16] = &[400, 404, 422, 500, 501];

pub(super) const ROWS: &[RefusalRow] = &[
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
    row(UsedUp, ACCOUNT, &["insufficient_user_quota"], "One API, New API"),
    row(UsedUp, ACCOUNT, &["quota is not enough"], "One API"),
    row(UsedUp, ACCOUNT, &["余额不足"], "Zhipu"),
    row(UsedUp, ACCOUNT, &["额度不足"], "New API"),
    row(UsedUp, ACCOUNT, &["额度已用尽"], "New API"),
    row(UsedUp, ACCOUNT, &["usage limit reached"], "Zhipu, with the time of its reset"),
    row(UsedUp, ACCOUNT, &["usage_limit_reached"], "OpenAI, a subscription"),
    row(OverMinute, &[413], &["tokens per min"], "Groq"),
    row(OverMinute, &[413], &["(tpm)"], "Groq"),
    row(OverMinute, &[413], &["rate_limit_exceeded"], "Groq"),
    row(OverMinute, &[429], &["request too large"], "OpenAI"),
    // LiteLLM takes the length of an id for the length of the conversation.
    row(Request, LARGE, &["tool_calls", "string too long"], "OpenAI, LiteLLM"),
    row(Limit, FORM, &["maximum allowed number of output tokens"], "Anthropic"),
    row(Limit, FORM, &["maximum tokens you requested exceeds the model limit"], "Bedrock"),
    row(Limit, FORM, &["max_tokens is too large"], "OpenAI"),
    row(Limit, FORM, &["max_completion_tokens is too large"], "OpenAI"),
    row(Limit, FORM, &["invalid max_tokens"], "DeepSeek"),
    row(Limit, FORM, &["range of max_tokens should be"], "DashScope"),
    row(Limit, FORM, &["max_tokens` must be less than or equal to"], "Groq"),
    row(ManyTools, FORM, &["tools", "array too long"], "OpenAI"),
    row(ManyTools, FORM, &["tools", "at most 128"], "FastAPI"),
    row(ManyTools, FORM, &["maximum number of tools"], "many"),
    row(ManyTools, FORM, &["too many tools"], "many"),
    row(Overflow, LARGE, &["context_length_exceeded"], "OpenAI"),
    row(Overflow, LARGE, &["content': string too long"], "OpenAI"),
    row(Overflow, LARGE, &["'input': string too long"], "OpenAI"),
    row(Overflow, LARGE, &["'messages': array too long"], "OpenAI"),
    row(Overflow, LARGE, &["'input': array too long"], "OpenAI"),
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
    row(Overflow, LARGE, &["pages", "cannot be enqueued"], "TabbyAPI, ExLlama"),
    row(Overflow, LARGE, &["reached context length"], "LM Studio"),
    row(Overflow, LARGE, &["context overflow"], "LM Studio"),
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
    row(Forbidden, &[403], &["service_disabled"], "Google"),
    row(Forbidden, &[403], &["has not been used in project"], "Google"),
    row(Forbidden, &[404], &["data policy"], "OpenRouter"),
    row(Forbidden, &[404], &["guardrail restrictions"], "OpenRouter"),
    // With 503, the page of Cloudflare is about the server.
    row(Forbidden, &[403], &["cloudflare"], "Cloudflare"),
    row(Forbidden, &[403, 503], &["checking your browser"], "Cloudflare"),
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
    row(Key, &[400, 403], &["only authorized for use with"], "Anthropic, a token of a subscription"),
    row(Path, &[200, 400, 404, 405, 500], &["unexpected endpoint or method"], "LM Studio, with status 200"),
    row(Path, &[400, 404, 405], &["invalid url (post"], "OpenAI"),
    row(Path, &[400, 404, 405], &["unknown request url"], "Groq"),
    row(Path, &[400, 403, 404, 405], &["not allowed to post"], "Hugging Face"),
    row(Wire, &[400, 404], &["unsupported_api_for_model"], "Copilot"),
    row(Wire, &[400, 404], &["model", "is not accessible via the /"], "Copilot"),
    row(Wire, &[400, 404], &["only supported in v1/"], "OpenAI"),
    row(Wire, &[400, 404], &["is not a chat model"], "OpenAI"),
    row(Wire, &[400, 404], &["operation does not work with the specified model"], "Azure"),
    row(Model, &[400, 404, 422, 503], &["model_not_found"], "OpenAI; with 503, New API"),
    row(Model, &[400, 404, 422], &["model_decommissioned"], "Groq"),
    row(Model, &[400, 404, 422], &["model_not_supported"], "Hugging Face, Copilot"),
    row(Model, &[400, 404, 422], &["model identifier is invalid"], "Bedrock"),
    row(Model, &[400, 404, 422], &["模型不存在"], "Zhipu"),
    row(Model, &[400, 404, 422], &["unknown model"], "Zhipu, MiniMax"),
    row(Model, &[400, 404, 422], &["invalid model: "], "Mistral"),
    row(Model, &[503], &["无可用渠道"], "New API"),
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
    pub fn fits(&self, status: u16, body: &str) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&status))
            && self.phrases.iter().all(|word| body.contains(word))
    }
}
