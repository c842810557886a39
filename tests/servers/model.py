"""Server that answers as a model would, by rule, on the wires of Anthropic, OpenAI and Gemini.

`Run the tool: COMMAND` gives some reasoning and a call of the shell tool that the request offers, `Call the tool: NAME
{...}` a call of that one with these arguments, a tool's result gives `The tool said: ...`, and any other question
`Answer to: QUESTION`. All requests are kept, for who looks into them: `GET /requests` has their paths and documents.
"""

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Names of shell tools, by program, and what the argument with the command is called.
SHELLS = [
    ("Bash", "command"),
    ("exec_command", "cmd"),
    ("shell_command", "command"),
    ("shell", "command"),
    ("run_shell_command", "command"),
    ("bash", "command"),
    ("say_loudly", "text"),
]
THOUGHT = "A thought about the tool."
USAGE = {"input": 100, "cached": 30, "output": 7}


def reply(texts, result, tools):
    """What the model says to the texts of the last message: its thought, its text, its call."""
    if result is not None:
        return None, f"The tool said: {' '.join(result.split())[-60:]}", None
    said = [line.strip(' "') for text in texts if isinstance(text, str) for line in text.splitlines()]
    begins = ("Say ", "Run the tool: ", "Call the tool: ")
    asked = ([line for line in said if line.startswith(begins)] or ["nothing"])[-1].replace(" @a.png", "")
    called = re.search(r"Call the tool: (\S+) (\{.*\})", asked)
    if called and called[1] in tools:
        return THOUGHT, "I will call it.", (called[1], json.loads(called[2]))
    wanted = re.search(r"Run the tool: (.*)", asked)
    for name, key in SHELLS:
        if wanted and name in tools:
            return THOUGHT, "I will run it.", (name, arguments(name, key, wanted[1].strip()))
    return None, f"Answer to: {asked[:80]}", None


def arguments(name, key, command):
    given = {key: ["sh", "-c", command] if name == "shell" else command}
    if name in ("Bash", "bash", "run_shell_command"):
        given["description"] = "print a word"
    if name == "exec_command" and "--escalate" in sys.argv:
        given.update(sandbox_permissions="require_escalated", justification="to print a word")
    return given


def flat(content):
    """The texts of a content that is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [part.get("text") or part.get("content") or "" for part in content or [] if isinstance(part, dict)]


def words(content):
    return " ".join(text if isinstance(text, str) else " ".join(flat(text)) for text in flat(content))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/requests":
            return self.send(list(self.server.requests))
        self.send({"data": [{"id": "mock-1", "object": "model"}], "models": [], "object": "list"})

    def do_HEAD(self):
        self.send({})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        try:
            asked = json.loads(body or b"{}")
        except ValueError:
            asked = {}
        self.server.requests.append((self.path, asked))
        path = self.path.split("?")[0]
        if path.endswith("count_tokens"):
            self.send({"input_tokens": 100})
        elif path.endswith(":countTokens"):
            self.send({"totalTokens": 100})
        elif path.endswith("/messages"):
            self.on_anthropic(asked)
        elif path.endswith("/responses"):
            self.on_responses(asked)
        elif path.endswith("/chat/completions"):
            self.on_chat(asked)
        elif "generateContent" in path.replace("G", "g"):
            self.on_gemini(asked, "stream" in path)
        else:
            self.send({}, 404)

    def send(self, document, status=200):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def stream(self, events, named=True, done=False):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            name = f"event: {event['type']}\n" if named else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if done:
            self.wfile.write(b"data: [DONE]\n\n")

    def number(self):
        with self.server.lock:
            self.server.count += 1
            return self.server.count

    def on_anthropic(self, asked):
        number = self.number()
        last = [message for message in asked["messages"] if message["role"] != "system"][-1]
        blocks = last["content"] if isinstance(last["content"], list) else [{"type": "text", "text": last["content"]}]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        result = words(results[-1].get("content")) if results else None
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        thought, text, call = reply(texts, result, [tool.get("name") for tool in asked.get("tools") or []])
        content = [{"type": "thinking", "thinking": thought, "signature": "c2ln"}] if thought else []
        content.append({"type": "text", "text": text})
        if call:
            content.append({"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": call[1]})
        usage = {
            "input_tokens": USAGE["input"] - USAGE["cached"],
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": USAGE["cached"],
            "output_tokens": USAGE["output"],
        }
        message = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": asked.get("model", "mock-1"),
            "content": content, "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None, "usage": usage,
        }
        if not asked.get("stream"):
            return self.send(message)
        events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
        for index, block in enumerate(content):
            kind = block["type"]
            empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}[kind]
            deltas = {
                "thinking": [{"type": "thinking_delta", "thinking": block.get("thinking")}, {"type": "signature_delta", "signature": "c2ln"}],
                "text": [{"type": "text_delta", "text": block.get("text")}],
                "tool_use": [{"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}],
            }[kind]
            events.append({"type": "content_block_start", "index": index, "content_block": {**block, **empty}})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        events.append({"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": usage})
        events.append({"type": "message_stop"})
        self.stream(events)

    def on_responses(self, asked):
        number, given = self.number(), asked.get("input") or []
        given = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
        last = given[-1] if given else {}
        result = None
        if str(last.get("type", "")).endswith("_output"):
            result = last["output"] if isinstance(last["output"], str) else words(last["output"])
        texts = flat(last.get("content"))
        names = [tool.get("name") for tool in asked.get("tools") or []]
        # Tools in a space of names are called by both words.
        spaces = [tool for tool in asked.get("tools") or [] if tool.get("type") == "namespace"]
        spaced = {f"{space['name']}__{tool['name']}": (space["name"], tool["name"]) for space in spaces for tool in space["tools"]}
        thought, text, call = reply([text for text in texts if text], result, [*names, *spaced])
        items = []
        if thought:
            items.append({"type": "reasoning", "id": f"rs_{number}", "summary": [{"type": "summary_text", "text": thought}], "encrypted_content": "c2VjcmV0"})
        items.append({
            "type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        })
        if call:
            items.append({
                "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
                "arguments": json.dumps(call[1]), "status": "completed",
            })
            if call[0] in spaced:
                items[-1]["namespace"], items[-1]["name"] = spaced[call[0]]
        usage = {
            "input_tokens": USAGE["input"], "input_tokens_details": {"cached_tokens": USAGE["cached"]},
            "output_tokens": USAGE["output"], "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": USAGE["input"] + USAGE["output"],
        }
        response = {
            "id": f"resp_{number}", "object": "response", "created_at": int(time.time()), "status": "completed",
            "model": asked.get("model", "mock-1"), "output": items, "usage": usage,
        }
        if not asked.get("stream"):
            return self.send(response)
        events = [{"type": "response.created", "response": {**response, "status": "in_progress", "output": [], "usage": None}}]
        for index, item in enumerate(items):
            events.append({"type": "response.output_item.added", "output_index": index, "item": item})
            if item["type"] == "message":
                events.append({"type": "response.output_text.delta", "item_id": item["id"], "output_index": index, "content_index": 0, "delta": text})
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        events.append({"type": "response.completed", "response": response})
        self.stream([{**event, "sequence_number": place} for place, event in enumerate(events)])

    def on_chat(self, asked):
        number, last = self.number(), asked["messages"][-1]
        result = words(last["content"]) if last["role"] == "tool" else None
        names = [(tool.get("function") or {}).get("name") for tool in asked.get("tools") or []]
        thought, text, call = reply(flat(last.get("content")), result, names)
        message = {"role": "assistant", "content": text}
        if thought:
            message["reasoning_content"] = thought
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
        reason = "tool_calls" if call else "stop"
        usage = {
            "prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"], "total_tokens": USAGE["input"] + USAGE["output"],
            "prompt_tokens_details": {"cached_tokens": USAGE["cached"]},
        }
        base = {"id": f"chat_{number}", "created": int(time.time()), "model": asked.get("model", "mock-1")}
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.send({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        base["object"] = "chat.completion.chunk"
        self.stream([
            {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {**base, "choices": [], "usage": usage},
        ], named=False, done=True)

    def on_gemini(self, asked, is_stream):
        parts = asked["contents"][-1].get("parts") or []
        results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        result = str(results[-1].get("output") or results[-1]) if results else None
        declared = [tool.get("functionDeclarations") or [] for tool in asked.get("tools") or []]
        names = [function["name"] for functions in declared for function in functions]
        thought, text, call = reply([part["text"] for part in parts if "text" in part], result, names)
        said = [{"text": f"**Thinking**\n{thought}", "thought": True}] if thought else []
        if asked.get("generationConfig", {}).get("responseMimeType") == "application/json":
            text = json.dumps({"reasoning": "rule", "model_choice": "flash", "complexity_reasoning": "low", "complexity_score": 1})
        said.append({"text": text})
        if call:
            said.append({"functionCall": {"name": call[0], "args": call[1]}, "thoughtSignature": "c2ln"})
        usage = {
            "promptTokenCount": USAGE["input"], "cachedContentTokenCount": USAGE["cached"],
            "candidatesTokenCount": USAGE["output"], "totalTokenCount": USAGE["input"] + USAGE["output"],
        }
        whole = {
            "candidates": [{"content": {"role": "model", "parts": said}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage, "modelVersion": "mock-1", "responseId": f"r{self.number()}",
        }
        return self.stream([whole], named=False) if is_stream else self.send(whole)


def start():
    """A server on a port of its own, already answering."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.requests, server.count, server.lock = [], 0, threading.Lock()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    running = start()
    print(running.server_address[1], flush=True)
    sys.stdin.read()
