//! Tests of the table of refusals: each row separately, and real answers of servers.

use serde_json::json;

use super::*;

#[test]
fn each_row_is_found_by_its_words() {
    for row in ROWS {
        let body = row.phrases.join(" \u{2026} ");
        let status = |status: &u16| meaning(*status, &body, "m");
        let found: Vec<Meaning> = row.statuses.iter().map(status).collect();
        assert!(found.iter().all(|found| *found == row.meaning), "{} {body}: {found:?}", row.source);
        assert!(!row.source.is_empty() && body == body.to_lowercase(), "{body}");
    }
}

#[test]
fn what_servers_answer_has_the_meaning_that_it_has() {
    use Meaning::{Slip, Wait};
    let error = |message: &str| json!({"error": {"message": message}}).to_string();
    // A row is named by the public report from which it is rebuilt.
    let rows: Vec<(&str, u16, String, Meaning)> = vec![
        ("anomalyco/opencode/issues/17746", 400, error("You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens"), Overflow),
        ("earendil-works/pi/issues/5930", 400, error("This model's maximum context length is 262144 tokens. However, you requested 0 output tokens"), Overflow),
        ("aaif-goose/goose/pull/3635", 400, error("input length and `max_tokens` exceed context limit: 196758 + 8192 > 200000"), Overflow),
        ("can1357/oh-my-pi/issues/44", 400, error("Your input exceeds the context window of this model."), Overflow),
        ("getappmap/appmap-js/issues/2091", 400, error("prompt is too long: 200679 tokens > 199999 maximum"), Overflow),
        ("anomalyco/opencode/issues/11141", 400, error("Trying to keep the first 9000 tokens when context the overflows."), Overflow),
        ("openclaw/openclaw/pull/9562", 400, error("Your request exceeded model token limit: 8192"), Overflow),
        ("code-yeongyu/oh-my-openagent/issues/2356", 400, error("prompt token count of 141422 exceeds the limit of 128000"), Overflow),
        ("lmstudio-ai/lmstudio-bug-tracker/issues/237", 400, error("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"), Overflow),
        ("anomalyco/opencode/pull/45834", 400, error("Range of input length should be [1, 30720]"), Overflow),
        ("earendil-works/pi/issues/4943", 400, error("Input length 131393 exceeds the maximum allowed input length of 131040 tokens."), Overflow),
        ("anomalyco/opencode/pull/27628", 400, error("tokens in request more than max tokens allowed"), Overflow),
        ("openclaw/openclaw/issues/58839 (Bedrock)", 400, error("Input exceeds the max input token limit"), Overflow),
        ("openclaw/openclaw/issues/58839 (Cohere)", 400, error("total tokens exceeds the model's max of 4096"), Overflow),
        ("openclaw/openclaw/issues/58839 (Ollama)", 500, error("context length exceeded for llama3"), Overflow),
        ("tya5/reyn/pull/4895", 413, "<html><h1>413 Request Entity Too Large</h1></html>".into(), Overflow),
        ("openclaw/openclaw/pull/16176", 413, error("Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8900"), OverMinute),
        ("openclaw/openclaw/issues/147644", 413, error("Request too large: Limit 8000, Requested 10050, please reduce your message size and try again"), OverMinute),
        ("openclaw/openclaw/issues/130096", 429, error("Rate limit reached on TPM: Limit 30,000, Requested 45,000."), OverMinute),
        ("GCWing/OpenBitFun/pull/1184", 429, error("TPM limit reached"), Wait),
        ("an ordinary limit", 429, error("Rate limit reached: Limit 200000, Used 195000, Requested 8000. Please try again in 900ms"), Wait),
        ("anomalyco/opencode/pull/13019", 429, error("Too many tokens per day, please wait"), Wait),
        ("holon-run/holon/issues/2720", 429, json!({"detail": "Rate limit exceeded"}).to_string(), Wait),
        ("a slow proxy", 408, "Request Timeout".into(), Wait),
        ("tashfeenahmed/freellmapi/issues/1298", 403, "<html><title>Just a moment...</title></html>".into(), Forbidden),
        ("Kilo-Org/kilocode/issues/162", 403, "This website is using a security service to protect itself from online attacks.".into(), Forbidden),
        ("koala73/worldmonitor/issues/3146", 403, "<html><body>Cloudflare Ray ID: 1</body></html>".into(), Forbidden),
        ("protectai/rebuff/issues/83", 403, "Forbidden".into(), Forbidden),
        ("anthropics/claude-code/issues/453", 403, json!({"error": {"code": "unsupported_country_region_territory", "message": "Country, region, or territory not supported"}}).to_string(), Forbidden),
        ("Mintplex-Labs/anything-llm/issues/1600", 403, error("requires moderation on OpenAI. Your input was flagged for \"violence\"."), Forbidden),
        ("an API that the project has not enabled", 403, json!({"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "Generative Language API has not been used in project 1 before or it is disabled.", "details": [{"reason": "SERVICE_DISABLED"}]}}).to_string(), Forbidden),
        ("Hugging Face, of no provider", 400, json!({"error": {"code": "model_not_supported", "message": "The requested model 'm' is not supported by any provider you have enabled."}}).to_string(), Model),
        ("Google, elsewhere", 400, error("User location is not supported for the API use."), Forbidden),
        ("qxcnm/Codex-Manager/issues/152", 403, "invalid api key".into(), Key),
        ("a scope", 403, error("You have insufficient permissions for this operation."), Key),
        ("Google's key", 400, error("API key not valid. Please pass a valid API key."), Key),
        ("no key", 401, String::new(), Key),
        ("max_tokens is no token", 403, error("max_tokens exceeds what is allowed"), Forbidden),
        ("lmstudio-ai/lmstudio-bug-tracker/issues/618", 200, json!({"error": "Unexpected endpoint or method. (POST /chat/completions)"}).to_string(), Path),
        ("harry0703/MoneyPrinterTurbo/issues/57", 404, error("Invalid URL (POST /v1/chat/completions/chat/completions)"), Path),
        ("ChatGPTNextWeb/NextChat/issues/4473", 404, json!({"detail": "Not Found"}).to_string(), Path),
        ("n4ze3m/dialoqbase/issues/146", 405, "Method Not Allowed".into(), Path),
        ("Ollama's root", 404, "404 page not found".into(), Path),
        ("a model", 404, error("The model `x` does not exist or you do not have access to it."), Model),
        ("its name alone", 404, error("llama-9 was not found"), Model),
        ("Azure", 404, error("The API deployment for this resource does not exist."), Model),
        ("groq/groq-typescript/issues/28", 400, json!({"error": {"code": "tool_use_failed", "failed_generation": "x"}}).to_string(), Slip),
        ("huggingface/smolagents/issues/1119", 400, error("Failed to call a function. See 'failed_generation' for more details."), Slip),
        ("ollama/ollama/issues/13710", 500, error("error parsing tool call: raw='{', err=unexpected end of JSON input"), Slip),
        ("lobehub/lobehub/issues/1118", 400, error("Unrecognized request argument supplied: tools"), Field("tools")),
        ("langchain-ai/opengpts/issues/166", 404, error("Unrecognized request argument supplied: tools"), Field("tools")),
        ("aaif-goose/goose/issues/6690", 400, error("model does not support tools"), Field("tools")),
        ("agno-agi/agno/issues/3505", 400, error("Function calling is not enabled for models/gemma-3-12b-it"), Field("tools")),
        ("open-webui/open-webui/issues/13617", 400, error("Unrecognized request argument supplied: other"), Meaning::Request),
        ("continuedev/continue/issues/7129", 400, error("Your organization must be verified to stream this model."), Field("stream")),
        ("charmbracelet/crush/issues/422", 400, error("Unsupported value: 'stream' does not support true with this model."), Field("stream")),
        ("anomalyco/opencode/issues/1680", 400, json!({"object": "error", "message": "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "code": "3280"}).to_string(), Meaning::Request),
        ("BerriAI/litellm/issues/17343", 400, error("litellm.BadRequestError: ContextWindowExceededError: Github_copilotException - Invalid 'messages[11].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead."), Meaning::Request),
        ("a text of more than 10 MB", 400, error("Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead."), Overflow),
        ("a text of more than 10 MB, on another wire", 400, error("Invalid 'input': string too long. Expected a string with maximum length 10485760"), Overflow),
        ("2049 messages", 400, error("Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead."), Overflow),
        ("129 tools", 400, error("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead."), Meaning::ManyTools),
        ("MiaAI-Lab/Qwen3.8-27B-16gb-NVIDIA-GPUs-one-click-install/issues/11", 400, error("Job requires 485 pages (only 460 available) and cannot be enqueued."), Overflow),
        ("LM Studio, within an answer", 400, error("Reached context length of 4096 tokens with this model, but it does not currently support mid-generation context overflow."), Overflow),
        ("0xku/kon/issues/91", 400, error("This model's maximum context length is 196608 tokens. However, you requested 16384 output tokens and your prompt contains at least 180225 input tokens, for a total of at least 196609 tokens."), Overflow),
        ("vLLM, with a limit of nearly the window", 400, error("'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000)."), Meaning::Limit),
        ("OpenAI, with a limit of nearly the window", 400, error("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in the completion)."), Meaning::Limit),
        ("continuedev/continue/issues/4225", 400, error("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307"), Meaning::Limit),
        ("langgenius/dify/issues/10390", 400, error("The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096."), Meaning::Limit),
        ("songquanpeng/one-api/issues/1270", 403, json!({"error": {"message": "user quota is not enough", "type": "one_api_error", "code": "insufficient_user_quota"}}).to_string(), UsedUp),
        ("continuedev/continue/issues/11823", 429, error("余额不足或无可用资源包,请充值。"), UsedUp),
        ("continuedev/continue/issues/11443", 429, error("Your account is suspended due to insufficient balance, please recharge your account"), UsedUp),
        ("Zhipu, by the hour", 429, json!({"error": {"code": "1308", "message": "Usage limit reached for 5 hour. Your limit will reset at 2026-01-22 15:04:05"}}).to_string(), UsedUp),
        ("kaitranntt/ccs/issues/402", 429, json!({"error": {"code": "1302", "message": "High concurrency usage of this API, please reduce concurrency"}}).to_string(), Wait),
        ("unoplat/unoplat-code-confluence/issues/1080", 404, error("No endpoints found matching your data policy (Paid model training)."), Forbidden),
        ("NousResearch/hermes-agent/pull/14943", 404, error("No endpoints available matching your guardrail restrictions and data policy."), Forbidden),
        ("maximhq/bifrost/issues/4122", 403, error("Model 'm' is not allowed for this virtual key"), Key),
        ("caozhiyuan/copilot-api/issues/102", 400, json!({"error": {"message": "model \"gpt-5.3-codex\" is not accessible via the /chat/completions endpoint", "code": "unsupported_api_for_model"}}).to_string(), Meaning::Wire),
        ("ericc-ch/copilot-api/issues/208", 400, error("{\"error\":{\"message\":\"model \\\"m\\\" is not accessible via the /chat/completions endpoint\"}}"), Meaning::Wire),
        ("arbs-io/vscode-openai/issues/358", 404, error("This model is only supported in v1/responses and not in v1/chat/completions."), Meaning::Wire),
        ("egoist/chatwise-releases/issues/1256", 404, error("This is not a chat model and thus not supported in the v1/chat/completions endpoint."), Meaning::Wire),
        ("a gateway without a channel", 503, json!({"error": {"code": "model_not_found", "message": "分组 default 下模型 m 无可用渠道（distributor）"}}).to_string(), Model),
        ("BerriAI/litellm/issues/10619", 400, json!({"error": "Not allowed to POST v1/chat/completions for provider cohere"}).to_string(), Path),
        ("earendil-works/pi/issues/9627", 520, String::new(), Wait),
        ("earendil-works/pi/issues/6239", 524, String::new(), Wait),
        ("anthropics/claude-code/issues/3197", 520, "<title>Web server is returning an unknown error</title> Cloudflare".into(), Wait),
        ("Cloudflare's page of an origin that is down", 503, "<html><h1>503 Service Temporarily Unavailable</h1><hr>cloudflare</html>".into(), Wait),
        ("ollama/ollama/issues/14093", 500, json!({"error": "model runner has unexpectedly stopped, this may be due to resource limitations or an internal error"}).to_string(), Wait),
        ("an account", 429, json!({"error": {"type": "insufficient_quota"}}).to_string(), UsedUp),
        ("Google's minute", 429, error("You exceeded your current quota, please check your plan and billing details. Please retry in 23s"), Wait),
        ("a proxy", 407, String::new(), Meaning::Proxy),
        ("a redirect", 301, String::new(), Meaning::Moved),
    ];
    for (report, status, body, expected) in rows {
        assert_eq!(meaning(status, &body, "llama-9"), expected, "{report}");
    }
}

#[test]
fn an_error_within_a_stream_has_the_status_it_would_have_had() {
    for (error, status) in [
        (json!({"type": "overloaded_error", "message": "x"}), Some(529)),
        (json!({"code": "rate_limit_exceeded"}), Some(429)),
        (json!({"status": "RESOURCE_EXHAUSTED"}), Some(429)),
        (json!({"code": 502, "message": "x"}), Some(502)),
        (json!({"code": "insufficient_quota", "type": "x"}), Some(402)),
        (json!({"message": "Your input exceeds the context window of this model"}), Some(400)),
        (json!({"error": "Unexpected endpoint or method. (POST /x)"}), Some(200)),
        (json!({"message": "boom"}), None),
    ] {
        assert_eq!(status_of(&error), status, "{error}");
    }
}
