#!/usr/bin/env python3
"""`lepo mcp serve`: from its start to the answer of `initialize`, and its search beside `lepo grep`.

    cargo build --release
    benches/mcp_serve.py [--lepo target/release/lepo] [--million 1000000] [--turns 11] [--dir DIR]

Makes a store of a million messages below DIR, as benches/grep.py does (its `days`, which is used if it is there), and
keeps it for the next run if --dir is given. A client starts the server for each start, and one server answers all
searches; `lepo grep` is a process each time, as a person types it. They run in turn, warm; medians of wall time. Prints
a line a figure: what, milliseconds, peer, milliseconds, ratio, limit.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import grep


class Server:
    def __init__(self, lepo, folder):
        self.process = subprocess.Popen(
            [lepo, "-c", folder, "mcp", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.count = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})

    def ask(self, method, params):
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            told = json.loads(self.process.stdout.readline())
            if told.get("id") == self.count:
                return told["result"]

    def search(self, pattern, limit):
        told = self.ask("tools/call", {"name": "search", "arguments": {"pattern": pattern, "limit": limit}})
        return told["structuredContent"]["hits"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def timed(run):
    start = time.perf_counter()
    got = run()
    return (time.perf_counter() - start) * 1000, got


def figure(what, mine, peer=None, theirs=None, ratio=None, limit=""):
    beside = f"  {peer} {theirs:.1f}  ratio {ratio:.2f}" if peer else ""
    print(f"{what:<34} {mine:>9.1f}{beside}  limit {limit}", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(os.path.dirname(__file__), "../target/release/lepo"))
    options.add_argument("--million", type=int, default=1_000_000)
    options.add_argument("--turns", type=int, default=11)
    options.add_argument("--dir")
    options = options.parse_args()
    lepo = grep.LEPO = os.path.abspath(options.lepo)
    where = options.dir or tempfile.mkdtemp(prefix="lepo-mcp-serve-")
    os.makedirs(where, exist_ok=True)
    try:
        days = grep.make(where + "/days", options.million, 730 * grep.DAY, 10_000)
        bench(lepo, days, options)
    finally:
        if not options.dir:
            shutil.rmtree(where, ignore_errors=True)


def bench(lepo, days, options):
    starts = []
    for _ in range(options.turns):
        took, server = timed(lambda: Server(lepo, days))
        server.end()
        starts.append(took)
    figure("start to initialize", statistics.median(starts), limit="10 ms")
    server = Server(lepo, days)
    # A rare word, one that no message has, and one of nearly every message, of which the newest are wanted.
    for what, pattern, limit in [("rare word", "xylophone", 1000), ("no hit", "zyzzyva", 20), ("frequent word", "store", 20)]:
        typed = [lepo, "-c", days, "grep", "-n", str(limit), pattern]
        mine, theirs, found = [], [], None
        for turn in range(options.turns + 1):
            took, hits = timed(lambda: server.search(pattern, limit))
            peer, ran = timed(lambda: subprocess.run(typed, stdout=subprocess.PIPE, check=False))
            assert len(hits) == ran.stdout.count(b"\n"), (len(hits), ran.stdout.count(b"\n"))
            if turn > 0:
                mine.append(took)
                theirs.append(peer)
        one, other = statistics.median(mine), statistics.median(theirs)
        figure(f"search: {what}", one, "lepo grep", other, one / other, "1.2")
    server.end()


main()
