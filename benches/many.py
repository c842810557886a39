#!/usr/bin/env python3
"""Many models at once: how much longer than the slowest it takes, and how close together they are asked.

    cargo build --release
    benches/many.py [--lepo target/release/lepo] [--quick]

Each model is a server of its own that answers after a second. Prints one line a figure; figures are
medians, and the worst of all runs.
"""
import argparse, json, os, shutil, socket, statistics, subprocess, sys, tempfile, threading, time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Server:
    """Notes when a request is there whole, and answers after a while."""

    def __init__(self, delay):
        self.delay, self.asked = delay, []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.url = "http://127.0.0.1:%d/v1" % self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            with connection:
                request = b""
                while b"\r\n\r\n" not in request or not request.rstrip().endswith(b"}"):
                    request += connection.recv(65536)
                self.asked.append(time.perf_counter())
                time.sleep(self.delay)
                text = {"choices": [{"index": 0, "delta": {"content": "Hello there."}, "finish_reason": None}]}
                connection.sendall(HEAD + b"data: " + json.dumps(text).encode() + b"\n\n" + END)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(os.path.dirname(__file__), "../target/release/lepo"))
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    lepo, times = os.path.abspath(options.lepo), 3 if options.quick else 11
    for models in (1, 2, 8):
        bench(lepo, models, times)


def bench(lepo, models, times):
    home = tempfile.mkdtemp(prefix="lepo-bench-")
    servers = [Server(1.0) for _ in range(models)]
    os.makedirs(home + "/config")
    with open(home + "/config/config.toml", "w") as file:
        for i, server in enumerate(servers):
            file.write('[[models]]\nname = "m%d"\nprovider = "openai"\nmodel = "m"\nbase_url = "%s"\n' % (i, server.url))
        file.write("[many]\nparticipants = %s\n" % json.dumps(["m%d" % i for i in range(models)]))
    env = {"HOME": home, "PATH": os.environ["PATH"], "LEPO_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home}
    walls, spreads = [], []
    for _ in range(times):
        start = time.perf_counter()
        done = subprocess.run([lepo, "-c", home, "do", "--no-stdin", "--parallel", "--new", "hi"], env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        walls.append(time.perf_counter() - start)
        if done.returncode or done.stdout.count(b"Hello there.") != models:
            sys.exit("%d models: exit %d, %r" % (models, done.returncode, done.stdout))
        asked = [server.asked[-1] for server in servers]
        spreads.append(1e3 * (max(asked) - min(asked)))
    shutil.rmtree(home)
    print("%d models of 1 s each: wall %6.3f s (worst %6.3f)  goal <= 1.1" % (models, statistics.median(walls), max(walls)))
    print("%d models of 1 s each: all asked within %5.1f ms (worst %5.1f)  goal <= 20"
          % (models, statistics.median(spreads), max(spreads)), flush=True)


main()
