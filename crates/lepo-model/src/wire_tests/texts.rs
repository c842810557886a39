//! Text in every known form.

use serde_json::{Value, json};

use super::{CHAT, MESSAGES, OLLAMA, RESPONSES, answer, event, read};

#[test]
fn text_is_never_dropped() {
    let d = |more: Value| event(&json!({"choices": [{"delta": more}]}));
    let done = "data: [DONE]\n\n";
    let start = event(&json!({"type": "message_start", "message": {}}));
    let stop = event(&json!({"type": "message_stop"}));
    let a = |value: Value| event(&value);
    let rows: Vec<(&str, usize, String, &str)> = vec![
        (
            "anthropics/anthropic-sdk-python/pull/1273",
            MESSAGES,
            start.clone()
                + &a(
                    json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Four"}}),
                )
                + &stop,
            "Four.",
        ),
        (
            "farion1231/cc-switch/pull/7044",
            MESSAGES,
            start.clone()
                + &a(json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Four"}}))
                + &stop,
            "Four.",
        ),
        (
            "BerriAI/litellm/pull/28069",
            MESSAGES,
            start.clone()
                + &a(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}))
                + &a(
                    json!({"type": "content_block_delta", "index": "0", "delta": {"type": "text_delta", "text": "Four"}}),
                )
                + &stop,
            "Four.",
        ),
        (
            "xemantic/anthropic-sdk-kotlin/pull/147",
            MESSAGES,
            a(
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "hm"}}),
            ) + &a(
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Fo"}}),
            ) + &a(json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ur"}}))
                + &stop,
            "(hm)Four.",
        ),
        (
            "text at the index of thinking",
            MESSAGES,
            a(
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "hm"}}),
            ) + &a(
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Four"}}),
            ) + &stop,
            "(hm)Four.",
        ),
        (
            "content in the beginning",
            MESSAGES,
            a(json!({"type": "message_start", "message": {"content": [{"type": "text", "text": "Four"}]}}))
                + &stop,
            "Four.",
        ),
        (
            "without types",
            MESSAGES,
            format!("data: {}\n\n", json!({"delta": {"text": "Four"}})) + &stop,
            "Four.",
        ),
        ("a whole message", MESSAGES, json!({"type": "message", "content": "Four"}).to_string(), "Four."),
        (
            "perplexityai/api-discussion/issues/209",
            CHAT,
            event(&json!({"choices": [{"delta": {"content": "Fo"}, "message": {"content": "Fo"}}]}))
                + &event(&json!({"choices": [{"delta": {"content": "ur"}, "message": {"content": "Four"}}]}))
                + done,
            "Four.",
        ),
        (
            "ggml-org/llama.cpp/issues/14268",
            CHAT,
            d(json!({"content": "Fo"})).replace("\n\n", "\n") + &d(json!({"content": "ur"})) + done,
            "Four.",
        ),
        (
            "two in one line",
            CHAT,
            d(json!({"content": "Fo"})).replace("\n\n", "")
                + d(json!({"content": "ur"})).trim_start_matches("data: ")
                + done,
            "Four.",
        ),
        (
            "sgomez/ollama-ai-provider/issues/7",
            OLLAMA,
            "{\"message\":{\"content\":\"Fo\"}}{\"message\":{\"content\":\"ur\"},\"done\":true}\n".into(),
            "Four.",
        ),
        (
            "lines without `data:`",
            CHAT,
            d(json!({"content": "Fo"})).replace("data: ", "")
                + &d(json!({"content": "ur"})).replace("data: ", "")
                + done,
            "Four.",
        ),
        (
            "NaN",
            CHAT,
            d(json!({"content": "Four"})).replace("\"delta\"", "\"logprobs\":NaN,\"delta\"") + done,
            "Four.",
        ),
        ("a raw tab", CHAT, d(json!({"content": "Fo_ur"})).replace('_', "\t") + done, "Fo\tur."),
        (
            "one field twice",
            CHAT,
            d(json!({"content": "Four"}))
                .replace("\"delta\"", "\"index\":0,\"finish_reason\":null,\"finish_reason\":null,\"delta\"")
                + done,
            "Four.",
        ),
        (
            "a completion that is no chat",
            CHAT,
            event(&json!({"choices": [{"text": "Four", "finish_reason": "stop"}]})) + done,
            "Four.",
        ),
        (
            "parts",
            CHAT,
            d(json!({"content": [{"type": "text", "text": "Fo"}, {"type": "text", "text": "ur"}]})) + done,
            "Four.",
        ),
        (
            "one choice that is no list",
            CHAT,
            event(&json!({"choices": {"delta": {"content": "Four"}}})) + done,
            "Four.",
        ),
        (
            "Oaklight/llm-rosetta/issues/56",
            RESPONSES,
            event(&json!({"type": "response.output_text.delta", "delta": "Four"}))
                + &event(&json!({"type": "response.completed", "response": {"output": []}})),
            "Four.",
        ),
        (
            "NVIDIA-NeMo/Switchyard/pull/777",
            RESPONSES,
            event(
                &json!({"type": "response.completed", "response": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Four"}]}]}}),
            ),
            "Four.",
        ),
        (
            "told at the end of a part",
            RESPONSES,
            event(&json!({"type": "response.output_text.done", "text": "Four"}))
                + &event(
                    &json!({"type": "response.completed", "response": {"output": [{"type": "message", "id": "other", "content": [{"type": "output_text", "text": "Four"}]}]}}),
                ),
            "Four.",
        ),
        (
            "told in an item",
            RESPONSES,
            event(
                &json!({"type": "response.output_item.done", "item": {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Four"}]}}),
            ) + &event(
                &json!({"type": "response.completed", "response": {"output": [{"type": "message", "id": "m2", "content": [{"type": "output_text", "text": "Four"}]}]}}),
            ),
            "Four.",
        ),
        (
            "earendil-works/pi/issues/4193",
            RESPONSES,
            event(&json!({"type": "response.reasoning_text.done", "item_id": "r", "text": "hm"}))
                + &event(
                    &json!({"type": "response.output_item.done", "item": {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "hm"}]}}),
                )
                + &event(&json!({"type": "response.output_text.delta", "delta": "Four"}))
                + &event(&json!({"type": "response.completed", "response": {"output": []}})),
            "(hm)Four.",
        ),
        (
            "MiniMax-AI/MiniMax-M2.5/issues/2",
            CHAT,
            d(json!({"role": "", "reasoning_content": ""}))
                + &d(json!({"role": "", "content": "Four"}))
                + done,
            "Four.",
        ),
        (
            "agent0ai/agent-zero/issues/724",
            OLLAMA,
            "{\"response\":\"\",\"thinking\":\"hm\",\"done\":false}\n{\"response\":\"Four\",\"done\":true}\n"
                .into(),
            "(hm)Four.",
        ),
        (
            "a document of several lines",
            OLLAMA,
            "{\n \"message\": {\n  \"content\": \"Four\"\n },\n \"done\": true\n}\n".into(),
            "Four.",
        ),
        ("lines that end in CR", CHAT, answer(CHAT, "").replace('\n', "\r"), "Four."),
        (
            "a document and its end",
            CHAT,
            json!({"choices": [{"message": {"content": "Four"}}]}).to_string() + "\n\ndata: [DONE]\n\n",
            "Four.",
        ),
        (
            "QwenLM/Qwen-Agent/pull/843",
            CHAT,
            d(json!({"reasoning": "hm"})) + &d(json!({"content": "Four"})) + done,
            "(hm)Four.",
        ),
        (
            "openclaw/openclaw/pull/88769",
            CHAT,
            d(json!({"reasoning_content": "hm", "reasoning": "hm"})) + &d(json!({"content": "Four"})) + done,
            "(hm)Four.",
        ),
        (
            "Copilot",
            CHAT,
            d(json!({"reasoning_text": "hm"})) + &d(json!({"content": "Four"})) + done,
            "(hm)Four.",
        ),
        (
            "details alone",
            CHAT,
            d(json!({"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}))
                + &d(json!({"content": "Four"}))
                + done,
            "(hm)Four.",
        ),
    ];
    for (report, wire, stream, expected) in rows {
        assert_eq!(read(wire, stream.as_bytes()), expected, "{report}");
    }
}
