"""An MCP server that tells what is in a file: as the result of its tool, as a resource, as a prompt: `teller.py FILE`.

Written by hand on Python's own library, so that it shares no code with what it tries.
"""
import json, sys


def told():
    with open(sys.argv[1]) as file:
        return file.read()


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "teller", "version": "1"},
                "capabilities": {"tools": {}, "resources": {}, "prompts": {}}}
    if method == "tools/list":
        return {"tools": [{"name": "tell", "description": "Tells it.", "inputSchema": {"type": "object"}}]}
    if method == "resources/list":
        return {"resources": [{"uri": "all://told", "name": "told"}]}
    if method == "prompts/list":
        return {"prompts": [{"name": "told", "description": "Tells it."}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": told()}], "structuredContent": {"said": told()}}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": told()}]}
    if method == "prompts/get":
        message = lambda role, text: {"role": role, "content": {"type": "text", "text": text}}
        return {"messages": [message("user", told()), message("assistant", told()), message("user", "go on")]}


for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") is not None:
        result = answer(message.get("method"), message.get("params") or {})
        end = {"error": {"code": -32601, "message": "method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **end}), flush=True)
