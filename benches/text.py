#!/usr/bin/env python3
"""A conversation as one text (`lepo rebase --print`, `--from`) against the limits of its page; ratios, so that any build tells.

    benches/text.py LEPO [--messages 10000] [--times 5] [--dir DIR]

print     the text of a conversation of so many messages: at most twice `lepo show` of it.
save      that text unchanged through `--from`: at most twice the printing. From an editor that changes nothing, which
          prints and saves, at most the sum of both.

Figures are processor time of lepo and its children, the best of their times; all sides run in turn.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile

WORDS = "a writer keeps the lines of a conversation in one text 한글 문장도 함께 and moves them about".split(" ")


def run(home, command, into=os.devnull):
    """Returns processor time in seconds; stdout goes to a file."""
    env = {"PATH": os.environ["PATH"], "HOME": home, "LEPO_CONFIG_HOME": home + "/config",
           "XDG_STATE_HOME": home + "/state", "OLLAMA_HOST": "http://127.0.0.1:9", "LEPO_EDITOR": "true"}
    out = os.open(into, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open(os.devnull, os.O_RDWR)
    child = os.posix_spawn(options.lepo, ["lepo", "-c", home, *command], env, file_actions=[
        (os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    _, status, usage = os.wait4(child, 0)
    os.close(out)
    os.close(null)
    if status:
        sys.exit(f"{command}: ended with {status}")
    return usage.ru_utime + usage.ru_stime


def main(home):
    dice = random.Random(7)
    said = [{"role": ("user", "assistant")[at % 2], "content": f"{at} {' '.join(dice.choices(WORDS, k=80))}",
             "created_at": 1_700_000_000 + at} for at in range(options.messages)]
    with open(home + "/source.jsonl", "w") as out:
        out.write(json.dumps({"id": "c", "messages": said}) + "\n")
    run(home, ["init"])
    run(home, ["import", home + "/source.jsonl"])
    text = home + "/text.md"
    commands = {
        "show": (["show", "@"], os.devnull),
        "print": (["rebase", "--print"], text),
        "save": (["rebase", "--from", text], os.devnull),
        "edit": (["rebase", "-i"], os.devnull),
    }
    before = len(os.listdir(home + "/.lepo"))
    taken = {name: [] for name in commands}
    for _ in range(options.times):
        for name, (command, into) in commands.items():
            taken[name].append(run(home, command, into))
    if len(os.listdir(home + "/.lepo")) != before:
        sys.exit("an unchanged text made messages")
    with open(text, encoding="utf-8") as printed:
        marks = sum(line.startswith("%% ") for line in printed)
    if marks != options.messages:
        sys.exit(f"the text has {marks} messages")
    show, printing, saving, edit = (min(times) for times in taken.values())
    good = True
    for what, took, peer, against, limit in [
        ("print", printing, "show", show, 2),
        ("save", saving, "print", printing, 2),
        ("save", saving, "show", show, 4),
        ("edit", edit, "print and save", printing + saving, 1),
    ]:
        ratio, is_ok = took / against, took <= against * limit
        good &= is_ok
        print(f"{what}: {1e3 * took:.0f} ms against {1e3 * against:.0f} ms of {peer}: {ratio:.2f} x, limit {limit} x: "
              f"{'ok' if is_ok else 'TOO SLOW'}", flush=True)
    return good


parser = argparse.ArgumentParser()
parser.add_argument("lepo", type=os.path.abspath)
parser.add_argument("--messages", type=int, default=10_000)
parser.add_argument("--times", type=int, default=5)
parser.add_argument("--dir", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
options = parser.parse_args()
home = tempfile.mkdtemp(dir=options.dir)
try:
    is_good = main(home)
finally:
    shutil.rmtree(home, ignore_errors=True)
sys.exit(0 if is_good else 1)
