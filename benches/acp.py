#!/usr/bin/env python3
"""Cost of the agent of editors: `lepo do --acp` against the plain pipe, on one scripted answer of many chunks.

    benches/acp.py [LEPO [CHUNKS]]

Prints the time to the answer of `initialize`, and the time of a chunk by both ways, the best of several runs each.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

LEPO = sys.argv[1] if len(sys.argv) > 1 else "target/release/lepo"
CHUNKS = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
RUNS = 7


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for number in range(CHUNKS):
            event = {"choices": [{"index": 0, "delta": {"content": f"word {number} "}, "finish_reason": None}]}
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        self.wfile.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())


def main():
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = tempfile.mkdtemp()
    work = os.path.join(home, "work")
    os.makedirs(work)
    os.makedirs(os.path.join(home, "config"))
    with open(os.path.join(home, "config/config.toml"), "w") as config:
        config.write(
            'planner = "off"\n[[models]]\nname = "test"\nprovider = "openai"\nwire = "chat"\nmodel = "m"\n'
            f'base_url = "http://127.0.0.1:{server.server_address[1]}/v1"\nactive = true\n'
        )
    env = {
        "PATH": os.environ["PATH"], "HOME": home, "LEPO_CONFIG_HOME": os.path.join(home, "config"),
        "XDG_STATE_HOME": os.path.join(home, "state"), "XDG_DATA_HOME": os.path.join(home, "data"),
    }
    lepo = os.path.abspath(LEPO)

    def pipe():
        begun = time.perf_counter()
        run = subprocess.run([lepo, "do", "-n", "hi"], cwd=work, env=env, capture_output=True, check=True)
        assert len(run.stdout) > CHUNKS
        return time.perf_counter() - begun

    def editor():
        """The time to `initialize`, and that of the same turn from the start of the process to its end."""
        begun = time.perf_counter()
        agent = subprocess.Popen(
            [lepo, "do", "--acp"], cwd=work, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

        def call(number, method, params):
            line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            agent.stdin.write((json.dumps(line) + "\n").encode())
            agent.stdin.flush()
            mark = f'"id":{number},'.encode()
            while True:
                line = agent.stdout.readline()
                if mark in line[:40]:
                    return json.loads(line)["result"]

        call(1, "initialize", {"protocolVersion": 1})
        hello = time.perf_counter() - begun
        session = call(2, "session/new", {"cwd": work, "mcpServers": []})["sessionId"]
        call(3, "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]})
        agent.stdin.close()
        agent.wait()
        return hello, time.perf_counter() - begun

    # In turns, so that what else the machine does falls on both.
    pipes, editors = [], []
    for _ in range(RUNS):
        pipes.append(pipe())
        editors.append(editor())
    hello = min(hello for hello, _ in editors)
    plain, acp = min(pipes), min(whole for _, whole in editors)
    print(f"initialize answered after {hello * 1000:.1f} ms (limit 20)")
    print(f"a chunk: pipe {plain / CHUNKS * 1e6:.2f} us, acp {acp / CHUNKS * 1e6:.2f} us, {acp / plain:.2f} (limit 1.3)")


if __name__ == "__main__":
    main()
