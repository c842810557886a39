#!/usr/bin/env python3
"""The finder of secrets: bytes a second on one core, beside ripgrep with the same shapes; and the cost of a turn that masks.

usage: benches/secrets.py [FOLDER...] [--rg PATH-TO-RG] [--lepo target/release/lepo]

Builds crates/lepo-secrets/examples/scan.rs optimised and runs it over the folders, then ripgrep on one thread with the
shapes as one regular expression each. The limit is 500 MB/s on ordinary text, so on sources. Findings are printed: in the
sources of others there should be none. With --lepo, one exchange, an answer of 10 MB and a command that prints 20 MB are
measured with `secrets = "mask"` and with `"off"`; the limit is the noise of a short exchange.
"""

import json
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import exchange

# The table's shapes as a regular expression knows them: without checksums and what has to stand beside.
SHAPES = [
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_\w{40}",
    r"gl(?:pat|dt|rt|rtr|ptt|ft|soat|cbt|imt|agent|oas|ffct|wt)-[\w.-]{20}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgEIcHlwaS5vcmc[\w-]{20}",
    r"hf_[A-Za-z0-9]{30}",
    r"sk-[\w-]{32}",
    r"AIza[\w-]{35}",
    r"ya29\.[\w.-]{20}",
    r"GOCSPX-[\w-]{28}",
    r"xox[a-eoprs]-[\w-]{10}",
    r"xapp-[\w-]{20}",
    r"[rs]k_live_[A-Za-z0-9]{20}",
    r"(?:SK|AC)[0-9a-f]{32}",
    r"SG\.[\w-]{22}\.[\w-]{43}",
    r"dckr_[op]at_[\w-]{20}",
    r"[0-9]{8}:AA[\w-]{30}",
    r"[0-9]Q~[\w.~-]{31}",
    r"AccountKey=[A-Za-z0-9+/]{86}==",
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"eyJ[\w-]{10,}\.eyJ[\w-]{5,}\.[\w-]{20}",
    r"://[^\s/:@]*:[^\s/@]{3,256}@",
    r"[Aa]uthorization\W{1,8}[A-Za-z]{3,12} [\w.~+/=-]{12}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
]


def main():
    arguments = sys.argv[1:]
    rg = shutil.which("rg")
    if "--rg" in arguments:
        at = arguments.index("--rg")
        rg = arguments[at + 1]
        del arguments[at : at + 2]
    lepo = None
    if "--lepo" in arguments:
        at = arguments.index("--lepo")
        lepo = arguments[at + 1]
        del arguments[at : at + 2]
    if not arguments and not lepo:
        sys.exit(__doc__)
    if arguments:
        finder(rg, arguments)
    if lepo:
        turns(str(pathlib.Path(lepo).resolve()))


def finder(rg, arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    scan = ["cargo", "run", "--quiet", "--release", "-p", "lepo-secrets", "--example", "scan", "--"]
    folders = [str(pathlib.Path(folder).resolve()) for folder in arguments]
    subprocess.run([*scan, "/dev/null"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    built = json.loads(subprocess.run(["cargo", "metadata", "--format-version=1", "--no-deps"], cwd=root, check=True, capture_output=True).stdout)
    program = pathlib.Path(built["target_directory"], "release/examples/scan")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([program, *folders], check=True, capture_output=True, text=True)
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        size = int(done.stdout.split()[-6])
        print(done.stdout, end="")
        print(f"lepo: {size} bytes, {took:.3f} s of its own, {size / 1e6 / max(took, 1e-9):.0f} MB/s")
    if not rg:
        print("rg is not installed: nothing to compare with")
        return
    size = sum(
        path.stat().st_size
        for folder in arguments
        for path in pathlib.Path(folder).rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    patterns = [word for shape in SHAPES for word in ("-e", shape)]
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([rg, "-uuu", "-j1", "-q", "--stats", *patterns, *arguments], stdout=subprocess.DEVNULL)
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        print(f"rg: {size} bytes, {took:.3f} s of its own, {size / 1e6 / max(took, 1e-9):.0f} MB/s")


def turns(lepo):
    """Turns with masks and without, each at the end of the same conversation."""
    base = tempfile.mkdtemp(prefix="lepo-bench-")
    word = "Some words of an answer, with a path /usr/lib/x and a number 12345. "
    short = exchange.Server([(exchange.event("Hello") + exchange.END, 1)])
    large = exchange.Server([(exchange.event(word * 15), 10_000), (exchange.END, 1)])
    output = "yes 'some words that a command prints, /usr/lib/x 12345' | head -c 20000000"
    try:
        for what, server, more, times in [
            ("one exchange", short, [], 41),
            ("an answer of 10 MB", large, [], 9),
            ("a command that prints 20 MB", short, ["--run", output], 9),
        ]:
            commands = []
            for setting in ["mask", "off"]:
                path, env = exchange.home(base, server.url)
                config = pathlib.Path(path, "config/config.toml")
                config.write_text(f'secrets = "{setting}"\n' + config.read_text())
                commands.append(([lepo, "-c", path, "do", "--no-stdin", "--tools", "off", "--new", *more, "hi"], env))
            mask, off = exchange.medians(commands, times)
            for i, unit in enumerate(["CPU", "wall"]):
                print(f"{what + ', ' + unit:<36} mask {mask[i]:9.2f} ms  off {off[i]:9.2f} ms  ratio {mask[i] / off[i]:5.3f}")
    finally:
        shutil.rmtree(base)


main()
