#!/usr/bin/env python3
"""Processor time of `lepo show` on a terminal of 80 columns, for answers of 1 MB: formulas, and prose with prices.

usage: benches/formulas.py LEPO [BEFORE]

With BEFORE, an older lepo, says the ratio of both; the program may take 1.2 times as long. The least of some runs counts.
"""

import fcntl
import os
import pty
import resource
import struct
import subprocess
import sys
import tempfile
import termios

RUNS = 7
SIZE = 1_000_000
TEXTS = {
    "formulas": "The sum $\\sum_{i=1}^{n} a_i$ is \\(\\frac{a+b}{2}\\), with $x^T$ as it is and **bold** words.\n\n"
    "$$\nE = mc^2\n$$\n\n- an item with $\\alpha \\leq \\beta$\n\n",
    "prose": "It costs $5 to $10 a month, and `$HOME/bin` is in PATH; C:\\Users\\me has *more* of it than others have.\n\n",
}


def cost(program, home):
    """Seconds of processor time that one run takes."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {"HOME": home, "TERM": "xterm-256color", "PATH": os.environ["PATH"]}
    child = subprocess.Popen(
        [program, "show", "--no-pager"], cwd=home, env=env, stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    try:
        while os.read(master, 1 << 16):
            pass
    except OSError:
        pass  # The last writer has closed the terminal.
    os.close(master)
    if child.wait() != 0:
        sys.exit(f"{program} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    programs = [os.path.abspath(program) for program in sys.argv[1:]]
    for name, text in TEXTS.items():
        with tempfile.TemporaryDirectory() as home:
            env = {"HOME": home, "PATH": os.environ["PATH"]}
            subprocess.run([programs[0], "init"], cwd=home, env=env, check=True, capture_output=True)
            for kind, message in (("u", "q"), ("a", text * (SIZE // len(text)))):
                command = [programs[0], "add", "--kind", kind]
                subprocess.run(command, input=message.encode(), cwd=home, env=env, check=True, capture_output=True)
            least = [float("inf")] * len(programs)
            for _ in range(RUNS):
                for i, program in enumerate(programs):
                    least[i] = min(least[i], cost(program, home))
            ratio = f", {least[0] / least[1]:.2f} times" if len(least) == 2 else ""
            print(f"{name}: " + ", ".join(f"{seconds * 1000:.0f} ms" for seconds in least) + ratio)


if __name__ == "__main__":
    main()
