"""An MCP server with resources, prompts and questions of its own, over stdio: `offering.py MODE DIR`.

Written by hand on Python's own library, so that it shares no code with what it tries. What it is told is
noted in DIR.
"""
import base64, json, os, sys, time

MODE, DIR = sys.argv[1], sys.argv[2]
GIF = base64.b64encode(b"GIF89a\x01\0\x01\0\0\0\0\0\0\0").decode()
WAITING = {}


def note(name, text):
    with open(os.path.join(DIR, name), "a") as file:
        file.write(f"{text}\n")


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


RESOURCES = [
    {"uri": "guide://start", "name": "start", "description": "How to begin.", "mimeType": "text/markdown"},
    {"uri": "guide://long", "name": "long"},
    {"uri": "guide://picture", "name": "picture", "mimeType": "image/gif"},
    {"uri": "guide://gone", "name": "gone"},
    {"description": "nameless"}, 7,
]
PROMPTS = [
    {"name": "explain", "description": "Explains a topic.",
     "arguments": [{"name": "topic", "description": "what", "required": True}, {"name": "tone"}]},
    {"name": "dialogue", "description": "Said by both."},
    {"name": "last-word", "description": "Ends with the assistant."},
    {"name": "look", "description": "Shows a picture."},
    {"name": "none", "description": "Has nothing to say."},
]


def contents(uri):
    if uri == "guide://start":
        return [{"uri": uri, "mimeType": "text/markdown", "text": "# Begin\n```\ncode\n```\nnot a blob: [1 bytes: _blobs/0]\n"}]
    if uri == "guide://long":
        return [{"uri": uri, "text": "begin " + "x" * 200_000 + " end"}]
    if uri == "guide://picture":
        return [{"uri": uri, "mimeType": "image/gif", "blob": GIF}, {"uri": "guide://picture/alt", "text": "a dot"}]
    if uri.startswith("guide://echo/"):
        return [{"uri": uri, "text": uri.removeprefix("guide://echo/") + " " + os.environ.get("MY_TOKEN", "")}]
    return None


def messages(name, arguments):
    text = lambda role, words: {"role": role, "content": {"type": "text", "text": words}}
    if name == "explain":
        return [text("user", f"Explain {arguments.get('topic')} {arguments.get('tone', 'plainly')}.")]
    if name == "dialogue":
        return [text("user", "Knock knock."), text("assistant", "Who is there?"), text("user", "Lepo.")]
    if name == "last-word":
        return [text("user", "Hello."), text("assistant", "Yes?")]
    if name == "look":
        return [{"role": "user", "content": {"type": "image", "data": GIF, "mimeType": "image/gif"}},
                {"role": "user", "content": {"type": "resource", "resource": {"uri": "guide://start", "text": "begin"}}}]
    return []


FORM = {"message": "Where to?", "requestedSchema": {"type": "object", "required": ["city", "days"], "properties": {
    "city": {"type": "string", "title": "City"}, "days": {"type": "integer", "minimum": 1, "maximum": 9},
    "class": {"type": "string", "enum": ["first", "second"], "default": "second"}, "remark": {"type": "string"}}}}


def answer(message):
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "notifications/cancelled":
        note("cancelled", json.dumps(params, sort_keys=True))
    if id is None:
        return
    if method is None:
        call = WAITING.pop(id)
        note("answers", json.dumps(message.get("result"), sort_keys=True, ensure_ascii=False))
        return say({"id": call, "result": {"content": [{"type": "text", "text": json.dumps(message.get("result"), sort_keys=True)}]}})
    ok = lambda result: say({"id": id, "result": result})
    if method == "initialize":
        note("client", json.dumps(params.get("capabilities"), sort_keys=True))
        return ok({"protocolVersion": "2025-11-25", "serverInfo": {"name": "offering", "version": "1"},
                   "capabilities": {"tools": {}, "resources": {}, "prompts": {}}})
    note("methods", method)
    if method == "tools/list":
        return ok({"tools": [{"name": "ask", "description": "Asks back.", "inputSchema": {"type": "object"}}]})
    if method == "resources/list":
        if MODE == "circles":
            return ok({"resources": RESOURCES[:1], "nextCursor": "again"})
        return ok({"resources": RESOURCES})
    if method == "resources/templates/list":
        if MODE == "plain":
            return ok({"resourceTemplates": [{"uriTemplate": "guide://echo/{word}", "name": "echo"}]})
    if method == "prompts/list":
        return ok({"prompts": PROMPTS})
    if method == "resources/read":
        note("read", params["uri"])
        found = contents(params["uri"])
        if found is not None:
            return ok({"contents": found})
        return say({"id": id, "error": {"code": -32002, "message": "Resource not found"}})
    if method == "prompts/get":
        note("got", json.dumps(params.get("arguments"), sort_keys=True, ensure_ascii=False))
        return ok({"messages": messages(params["name"], params.get("arguments") or {})})
    if method == "tools/call":
        if MODE == "hang":
            note("calls", "1")
            return
        asked = {"mode": "url", "message": "Sign here.", "url": "https://sign.example/x?a=b", "elicitationId": "1"} if MODE == "visit" else FORM
        WAITING["ask-1"] = id
        return say({"id": "ask-1", "method": "elicitation/create", "params": asked})
    say({"id": id, "error": {"code": -32601, "message": "method not found"}})


note("starts", os.getpid())
note("pids", os.getpid())
for line in sys.stdin:
    answer(json.loads(line))
