#!/usr/bin/env python3
"""The figures of `lepo grep`, in one run, beside ripgrep, grep and a full-text search as llm has it.

    cargo build --release
    benches/grep.py [--lepo target/release/lepo] [--million 1000000] [--turns 11] [--dir DIR]

Makes two stores below DIR, and keeps them for the next run if --dir is given: `small`, 10,000 messages in
.lepo/; `days`, a million messages of 500 bytes over two years, all but 10,000 in folders of days, with one
conversation of 100. Beside `days` stand its text in one file, for rg, and in an SQLite FTS5 table with the
query of `llm logs -q`, which is timed within this process. Commands run in turn, warm; medians of wall time.
Prints a line a figure: what, milliseconds, peer, milliseconds, ratio, limit. Needs rg, grep, 6 GB of disk.
"""
import argparse, os, random, shutil, sqlite3, statistics, subprocess, sys, tempfile, time

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DAY = 24 * 3600 * 1000
NOW = int(time.time() * 1000)
WORDS = ("how do I parse this code when the server sends one chunk of 코드 and the store keeps every word "
         "왜 이 저장소는 모든 말을 그대로 두는가 fn main let mut error panic unwrap borrow lifetime").split()


def ulid(at, dice):
    number = at << 80 | dice.getrandbits(80)
    return "".join(DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


def text(dice):
    words = []
    while sum(len(word.encode()) + 1 for word in words) < 500:
        words.append(dice.choice(WORDS))
    return " ".join(words) + "\n"


def make(path, count, span, young):
    """A store of `count` messages over `span` ms; all but the last `young` in folders of days."""
    if os.path.exists(path + "/.complete"):
        return path
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    subprocess.run([LEPO, "-c", path, "init"], check=True, stderr=subprocess.DEVNULL)
    dice, store, prev = random.Random(7), path + "/.lepo", None
    texts = [text(dice) for _ in range(2000)]
    with open(path + "/all.txt", "w") as whole:
        for i in range(count):
            at = NOW - span + int(i * (span - 60_000) / count)
            where = store
            if i < count - young:
                day = time.gmtime(at / 1000)
                where = "%s/_old/%04d-%02d/%02d" % (store, day.tm_year, day.tm_mon, day.tm_mday)
                os.makedirs(where, exist_ok=True)
            own, kind = ulid(at, dice), "ua"[i % 2] + "0"
            # Conversations of ten; the newest has a hundred.
            if i % 10 == 0 and i < count - 100:
                prev = None
            said = texts[dice.randrange(2000)] if i % 50_000 != 7 else "the xylophone stands here\n"
            with open("%s/%s-%s-%s.md" % (where, own, kind, prev or "head"), "w") as file:
                file.write(said)
            whole.write(said)
            prev = own
    open(path + "/.complete", "w").close()
    return path


def full_text(path):
    if not os.path.exists(path + "/llm.db"):
        db = sqlite3.connect(path + "/part.db")
        db.execute("create table responses (id integer primary key, response text, datetime_utc integer)")
        db.execute("create virtual table responses_fts using fts5(response, content=responses, content_rowid=id)")
        with open(path + "/all.txt") as lines:
            db.executemany("insert into responses (response, datetime_utc) values (?, ?)",
                           ((line, i) for i, line in enumerate(lines)))
        db.execute("insert into responses_fts(responses_fts) values ('rebuild')")
        db.commit()
        db.close()
        os.rename(path + "/part.db", path + "/llm.db")
    return sqlite3.connect(path + "/llm.db")


def run(command):
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
    if done.returncode > 1:
        sys.exit("%s ended with %d: %s" % (command, done.returncode, done.stderr.decode()))
    return 1e3 * (time.perf_counter() - start)


def medians(commands, turns):
    rows = [[run(c) if isinstance(c, list) else c() for c in commands] for _ in range(turns + 1)][1:]
    return [statistics.median(column) for column in zip(*rows)]


def line(what, mine, peer, its, limit):
    print("%-34s %10.1f ms   %-22s %10.1f ms   ratio %6.2f   limit %s" % (what, mine, peer, its, mine / its, limit),
          flush=True)


def main():
    global LEPO, ENV
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--lepo", default="target/release/lepo")
    args.add_argument("--million", type=int, default=1_000_000)
    args.add_argument("--turns", type=int, default=11)
    args.add_argument("--dir")
    args = args.parse_args()
    LEPO = os.path.abspath(args.lepo)
    root = args.dir or tempfile.mkdtemp(prefix="lepo-grep-")
    ENV = {"PATH": os.environ["PATH"], "HOME": root + "/home", "LC_ALL": "C.UTF-8"}
    os.makedirs(ENV["HOME"], exist_ok=True)
    try:
        small = make(root + "/small", 10_000, 7 * DAY, 10_000)
        days = make(root + "/days", args.million, 730 * DAY, 10_000)
        grep = lambda path, *words: [LEPO, "-c", path, "grep", *words]
        rg = lambda path, *words: ["rg", "-uu", *words, path]

        for what, words in [("absent word", ["zebra"]), ("word in all, -l", ["-l", "the"]), ("rare word", ["parse this"])]:
            mine, its = medians([grep(small, "--no-cache", *words), rg(small + "/.lepo", *words)], args.turns)
            line("10,000, no cache: " + what, mine, "rg, same files", its, 1.2)

        shutil.rmtree(days + "/.lepo/_cache", ignore_errors=True)
        run(["grep", "-r", "zebra", days + "/.lepo"])
        its = run(["grep", "-r", "zebra", days + "/.lepo"])
        mine = run(grep(days, "zebra"))
        line("first search (builds the cache)", mine, "grep -r", its, 1.1)

        for what, words in [
            ("literal", ["xylophone"]), ("absent word", ["zebra"]), ("-i", ["-i", "XYLOPHONE"]),
            ("regex", [r"xylo[a-z]+ st"]), ("Hangul", ["저장소의"]),
        ]:
            mine, its = medians([grep(days, *words), rg(days + "/all.txt", *words)], args.turns)
            line("%d: %s" % (args.million, what), mine, "rg, one file", its, 1.5)
        db = full_text(days)

        def common():
            start = time.perf_counter()
            db.execute("select responses.id, responses.response from responses join responses_fts on responses_fts.rowid = "
                       "responses.id where responses_fts match ? order by responses_fts.rank, datetime_utc desc limit 20",
                       ("code",)).fetchall()
            return 1e3 * (time.perf_counter() - start)
        mine, its = medians([grep(days, "-n", "20", "code"), common], args.turns)
        line("%d: common word, first 20" % args.million, mine, "FTS5, no start-up", its, "0.2")
        mine, its = medians([grep(days, "zebra", "@"), [LEPO, "-c", days, "show", "@"]], args.turns)
        line("one conversation of 100", mine, "lepo show", its, 1.5)
    finally:
        if not args.dir:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
