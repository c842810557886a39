#!/usr/bin/env python3
"""What a person waits for at the prompt: a key until it shows, a chunk until it shows, a long answer.

    cargo build --release
    benches/repl.py [--lepo target/release/lepo] [--dir DIR] [--quick]

Prints one line a figure, with its goal. The terminal is a pty of this script's, which answers what a terminal is
asked; the long answer goes to tmux, beside `cat` of the same bytes. The store of 100,000 bubbs is made below DIR,
and kept there if --dir is given. Figures are medians. Needs tmux for the last two.
"""
import argparse, fcntl, os, pty, select, shutil, statistics, struct, subprocess, sys, tempfile, termios, threading, time

import exchange, store


class Terminal:
    """A program on a terminal of 80 columns."""

    def __init__(self, command, env, cwd):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read(self, timeout=10):
        """What the program wrote next; answers it when it asks where the cursor is."""
        if not select.select([self.fd], [], [], timeout)[0]:
            sys.exit("nothing came in time")
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return b""
        for _ in range(data.count(b"\x1b[6n")):
            os.write(self.fd, b"\x1b[5;1R")
        return data

    def until(self, what):
        seen = b""
        while what not in seen:
            seen += self.read()
        return seen

    def close(self):
        os.write(self.fd, b"\x03")
        while self.read():
            pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def told(what, figure, goal, unit="ms", more=""):
    print("%-58s %9.2f %s   goal %s%s" % (what, figure, unit, goal, more), flush=True)


def keys(lepo, path, env, times):
    """From writing a key to the first output that shows it, with a long history and a large store."""
    os.makedirs(path + "/state/lepo", exist_ok=True)
    with open(path + "/state/lepo/history", "w") as file:
        file.writelines("question number %d 한글\n" % i for i in range(10_000))
    env = {**env, "XDG_STATE_HOME": path + "/state", "TERM": "xterm-256color"}
    terminal = Terminal([lepo], env, path)
    terminal.until(b"> ")
    took = {"a letter": [], "한": [], "Up": []}
    for name, key in [("a letter", b"x"), ("한", "한".encode()), ("Up", b"\x1b[A")]:
        for i in range(times):
            time.sleep(0.01)
            while select.select([terminal.fd], [], [], 0)[0]:
                terminal.read()
            start = time.perf_counter()
            os.write(terminal.fd, key)
            terminal.until(key if name != "Up" else b"question" if i == 0 else b"number")
            took[name].append(1e3 * (time.perf_counter() - start))
            if name != "Up" and i % 20 == 19:
                os.write(terminal.fd, b"\x15")
        os.write(terminal.fd, b"\x05\x15")
    terminal.close()
    for name, times in took.items():
        told("key to echo, %s, median" % name, statistics.median(times), "<= 5", more="   worst %.1f" % max(times))


class Slow(exchange.Server):
    """Sends one chunk after the other, and notes when."""

    def __init__(self, count):
        self.sent, self.count = {}, count
        super().__init__([])

    def answer(self, connection):
        with connection:
            request = b""
            while not request.endswith(b"}") or b'"hi' not in request:
                request += connection.recv(65536)
            connection.sendall(exchange.HEAD)
            for i in range(self.count):
                word = "w%05d " % i
                chunk = exchange.event(word)
                self.sent[word.encode()] = time.perf_counter()
                connection.sendall(chunk)
                time.sleep(0.004)
            connection.sendall(exchange.END)


def chunks(lepo, base, times):
    """From the sending of a chunk to its reading on the terminal, the network on loopback within."""
    server = Slow(times)
    path, env = exchange.home(base, server.url)
    terminal = Terminal([lepo, "do", "--tools", "off", "hi"], {**env, "TERM": "xterm-256color"}, path)
    took, seen = [], b""
    for word in ["w%05d " % i for i in range(times)]:
        word = word.encode()
        while word not in seen:
            seen = seen[-32:] + terminal.read()
        took.append(1e3 * (time.perf_counter() - server.sent[word]))
    while terminal.read():
        pass
    told("chunk to terminal, median", statistics.median(took), "<= 2", more="   worst %.1f" % max(took))


def long(lepo, base, what, chunk, turns):
    """100,000 chunks to tmux, and `cat` of the same bytes to the same tmux."""
    # A thousand at a time, so that the server's own time does not count.
    server = exchange.Server([(exchange.event(chunk) * 1000, 100), (exchange.END, 1)])
    path, env = exchange.home(base, server.url)
    with open(path + "/answer", "w") as file:
        file.write(chunk * 100_000)
    tmux = ["tmux", "-L", "lepo-bench", "-f", "/dev/null"]
    env = {**env, "TMUX_TMPDIR": path, "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"}
    # A server ends with its last session.
    subprocess.run([*tmux, "new-session", "-d", "sleep", "1000"], env=env, check=True)
    commands = {"lepo": "%s do --tools off --new hi" % lepo, "cat": "cat answer"}
    took = {name: [] for name in commands}
    for _ in range(turns):
        for name, command in commands.items():
            script = "exec 3>>%s; date +%%s%%N >&3; %s; date +%%s%%N >&3" % (path + "/" + name, command)
            subprocess.run([*tmux, "-u", "new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", script],
                           env=env, cwd=path, check=True)
            lines = []
            while len(lines) < 2:
                time.sleep(0.01)
                lines = open(path + "/" + name).read().split() if os.path.exists(path + "/" + name) else []
            os.unlink(path + "/" + name)
            took[name].append((int(lines[1]) - int(lines[0])) / 1e6)
    subprocess.run([*tmux, "kill-server"], env=env, check=True)
    lepo_ms, cat_ms = (statistics.median(took[name]) for name in ["lepo", "cat"])
    told("100,000 chunks of %s to tmux" % what, lepo_ms / cat_ms, "<= 2.5", "x cat",
         "   lepo %.0f ms, cat %.0f ms" % (lepo_ms, cat_ms))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(os.path.dirname(__file__), "../target/release/lepo"))
    options.add_argument("--dir")
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    lepo = store.LEPO = os.path.abspath(options.lepo)
    base = tempfile.mkdtemp(prefix="lepo-bench-")
    large = (options.dir or base) + "/100000"
    try:
        times = 50 if options.quick else 300
        store.make(large, 100_000)
        _, env = exchange.home(base, "http://127.0.0.1:9")
        keys(lepo, large, env, times)
        chunks(lepo, base, times)
        if shutil.which("tmux"):
            turns = 3 if options.quick else 7
            long(lepo, base, "a word", "word ", turns)
            long(lepo, base, "a line", "x" * 79 + "\n", turns)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
