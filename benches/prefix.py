#!/usr/bin/env python3
"""What a day of 53 turns makes a server read again that it has read before.

    cargo build --release
    benches/prefix.py [--lepo target/release/lepo]                     scripted servers of all wires
    benches/prefix.py ... --keep                                       the same with calls and results on the path
    benches/prefix.py [--lepo target/release/lepo] --llama URL         llama.cpp, by its own count
    benches/prefix.py ... --llama URL --every                          the same with an instruction in each request

On scripted servers: each request beside the last one of its line, in bytes (tools, then messages). A pair that shares
less than 99 % is printed with its reason; a pair without a reason fails. On llama.cpp: tokens processed for each token
that is new in its line, goal <= 1.05, and the seconds of that. New is, by the server's own tokenizer, a message that was
never sent in the line; of the model's own answer only its last token and end mark. With `--every` an own text of
`general` ends each request, so that the last answer is read again in each turn. Needs git.
"""
import argparse, collections, http.server, itertools, json, os, pty, re, select, shutil, subprocess, sys, tempfile, threading, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = "a result is new: the instruction about it, at the end, is of its turn alone"
CALL = "calls and results leave the line after their turn"
SKILL = "the call of the skill and its result, of which a message before the answer has the text"
SERVER = "the user's own change: a server is new"
NOTE = "A note of some length about the weather in the hills. " * 4
SCHEMA = '{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}'

# Each turn: its arguments, and what differs in it. `last`: the turn whose request is the last of its line, if that is not
# the turn before. `lost`: why the line loses something. `do`: what changes first. `reply`: what a scripted model says.
PLAIN = lambda words, **more: dict(args=[words], **more)
DAY = [
    PLAIN("Name a colour."), PLAIN("Name another."), PLAIN("Which is warmer?"), PLAIN("Name a fruit of it."),
    PLAIN("Name a season."), PLAIN("Name a month."), PLAIN("Name a bird."), PLAIN("Where does it live?"),
    dict(args=["--run", "cat notes.txt", "What does the note say?"]),
    PLAIN("In fewer words?", lost=RUN), PLAIN("In two words?"), PLAIN("Name a mountain."),
    dict(args=["-x", "Print hello in sh."], reply="```\necho hello\n```"),
    PLAIN("Which shell is that?"), PLAIN("Name another shell."),
    dict(args=["--schema", SCHEMA, "A word for rain?"], reply='{"word":"drizzle"}'),
    PLAIN("Another?"), PLAIN("And for snow?"),
    dict(args=["--context", "notes.txt", "Is it cold there?"]), PLAIN("Why?"),
    dict(args=["--file", "notes.txt", "Count the words."]), PLAIN("Sure?"),
    dict(args=["What is this?"], stdin="A line from a pipe.\n"), PLAIN("Thanks. Name a river."),
    dict(args=["Name a lake."], do="agents"), PLAIN("Name a sea."),
    dict(args=["-m", "other", "Name a city."]), PLAIN("Name a village."), PLAIN("Name a road."),
    dict(args=["--retry"]), PLAIN("And another road?"),
    dict(args=["FORK", "Name a metal."], last=12), PLAIN("Is it heavy?"),
    dict(args=["Tell me a long story."], reply="CUT"), PLAIN("go on"), PLAIN("How does it end?"),
    dict(args=["Call it."], reply="CALL"), PLAIN("What was the result?", lost=CALL),
    dict(args=["Use the skill."], reply="SKILL"),
    PLAIN("Once more.", lost=SKILL),
    dict(args=["--tools", "off", "Without tools?"]), PLAIN("And with them?"),
    dict(args=["Still there?"], do="failing"), PLAIN("Really?"),
    dict(args=["--compact", "--keep", "1"]),
    PLAIN("What was it about?", lost="what the summary replaces"), PLAIN("Go further."),
    dict(args=["Is the late server there?"], do="late", lost=SERVER),
    PLAIN("Name its tools."),
    dict(args=["-n", "A new one: name a tree."], last=None), PLAIN("Its leaves?"),
    dict(args=["-n", "Another new one: name a stone."], last=None), PLAIN("Its weight?"),
]
assert len(DAY) == 53


def events(*values):
    return b"".join(("event: %s\ndata: %s\n\n" % (v.get("type", "message"), json.dumps(v))).encode() for v in values)


def answer(wire, text, call=None):
    """An answer of a wire: these words, or a call."""
    name, given = call or (None, None)
    if wire == "ollama":
        done = {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 9}
        said = {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}
        lines = [said] if text == "CUT" else [said, {"message": {"role": "assistant", "content": ""}, **done}]
        return "\n".join(map(json.dumps, lines)).encode() + b"\n"
    if wire == "anthropic":
        block = {"type": "tool_use", "id": "t", "name": name, "input": {}} if call else {"type": "text", "text": ""}
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(given)} if call
                 else {"type": "text_delta", "text": text})
        end = [] if text == "CUT" else [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn"},
             "usage": {"output_tokens": 9}}, {"type": "message_stop"}]
        return events({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
                      {"type": "content_block_start", "index": 0, "content_block": block},
                      {"type": "content_block_delta", "index": 0, "delta": delta}, *end)
    if wire == "responses":
        item = ({"type": "function_call", "id": "f", "call_id": "c", "name": name, "arguments": json.dumps(given)}
                if call else {"type": "message", "id": "msg", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": text, "annotations": []}]})
        said = [] if call else [{"type": "response.output_text.delta", "delta": text}]
        if text == "CUT":
            return events({"type": "response.created", "response": {}}, *said)
        usage = {"input_tokens": 9, "output_tokens": 9}
        return events({"type": "response.created", "response": {}}, *said,
                      {"type": "response.output_item.done", "item": item},
                      {"type": "response.completed", "response": {"usage": usage}})
    delta = ({"tool_calls": [{"index": 0, "id": "x", "function": {"name": name, "arguments": json.dumps(given)}}]} if call
             else {"content": text})
    chunk = lambda delta, end: b"data: %s\n\n" % json.dumps(
        {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}).encode()
    if text == "CUT":
        return chunk(delta, None)
    return chunk(delta, None) + chunk({}, "tool_calls" if call else "stop") + b"data: [DONE]\n\n"


def post(url, body):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=600).read()


class Server:
    """Takes down each request; answers from a list, or passes it on to llama.cpp and takes down its timings."""

    def __init__(self, wire, upstream=None):
        self.wire, self.upstream, self.replies, self.asked, self.timings = wire, upstream, [], [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def send(self, status, body, kind="text/event-stream"):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.send(404, b"{}", "application/json")

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path.endswith("/show"):
                    return self.send(404, b"{}", "application/json")
                outer.asked.append(json.loads(body))
                kind = "application/x-ndjson" if outer.wire == "ollama" else "text/event-stream"
                self.send(200, outer.reply(body), kind)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def reply(self, body):
        if not self.upstream:
            return self.replies.pop(0)
        taken = post(self.upstream + "/v1/chat/completions", body)
        self.timings.append(json.loads(re.findall(rb'"timings":(\{[^}]*\})', taken)[-1]))
        return taken


def parts(body):
    """What a server's cache sees of a request, in order: the tools, and each message."""
    bare = lambda value: ({k: bare(v) for k, v in value.items() if k != "cache_control"} if isinstance(value, dict)
                          else [bare(v) for v in value] if isinstance(value, list) else value)
    fields = ["tools", "system", "instructions", "messages", "input"]
    return "\n".join(json.dumps(bare(body[name]), ensure_ascii=False) for name in fields if body.get(name))


def shared(last, now):
    last, now = parts(last), parts(now)
    same = next((i for i, (a, b) in enumerate(zip(last, now)) if a != b), min(len(last), len(now)))
    return 100 * same / len(last)


class Home:
    def __init__(self, base, lepo, wire, url, planner, history="turn"):
        self.path, self.lepo = tempfile.mkdtemp(dir=base), lepo
        self.work = self.path + "/work"
        for folder in ["work/.agents/skills/day", "config", "left"]:
            os.makedirs(self.path + "/" + folder)
        self.env = {"HOME": self.path, "PATH": os.environ["PATH"], "LEPO_CONFIG_HOME": self.path + "/config",
                    "XDG_STATE_HOME": self.path + "/state"}
        provider = {"chat": 'provider = "openai"', "responses": 'provider = "openai"\nwire = "responses"',
                    "anthropic": 'provider = "anthropic"\napi_key = "k"', "ollama": 'provider = "ollama"'}[wire]
        url += "" if wire in ("ollama", "anthropic") else "/v1"
        options = "options = { max_tokens = 48, temperature = 0 }"
        model = '[[models]]\nname = "%s"\nmodel = "m"\n' + '%s\nbase_url = "%s"\n%s\n' % (provider, url, options) + "%s\n"
        self.write("config/config.toml", 'planner = "%s"\ntool_call_mode = "auto"\ntool_history = "%s"\n' % (planner, history)
                   + model % ("test", "active = true") + model % ("other", ""))
        # Of this run alone, so that the server has nothing of it in its cache.
        self.write("config/system_prompt.txt", "%d. " % time.time_ns() + "You answer in few words, in plain English, and kindly. " * 20)
        self.write("work/notes.txt", NOTE)
        self.write("work/AGENTS.md", "Be kind.")
        self.write("work/.agents/skills/day/SKILL.md", "---\nname: day\ndescription: Greets.\n---\nSay good day.\n")
        subprocess.run(["git", "init", "-q"], cwd=self.work, env=self.env, check=True)

    def write(self, name, text):
        with open(self.path + "/" + name, "w") as file:
            file.write(text)

    def servers(self, *names):
        script = os.path.join(HERE, "../tests/data/hostile.py")
        for name in names:
            os.makedirs(self.path + "/left/" + name, exist_ok=True)
            self.write("left/%s/tools" % name, json.dumps({"echo": "Says a word."}))
        server = lambda name: {"command": "python3", "args": [script, "from-file", self.path + "/left/" + name]}
        self.write("config/mcp.json", json.dumps({"mcpServers": {name: server(name) for name in names}}))

    def trust(self):
        """`lepo trust`, with a yes on a terminal."""
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.work)
            os.execve(self.lepo, [self.lepo, "trust"], {**self.env, "TERM": "dumb"})
        said, end = b"", time.time() + 20
        while time.time() < end:
            try:
                if select.select([terminal], [], [], 0.2)[0]:
                    said += os.read(terminal, 4096)
            except OSError:
                break
            if said.endswith(b"(y/N): "):
                os.write(terminal, b"y\n")
                said = b""
        os.close(terminal)
        os.waitpid(pid, 0)

    def change(self, what):
        if what == "agents":
            self.write("work/AGENTS.md", "Be kind, and brief.")
            self.trust()
        elif what == "late":
            self.servers("s", "late")
        elif what == "failing":
            lists = self.path + "/state/lepo/mcp-tools"
            for name in os.listdir(lists) if os.path.isdir(lists) else []:
                with open(lists + "/" + name) as file:
                    kept = json.load(file)
                self.write("state/lepo/mcp-tools/" + name, json.dumps({**kept, "asked": 1000000000}))
            self.write("left/s/tools", "{")

    def run(self, args, stdin=None):
        ran = subprocess.run([self.lepo, *args], cwd=self.work, env=self.env, capture_output=True, text=True,
                             input=stdin or "")
        return ran.returncode, ran.stdout, ran.stderr


def day(home, server, native):
    """Runs the day; gives each turn's first and last request, by their index."""
    ends, spans = [], []
    for turn, step in enumerate(DAY):
        if native or step.get("do") == "agents":
            home.change(step.get("do"))
        words = step.get("reply", "Yes, turn %d." % turn)
        calls = {"CALL": ("s__echo", {}), "SKILL": ("skill", {"name": "day"})}
        if words in calls:
            server.replies += [answer(server.wire, "", calls[words])] if native else []
            words = "Done, turn %d." % turn
        server.replies.append(answer(server.wire, words))
        args = []
        for arg in step["args"]:
            args += ["--tail", ends[12]] if arg == "FORK" else [arg]
        stdin = step.get("stdin")
        before = len(server.asked)
        code, _, err = home.run(["do", *([] if stdin else ["--no-stdin"]), *args], stdin)
        if code not in ((3,) if words == "CUT" else (0, 1)) and not server.upstream or len(server.asked) == before:
            sys.exit("turn %d, %s: exit %d: %s" % (turn + 1, args, code, err))
        ends.append(home.run(["resolve", "@"])[1].strip())
        spans.append((before, len(server.asked) - 1))
    return spans


def scripted(base, lepo, keep):
    failed = False
    for wire in ["chat", "responses", "anthropic", "ollama"]:
        server = Server(wire)
        native = wire != "ollama"
        home = Home(base, lepo, wire, server.url, "native" if native else "off", "keep" if keep else "turn")
        home.servers("s") if native else None
        home.trust()
        spans = day(home, server, native)
        pairs, least = 0, 100
        for turn, (first, end) in enumerate(spans):
            step, last = DAY[turn], DAY[turn].get("last", turn - 1)
            # `--retry` asks what the turn before asked.
            if last is None or last < 0:
                continue
            lost = None if keep and step.get("lost") in (CALL, SKILL) else step.get("lost")
            chain = [(spans[last][1], first, lost)] + [(i, i + 1, None) for i in range(first, end)]
            for a, b, lost in chain:
                share = shared(server.asked[a], server.asked[b])
                pairs += 1
                if share >= 99:
                    least = min(least, share)
                    continue
                failed |= lost is None
                print("%-10s turn %2d  %-34s %5.1f %%  %s" % (wire, turn + 1, " ".join(step["args"])[:34], share,
                                                             lost or "NOT EXPLAINED"))
        print("%-10s %d pairs; all others share at least %.1f %%   goal >= 99 %%" % (wire, pairs, least))
    sys.exit("a pair loses something without a reason" if failed else 0)


def llama(base, lepo, url, every):
    server = Server("chat", url.rstrip("/"))
    home = Home(base, lepo, "chat", server.url, "off")
    if every:
        home.run(["init"])
        home.write("work/.lepo/_insts.toml", "general = 'Answer the last message of the user. Be brief and exact.'\n")
    home.trust()
    spans = day(home, server, False)
    sizes = {}

    def tokens(message):
        text = "<|im_start|>%s\n%s<|im_end|>\n" % message
        if text not in sizes:
            body = json.dumps({"content": text, "parse_special": True}).encode()
            sizes[text] = len(json.loads(post(url + "/tokenize", body))["tokens"])
        return sizes[text]

    messages = lambda body: [(m["role"], m["content"]) for m in body["messages"]]
    lines, prompts = [], set()
    processed = new = 0
    for turn, (first, end) in enumerate(spans):
        last = DAY[turn].get("last", turn - 1)
        line = collections.Counter(prompts if last is None or last < 0 else lines[last])
        for at in range(first, end + 1):
            sent = messages(server.asked[at])
            # An answer of the same words as an earlier one is another message.
            fresh, seen = 0, collections.Counter()
            for i, message in enumerate(sent):
                seen[message] += 1
                if seen[message] > line[message]:
                    own = message[0] == "assistant" and not ("-x" in DAY[turn]["args"] and i + 1 == len(sent))
                    fresh += 3 if own else tokens(message)
            fresh += 3 if DAY[turn]["args"] != ["--retry"] else 1
            timing = server.timings[at]
            processed, new = processed + timing["prompt_n"], new + fresh
            if timing["prompt_n"] > 1.05 * fresh + 4:
                print("turn %2d  %-34s %5d processed, %5d new, %4d cached  %s" % (
                    turn + 1, " ".join(DAY[turn]["args"])[:34], timing["prompt_n"], fresh, timing["cache_n"],
                    DAY[turn].get("lost", "")))
            line |= seen
            # A new conversation begins with the prompt, the skills and the instructions that an earlier one had.
            prompts |= set(itertools.takewhile(lambda message: message[0] == "system", sent))
        lines.append(line)
    seconds = sum(timing["prompt_ms"] for timing in server.timings) / 1e3
    print("53 turns, llama.cpp   %d processed   %d new   ratio %.2f   goal <= 1.05   %.1f s for prompts, %.1f s for answers"
          % (processed, new, processed / new, seconds, sum(t["predicted_ms"] for t in server.timings) / 1e3))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--lepo", default=os.path.join(HERE, "../target/release/lepo"))
    options.add_argument("--llama", metavar="URL")
    options.add_argument("--keep", action="store_true")
    options.add_argument("--every", action="store_true")
    options = options.parse_args()
    base = tempfile.mkdtemp(prefix="lepo-bench-")
    try:
        lepo = os.path.abspath(options.lepo)
        llama(base, lepo, options.llama, options.every) if options.llama else scripted(base, lepo, options.keep)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
