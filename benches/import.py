#!/usr/bin/env python3
"""`lepo import` against the figures of its page, with `jq` and `cat` beside it.

    benches/import.py LEPO [FOLDER [MB]]      LEPO is a release build; FOLDER is on the disk that is measured

Sources are made here: a ChatGPT export of 500 MB, a Claude Code log of 500 MB, 100,000 short messages, which are
written to FOLDER and to /dev/shm, and a ChatGPT export of 100 MB, which is imported twice.

"Against jq length" is by the time that passes, the best of three each, in turn.
"""

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

LEPO = os.path.abspath(sys.argv[1])
FOLDER = sys.argv[2] if len(sys.argv) > 2 else None
SIZE = int(sys.argv[3]) if len(sys.argv) > 3 else 500
MB = 1_000_000
WORDS = "the store keeps what was said as plain files and 한글 too \\n while `code` and \"quotes\" are escaped".split(" ")


def words(count):
    return " ".join(random.choice(WORDS) for _ in range(count))


def chatgpt(path, size):
    with open(path, "w") as out:
        out.write("[")
        written, number = 0, 0
        while written < size:
            mapping = {"r": {"id": "r", "message": None, "parent": None, "children": ["0"]}}
            for i in range(40):
                role = "assistant" if i % 2 else "user"
                message = {
                    "id": str(i), "author": {"role": role, "name": None, "metadata": {}},
                    "create_time": 1_700_000_000.25 + number * 100 + i, "update_time": None,
                    "content": {"content_type": "text", "parts": [words(300)]},
                    "status": "finished_successfully", "end_turn": True, "weight": 1.0,
                    "metadata": {"model_slug": "gpt-5", "request_id": "x" * 40}, "recipient": "all", "channel": None,
                }
                mapping[str(i)] = {"id": str(i), "message": message, "parent": str(i - 1) if i else "r", "children": [str(i + 1)] if i < 39 else []}
            text = json.dumps({"title": f"c{number}", "create_time": 1_700_000_000 + number * 100, "mapping": mapping, "current_node": "39", "conversation_id": f"c{number}"}, ensure_ascii=False)
            out.write(("," if number else "") + text)
            written, number = written + len(text.encode()), number + 1
        out.write("]")


def claude(path, size):
    with open(path, "w") as out:
        written, number, parent = 0, 0, None
        while written < size:
            is_answer = number % 4 != 0
            base = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/w", "sessionId": "s", "version": "2", "uuid": f"u{number}", "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_700_000_000 + number))}
            if number % 4 == 2:
                base |= {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": words(1500)}]}, "toolUseResult": {"stdout": words(1500)}}
            elif number % 4 == 1:
                base |= {"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "model": "c", "content": [{"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": words(8)}}], "usage": {"input_tokens": 5, "output_tokens": 5}}}
            elif is_answer:
                base |= {"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "model": "c", "content": [{"type": "text", "text": words(300)}], "usage": {"input_tokens": 5, "output_tokens": 5}}}
            else:
                base |= {"type": "user", "message": {"role": "user", "content": words(60)}}
            text = json.dumps(base, ensure_ascii=False) + "\n"
            out.write(text)
            written, number, parent = written + len(text.encode()), number + 1, f"u{number}"


def short(path, count):
    with open(path, "w") as out:
        for number in range(count // 10):
            messages = [{"role": "assistant" if i % 2 else "user", "content": words(120), "created_at": 1_700_000_000 + number * 20 + i} for i in range(10)]
            out.write(json.dumps({"id": f"c{number}", "messages": messages}) + "\n")


def run(command, **options):
    os.sync()  # What was written before is no part of it.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    took = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.decode()}")
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def peak(command, cwd):
    """Peak of resident memory, in bytes."""
    report = os.path.join(cwd, "peak")
    program = "import os,sys,subprocess,resource; subprocess.run(sys.argv[2:],stdout=subprocess.DEVNULL,check=True); open(sys.argv[1],'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss*1024))"
    subprocess.run([sys.executable, "-c", program, report, *command], cwd=cwd, check=True)
    return int(open(report).read())


def memory_folder():
    return "/dev/shm" if os.path.ismount("/dev/shm") and os.access("/dev/shm", os.W_OK) else None


def verdict(name, value, limit, good, unit):
    print(f"{name:52} {value:10.2f} {unit:8} limit {limit:8.2f}  {'ok' if good else 'MISSED'}")
    return good


def main():
    random.seed(1)
    if FOLDER:
        os.makedirs(FOLDER, exist_ok=True)
    folder = tempfile.mkdtemp(dir=FOLDER)
    os.environ["LEPO_CONFIG_HOME"] = folder
    good = True
    try:
        for name, make in (("chatgpt.json", chatgpt), ("claude.jsonl", claude)):
            path = os.path.join(folder, name)
            make(path, SIZE * MB)
            size = os.path.getsize(path)
            cat, _, _ = run(["cat", path])
            jq, took, cpu = None, float("inf"), float("inf")
            for _ in range(3):
                if shutil.which("jq"):
                    jq = min(jq or float("inf"), run(["jq", "length", path])[0])
                once = run([LEPO, "import", "-n", path], cwd=folder)
                took, cpu = min(took, once[0]), min(cpu, once[1])
            print(f"{name}: {size / MB:.0f} MB, cat {cat:.2f} s, jq length {jq or 0:.2f} s, lepo import -n {took:.2f} s ({cpu:.2f} s of CPU)")
            if jq:
                good &= verdict(f"{name}: against jq length", took / jq, 0.6, took / jq <= 0.6, "x")
            memory = peak([LEPO, "import", "-n", path], folder)
            largest = size if name.endswith("jsonl") else 0
            good &= verdict(f"{name}: memory beyond the largest conversation", (memory - largest) / 2**20, 64, memory - largest <= 64 * 2**20, "MiB")
            os.remove(path)
        path = os.path.join(folder, "short.jsonl")
        short(path, 100_000)
        for place, limit in ((folder, 10_000), (memory_folder(), 20_000)):
            if place is None:
                print("write on tmpfs: SKIPPED, as there is no /dev/shm")
                continue
            store = tempfile.mkdtemp(dir=place)
            try:
                took, _, told = run([LEPO, "import", "--json", path], cwd=store)
            finally:
                shutil.rmtree(store)
            made = json.loads(told)["made"]
            good &= verdict(f"write in {place}: bubbs a second", made / took, limit, made / took >= limit, "/s")
        path = os.path.join(folder, "hundred.json")
        chatgpt(path, 100 * MB)
        store = tempfile.mkdtemp(dir=folder)
        memory = peak([LEPO, "import", path], store)
        good &= verdict("memory while 100 MB are written", memory / 2**20, 64, memory <= 64 * 2**20, "MiB")
        again = min(run([LEPO, "import", path], cwd=store)[0] for _ in range(3))
        good &= verdict("nothing new in 100 MB", again, 0.7, again <= 0.7, "s")
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if good else 1)


main()
