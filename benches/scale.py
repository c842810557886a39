#!/usr/bin/env python3
"""The figures of a store of any size, in one run: 10,000 bubbs in one folder beside millions in folders of days.

    cargo build --release
    benches/scale.py [--lepo target/release/lepo] [--million 1000000] [--turns 21] [--dir DIR] [--only NAME,...]

Makes the stores below DIR, and keeps them for the next run if --dir is given: `small` 10,000 bubbs in .lepo/;
`days` a million over two years, all but 10,000 in their days; `one` the same million in .lepo/ (hard links);
`ten` ten million over ten years as a skeleton: 3,650 folders, of which the last thirty and one a year old are
filled with 2,740 names each, as no command measured reads another. Commands run in turn, so that a machine whose
speed drifts is fair to all; medians of wall time. `do` asks a server on loopback. Prints a line a figure: what,
milliseconds, ratio, limit. NAME is flat, old, whole, browse, exchange, tidy, crowd, start, memory.
Needs cc, curl and 6 GB of disk. Faults are tried by scripts/faults and scripts/powercut.
"""
import argparse, fcntl, http.server, json, os, pty, random, resource, shutil, statistics, struct, subprocess, sys
import tempfile, termios, threading, time

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DAY = 24 * 3600 * 1000
NOW = int(time.time() * 1000)
WORDS = "why does the store keep every word 왜 이 저장소는 모든 말을 그대로 두는가 and how quick is it with a million".split()


def ulid(at, dice):
    number = at << 80 | dice.getrandbits(80)
    return "".join(DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def folder(store, at):
    day = time.gmtime(at / 1000)
    return "%s/_old/%04d-%02d/%02d" % (store, day.tm_year, day.tm_mon, day.tm_mday)


def names(count, begin, end, dice):
    """Time and name of so many bubbs: turns of ten, a question and an answer each, several convs at once."""
    step, prevs = (end - begin) / count, []
    for i in range(count):
        at = int(begin + i * step)
        if len(prevs) < 20 or dice.random() < 0.1:
            prevs = prevs[-19:]
            prevs.append(None)
        place = dice.randrange(len(prevs))
        prev = prevs[place]
        kind = "u0" if prev is None or prev[1] == "a0" else "a0"
        own = ulid(at, dice)
        yield at, "%s-%s-%s.md" % (own, kind, prev[0] if prev else "head")
        prevs[place] = (own, kind)


def put(path, dice, empty=False):
    with open(path, "w") as file:
        if not empty:
            file.write(" ".join(dice.choices(WORDS, k=dice.randrange(3, 60))))


def make(path, fill):
    if not os.path.exists(path + "/.complete"):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path + "/.lepo")
        subprocess.run([LEPO, "-c", path, "init"], check=True, stderr=subprocess.DEVNULL)
        fill(path + "/.lepo", random.Random(7))
        open(path + "/.complete", "w").close()
    return path


def fill_small(store, dice):
    for at, name in names(10_000, NOW - 7 * DAY, NOW - 60_000, dice):
        put(store + "/" + name, dice)


def fill_days(million):
    def fill(store, dice):
        for i, (at, name) in enumerate(names(million, NOW - 730 * DAY, NOW - 60_000, dice)):
            where = store if i >= million - 10_000 else folder(store, at)
            os.makedirs(where, exist_ok=True)
            put(where + "/" + name, dice)
    return fill


def fill_one(days):
    def fill(store, dice):
        for where, _, files in os.walk(days + "/.lepo"):
            for name in files:
                if name.endswith(".md"):
                    os.link(where + "/" + name, store + "/" + name)
    return fill


def fill_ten(store, dice):
    today = NOW // DAY * DAY
    for age in range(3, 3653):
        begin = today - age * DAY
        os.makedirs(folder(store, begin), exist_ok=True)
        if age <= 33 or age == 365:
            for at, name in names(2_740, begin, begin + DAY, dice):
                put(folder(store, begin) + "/" + name, dice, empty=age != 365)
    for at, name in names(10_000, NOW - 2 * DAY, NOW - 60_000, dice):
        put(store + "/" + name, dice)


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        event = lambda delta, end: b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}).encode()
        body = event({"content": "so"}, None) + event({}, "stop") + b"data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 64


def run(command, text=b""):
    start = time.perf_counter()
    done = subprocess.run(command, input=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
    took = time.perf_counter() - start
    if done.returncode:
        sys.exit("%s ended with %d: %s" % (command, done.returncode, done.stderr.decode()))
    return 1e3 * took


def medians(commands, turns):
    rows = [[run(command, b"x\n") for command in commands] for _ in range(turns + 1)][1:]
    return [statistics.median(column) for column in zip(*rows)]


def line(what, mine, against, limit, name, unit="ms"):
    print("%-34s %10.2f %s   %-26s %10.2f   ratio %5.2f   limit %s"
          % (what, mine, unit, name, against, mine / against, limit), flush=True)


def lepo(path, *words):
    return [LEPO, "-c", path, *words]


def a_name(path, age):
    """A bubb of the day so long ago that has a long conv."""
    where = folder(path + "/.lepo", NOW // DAY * DAY - age * DAY)
    return sorted(os.listdir(where))[-1][:26]


def flat(stores, turns):
    small = stores["small"]
    for work, words in [("add", ["add"]), ("show @", ["show", "@"]), ("ls -n 20", ["ls", "-n", "20"]),
                        ("completing @", None), ("do", ["do", "--no-stdin", "-q", "why"]),
                        ("do --retry", ["do", "--no-stdin", "-q", "--retry"]), ("a full id", None)]:
        def command(path):
            if work == "completing @":
                return ["env", "LEPO_COMPLETE=fish", LEPO, "--", "lepo", "-c", path, "show", ""]
            if work == "a full id":
                newest = max(name for name in os.listdir(path + "/.lepo") if name.endswith(".md"))
                return lepo(path, "show", "--one", newest[:26])
            return lepo(path, *words)
        paths = [small, *(stores[name] for name in ("days", "ten") if name in stores)]
        first, *others = medians([command(path) for path in paths], turns)
        for path, took in zip(paths[1:], others):
            line("%s, %s" % (work, os.path.basename(path)), took, first, "<= 1.2", "10,000 in one folder")


def old(stores, turns):
    for name in ("days", "ten"):
        if name in stores:
            mine, small = medians([lepo(stores[name], "show", a_name(stores[name], 365)), lepo(stores["small"], "show", "@")], turns)
            line("show, a year old, %s" % name, mine, small, "<= 2.5", "show @ of 10,000")


def whole(stores, turns):
    store = stores["days"] + "/.lepo"
    days, one, floor = medians([lepo(stores["days"], "ls"), lepo(stores["one"], "ls"),
                                [FLOOR, "ls", stores["one"] + "/.lepo"]], max(3, turns // 5))
    line("ls, all, days", days, one, "<= 1.0", "the same in one folder")
    line("ls, all, one folder", one, floor, "<= 0.7", "C, one thread")


def until_drawn(path):
    """Milliseconds until `browse` on a terminal of 80x24 has drawn its first list, then its tree, and then of the slowest of
    twenty keys in the tree."""
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execve(LEPO, [*lepo(path, "browse")], dict(ENV, TERM="xterm-256color"))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read_until(word):
        drawn = b""
        while word not in drawn:
            drawn += os.read(terminal, 65536)

    # The word of each question is in the list; only the tree's status line offers to fold.
    read_until(b"why")
    times = [time.perf_counter() - start]
    for key, word in [(b"t", b"fold")] + [(b"\x1b[B", b"\x1b")] * 20:
        start = time.perf_counter()
        os.write(terminal, key)
        read_until(word)
        times.append(time.perf_counter() - start)
        time.sleep(0.02)
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    return 1e3 * times[0], 1e3 * times[1], 1e3 * max(times[2:])


def browse(stores, turns):
    path = stores["days"]
    rows = [(*until_drawn(path), run(lepo(path, "ls", "-n", "50")), run(lepo(path, "log", "--graph", "-n", "50")))
            for _ in range(turns + 1)][1:]
    first, tree, key, ls, log = (statistics.median(column) for column in zip(*rows))
    line("browse, first list, days", first, ls, "<= 1.5", "ls -n 50")
    line("browse, t", tree, log, "<= 1.5", "log --graph -n 50")
    line("browse, slowest of 20 keys", key, 50, "<= 1", "50 ms")


def exchange(stores, turns):
    empty = tempfile.mkdtemp(dir=BASE)
    subprocess.run([LEPO, "-c", empty, "init"], check=True, stderr=subprocess.DEVNULL)
    ask = ["do", "--no-stdin", "-q", "--new", "why"]
    url, body = CONFIG_URL + "/chat/completions", json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "why"}]})
    curl = ["curl", "-sN", url, "-H", "content-type: application/json", "-d", body]
    many, few, scan, plain = medians([lepo(stores["small"], *ask), lepo(empty, *ask), [FLOOR, "scan", stores["small"] + "/.lepo"], curl], turns)
    line("do, 10,000", many, scan + few, "<= 1.2", "bare scan + empty store")
    line("one exchange, empty store", few, plain, "<= 0.5", "curl")


def tidy(stores, million):
    shm = "/dev/shm" if os.path.isdir("/dev/shm") else None
    path = tempfile.mkdtemp(prefix="lepo-tidy-", dir=shm)
    try:
        subprocess.run([LEPO, "-c", path, "init"], check=True, stderr=subprocess.DEVNULL)
        dice = random.Random(3)
        for at, name in names(million, NOW - 730 * DAY, NOW - 3 * DAY, dice):
            open(path + "/.lepo/" + name, "w").close()
        took = run(lepo(path, "tidy", "--keep", "0")) / 1e3
        left = sum(name.endswith(".md") for name in os.listdir(path + "/.lepo"))
        print("%-34s %10.0f files/s   limit >= 20000   (%d files, %d left, %s)"
              % ("tidy", million / took, million, left, shm or path), flush=True)
    finally:
        shutil.rmtree(path)


def crowd():
    """100 writers, 2 tidiers and 4 readers at once: no name is missed, none is lost."""
    path = tempfile.mkdtemp(dir=BASE)
    subprocess.run([LEPO, "-c", path, "init"], check=True, stderr=subprocess.DEVNULL)
    dice = random.Random(5)
    known = [name for _, name in names(4_000, NOW - 40 * DAY, NOW - 3 * DAY, dice)]
    for name in known:
        put(path + "/.lepo/" + name, dice)
    known, acknowledged, missed, over = {name[:26] for name in known}, [], [0, 0], threading.Event()

    def write(number):
        for i in range(5):
            done = subprocess.run(lepo(path, "add", "--prev", "head"), input=b"%d %d" % (number, i), capture_output=True, env=ENV)
            acknowledged.append(done.stdout.decode().strip())

    def read():
        while not over.is_set():
            done = subprocess.run(lepo(path, "log", "--all", "-a"), capture_output=True, env=ENV)
            missed[0] += len(known - {said[:26] for said in done.stdout.decode().splitlines()})
            missed[1] += 1

    def move():
        for keep in range(3_900, -1, -130):
            subprocess.run(lepo(path, "tidy", "--keep", str(keep)), check=True, capture_output=True, env=ENV)

    threads = [threading.Thread(target=write, args=[i]) for i in range(100)] + [threading.Thread(target=move) for _ in range(2)]
    readers = [threading.Thread(target=read) for _ in range(4)]
    [thread.start() for thread in threads + readers]
    [thread.join() for thread in threads]
    over.set()
    [thread.join() for thread in readers]
    listed = subprocess.run(lepo(path, "log", "--all", "-a"), capture_output=True, env=ENV).stdout.decode().splitlines()
    lost = len((known | set(acknowledged)) - {said[:26] for said in listed})
    print("%-34s %d names missed in %d readings, %d lost, %d twice of %d   limit 0, 0, 0" % (
        "100 writers, 2 tidiers, 4 readers", missed[0], missed[1], lost, len(listed) - len(known) - len(acknowledged), len(listed)), flush=True)


def start(turns):
    mine, true = medians([[LEPO, "--version"], ["true"]], 5 * turns)
    line("--version", mine, true, "<= 1.5", "true")


def memory():
    """A conv of 100 MB continued: the most memory that was resident, against its size."""
    path = tempfile.mkdtemp(dir=BASE)
    subprocess.run([LEPO, "-c", path, "init"], check=True, stderr=subprocess.DEVNULL)
    for _ in range(10):
        subprocess.run(lepo(path, "add"), input=b"words and more. " * (10 << 16), check=True, capture_output=True, env=ENV)
    peak = int(subprocess.run([FLOOR, "peak", *lepo(path, "do", "--no-stdin", "-q", "why")], capture_output=True, check=True, env=ENV).stdout.split()[-1])
    line("a conv of 100 MB continued", peak / 1024, 100, "<= 1.5", "its size", "MB")


def main():
    global LEPO, ENV, BASE, FLOOR, CONFIG_URL
    here = os.path.dirname(os.path.abspath(__file__))
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lepo", default=here + "/../target/release/lepo")
    options.add_argument("--million", type=int, default=1_000_000)
    options.add_argument("--turns", type=int, default=21)
    options.add_argument("--dir")
    options.add_argument("--only", default="flat,old,whole,browse,exchange,tidy,crowd,start,memory")
    options = options.parse_args()
    LEPO, only = os.path.abspath(options.lepo), options.only.split(",")
    BASE = options.dir or tempfile.mkdtemp(prefix="lepo-scale-")
    os.makedirs(BASE, exist_ok=True)
    server = QuietServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    CONFIG_URL = "http://127.0.0.1:%d/v1" % server.server_address[1]
    os.makedirs(BASE + "/home/config", exist_ok=True)
    with open(BASE + "/home/config/config.toml", "w") as file:
        file.write('tidy = false\nplanner = "off"\ntool_call_mode = "manual"\n[[models]]\nname = "m"\nprovider = "openai"\nmodel = "m"\n'
                   'base_url = "%s"\nactive = true\n' % CONFIG_URL)
    ENV = {"HOME": BASE + "/home", "PATH": os.environ["PATH"], "LEPO_CONFIG_HOME": BASE + "/home/config", "XDG_STATE_HOME": BASE + "/home/state"}
    try:
        FLOOR = BASE + "/floor"
        subprocess.run(["cc", "-O2", "-o", FLOOR, here + "/floor.c"], check=True)
        stores = {}
        if {"flat", "old", "whole", "exchange"} & set(only):
            stores["small"] = make(BASE + "/small", fill_small)
        if {"flat", "old", "whole", "browse"} & set(only):
            stores["days"] = make(BASE + "/days", fill_days(options.million))
        if {"flat", "old"} & set(only):
            stores["ten"] = make(BASE + "/ten", fill_ten)
        if "whole" in only:
            stores["one"] = make(BASE + "/one", fill_one(BASE + "/days"))
        for name, measure in [("start", lambda: start(options.turns)), ("flat", lambda: flat(stores, options.turns)),
                              ("old", lambda: old(stores, options.turns)),
                              ("browse", lambda: browse(stores, options.turns)), ("exchange", lambda: exchange(stores, options.turns)),
                              ("whole", lambda: whole(stores, options.turns)), ("tidy", lambda: tidy(stores, options.million)),
                              ("crowd", crowd), ("memory", memory)]:
            if name in only:
                measure()
    finally:
        if not options.dir:
            shutil.rmtree(BASE)


main()
