#!/usr/bin/env python3
"""What three configured MCP servers cost a question that calls none of their tools.

    scripts/mcp-servers
    cargo build --release
    benches/servers.py [--lepo target/release/lepo] [--quick]

Prints one line a figure, with its goal: `lepo do hi` with servers from npm and PyPI whose lists of tools are kept,
beside the same without any, in turns, against a server that answers at once. Medians. What the first question costs,
which asks the servers for their tools, is told beside it.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

import exchange

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lepo-mcp")


def servers(path):
    """Three of them, as `mcp.json` has it."""
    program = lambda name: os.path.join(CACHE, name)
    found = {
        "fs": {"command": program("node_modules/.bin/mcp-server-filesystem"), "args": [path]},
        "everything": {"command": program("node_modules/.bin/mcp-server-everything"), "args": ["stdio"]},
        "time": {"command": program("venv/bin/mcp-server-time"), "args": ["--local-timezone", "UTC"]},
    }
    for server in found.values():
        if not os.path.exists(server["command"]):
            sys.exit("%s is not there; scripts/mcp-servers fetches it" % server["command"])
    return json.dumps({"mcpServers": found})


def ask(lepo, path, env):
    """A question in a new conversation, in milliseconds."""
    start = time.perf_counter()
    ran = subprocess.run([lepo, "do", "-n", "--no-stdin", "hi"], cwd=path, env=env, capture_output=True)
    took = 1e3 * (time.perf_counter() - start)
    if ran.returncode or ran.stderr.count(b"warning"):
        sys.exit("lepo failed: %s" % ran.stderr.decode())
    return took


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(os.path.dirname(__file__), "../target/release/lepo"))
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    lepo = os.path.abspath(options.lepo)
    base = tempfile.mkdtemp(prefix="lepo-bench-")
    try:
        server = exchange.Server([(exchange.event("Hello."), 1), (exchange.END, 1)])
        without = exchange.home(base, server.url)
        with_servers = exchange.home(base, server.url)
        # What they have in common besides: no `uvx` or `npx`, so that only the servers themselves count.
        with open(os.path.join(with_servers[1]["LEPO_CONFIG_HOME"], "mcp.json"), "w") as file:
            file.write(servers(with_servers[0]))
        first = ask(lepo, *with_servers)
        ask(lepo, *without)
        took = {"without": [], "with": []}
        for _ in range(15 if options.quick else 61):
            took["without"].append(ask(lepo, *without))
            took["with"].append(ask(lepo, *with_servers))
        bare, full = (statistics.median(took[name]) for name in ["without", "with"])
        print("a question, three MCP servers   lepo %.1f ms   without %.1f ms   ratio %.2f   goal <= 1.2   first %.0f ms"
              % (full, bare, full / bare, first))
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
