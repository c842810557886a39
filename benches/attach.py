#!/usr/bin/env python3
"""Attached files: memory and time to the first byte.

usage: benches/attach.py PATH-TO-LEPO [RUNS]

memory  20 files of 20 MB in one question: the most memory that lepo had (VmHWM), as a factor of the
        length of their base64. The limit is 1.5.
first   one file of 10 MB: from the start of the process to the answer on stdout, against curl that
        posts the very same body from a file. The limit is 1.3, of the medians.

The server is this program's own: it reads the body whole and answers at once.
"""

import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

MB = 1 << 20
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
)
ANSWER = b'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    keep = None

    def do_POST(self):
        left, parts = int(self.headers["Content-Length"]), []
        while left:
            piece = self.rfile.read(min(left, MB))
            if not piece:
                return
            left -= len(piece)
            if Server.keep is not None:
                parts.append(piece)
        if Server.keep is not None:
            Server.keep = b"".join(parts)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


def files(work, count, size):
    names = []
    for i in range(count):
        name = f"{i}.png"
        with open(os.path.join(work, name), "wb") as file:
            file.write(PNG + bytes([i]) + os.urandom(MB) * (size // MB))
            file.truncate(size)
        names.append(name)
    return names


def ask(lepo, home, names):
    args = [lepo, "do", "-n", "-q", "--no-stdin"]
    for name in names:
        args += ["--attach", name]
    return args + ["what?"]


def run(args, home, work):
    env = {"PATH": os.environ["PATH"], "HOME": home, "LEPO_CONFIG_HOME": home}
    start = time.perf_counter()
    child = subprocess.Popen(args, cwd=work, env=env, stdout=subprocess.PIPE)
    first = child.stdout.read(1)
    taken = time.perf_counter() - start
    child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if not first or child.returncode:
        sys.exit(f"{args[0]} failed: {child.returncode}")
    return taken, usage.ru_maxrss * 1024


def main():
    lepo = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "config.toml"), "w") as file:
            file.write(
                'planner = "off"\n[[models]]\nname = "t"\nprovider = "openai"\nmodel = "m"\n'
                f'base_url = "{url}"\nactive = true\n'
            )
        work = os.path.join(home, "work")
        os.mkdir(work)
        names = files(work, 20, 20 * MB)
        _, memory = run(ask(lepo, home, names), home, work)
        encoded = 20 * ((20 * MB + 2) // 3 * 4)
        print(json.dumps({"bench": "memory", "most_mb": round(memory / MB), "base64_mb": round(encoded / MB),
                          "factor": round(memory / encoded, 3), "limit": 1.5}))
        for name in names:
            os.remove(os.path.join(work, name))

        names = files(work, 1, 10 * MB)
        Server.keep = b""
        run(ask(lepo, home, names), home, work)
        body = os.path.join(home, "body.json")
        with open(body, "wb") as file:
            file.write(Server.keep)
        Server.keep = None
        curl = ["curl", "-sS", "-N", "-H", "Content-Type: application/json", "-H", "Expect:",
                "--data-binary", f"@{body}", f"{url}/chat/completions"]
        times = {"lepo": [], "curl": []}
        for _ in range(runs):
            times["lepo"].append(run(ask(lepo, home, names), home, work)[0])
            times["curl"].append(run(curl, home, work)[0])
        ms = {who: round(statistics.median(taken) * 1000, 1) for who, taken in times.items()}
        print(json.dumps({"bench": "first byte", "body_mb": round(os.path.getsize(body) / MB, 1), **ms,
                          "factor": round(ms["lepo"] / ms["curl"], 2), "limit": 1.3}))


main()
