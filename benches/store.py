#!/usr/bin/env python3
"""The store at every size beside the floors of benches/floor.c, in one run.

    cargo build --release
    benches/store.py [--lepo target/release/lepo] [--sizes 1000,100000,1000000] [--turns 9] [--dir DIR]

Makes stores of so many bubbs (deterministic; one in five is a tail, convs are interleaved) below DIR, and keeps
them there for the next run if --dir is given. Prints one line a figure: lepo, floor, ratio, goal. Figures are
medians of wall time; lepo and its floor run in turn, so that a machine whose speed drifts is fair to both.
Needs cc, and 5 GB of disk for a million. Caches are warm.
"""
import argparse, hashlib, os, random, shutil, statistics, subprocess, sys, tempfile, time

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
WORDS = "why does the store keep every word 왜 이 저장소는 모든 말을 그대로 두는가 and how quick is it with a million".split()


def ulid(number):
    return "".join(DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def bubb(at, store, kind, prev, text):
    """Writes one bubb with a true id; its id as a number. The formula is the one of lepo-store(5)."""
    content = hashlib.sha256(text).digest()
    said = b"lepo\0" + at.to_bytes(6, "big") + kind.encode() + (prev or 0).to_bytes(16, "big") + content
    number = at << 80 | int.from_bytes(hashlib.sha256(said).digest()[:10], "big")
    name = "%s-%s-%s.md" % (ulid(number), kind, ulid(prev) if prev else "head")
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=store)
    os.write(file, text)
    os.close(file)
    return number


def make(path, size, one_conv=False):
    """A store of `size` bubbs: roots `s1`, then `u0` and `a0` in turn, now and then a fork."""
    if os.path.exists(path + "/.complete"):
        return
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path + "/.lepo", 0o700)
    subprocess.run([LEPO, "-c", path, "init"], check=True, stderr=subprocess.DEVNULL)
    store = os.open(path + "/.lepo", os.O_RDONLY)
    dice, at, open_convs = random.Random(size), 1_700_000_000_000, []
    for i in range(size):
        at += dice.randrange(1, 2000)
        text = " ".join(dice.choices(WORDS, k=dice.randrange(3, 60))).encode()
        if one_conv:
            place = 0 if open_convs else None
        else:
            place = None if dice.random() < 0.2 else dice.randrange(max(0, len(open_convs) - 500), len(open_convs) or 1)
        if place is None or not open_convs:
            open_convs.append((bubb(at, store, "s1", None, text), "s1"))
            continue
        prev, kind = open_convs[place]
        kind = "a0" if kind == "u0" else "u0"
        number = bubb(at, store, kind, prev, text)
        if not one_conv and dice.random() < 0.02:
            open_convs.append((number, kind))
        else:
            open_convs[place] = (number, kind)
    os.close(store)
    open(path + "/.complete", "w").close()


def run(command, first_line=False):
    """Milliseconds to the end, or to the first line, with the output read and thrown away."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    child.stdin.write(b"x\n") if "add" in command else None
    child.stdin.close()
    while True:
        got = os.read(child.stdout.fileno(), 1 << 20)
        if first_line or not got:
            break
    took = time.perf_counter() - start
    if first_line:
        child.kill()
    child.stdout.close()
    if child.wait() and not first_line:
        sys.exit("%s ended with %d" % (command, child.returncode))
    return 1e3 * took


def medians(commands, turns):
    """Each command a list of words, or (words, True) for its first line only."""
    calls = [command if isinstance(command, tuple) else (command, False) for command in commands]
    rows = [[run(*call) for call in calls] for _ in range(turns + 1)][1:]
    return [statistics.median(column) for column in zip(*rows)]


def line(what, mine, floor, goal, floor_name, unit="ms"):
    print("%-38s lepo %9.1f %s   %-28s %9.1f   ratio %5.2f   goal %s"
          % (what, mine, unit, floor_name, floor, mine / floor, goal), flush=True)


def memory(floor, command):
    """Peak resident memory, in MB; by way of a small program, as a process begins with the peak of its parent."""
    return int(subprocess.run([floor, "peak", *command], capture_output=True, check=True).stdout) / 1024


def main():
    global LEPO
    here = os.path.dirname(os.path.abspath(__file__))
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=here + "/../target/release/lepo")
    options.add_argument("--sizes", default="1000,100000,1000000")
    options.add_argument("--turns", type=int, default=9)
    options.add_argument("--dir")
    options = options.parse_args()
    LEPO = os.path.abspath(options.lepo)
    base = options.dir or tempfile.mkdtemp(prefix="lepo-bench-")
    os.makedirs(base, exist_ok=True)
    # The stores stay in one folder each; benches/scale.py measures the others.
    os.environ["LEPO_CONFIG_HOME"] = base + "/config"
    os.makedirs(base + "/config", exist_ok=True)
    with open(base + "/config/config.toml", "w") as config:
        config.write("tidy = false\n")
    try:
        floor = base + "/floor"
        subprocess.run(["cc", "-O2", "-o", floor, here + "/floor.c"], check=True)
        measure(base, floor, [int(size) for size in options.sizes.split(",")], options.turns)
    finally:
        if not options.dir:
            shutil.rmtree(base)


def measure(base, floor, sizes, turns):
    path = lambda size: "%s/%d" % (base, size)
    for size in {1000, *sizes}:
        make(path(size), size)
    for size in sizes:
        lepo, store = [LEPO, "-c", path(size)], path(size) + "/.lepo"
        scan, c, every, twenty, first = medians(
            [[floor, "scan", store], [floor, "ls", store], [*lepo, "ls"], [*lepo, "ls", "-n", "20"],
             ([*lepo, "ls"], True)], turns)
        line("ls, %d" % size, every, c, "<= 0.9" if size > 500_000 else "<= 1.2", "C, one thread")
        line("ls -n 20, %d" % size, twenty, scan, "<= 1.5", "bare scan")
        line("ls, first line, %d" % size, first, twenty, "<= 1.1", "ls -n 20")
        line("ls, memory, %d" % size, memory(floor, [*lepo, "ls"]), memory(floor, [floor, "ls", store]), "113 MB", "C", "MB")
    for size in sizes:
        # By way of env, both: the shell's question is in the environment.
        asked = ["env", "LEPO_COMPLETE=fish", LEPO, "--", "lepo", "-c", path(size), "show"]
        every, begun, scan = medians(
            [[*asked, ""], [*asked, "01H"], ["env", floor, "scan", path(size) + "/.lepo"]], turns)
        line("completion of any address, %d" % size, every, scan, "<= 1.5", "bare scan")
        line("completion of an id begun, %d" % size, begun, scan, "<= 1.5", "bare scan")
    for size in sizes:
        small, mine, scan = medians([[LEPO, "-c", path(1000), "add"], [LEPO, "-c", path(size), "add"],
                                     [floor, "scan", path(size) + "/.lepo"]], 3 * turns)
        line("add to @, %d" % size, mine, scan + 1.2 * small, "<= 1", "scan %.1f + 1.2 x %.1f" % (scan, small))
    conv = base + "/conv"
    make(conv, 10_000, one_conv=True)
    names = sorted(name for name in os.listdir(conv + "/.lepo") if name.endswith(".md"))
    files = ["%s/.lepo/%s" % (conv, name) for name in names]
    mine, cat = medians([[LEPO, "-c", conv, "show", "-a"], ["cat", *files]], turns)
    line("show @, a conv of 10,000", mine, cat, "<= 1.5", "cat")
    if 100_000 in sizes:
        store = path(100_000) + "/.lepo"
        sums = "find %s -name '*.md' -print0 | xargs -0 -n 2000 -P $(nproc) sha256sum" % store
        mine, floor_ms = medians([[LEPO, "-c", path(100_000), "fsck"], ["sh", "-c", sums]], turns)
        line("fsck, 100000", mine, floor_ms, "<= 1.5", "sha256sum, as many processors")


if __name__ == "__main__":
    main()
