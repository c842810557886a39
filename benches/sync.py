#!/usr/bin/env python3
"""The figures of `lepo sync` beside plain git's, in one run, against bare repositories on disk.

    cargo build --release
    benches/sync.py [--lepo target/release/lepo] [--bubbs 200000] [--bytes 1000000000] [--refs 1000000] [--turns 7]
                    [--dir DIR] [--only first,forty,nothing,gigabyte,refs]

Makes a store of 200,000 bubbs of 500 bytes over two years, all but 500 in their days, and sends it.
    first     the first sync; git: fast-import of the same files, and its push
    forty     40 new bubbs; git: add and commit of the same 40 files in a worktree of all, and its push
    nothing   nothing new on either side; git: fetch
    gigabyte  another person's clone brings a bubb of 1 GB: it is left out and named; git: fetch
    refs      a remote with a million refs below refs/lepo/: 256 are looked at; git: ls-remote
Runs of lepo and git take turns, so that a machine whose speed drifts is fair to both; medians of wall time. Prints a
line a figure: what, lepo's seconds, git's, ratio, limit, and lepo's peak memory with its children's where it matters.
Exit 1 where a limit is broken.
"""
import argparse, hashlib, os, random, resource, shutil, statistics, subprocess, sys, tempfile, time

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DAY = 24 * 3600 * 1000
WORDS = "why does the store keep every word 왜 이 저장소는 모든 말을 그대로 두는가 and how quick is it with a million".split()


def ulid(number):
    return "".join(DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def bubb(at, kind, prev, text):
    """The id and the file name that lepo gives; see lepo-store(5)."""
    content = hashlib.sha256(text).digest()
    said = b"lepo\0" + at.to_bytes(6, "big") + kind.encode() + (prev or 0).to_bytes(16, "big") + content
    number = at << 80 | int.from_bytes(hashlib.sha256(said).digest()[:10], "big")
    return number, "%s-%s-%s.md" % (ulid(number), kind, ulid(prev) if prev else "head")


def bubbs(count, begin, end, dice):
    """Time, name and text of so many bubbs: a question and its answer, in turns."""
    step, prev = (end - begin) / count, None
    for i in range(count):
        text = " ".join(dice.choices(WORDS, k=95)).encode() + b" %d" % i
        kind = "a0" if i % 2 else "u0"
        at = int(begin + i * step)
        prev, name = bubb(at, kind, prev if i % 2 else None, text)
        yield at, name, text


def folder(at):
    return time.strftime("%Y-%m/%d", time.gmtime(at / 1000))


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text)


class Clone:
    """A home with a store and a git identity."""

    def __init__(self, base, name):
        self.path, self.name = "%s/%s" % (base, name), name
        self.work, self.store = self.path + "/work", self.path + "/work/.lepo"
        os.makedirs(self.work)
        put(self.path + "/.gitconfig", b"[user]\n\temail = %s@x\n\tname = x\n" % name.encode())
        self.env = {"HOME": self.path, "PATH": os.environ["PATH"]}
        self.run(LEPO, "init")

    def run(self, *command, text=b""):
        done = subprocess.run(command, cwd=self.work, env=self.env, input=text, capture_output=True)
        if done.returncode:
            sys.exit("%s: %s%s" % (" ".join(command), done.stdout.decode(), done.stderr.decode()))
        return done.stdout.decode()

    def git(self, *command):
        return self.run("git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", *command)


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def report(what, lepo, git, limit, more=""):
    ratio = lepo / git
    broken = limit and ratio > limit
    print("%-10s lepo %8.3f s   git %8.3f s   %5.2f x   limit %s%s%s" % (
        what, lepo, git, ratio, limit or "-", more, "   BROKEN" if broken else ""), flush=True)
    return bool(broken)


def bare(path):
    subprocess.run(["git", "init", "--quiet", "--bare", path], check=True)
    return path


def fast_import(to, ref, files, tip=None):
    to.write(b"commit %s\ncommitter x <x@x> 0 +0000\ndata 1\nx\n" % ref.encode())
    if tip:
        to.write(b"from %s^0\n" % tip.encode())
    for path, text in files:
        to.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text))
    to.write(b"done\n")


def main():
    global LEPO
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    options.add_argument("--lepo", default=root + "/target/release/lepo")
    options.add_argument("--bubbs", type=int, default=200_000)
    options.add_argument("--bytes", type=int, default=1_000_000_000)
    options.add_argument("--refs", type=int, default=1_000_000)
    options.add_argument("--turns", type=int, default=7)
    options.add_argument("--dir")
    options.add_argument("--only", default="first,forty,nothing,gigabyte,refs")
    options = options.parse_args()
    LEPO, only = os.path.abspath(options.lepo), options.only.split(",")
    if options.dir:
        os.makedirs(options.dir, exist_ok=True)
    base = tempfile.mkdtemp(prefix="lepo-sync-", dir=options.dir)
    try:
        sys.exit(1 if any([*figures(base, options, only)]) else 0)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def figures(base, options, only):
    dice, now = random.Random(7), int(time.time() * 1000)
    me, remote = Clone(base, "me"), bare(base + "/remote.git")
    # What the import writes is also git's input.
    with open(base + "/stream", "wb") as stream:
        files = []
        for i, (at, name, text) in enumerate(bubbs(options.bubbs, now - 730 * DAY, now - 60_000, dice)):
            recent = i >= options.bubbs - 500
            put("%s/%s%s" % (me.store, "" if recent else "_old/%s/" % folder(at), name), text)
            files.append(("%s/%s" % (folder(at), name), text))
        fast_import(stream, "refs/heads/main", files)
        count = len(files)
        del files
    plain = bare(base + "/plain.git")
    other = bare(base + "/plain-remote.git")

    def git_first():
        with open(base + "/stream", "rb") as stream:
            subprocess.run(["git", "-C", plain, "fast-import", "--quiet", "--done"], stdin=stream, check=True)
        me.git("-C", plain, "push", "--quiet", other, "main")

    time.sleep(3)  # the folders' times are told apart from later changes only then
    git = timed(git_first)
    lepo = timed(lambda: me.run(LEPO, "sync", "--yes", "--as", "me", remote))
    if "first" in only:
        yield report("first", lepo, git, 1.5, "   %d bubbs" % count)
    if "forty" in only:
        tree = base + "/tree"
        me.git("clone", "--quiet", "-b", "main", other, tree)
        lepos, gits = [], []
        for turn in range(options.turns):
            new = [(at, name, text + b" %d" % turn) for at, name, text in bubbs(40, now - 50_000 + turn * 1000, now - 49_000 + turn * 1000, dice)]
            paths = []
            for at, _, text in new:
                name = bubb(at, "u0", None, text)[1]
                put("%s/%s" % (me.store, name), text)
                put("%s/%s/%s" % (tree, folder(at), name), text)
                paths.append("%s/%s" % (folder(at), name))

            def commit():
                me.git("-C", tree, "add", "--", *paths)
                me.git("-C", tree, "commit", "--quiet", "-m", "x")
                me.git("-C", tree, "push", "--quiet", "origin", "HEAD:main")

            gits.append(timed(commit))
            lepos.append(timed(lambda: me.run(LEPO, "sync")))
        yield report("forty", statistics.median(lepos), statistics.median(gits), 2)
    if "nothing" in only:
        time.sleep(3)
        me.run(LEPO, "sync")
        lepos, gits = [], []
        for _ in range(options.turns * 3):
            gits.append(timed(lambda: me.git("-C", plain, "fetch", "--quiet", other, "+refs/heads/*:refs/theirs/*")))
            lepos.append(timed(lambda: me.run(LEPO, "sync")))
        yield report("nothing", statistics.median(lepos), statistics.median(gits), 1.5)
    if "gigabyte" in only:
        yield gigabyte(base, options.bytes, now)
    if "refs" in only:
        yield refs(base, options.refs)


def gigabyte(base, size, now):
    """A forged bubb of that size, of bytes that do not pack."""
    me, remote = Clone(base, "victim"), bare(base + "/large.git")
    me.run(LEPO, "add", "--prev", "head", "--time", "1d", text=b"mine")
    me.run(LEPO, "sync", "--yes", "--as", "victim", remote)
    name = bubb(now - DAY, "u0", None, b"no")[1]
    evil = subprocess.Popen(["git", "-C", remote, "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE)
    evil.stdin.write(b"commit refs/lepo/evil\ncommitter x <x@x> 0 +0000\ndata 1\nx\nM 100644 inline %s/%s\ndata %d\n" % (
        folder(now - DAY).encode(), name.encode(), size))
    left = size
    while left:
        piece = os.urandom(min(left, 1 << 20))
        evil.stdin.write(piece)
        left -= len(piece)
    evil.stdin.write(b"\ndone\n")
    evil.stdin.close()
    assert evil.wait() == 0
    plain = bare(base + "/large-plain.git")
    git = timed(lambda: me.git("-C", plain, "fetch", "--quiet", remote, "+refs/lepo/*:refs/theirs/*"))
    told = []
    lepo = timed(lambda: told.append(me.run(LEPO, "sync")))
    assert "left out" in told[0], told
    assert subprocess.run(["find", me.store, "-name", name], capture_output=True).stdout == b""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    return report("gigabyte", lepo, git, None, "   left out; largest process so far %d MB" % peak)


def refs(base, count):
    me, remote = Clone(base, "crowded"), bare(base + "/crowded.git")
    me.run(LEPO, "add", "--prev", "head", "--time", "1d", text=b"mine")
    me.run(LEPO, "sync", "--yes", "--as", "crowded", remote)
    tip = me.git("-C", remote, "rev-parse", "refs/lepo/crowded").strip()
    with open(remote + "/packed-refs", "w") as file:
        file.write("# pack-refs with: peeled fully-peeled sorted \n")
        for i in range(count):
            file.write("%s refs/lepo/x%07d\n" % (tip, i))
    git = timed(lambda: me.git("ls-remote", remote, "refs/lepo/*"))
    lepo = timed(lambda: me.run(LEPO, "sync"))
    others = len(os.listdir(me.store + "/_from")) if os.path.isdir(me.store + "/_from") else 0
    assert others <= 256, others
    return report("refs", lepo, git, None, "   %d clones looked at" % others)


main()
