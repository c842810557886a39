#!/usr/bin/env python3
"""What each release profile costs to build, and what a user feels of it.

    benches/profiles.py [--dir DIR] [--lto off,thin,fat] [--units 16,4,1] [--measure]

Builds lepo from nothing with each pair of `lto` and `codegen-units`, in DIR (kept; without it a temporary folder), and
keeps each program there. With --measure it builds nothing and measures the programs that are there: only an idle
machine tells anything then. A row a profile: processor seconds of the build; size in MB; milliseconds of processor, the
median of the turns, of `lepo --version`, of an exchange with a server on loopback, and of `ls` of a store of 100,000
messages, each beside the profile of packages (fat, 1). Thin and fat share the crates below lepo, so the seconds of fat are
those of thin with the last step of its own.
"""
import argparse, http.server, os, resource, shutil, statistics, subprocess, sys, tempfile, threading, time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
STREAM = (b'data: {"choices":[{"delta":{"content":"hello"}}]}\n\n'
          b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(STREAM)))
        self.end_headers()
        self.wfile.write(STREAM)

    def log_message(self, *_):
        pass


def processor(command, **more):
    """Seconds of processor, in user mode and in the kernel, that a command and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def build(folder, lto, units):
    """Builds with this profile; seconds of processor of what was not there yet."""
    environment = dict(os.environ, CARGO_PROFILE_RELEASE_LTO=lto, CARGO_PROFILE_RELEASE_CODEGEN_UNITS=str(units),
                       CARGO_TARGET_DIR=folder + "/target")
    seconds = processor(["cargo", "build", "--locked", "--release", "-p", "lepo"], cwd=ROOT, env=environment)
    shutil.copy2(folder + "/target/release/lepo", "%s/lepo-%s-%s" % (folder, lto, units))
    return seconds


def build_all(folder, ltos, units_of):
    for units in units_of:
        shutil.rmtree(folder + "/target", ignore_errors=True)
        for lto in ltos:
            seconds = build(folder, lto, units)
            if lto == "fat" and "thin" in ltos:
                # What thin had besides its last step, which is measured by doing that step once more.
                os.utime(ROOT + "/src/main.rs")
                seconds += whole - build(folder, "thin", units)
            whole = seconds
            with open("%s/seconds-%s-%s" % (folder, lto, units), "w") as file:
                file.write("%.0f" % seconds)
            print("built", lto, units, "%.0f s of processor" % seconds, flush=True)


def measure(folder, ltos, units_of, turns):
    home = tempfile.mkdtemp(dir=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(home + "/config.toml", "w") as file:
        file.write('planner = "off"\n[[models]]\nname = "a"\nprovider = "openai"\nmodel = "m"\nactive = true\n'
                   'base_url = "http://127.0.0.1:%d/v1"\n' % server.server_port)
    environment = {"HOME": home, "PATH": os.environ["PATH"], "LEPO_CONFIG_HOME": home}
    programs = [(lto, units, "%s/lepo-%s-%s" % (folder, lto, units)) for units in units_of for lto in ltos]
    programs = [row for row in programs if os.path.exists(row[2])]
    small, large = home + "/small", home + "/large"
    for store in (small, large):
        os.mkdir(store)
        subprocess.run([programs[0][2], "-c", store, "init"], check=True, env=environment, stderr=subprocess.DEVNULL)
    at = int(time.time() * 1000) - 200_000_000
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    before = "head"
    for i in range(100_000):
        number = at + i << 80 | (i * 2654435761 & (1 << 80) - 1)
        name = "".join(digits[number >> shift & 31] for shift in range(125, -1, -5))
        # Turns of ten messages, each conversation after the other.
        kind = "u0" if i % 2 == 0 else "a0"
        before = "head" if i % 20 == 0 else before
        with open("%s/.lepo/%s-%s-%s.md" % (large, name, kind, before), "w") as file:
            file.write("what is the size of a page, and why?\n")
        before = name
    jobs = [["--version"], ["-c", small, "do", "--no-stdin", "hello"], ["-c", large, "ls"]]
    times = {row: [[] for _ in jobs] for row in programs}
    for _ in range(turns):
        for row in programs:
            for job, taken in zip(jobs, times[row]):
                taken.append(1000 * processor([row[2]] + job, env=environment, cwd=home))
    median = {row: [statistics.median(taken) for taken in times[row]] for row in programs}
    first = next((row for row in programs if row[:2] == ("fat", "1")), programs[-1])
    print("%-5s %5s %9s %8s %16s %16s %16s" % ("lto", "units", "build s", "MB", "--version ms", "exchange ms", "ls 100,000 ms"))
    for row in programs:
        try:
            seconds = open("%s/seconds-%s-%s" % (folder, row[0], row[1])).read()
        except OSError:
            seconds = "?"
        cells = ["%.1f (%.2f)" % (value, value / base) for value, base in zip(median[row], median[first])]
        print("%-5s %5s %9s %8.1f %16s %16s %16s" % (row[0], row[1], seconds, os.path.getsize(row[2]) / 1e6, *cells))
    shutil.rmtree(home)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dir")
    options.add_argument("--lto", default="off,thin,fat", type=lambda text: text.split(","))
    options.add_argument("--units", default="16,4,1", type=lambda text: text.split(","))
    options.add_argument("--turns", type=int, default=21)
    options.add_argument("--measure", action="store_true")
    options = options.parse_args()
    folder = os.path.abspath(options.dir or tempfile.mkdtemp())
    os.makedirs(folder, exist_ok=True)
    if not options.measure:
        build_all(folder, options.lto, options.units)
    measure(folder, options.lto, options.units, options.turns)
