//! Answers of a model, in the form of each wire.

use serde_json::{Value, json};

use crate::scripted::{Piece, Reply, openai_event, openai_sse};

/// The thought before a call.
const THOUGHT: &str = "I must run it.";

/// Way from lepo to a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wire {
    Chat,
    Responses,
    Anthropic,
    Ollama,
    /// A program that is asked on its stdin.
    Program,
    /// An agent of the Agent Client Protocol, which answers by its own rules.
    Agent,
}

use Wire::{Agent, Anthropic, Chat, Ollama, Program, Responses};

/// The wires of servers, in the order of the recordings.
pub const SERVERS: &[Wire] = &[Chat, Responses, Anthropic, Ollama];

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Chat => "chat",
            Responses => "responses",
            Anthropic => "anthropic",
            Ollama => "ollama",
            Program => "program",
            Agent => "agent",
        }
    }

    /// The lines of a model's table that choose the wire; `URL` is the server's address, `HOME` the home.
    pub fn settings(self) -> String {
        match self {
            Chat => "provider = \"openai\"\nbase_url = \"URL/v1\"".into(),
            Responses => "provider = \"openai\"\nwire = \"responses\"\nbase_url = \"URL/v1\"".into(),
            Anthropic => "provider = \"anthropic\"\nbase_url = \"URL\"".into(),
            Ollama => "provider = \"ollama\"\nbase_url = \"URL\"".into(),
            Program => "provider = \"cli\"\ncommand = [\"sh\", \"HOME/bot/bot.sh\"]".into(),
            Agent => {
                let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/acp/agent.py");
                format!("provider = \"acp\"\ncommand = [\"python3\", {agent:?}, \"plain\"]")
            }
        }
    }
}

/// What a model says to one request.
#[derive(Debug, Clone)]
pub enum Say {
    Text(String),
    /// A thought, a text, which may be empty, and calls: name and arguments.
    Calls(String, Vec<(String, String)>),
    /// A text that ends at the limit of tokens.
    Cut(String),
    /// A text in the middle of which the connection ends.
    Broken(String),
    /// The conversation is longer than the window.
    Overflow,
    /// The server takes no tools.
    NoTools,
    /// A text, and how many tokens the request had.
    Counted(String, u64),
}

impl Say {
    pub fn text(text: &str) -> Say {
        Say::Text(text.into())
    }

    /// A call without words.
    pub fn call(name: &str, arguments: &Value) -> Say {
        Say::calls("", &[(name, arguments)])
    }

    pub fn calls(text: &str, calls: &[(&str, &Value)]) -> Say {
        let calls = calls.iter().map(|(name, arguments)| (name.to_string(), arguments.to_string()));
        Say::Calls(text.into(), calls.collect())
    }

    /// The answer of a program; nothing where it fails.
    pub fn as_text(&self) -> &str {
        match self {
            Say::Text(text) | Say::Cut(text) | Say::Broken(text) | Say::Counted(text, _) => text,
            Say::Calls(text, _) => text,
            Say::Overflow | Say::NoTools => "",
        }
    }

    pub fn reply(&self, wire: Wire) -> Reply {
        let refusal = match self {
            Say::Overflow => Some("This model's maximum context length is 8192 tokens"),
            Say::NoTools => Some("tools are not supported by this model"),
            _ => None,
        };
        if let Some(text) = refusal {
            let error = json!({"error": {"message": text, "type": "invalid_request_error"}});
            return Reply::new(400, error.to_string());
        }
        match wire {
            Chat => self.chat(),
            Responses => sse(&self.responses(), matches!(self, Say::Broken(_))),
            Anthropic => sse(&self.anthropic(), matches!(self, Say::Broken(_))),
            Ollama => self.ollama(),
            Program | Agent => Reply::new(410, "no server"),
        }
    }

    fn tokens(&self) -> u64 {
        if let Say::Counted(_, tokens) = self { *tokens } else { 12 }
    }

    fn chat(&self) -> Reply {
        let piece = |text: &str, finish| openai_event(json!({ "content": text }), finish);
        match self {
            Say::Text(text) => openai_sse([text.as_str()]),
            Say::Calls(text, calls) => {
                let mut stream = openai_event(json!({ "reasoning_content": THOUGHT }), None);
                stream += &piece(text, None);
                for (at, (name, arguments)) in calls.iter().enumerate() {
                    let function = json!({ "name": name, "arguments": arguments });
                    let call = json!({ "index": at, "id": format!("x{at}"), "function": function });
                    stream += &openai_event(json!({ "tool_calls": [call] }), None);
                }
                stream += &openai_event(json!({}), Some("tool_calls"));
                Reply::new(200, stream + "data: [DONE]\n\n").header("content-type", "text/event-stream")
            }
            Say::Cut(text) => Reply::new(200, piece(text, Some("length"))),
            Say::Broken(text) => broken(piece(text, None)),
            Say::Counted(text, tokens) => {
                let usage =
                    json!({"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": 9}});
                Reply::new(200, format!("{}data: {usage}\n\ndata: [DONE]\n\n", piece(text, Some("stop"))))
            }
            Say::Overflow | Say::NoTools => Reply::new(400, ""),
        }
    }

    fn ollama(&self) -> Reply {
        let (text, calls) = self.parts();
        let calls: Vec<Value> = calls
            .iter()
            .map(|(name, args)| {
                let args: Value = serde_json::from_str(args).unwrap();
                json!({"function": {"name": name, "arguments": args}})
            })
            .collect();
        let mut message = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let first = format!("{}\n", json!({ "message": message, "done": false }));
        if let Say::Broken(_) = self {
            return broken(first);
        }
        let reason = if let Say::Cut(_) = self { "length" } else { "stop" };
        let last = json!({"message": {"role": "assistant", "content": ""}, "done": true,
            "done_reason": reason, "prompt_eval_count": self.tokens(), "eval_count": 34});
        Reply::new(200, format!("{first}{last}\n")).header("content-type", "application/x-ndjson")
    }

    fn parts(&self) -> (&str, &[(String, String)]) {
        match self {
            Say::Calls(text, calls) => (text, calls),
            other => (other.as_text(), &[]),
        }
    }

    fn anthropic(&self) -> Vec<Value> {
        let (text, calls) = self.parts();
        let usage = json!({"input_tokens": self.tokens(), "output_tokens": 1});
        let mut events = vec![json!({"type": "message_start", "message": { "usage": usage }})];
        let mut add = |block: Value, delta: Value| {
            let index = (events.len() - 1) / 3;
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            events.push(json!({"type": "content_block_stop", "index": index}));
        };
        if !calls.is_empty() {
            let block = json!({"type": "thinking", "thinking": "", "signature": "EqQB"});
            add(block, json!({"type": "thinking_delta", "thinking": THOUGHT}));
        }
        if !text.is_empty() {
            add(json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}));
        }
        for (at, (name, arguments)) in calls.iter().enumerate() {
            let call = json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {}});
            add(call, json!({"type": "input_json_delta", "partial_json": arguments}));
        }
        if let Say::Broken(_) = self {
            events.pop();
            return events;
        }
        let stop = match self {
            Say::Cut(_) => "max_tokens",
            Say::Calls(..) => "tool_use",
            _ => "end_turn",
        };
        events.push(
            json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 34}}),
        );
        events.push(json!({"type": "message_stop"}));
        events
    }

    fn responses(&self) -> Vec<Value> {
        let (text, calls) = self.parts();
        let mut events = vec![json!({"type": "response.created", "response": {}})];
        if !calls.is_empty() {
            let summary = json!([{"type": "summary_text", "text": THOUGHT}]);
            let item =
                json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAA=="});
            events.push(json!({"type": "response.output_item.done", "item": item}));
        }
        if !text.is_empty() {
            events.push(json!({"type": "response.output_text.delta", "delta": text}));
            if let Say::Broken(_) = self {
                return events;
            }
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": content});
            events.push(json!({"type": "response.output_item.done", "item": item}));
        }
        for (at, (name, arguments)) in calls.iter().enumerate() {
            let item = json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": format!("call_{at}"),
                "name": name, "arguments": arguments, "status": "completed"});
            events.push(json!({"type": "response.output_item.done", "item": item}));
        }
        let usage = json!({"input_tokens": self.tokens(), "output_tokens": 34});
        events.push(match self {
            Say::Cut(_) => json!({"type": "response.incomplete", "response": {"usage": usage,
                "incomplete_details": {"reason": "max_output_tokens"}}}),
            _ => json!({"type": "response.completed", "response": { "usage": usage }}),
        });
        events
    }
}

fn broken(text: String) -> Reply {
    Reply::pieces([Piece::Bytes(text.into_bytes()), Piece::Close])
}

fn sse(events: &[Value], is_broken: bool) -> Reply {
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let reply = if is_broken { broken(stream) } else { Reply::new(200, stream) };
    reply.header("content-type", "text/event-stream")
}
