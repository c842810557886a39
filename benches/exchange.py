#!/usr/bin/env python3
"""One exchange beside its peers, in one run: start-up, an answer that comes at once, 100,000
chunks, an answer of 100 MB, and 100 processes writing to one store.

    cargo build --release
    benches/exchange.py [--lepo target/release/lepo] [--quick]

Prints one line a figure: lepo, its peer, the ratio, the goal. Figures are medians; CPU is user and
system time of the process. Beside curl, which keeps nothing, stands benches/floor.c: the same exchange, kept
as durably, in plain C. Needs curl, cc; GNU time for memory, strace for system calls (left out without).
"""
import argparse, json, os, re, shutil, socket, statistics, subprocess, sys, tempfile, threading, time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
CHUNKED = HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
END = (b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
       b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9}}\n\ndata: [DONE]\n\n')


def event(text):
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
             "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"


class Server:
    """Answers every POST with the same bytes, given as (block, how many times)."""

    def __init__(self, blocks, head=HEAD):
        self.blocks, self.head = blocks, head
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = "http://127.0.0.1:%d/v1" % self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection:
            request = b""
            while b"\r\n\r\n" not in request:
                got = connection.recv(65536)
                if not got:
                    return
                request += got
            head, body = request.split(b"\r\n\r\n", 1)
            if head.startswith(b"GET"):
                # The facts of a model, which this server does not tell.
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            length = int(re.search(rb"content-length: *(\d+)", head, re.I).group(1))
            while len(body) < length:
                body += connection.recv(65536)
            try:
                connection.sendall(self.head)
                for block, times in self.blocks:
                    for _ in range(times):
                        connection.sendall(block)
            except OSError:
                pass


def framed(data):
    """An HTTP chunk, as servers send each event."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def named(name, value):
    return ("event: %s\ndata: %s\n\n" % (name, json.dumps(value, separators=(",", ":")))).encode()


def wires(text, times):
    """For each other wire: the lines of its model, and an answer of so many pieces."""
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": None,
               "usage": {"input_tokens": 9, "output_tokens": 1}}
    piece = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0,
             "sequence_number": 7, "delta": text}
    done = {"id": "r", "object": "response", "status": "completed", "output": [],
            "usage": {"input_tokens": 9, "output_tokens": 9}}
    return {
        "anthropic": ('provider = "anthropic"\n', [
            (named("message_start", {"type": "message_start", "message": message})
             + named("content_block_start", {"type": "content_block_start", "index": 0,
                                             "content_block": {"type": "text", "text": ""}}), 1),
            (named("content_block_delta", delta), times),
            (named("content_block_stop", {"type": "content_block_stop", "index": 0})
             + named("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                                       "usage": {"output_tokens": 9}})
             + named("message_stop", {"type": "message_stop"}), 1)]),
        "responses": ('provider = "openai"\nwire = "responses"\n', [
            (named("response.output_text.delta", piece), times),
            (named("response.completed", {"type": "response.completed", "response": done}), 1)]),
    }


def home(base, url, wire='provider = "openai"\n'):
    """A home with one model at `url` and a store with one exchange in it."""
    path = tempfile.mkdtemp(dir=base)
    os.makedirs(path + "/config")
    with open(path + "/config/config.toml", "w") as file:
        file.write('planner = "off"\n[[models]]\nname = "m"\n%smodel = "m"\n'
                   'base_url = "%s"\nactive = true\n' % (wire, url))
    env = {"HOME": path, "PATH": os.environ["PATH"], "LEPO_CONFIG_HOME": path + "/config",
           "XDG_STATE_HOME": path + "/state"}
    return path, env


def run(command, env=None):
    """CPU milliseconds, wall milliseconds, milliseconds to the first byte of stdout."""
    start = time.perf_counter()
    out, into = os.pipe()
    pid = os.posix_spawnp(command[0], command, env or os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, into, 1), (os.POSIX_SPAWN_CLOSE, out), (os.POSIX_SPAWN_CLOSE, into)])
    os.close(into)
    first = None
    while os.read(out, 1 << 20):
        first = first or time.perf_counter()
    os.close(out)
    _, status, usage = os.wait4(pid, 0)
    end = time.perf_counter()
    if status:
        sys.exit("%s ended with %d" % (command, status))
    return 1e3 * (usage.ru_utime + usage.ru_stime), 1e3 * (end - start), 1e3 * ((first or end) - start)


def medians(commands, times):
    """The commands in turn, so that a machine whose speed drifts is fair to all."""
    runs = [[] for _ in commands]
    for turn in range(times + 1):
        for i, command in enumerate(commands):
            figures = run(*command)
            if turn:
                runs[i].append(figures)
    return [[statistics.median(column) for column in zip(*rows)] for rows in runs]


def line(what, mine, peer, goal, unit="ms", peer_name="curl"):
    print("%-44s lepo %9.2f %s  %s %9.2f  ratio %5.2f  goal %s"
          % (what, mine, unit, peer_name, peer, mine / peer if peer else 0, goal), flush=True)


def memory(command, env):
    if not os.path.exists("/usr/bin/time"):
        return 0
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(done.stderr.split()[-1]) / 1024


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(os.path.dirname(__file__), "../target/release/lepo"))
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    times = 5 if options.quick else 31
    base = tempfile.mkdtemp(prefix="lepo-bench-")
    try:
        # A copy, as curl is one: what the linker has just written lies in the page cache in small pieces, which
        # take longer to map.
        lepo = shutil.copy(options.lepo, base + "/lepo")
        bench(lepo, times, base, options.quick)
    finally:
        shutil.rmtree(base)


def bench(lepo, times, base, quick):
    body = base + "/body.json"
    with open(body, "w") as file:
        json.dump({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}, file)

    def curl(url):
        return ["curl", "-sN", "-H", "Content-Type: application/json", "-d", "@" + body, url + "/chat/completions"]

    def do(path, *more):
        return [lepo, "-c", path, "do", "--no-stdin", "--tools", "off", *more, "hi"]

    short = Server([(event("Hello") + event(" there.") + END, 1)])
    path, env = home(base, short.url)
    run(do(path), env)
    true, git, version, ls = medians(
        [(["true"],), (["git", "--version"],), ([lepo, "--version"],), ([lepo, "-c", path, "ls"],)], 4 * times)
    for name, figures in [("lepo --version", version), ("lepo ls, a small store", ls)]:
        line(name + ", CPU", figures[0], true[0], "<= 2", peer_name="true")
        line(name + ", wall", figures[1], true[1], "<= 2", peer_name="true")
    line("lepo --version, wall", version[1], git[1], "<= 1.3", peer_name="git")

    floor, kept = base + "/floor", base + "/kept"
    source = os.path.join(os.path.dirname(__file__), "floor.c")
    subprocess.run(["cc", "-O2", "-o", floor, source], check=True)
    os.mkdir(kept)
    plain = [floor, "exchange", path + "/config/config.toml", kept, short.url.split(":")[2].split("/")[0], "hi"]
    # Each run asks at the same place, behind the first answer, so that each is the same exchange as the one before.
    place = max(name for name in os.listdir(path + "/.lepo") if "-a0-" in name)[:26]
    mine, peer, least = medians([(do(path, "--tail", place), env), (curl(short.url),), (plain,)], times)
    for i, what in enumerate(["CPU", "wall", "first byte"]):
        line("one exchange, " + what, mine[i], peer[i], "<= 0.9")
        line("one exchange, " + what, mine[i], least[i], "-", peer_name="C, as durable")
    line("one exchange, peak memory", memory(do(path), env), memory(curl(short.url), env), "<= 10 MB", "MB")
    if shutil.which("strace"):
        done = subprocess.run(["strace", "-f", "-c", "-e", "trace=fsync,fdatasync", *do(path)], env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        calls = sum(int(row.split()[3]) for row in done.stderr.splitlines() if row.strip().endswith("sync"))
        print("%-44s lepo %9d     goal <= 4" % ("one exchange, fsync calls", calls))

    chunk = event("word ")
    for written, blocks, goals in [("in blocks", (framed(chunk) * 100, 1000), ["<= 2", "<= 2"]),
                                   ("one by one", (framed(chunk), 100_000), ["<= 4", "<= 3"])]:
        chunks = Server([blocks, (framed(END) + framed(b""), 1)], CHUNKED)
        path, env = home(base, chunks.url)
        mine, peer = medians([(do(path, "--new"), env), (curl(chunks.url),)], max(3, times // 4))
        for i, what in enumerate(["CPU", "wall"]):
            line("100,000 chunks %s, %s" % (written, what), mine[i], peer[i], goals[i])
    servers = []
    for name, (wire, blocks) in wires("word ", 100_000).items():
        other = Server(blocks)
        servers.append((name, *home(base, other.url, wire)))
    commands = [(do(path, "--new"), env)] + [(do(place, "--new"), other) for _, place, other in servers]
    chat, *others = medians(commands, max(3, times // 4))
    for (name, _, _), figures in zip(servers, others):
        line("100,000 chunks of %s, CPU" % name, figures[0], chat[0], "<= 1.2", peer_name="chat")

    word = event("x" * 1000)
    for megabytes in [10, 100]:
        large = Server([(word * 10, megabytes * 100), (END, 1)])
        path, env = home(base, large.url)
        line("an answer of %d MB, peak memory" % megabytes, memory(do(path, "--new"), env),
             memory(curl(large.url), env), "<= 16 MB, flat", "MB")
        shutil.rmtree(path)

    crowd(lepo, base, short, *((10, 10) if quick else (100, 100)))


def crowd(lepo, base, server, processes, exchanges):
    """Many processes, each adding exchanges to one store at once: all must be there, each id right."""
    path, env = home(base, server.url)
    loop = 'for i in $(seq %d); do "$0" do --no-stdin --tools off --new hi >/dev/null || exit 1; done' % exchanges
    start = time.time()
    children = [subprocess.Popen(["sh", "-c", loop, lepo], cwd=path, env=env, stdin=subprocess.DEVNULL)
                for _ in range(processes)]
    failed = sum(child.wait() != 0 for child in children)
    names = [name for name in os.listdir(path + "/.lepo") if name.endswith(".md")]
    answers = sum("-a0-" in name for name in names)
    fsck = subprocess.run([lepo, "fsck"], cwd=path, env=env, capture_output=True, text=True)
    print("%d processes x %d exchanges: %d answers of %d, %d failed, fsck exit %d %s, %.0f s"
          % (processes, exchanges, answers, processes * exchanges, failed, fsck.returncode,
             fsck.stdout.strip()[:200] or "silent", time.time() - start))


if __name__ == "__main__":
    main()
