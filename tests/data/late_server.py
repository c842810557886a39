"""An MCP server that answers `server/discover` only once `initialize` has come, as one that starts slowly does:
`late_server.py HOW DIR`. HOW says what it answers: an error that names the request, one that names none, or a result.
"""
import json, os, sys

HOW, DIR = sys.argv[1], sys.argv[2]
with open(os.path.join(DIR, "starts"), "a") as file:
    file.write("started\n")


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


late = None
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "server/discover":
        late = number
    elif method == "initialize":
        error = {"code": -32601, "message": "Method not found"}
        if HOW == "named":
            say({"id": late, "error": error})
        elif HOW == "unnamed":
            say({"id": None, "error": error})
        else:
            say({"id": late, "result": {}})
        say({"id": number, "result": {"protocolVersion": message["params"]["protocolVersion"],
                                      "capabilities": {"tools": {}}, "serverInfo": {"name": "late", "version": "1"}}})
    elif method == "tools/list":
        say({"id": number, "result": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}})
    elif number is not None:
        say({"id": number, "result": {}})
