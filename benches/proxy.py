#!/usr/bin/env python3
"""What `lepo do --proxy` costs, beside nginx as a plain reverse proxy before the same scripted server.

    cargo build --release
    benches/proxy.py [--lepo target/release/lepo] [--quick] [--dir DIR]

Prints a line a figure: lepo, nginx, ratio, limit. Chunks say when they were sent, so that their delay is that of each;
clients take turns, so that what else the machine does falls on both. The store of 100,000 messages is that of
benches/grep.py, below DIR, and stays there for the next run if --dir is given. Medians. Needs nginx.
"""
import argparse, atexit, concurrent.futures, http.client, json, multiprocessing, os, re, shutil, signal, socket, statistics, subprocess, sys
import tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import exchange
import grep

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STAMP = re.compile(rb'"content":"(\d{19}) ')
NGINX = """
daemon off; master_process off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fast;
  uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  upstream model {{ server 127.0.0.1:{upstream}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }}
  }}
}}
"""


def serve(listener):
    """Answers with as many chunks as the request's `user` says, and as many milliseconds between them."""
    listener.listen(1024)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection):
    reader = connection.makefile("rb")
    with connection:
        while line := reader.readline():
            length = 0
            while (line := reader.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            chunks, pause = json.loads(json.loads(reader.read(length))["user"])
            try:
                connection.sendall(HEAD)
                for _ in range(chunks):
                    connection.sendall(exchange.framed(exchange.event("%019d " % time.monotonic_ns())))
                    time.sleep(pause / 1000) if pause else None
                connection.sendall(exchange.framed(exchange.END) + b"0\r\n\r\n")
            except OSError:
                return


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Peer:
    """A process that listens."""

    def __init__(self, process, port):
        self.process, self.port, self.count = process, port, 0
        atexit.register(self.end)

    def cpu(self):
        """Its processor time so far, in milliseconds."""
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """The most memory that it had, in MB."""
        with open("/proc/%d/status" % self.process.pid) as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) / 1024

    def ask(self, chunks, pause=0, stamps=False):
        """Milliseconds to the first byte and to the end; the delays of chunks, if wanted."""
        self.count += 1
        question = "Question %d of %d: what is new?" % (self.count, time.monotonic_ns())
        body = {"model": "m", "stream": True, "user": json.dumps([chunks, pause])}
        body["messages"] = [{"role": "user", "content": question}]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.connect()
        start = time.perf_counter()
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        first = answer.read1(1 << 16)
        took, delays, left = time.perf_counter() - start, [], first
        while data := answer.read1(1 << 16):
            now = time.monotonic_ns()
            left = left[-200:] + data
            if stamps:
                found = list(STAMP.finditer(left))
                delays += [(now - int(stamp.group(1))) / 1e6 for stamp in found]
                left = left[found[-1].end():] if found else left
        if answer.status != 200 or b"[DONE]" not in left:
            raise OSError("port %d: %d %r" % (self.port, answer.status, left[-300:]))
        connection.close()
        return 1000 * took, 1000 * (time.perf_counter() - start), delays

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)


def start_lepo(lepo, work, base, upstream):
    os.makedirs(work, exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": os.path.join(base, "home")}
    os.makedirs(env["HOME"], exist_ok=True)
    options = ["do", "--proxy", "-q", "--upstream", "http://127.0.0.1:%d" % upstream, "-s", ".lepo"]
    process = subprocess.Popen([lepo, *options], cwd=work, env=env, stdout=subprocess.PIPE, text=True)
    port = re.search(r":(\d+)/v1", process.stdout.readline()).group(1)
    return Peer(process, int(port))


def start_nginx(base, upstream):
    port, settings = free_port(), os.path.join(base, "nginx.conf")
    with open(settings, "w") as file:
        file.write(NGINX.format(dir=base, upstream=upstream, port=port))
    peer = Peer(subprocess.Popen(["nginx", "-p", base, "-c", settings], stderr=subprocess.DEVNULL), port)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return peer
        except OSError:
            time.sleep(0.05)
    sys.exit("nginx does not listen: see %s/error.log" % base)


def figure(what, mine, theirs, unit, limit, beside="nginx"):
    print("%-34s lepo %9.2f   %s %9.2f %-3s  ratio %6.2f   %s"
          % (what, mine, beside, theirs, unit, mine / theirs if theirs else 0, limit), flush=True)


def durable(base):
    """Milliseconds until a small file is on the disk with its name, as each question is before its request leaves."""
    start = time.perf_counter()
    with open(os.path.join(base, "part"), "w") as file:
        file.write("Question")
        file.flush()
        os.fsync(file.fileno())
    os.rename(file.name, os.path.join(base, "whole"))
    folder = os.open(base, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    return 1000 * (time.perf_counter() - start)


def first_bytes(lepo, nginx, turns, base):
    took, disk = {lepo: [], nginx: []}, []
    for turn in range(turns + 2):
        for peer in took:
            first, _, _ = peer.ask(1)
            took[peer] += [first] if turn > 1 else []
        disk.append(durable(base))
    mine, theirs = (statistics.median(took[peer]) for peer in (lepo, nginx))
    figure("first byte", mine, theirs, "ms", "%.2f ms more, limit 1; a durable file %.2f ms"
           % (mine - theirs, statistics.median(disk)))


def chunk_delays(lepo, nginx, chunks):
    delays = {lepo: [], nginx: []}
    for _ in range(5):
        for peer in delays:
            delays[peer] += peer.ask(chunks, 1, stamps=True)[2]
    for what, at in [("delay of a chunk, median", 0.5), ("delay of a chunk, 99 of 100", 0.99)]:
        mine, theirs = (sorted(delays[peer])[int(at * len(delays[peer]))] for peer in (lepo, nginx))
        figure(what, mine, theirs, "ms", "no limit")


def processor(lepo, nginx, chunks, turns):
    took = {lepo: [], nginx: []}
    for _ in range(turns):
        for peer in took:
            before = peer.cpu()
            peer.ask(chunks)
            took[peer].append(peer.cpu() - before)
    mine, theirs = (statistics.median(took[peer]) for peer in (lepo, nginx))
    figure("%d chunks, processor" % chunks, mine, theirs, "ms", "limit 2.00")


def many(lepo, nginx, chunks):
    for peer in (lepo, nginx):
        start = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            asked = [pool.submit(peer.ask, chunks, 5) for _ in range(64)]
        peer.whole = time.perf_counter() - start
        failed = [client.exception() for client in asked if client.exception()]
        if failed:
            print("64 clients at once: %d failed, as %r" % (len(failed), failed[0]), flush=True)
    figure("64 clients at once", 1000 * lepo.whole, 1000 * nginx.whole, "ms", "no limit")
    figure("64 clients at once, memory", lepo.memory(), nginx.memory(), "MB", "limit 40 MB")


def full_store(lepo, base, store, upstream, turns):
    full = start_lepo(lepo, store, base, upstream)
    empty = start_lepo(lepo, os.path.join(base, "new"), base, upstream)
    took = {full: [], empty: []}
    first = full.ask(1)[1]
    empty.ask(1)
    for _ in range(turns):
        for peer in took:
            took[peer].append(peer.ask(1)[1])
    mine, theirs = (statistics.median(took[peer]) for peer in (full, empty))
    figure("request, 100,000 messages", mine, theirs, "ms", "limit 2.00; the first %.0f ms" % first, "empty")
    for peer in took:
        peer.end()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(os.path.dirname(__file__), "../target/release/lepo"))
    options.add_argument("--quick", action="store_true")
    options.add_argument("--dir")
    options = options.parse_args()
    if not shutil.which("nginx"):
        sys.exit("nginx is not there")
    lepo = grep.LEPO = os.path.abspath(options.lepo)
    base = tempfile.mkdtemp(prefix="lepo-proxy-")
    listener = socket.create_server(("127.0.0.1", 0))
    upstream = listener.getsockname()[1]
    server = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True)
    server.start()
    try:
        peers = start_lepo(lepo, os.path.join(base, "work"), base, upstream), start_nginx(base, upstream)
        # Memory first: it is the most that a process ever had.
        many(*peers, 20 if options.quick else 200)
        first_bytes(*peers, 15 if options.quick else 101, base)
        chunk_delays(*peers, 100 if options.quick else 1000)
        processor(*peers, 10_000 if options.quick else 100_000, 3)
        for peer in peers:
            peer.end()
        store = os.path.join(options.dir or base, "store")
        store = grep.make(store, 100_000, 200 * grep.DAY, 10_000)
        full_store(lepo, base, store, upstream, 15 if options.quick else 51)
    finally:
        server.terminate()
        if not options.dir:
            shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
