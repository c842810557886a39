#!/usr/bin/env python3
"""MCP over HTTP before a server that speaks it on stdin and stdout: mcp_shim.py FOLDER PROGRAM [ARGUMENT...].

One process a session; requests without a session are of one process for all. Prints its port.
"""
import http.server
import json
import queue
import subprocess
import sys
import threading
import uuid


class Session:
    """A process, and who waits for which of its answers."""

    def __init__(self):
        self.process = subprocess.Popen(
            sys.argv[2:], cwd=sys.argv[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.waiting, self.tokens, self.lock = {}, {}, threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.lock:
                if "id" in message and "method" not in message:
                    waiter = self.waiting.pop(json.dumps(message["id"]), None)
                elif message["method"] == "notifications/progress":
                    waiter = self.tokens.get(json.dumps(message["params"]["progressToken"]))
                else:
                    meta = (message.get("params") or {}).get("_meta") or {}
                    of = meta.get("io.modelcontextprotocol/subscriptionId")
                    waiter = self.waiting.get(json.dumps(of))
            if waiter is not None:
                waiter.put(message)

    def send(self, message):
        """Sends it; a queue of what is said to it, if it is a request."""
        waiter = None
        with self.lock:
            if "id" in message and "method" in message:
                waiter = self.waiting[json.dumps(message["id"])] = queue.Queue()
                meta = (message.get("params") or {}).get("_meta") or {}
                if "progressToken" in meta:
                    self.tokens[json.dumps(meta["progressToken"])] = waiter
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        return waiter


SESSIONS, LOCK = {}, threading.Lock()


def session(key):
    with LOCK:
        if key not in SESSIONS:
            SESSIONS[key] = Session()
        return SESSIONS[key]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(405)

    def do_DELETE(self):
        self.answer(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key, headers = self.headers.get("Mcp-Session-Id", ""), {"Content_Type": "application/json"}
        if message.get("method") == "initialize":
            key = headers["Mcp_Session_Id"] = uuid.uuid4().hex
        waiter = session(key).send(message)
        if waiter is None:
            return self.answer(202)
        first = waiter.get(timeout=30)
        if "method" not in first:
            code = (first.get("error") or {}).get("code")
            status = {-32601: 404, -32602: 400, -32022: 400, -32021: 400}.get(code, 200) if not key else 200
            return self.answer(status, json.dumps(first).encode(), **headers)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        while True:
            self.wfile.write(f"data: {json.dumps(first)}\n\n".encode())
            self.wfile.flush()
            if "method" not in first:
                return None
            first = waiter.get(timeout=30)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
