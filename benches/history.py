#!/usr/bin/env python3
"""`lepo rebase` and `lepo do --recorded` against the limits of their page; ratios, so that any build tells.

    benches/history.py LEPO [MESSAGES]      10,000 messages without a number

rebase    a conversation of so many messages under another system prompt: at most twice its import.
recorded  a question looked up in a store of so many messages in conversations of ten, all of which begin with the same
          system prompt: at most twice `lepo ls` of that store. A hit and a miss.

Each is the best of three.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

LEPO = os.path.abspath(sys.argv[1])
MESSAGES = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
WORDS = "the store keeps what was said as plain files and 한글 too while code is escaped".split(" ")


def words(count):
    return " ".join(random.choice(WORDS) for _ in range(count))


def conversation(number, length, start):
    said = [{"role": "system", "content": "Be brief.", "created_at": start}]
    for at in range(1, length):
        role = "user" if at % 2 else "assistant"
        said.append({"role": role, "content": f"{number} {at} {words(20)}", "created_at": start + at})
    return {"id": f"c{number}", "messages": said}


def run(home, command, codes=(0,), **more):
    env = {"PATH": os.environ["PATH"], "HOME": home, "LEPO_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state",
           "OLLAMA_HOST": "http://127.0.0.1:9"}
    start = time.monotonic()
    done = subprocess.run([LEPO, *command], cwd=home, env=env, capture_output=True, text=True, **more)
    took = time.monotonic() - start
    if done.returncode not in codes:
        sys.exit(f"{command}: {done.returncode} {done.stderr}")
    return took, done.stdout


def best(of, times=3):
    return min(of() for _ in range(times))


def verdict(what, took, against, limit):
    ratio = took / against
    print(f"{what}: {took:.3f} s against {against:.3f} s: {ratio:.2f} x, limit {limit} x: {'ok' if ratio <= limit else 'TOO SLOW'}")
    return ratio <= limit


def rebase(base):
    source = base + "/one.jsonl"
    with open(source, "w") as out:
        out.write(json.dumps(conversation(0, MESSAGES, 1_700_000_000)) + "\n")

    def one():
        home = tempfile.mkdtemp(dir=base)
        imported, _ = run(home, ["import", source])
        copied, end = run(home, ["rebase", "@", "--system", "Be long."])
        height = len(json.loads(run(home, ["show", "-a", "--json", end.strip()])[1])["bubbs"])
        assert height == MESSAGES, height
        shutil.rmtree(home)
        return copied, imported

    tried = [one() for _ in range(3)]
    return verdict("rebase", min(copied for copied, _ in tried), min(imported for _, imported in tried), 2)


def recorded(base):
    home = tempfile.mkdtemp(dir=base)
    many = [conversation(number, 10, 1_700_000_000 + 100 * number) for number in range(MESSAGES // 10)]
    with open(home + "/many.jsonl", "w") as out:
        for one in many:
            out.write(json.dumps(one) + "\n")
    run(home, ["import", home + "/many.jsonl"])
    listed = best(lambda: run(home, ["ls"])[0])
    ask = ["do", "--recorded=only", "--no-stdin"]
    first = many[len(many) // 2]["messages"]
    good = True
    for what, more, codes, answer in [
        ("recorded, a hit", ["-n", "--system", "Be brief.", first[1]["content"]], (0,), first[2]["content"]),
        ("recorded, a miss", ["-n", "--system", "Be brief.", first[1]["content"] + "?"], (3,), None),
    ]:
        taken = []
        for _ in range(3):
            took, out = run(home, [*ask, *more], codes)
            assert answer is None or out.strip() == answer, out
            taken.append(took)
        good &= verdict(what, min(taken), listed, 2)
    return good


def main():
    base = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        good = rebase(base) & recorded(base)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    sys.exit(0 if good else 1)


main()
