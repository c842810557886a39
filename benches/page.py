#!/usr/bin/env python3
"""The HTML page: how large it is, how quickly it is made, and how quickly a browser shows it.

    cargo build --release
    benches/page.py [--lepo target/release/lepo] [--bubbs 10000] [--bytes 1700] [--turns 5] [--dir DIR]

Makes two stores of so many bubbs (deterministic): one conversation, and a forest of many; a question has about
90 bytes, an answer twice BYTES less those, in English and Korean with lists and code. Prints one line a figure:
what, value, goal. Figures of time are medians of wall time. With chromium in PATH the page is opened headless, and
what is told is when its load event was done, without the browser's own start (that of an empty page is taken off).
"""
import argparse, hashlib, os, random, shutil, statistics, subprocess, sys, tempfile, time

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
WORDS = ("the store keeps every word and 왜 이 저장소는 모든 말을 그대로 두는가 because a plain file is read by grep "
         "without a database 질문과 대답 branch forest of conversations").split()
CODE = "```rust\nfn main() {\n    let x = 1 < 2 && 3 > 1;\n    println!(\"{x}\");\n}\n```"


def ulid(number):
    return "".join(DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


class Store:
    """Writes bubbs with true ids; the formula is the one of lepo-store(5)."""

    def __init__(self, path):
        self.path, self.time, self.text, self.images = path + "/.lepo", 1_790_000_000_000, 0, 0
        os.makedirs(self.path + "/_blobs", 0o700)

    def add(self, kind, prev, text):
        self.time += 60_000
        data = text.encode()
        said = b"lepo\0" + self.time.to_bytes(6, "big") + kind.encode() + (prev or 0).to_bytes(16, "big")
        number = hashlib.sha256(said + hashlib.sha256(data).digest()).digest()[:10]
        number = self.time << 80 | int.from_bytes(number, "big")
        with open("%s/%s-%s-%s.md" % (self.path, ulid(number), kind, ulid(prev) if prev else "head"), "wb") as file:
            file.write(data)
        self.text += len(data)
        return number

    def blob(self, data):
        name = hashlib.sha256(data).hexdigest()
        with open(self.path + "/_blobs/" + name, "wb") as file:
            file.write(data)
        self.images += len(data)
        return name


def words(rng, count):
    return " ".join(rng.choice(WORDS) for _ in range(count))


def answer(rng, size):
    parts, length = [], 0
    while length < size:
        dice = rng.random()
        part = (words(rng, 40) if dice < .7 else "- %s\n- **%s**" % (words(rng, 8), words(rng, 3)) if dice < .85
                else CODE if dice < .95 else "## " + words(rng, 4))
        parts.append(part)
        length += len(part.encode()) + 2
    return "\n\n".join(parts)


def make(path, bubbs, size, forest):
    rng, store, tails, made = random.Random(1), Store(path), [], 0
    while made + 2 <= bubbs:
        if tails and (not forest or rng.random() < .8):
            under = rng.choice(tails[-40:]) if forest else tails[-1]
        else:
            under = None
        asked = store.add("u0", under, words(rng, 12))
        tails.append(store.add("a0", asked, answer(rng, 2 * size - 90)))
        made += 2
    return store


def timed(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def browse(page):
    with tempfile.TemporaryDirectory() as profile:
        return timed(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                      "--disable-background-networking", "--disable-component-update", "--disable-sync",
                      "--user-data-dir=" + profile, "--window-size=1280,900", "--screenshot=" + profile + "/shot.png",
                      "file://" + page])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lepo", default="target/release/lepo")
    parser.add_argument("--bubbs", type=int, default=10_000)
    parser.add_argument("--bytes", type=int, default=1_700)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--dir")
    args = parser.parse_args()
    lepo = os.path.abspath(args.lepo)
    top = os.path.abspath(args.dir or tempfile.mkdtemp())
    os.makedirs(top, exist_ok=True)
    with open(top + "/empty.html", "w") as file:
        file.write("<!doctype html><title>empty</title>")

    def tell(what, value, goal):
        print("%-44s %10s   %s" % (what, value, goal))

    for name, forest in (("one conversation", False), ("a forest", True)):
        path = "%s/%s" % (top, name.replace(" ", "-"))
        shutil.rmtree(path, ignore_errors=True)
        store = make(path, args.bubbs, args.bytes, forest)
        page = path + "/page.html"
        command = [lepo, "-c", path, "export", "--format", "html", "--all", "-o", page]
        seconds = statistics.median(timed(command) for _ in range(args.turns))
        start = statistics.median(timed([lepo, "--version"]) for _ in range(args.turns))
        size = os.path.getsize(page)
        tell(name + ": text, MB", "%.1f" % (store.text / 1e6), "")
        tell(name + ": page / text", "%.3f" % (size / store.text), "<= 1.3")
        tell(name + ": export, MB/s of text", "%.0f" % (store.text / 1e6 / (seconds - start)), ">= 100")
        if shutil.which("chromium"):
            times = [(browse(page), browse(top + "/empty.html")) for _ in range(args.turns)]
            tell(name + ": opened, s over an empty page",
                 "%.2f" % statistics.median(a - b for a, b in times), "<= 1")

    path = top + "/images"
    shutil.rmtree(path, ignore_errors=True)
    store, last = Store(path), None
    for number in range(20):
        data = b"\x89PNG\r\n\x1a\n" + random.Random(number).randbytes(1 << 20)
        line = "[image/png %s bytes %d.png: _blobs/%s]" % (format(len(data), ","), number, store.blob(data))
        last = store.add("u0", last, "what is this?\n\n" + line)
    page = path + "/page.html"
    timed([lepo, "-c", path, "export", "--format", "html", "-o", page])
    tell("20 images of 1 MiB: page / images", "%.3f" % (os.path.getsize(page) / store.images), "<= 1.36")
    if not args.dir:
        shutil.rmtree(top)


main()
