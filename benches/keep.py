#!/usr/bin/env python3
"""`lepo rm` and what lies in `_removed/`, against the limits of their page; ratios, so that any build tells.

    benches/keep.py LEPO [--before PROGRAM] [--messages 10000] [--removed 100000] [--times 5] [--dir DIR]

rm        a conversation of so many messages goes to `_removed/`: at most 1.5 times its removal at once, by PROGRAM
          (a lepo from before `undo`) or else by `rm --now`.
removed   `ls`, `grep` and `do` with so many messages in `_removed/`, beside the same store without: at most 1.1 times,
          which allows for the noise of a machine.

Figures are processor time, and wall time beside it, each the best of its times; both sides run in turn. The model is a
server in this process.
"""

import argparse
import http.server
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

WORDS = "the store keeps what was said as plain files and 한글 too while code is escaped".split(" ")


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for delta, reason in (({"content": "yes"}, None), ({}, "stop")):
            piece = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            self.wfile.write(b"data: %s\n\n" % json.dumps(piece).encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


def run(home, command, lepo=None):
    """Returns processor and wall time in seconds."""
    env = {"PATH": os.environ["PATH"], "HOME": home, "LEPO_CONFIG_HOME": home + "/config",
           "XDG_STATE_HOME": home + "/state", "OLLAMA_HOST": "http://127.0.0.1:9"}
    null, start = os.open(os.devnull, os.O_RDWR), time.monotonic()
    child = os.posix_spawn(lepo or options.lepo, ["lepo", "-c", home, *command], env,
                           file_actions=[(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)])
    _, status, usage = os.wait4(child, 0)
    os.close(null)
    if status:
        sys.exit(f"{command}: ended with {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start


def make_store(base, name, length, url, start):
    """A home whose store has one conversation of so many messages."""
    home, dice = f"{base}/{name}", random.Random(length)
    os.makedirs(home + "/config")
    with open(home + "/config/config.toml", "w") as out:
        out.write(f'planner = "off"\n[[models]]\nname = "m"\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}"\nactive = true\n')
    run(home, ["init"])
    add_conversation(home, length, start, dice)
    return home


def add_conversation(home, length, start, dice):
    said = [{"role": ("user", "assistant")[at % 2], "content": f"{at} {' '.join(dice.choices(WORDS, k=20))}",
             "created_at": start + at} for at in range(length)]
    with open(home + "/source.jsonl", "w") as out:
        out.write(json.dumps({"id": f"c{start}", "messages": said}) + "\n")
    run(home, ["import", home + "/source.jsonl"])


def compare(what, sides, limit):
    """Runs both sides in turn, and prints the ratio of their best processor times."""
    taken = [[] for _ in sides]
    for _ in range(options.times):
        for times, side in zip(taken, sides):
            times.append(side())
    (own, own_wall), (peer, peer_wall) = [(min(t[0] for t in times), min(t[1] for t in times)) for times in taken]
    ratio = own / peer
    print(f"{what}: {1e3 * own:.0f} ms against {1e3 * peer:.0f} ms of processor: {ratio:.2f} x, limit {limit} x: "
          f"{'ok' if ratio <= limit else 'TOO SLOW'} (wall {1e3 * own_wall:.0f} and {1e3 * peer_wall:.0f} ms: "
          f"{own_wall / peer_wall:.2f} x)", flush=True)
    return ratio <= limit


def removal(base, source, command, lepo=None):
    def remove():
        home = tempfile.mkdtemp(dir=base) + "/home"
        shutil.copytree(source, home)
        took = run(home, command, lepo)
        shutil.rmtree(os.path.dirname(home))
        return took
    return remove


def main(base):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    plain = make_store(base, "plain", options.messages, url, 1_700_000_000)
    if options.before:
        peer = removal(base, plain, ["rm", "-y", "@"], options.before)
    else:
        peer = removal(base, plain, ["rm", "-y", "--now", "@"])
    good = compare(f"rm of {options.messages:,} messages", (removal(base, plain, ["rm", "-y", "@"]), peer), 1.5)
    laden = make_store(base, "laden", options.messages, url, 1_700_000_000)
    # Newer than the other conversation, so that it is the one at `@`.
    add_conversation(laden, options.removed, 1_701_000_000, random.Random(2))
    run(laden, ["rm", "-y", "@"])
    held = sum(len(files) for _, _, files in os.walk(laden + "/.lepo/_removed"))
    if held < options.removed:
        sys.exit(f"_removed/ has {held} files")
    for what, command in [
        ("ls", ["ls"]),
        ("grep", ["grep", "escaped"]),
        ("do", ["do", "--no-stdin", "--no-agents", "-n", "why?"]),
    ]:
        run(laden, command), run(plain, command)
        sides = (lambda: run(laden, command), lambda: run(plain, command))
        good &= compare(f"{what} beside {held:,} removed messages", sides, 1.1)
    return good


parser = argparse.ArgumentParser()
parser.add_argument("lepo", type=os.path.abspath)
parser.add_argument("--before", type=os.path.abspath)
parser.add_argument("--messages", type=int, default=10_000)
parser.add_argument("--removed", type=int, default=100_000)
parser.add_argument("--times", type=int, default=5)
parser.add_argument("--dir", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
options = parser.parse_args()
base = tempfile.mkdtemp(dir=options.dir)
try:
    is_good = main(base)
finally:
    shutil.rmtree(base, ignore_errors=True)
sys.exit(0 if is_good else 1)
