#!/usr/bin/env python3
"""Makes the test vectors of docs/format.md anew: NAME/store and NAME/expected.json beside this file.

Each vector is one idea. What a reader has to find is said here by hand, in `expect`; only ids, hashes and the
paths of conversations are computed.
"""
import hashlib
import json
import pathlib
import shutil

HERE = pathlib.Path(__file__).parent
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
START = 1_763_000_000_000  # 2025-11-13T02:13:20Z
DAY = 86_400_000
YEAR_2500 = 16_725_225_600_000


def sha(data):
    return hashlib.sha256(data).hexdigest()


def line(fact):
    """A fact as the journal has it: compact."""
    return json.dumps(fact, separators=(",", ":"))


def written(number):
    return "".join(DIGITS[number >> 5 * place & 31] for place in range(25, -1, -1))


def id_of(time, tag, prev, content):
    before = bytes(16) if prev is None else sum(
        DIGITS.index(c) << 5 * place for place, c in enumerate(reversed(prev))).to_bytes(16, "big")
    head = b"lepo\0" + time.to_bytes(6, "big") + tag.encode() + before
    return written(time << 80 | int(hashlib.sha256(head + hashlib.sha256(content).digest()).hexdigest()[:20], 16))


class Vector:
    """A store as it grows, and what is expected of it."""

    def __init__(self, name, idea):
        self.dir = HERE / name
        self.store = self.dir / "store"
        self.store.mkdir(parents=True)
        self.name, self.idea, self.time = name, idea, START
        self.ids, self.prevs, self.texts, self.make, self.expected = {}, {}, {}, [], {}
        self.files = {}

    def id(self, label):
        """A label's id; one that no message has is that of a message which is missing."""
        if label not in self.ids:
            self.ids[label] = id_of(START - 1000, "s1", None, label.encode())
        return self.ids[label]

    def msg(self, label, tag, prev=None, text=None, time=None, folder="", case=None, counts=True, fake=None,
            absent=False):
        """Adds a message. `case` changes its name, `fake` is a label whose id it bears, `absent` makes it by the test."""
        content = f"{label}: {tag}\n".encode() if text is None else text if isinstance(text, bytes) else text.encode()
        if time is None:
            self.time += 1000
            time = self.time
        before = self.id(prev) if prev else None
        made = self.ids[fake] if fake else id_of(time, tag, before, content)
        name = f"{made}-{tag}-{before or 'head'}.md"
        name = case(name) if case else name
        path = f"{folder}{name}"
        self.files[label] = path
        if absent:
            self.make.append({"file": path, "text": content.decode()})
        else:
            self.file(path, content)
        self.ids[label] = made
        if counts:
            self.prevs[label] = prev
            self.texts[made] = sha(content)
        return path

    def file(self, path, content):
        path = self.store / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def blob(self, content, folder="_blobs", name=None):
        name = name or sha(content)
        self.file(f"{folder}/{name}", content)
        return name

    def path(self, label):
        seen, path, at = set(), [], label
        while at is not None and at in self.prevs and at not in seen:
            seen.add(at)
            path.append(self.ids[at])
            at = self.prevs[at]
        return path[::-1]

    def expect(self, tails, newest=None, findings=(), others=None, broken=(), **more):
        """`tails` is "C3 D4": labels with heights, newest first. `broken` are tails of incomplete conversations."""
        others = others or {}
        tails = [(word[0], int(word[1:])) for word in tails.split()]
        own = [label for label, _ in tails if label not in others]
        newest = newest or (own[0] if own else None)
        entry = lambda label, height: {"id": self.ids[label], "height": height} | (
            {"from": others[label]} if label in others else {})
        expected = {
            "idea": self.idea,
            "conversations": {self.ids[label]: self.path(label) for label, _ in tails},
            "incomplete": [self.ids[label] for label in broken],
            "texts": self.texts,
            "tails": [entry(label, height) for label, height in tails],
            "@": self.ids[newest] if newest else None,
            "findings": [{"what": what, "name": name} for what, name in findings],
        } | more
        if self.make:
            expected["make"] = self.make
        text = json.dumps(expected, indent=1, ensure_ascii=False)
        (self.dir / "expected.json").write_text(text + "\n")
        # git keeps no empty folder.
        if not any(self.store.iterdir()):
            self.file("_insts.toml", "")


def day(time):
    import datetime
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=time // DAY)).strftime("_old/%Y-%m/%d/")


def chain(v, letters="AB", tags=("u0", "a0"), **more):
    before = None
    for letter, tag in zip(letters, tags):
        v.msg(letter, tag, before, **more)
        before = letter


def texts():
    v = Vector("plain", "A question and its answer.")
    chain(v)
    v.expect("B2")

    v = Vector("empty", "A store without messages has no tail and no newest one.")
    v.file("_insts.toml", "")
    v.expect("")

    v = Vector("one", "A single message is a root and a tail.")
    v.msg("A", "u0")
    v.expect("A1")

    v = Vector("system", "A hidden system prompt is the root; it counts in the height.")
    chain(v, "ABC", ("s1", "u0", "a0"))
    v.expect("C3")

    v = Vector("kinds", "The four kinds, all visible.")
    chain(v, "ABCD", ("s0", "u0", "a0", "t0"))
    v.expect("D4")

    v = Vector("no-bytes", "A message may have no bytes at all.")
    v.msg("A", "u0", text="")
    v.expect("A1")

    v = Vector("newlines", "Content is kept as it is: with no newline at its end, one, or three.")
    v.msg("A", "u0", text="none")
    v.msg("B", "a0", "A", "one\n")
    v.msg("C", "u0", "B", "three\n\n\n")
    v.expect("C3")

    v = Vector("carriage-returns", "Carriage returns are content; no checkout may change them.")
    v.msg("A", "u0", text="one\r\ntwo\r\n")
    v.msg("B", "a0", "A", "three\rfour")
    v.expect("B2")

    v = Vector("unicode", "Text beyond ASCII is hashed as its bytes, not normalised.")
    v.msg("A", "u0", text="안녕, 세계\n")
    v.msg("B", "a0", "A", "caf\u00e9 and cafe\u0301, \U0001f600\n")
    v.expect("B2")

    v = Vector("not-utf-8", "Content may be bytes that are no text.")
    v.msg("A", "u0", text=b"\xff\xfe\x00 not text \xc3\x28\n")
    v.expect("A1")

    v = Vector("controls", "Content may hold escape sequences; files keep them.")
    v.msg("A", "u0", text="\x1b[31mred\x1b[0m \x07 \u202egnirts\n")
    v.expect("A1")

    v = Vector("front-matter", "Content that looks like a header is content.")
    v.msg("A", "u0", text="---\nprev: head\nkind: s1\n---\nhello\n")
    v.expect("A1")


def shapes():
    v = Vector("fork", "Two answers to one question: two tails, the newer one is @.")
    chain(v)
    v.msg("C", "a0", "A")
    v.expect("C2 B2")

    v = Vector("deep-fork", "A fork early and a fork late.")
    chain(v, "ABCD", ("u0", "a0", "u0", "a0"))
    v.msg("E", "u0", "B")
    v.msg("F", "a0", "C")
    v.expect("F4 E3 D4")

    v = Vector("two-roots", "Two conversations; one was continued after the other began.")
    v.msg("A", "u0")
    v.msg("B", "u0")
    v.msg("C", "a0", "A")
    v.expect("C2 B1")

    v = Vector("long", "A conversation of a hundred messages.")
    before = None
    for number in range(100):
        label = chr(0x100 + number)
        v.msg(label, "u0" if number % 2 == 0 else "a0", before)
        before = label
    v.texts = dict(list(v.texts.items())[:1] + list(v.texts.items())[-1:])
    v.expect(f"{before}100")

    v = Vector("same-time", "Two messages of one millisecond are ordered by the rest of their ids.")
    v.msg("A", "u0")
    v.msg("B", "a0", "A", "first\n", time=v.time + 5)
    v.msg("C", "a0", "A", "second\n", time=v.time + 5)
    newer, older = sorted("BC", key=lambda label: v.ids[label], reverse=True)
    v.expect(f"{newer}2 {older}2")

    v = Vector("hidden-waits", "Hidden messages after a question that has no answer: the last of them is the tail.")
    chain(v, "ABC", ("u0", "a1", "t1"))
    v.expect("C3")

    v = Vector("side-branch", "Hidden messages beside an answer are spent.")
    chain(v, "ABCD", ("s1", "u0", "a1", "t1"))
    v.msg("E", "a0", "B")
    v.expect("E3")

    v = Vector("side-branch-newer", "Hidden messages beside an older answer are spent too.")
    chain(v)
    v.msg("C", "a1", "A")
    v.expect("B2")

    v = Vector("hidden-after-answer", "A hidden leaf below an answer that nothing follows is the tail.")
    chain(v, "ABC", ("u0", "a0", "a1"))
    v.expect("C3")

    v = Vector("hidden-beside-question", "A question that was continued by another question: the hidden answer is spent.")
    v.msg("A", "u0")
    v.msg("B", "a1", "A")
    v.msg("C", "u0", "A")
    v.expect("C2")

    v = Vector("hidden-visible-below", "A hidden message that a visible one follows is no leaf.")
    chain(v, "ABCD", ("u0", "s1", "a0", "t1"))
    v.msg("E", "u0", "C")
    v.expect("E4")

    v = Vector("hidden-root", "Hidden all the way to the root: spent once anything visible descends from the root.")
    v.msg("A", "s1")
    v.msg("B", "s1", "A")
    v.msg("C", "u0", "A")
    v.expect("C2")

    v = Vector("hidden-only", "Hidden all the way and nothing visible: a tail.")
    chain(v, "AB", ("s1", "s1"))
    v.expect("B2")

    v = Vector("hidden-no-root", "A chain that does not reach head has no root: its hidden leaf is a tail.")
    b = v.msg("B", "s1", "X")
    v.msg("C", "s1", "B")
    v.msg("D", "u0", "B")
    v.expect("D2 C2", broken="DC", findings=[("dangling", b)])

    v = Vector("hidden-no-root-decided", "A chain without a root: a visible ancestor decides all the same.")
    b = v.msg("B", "u0", "X")
    v.msg("C", "a1", "B")
    v.msg("D", "a0", "B")
    v.expect("D2", broken="D", findings=[("dangling", b)])


def links():
    v = Vector("missing-prev", "A prev that is not there ends the conversation.")
    b = v.msg("B", "u0", "X")
    v.msg("C", "a0", "B")
    v.expect("C2", broken="C", findings=[("dangling", b)])

    v = Vector("missing-middle", "A message was deleted by hand: what follows it stands alone.")
    v.msg("A", "u0")
    v.ids["B"] = id_of(v.time + 500, "a0", v.id("A"), b"gone")
    c = v.msg("C", "u0", "B")
    v.expect("C1 A1", broken="C", findings=[("dangling", c)])

    # Ids in a circle cannot prove themselves: their files are edited too.
    def circle(v, edges):
        for label in edges:
            v.ids[label] = id_of(START + 1000 * ord(label), "u0", None, label.encode())
        paths = {}
        for label, prev in edges.items():
            paths[label] = v.msg(label, "u0", prev, fake=label)
        return paths

    v = Vector("own-prev", "A message that names itself as prev is no leaf; the walk ends.")
    paths = circle(v, {"A": "A"})
    v.expect("", findings=[("cycle", paths["A"]), ("edited", paths["A"])])

    v = Vector("cycle", "Two messages that name each other: no leaf.")
    paths = circle(v, {"A": "B", "B": "A"})
    v.expect("", findings=[("cycle", paths["A"]), ("edited", paths["A"]), ("edited", paths["B"])])

    v = Vector("cycle-with-leaf", "A conversation that hangs on a circle ends before it comes round.")
    paths = circle(v, {"A": "B", "B": "A"})
    v.time = START + 1000 * 200
    v.msg("C", "a0", "B")
    v.expect("C3", broken="C", findings=[("cycle", paths["A"]), ("edited", paths["A"]), ("edited", paths["B"])])

    v = Vector("older-than-prev", "A name made by hand may be older than its prev: it is used in the store itself.")
    v.msg("A", "u0")
    v.msg("B", "a0", "A", time=START - 5 * DAY)
    v.msg("C", "u0", "B")
    v.expect("C3")

    v = Vector("dated-ahead", "A tail of the year 2500 is listed like any other, with a warning, and is not @.")
    chain(v)
    c = v.msg("C", "u0", "A", time=YEAR_2500)
    v.expect("C2 B2", "B", findings=[("future", c)])

    v = Vector("dated-ahead-alone", "Where all tails are dated ahead, @ is the newest of them.")
    v.msg("A", "u0")
    b = v.msg("B", "a0", "A", time=YEAR_2500)
    c = v.msg("C", "a0", "A", time=YEAR_2500 + DAY)
    v.expect("C2 B2", findings=[("future", b), ("future", c)])

    v = Vector("dated-ahead-day", "Days ahead of the clock, in the store itself and in their folders: @ is in an older day.")
    chain(v, folder=day(START))
    c = v.msg("C", "u0", time=YEAR_2500, folder="_old/2500-01/01/")
    d = v.msg("D", "u0", "A", time=YEAR_2500 + DAY)
    v.expect("D2 C1 B2", "B", findings=[("future", c), ("future", d)])

    v = Vector("dated-ahead-spent", "A visible message that is dated ahead decides all the same that a hidden leaf is spent.")
    v.msg("A", "u0")
    v.msg("B", "u0")
    v.msg("C", "a1", "B")
    d = v.msg("D", "a0", "B", time=YEAR_2500)
    v.expect("D2 A1", "A", findings=[("future", d)])

    v = Vector("dated-ahead-hidden", "A hidden leaf that nothing visible overtook is @ before a tail that is dated ahead.")
    v.msg("A", "u0")
    v.msg("B", "a1", "A")
    c = v.msg("C", "u0", time=YEAR_2500)
    v.expect("C1 B2", "B", findings=[("future", c)])

    v = Vector("end-of-time", "The greatest time that an id can hold.")
    a = v.msg("A", "u0", time=(1 << 48) - 1)
    v.expect("A1", findings=[("future", a)])

    v = Vector("time-zero", "The least time: an id that begins with ten zeros.")
    v.msg("A", "u0", time=0)
    v.msg("B", "a0", "A", time=1)
    v.expect("B2")

    v = Vector("edited", "Content that does not give the id is used as it stands, and reported.")
    chain(v)
    v.file(v.files["B"], "changed by hand\n")
    v.texts[v.ids["B"]] = sha(b"changed by hand\n")
    v.expect("B2", findings=[("edited", v.files["B"])])

    v = Vector("edited-middle", "What follows an edited message proves its own id still.")
    chain(v, "ABC", ("u0", "a0", "u0"))
    v.file(v.files["B"], "changed\n")
    v.texts[v.ids["B"]] = sha(b"changed\n")
    v.expect("C3", findings=[("edited", v.files["B"])])

    v = Vector("renamed-hidden", "A message whose name was made hidden does not give its id.")
    chain(v)
    c = v.msg("C", "a0", "A")
    hidden = c.replace("-a0-", "-a1-")
    (v.store / c).rename(v.store / hidden)
    v.expect("B2", findings=[("edited", hidden)])

    v = Vector("same-id", "Two files bear one id: the lesser prev counts, head being the least.")
    v.msg("A", "u0")
    v.msg("B", "u0")
    second = v.msg("C", "u0", "A", text="B: u0\n", fake="B", counts=False)
    v.expect("B1 A1", findings=[("duplicate", v.files["B"]), ("edited", second)])

    v = Vector("same-id-kinds", "Two files bear one id and one prev: the lesser kind counts, in the order s, u, a, t.")
    v.msg("A", "u0")
    v.msg("B", "u0", "A")
    a = v.msg("C", "a0", "A", text="other\n", fake="B", counts=False)
    v.expect("B2", findings=sorted([("duplicate", max(a, v.files["B"])), ("edited", a)]))


def names():
    v = Vector("lower-case", "Ids are read in any case.")
    v.msg("A", "u0", case=str.lower)
    v.msg("B", "a0", "A", case=str.lower)
    v.expect("B2")

    v = Vector("lower-case-prev", "A prev in lower case is the same id.")
    v.msg("A", "u0")
    v.msg("B", "a0", "A", case=lambda name: name[:30] + name[30:].lower())
    v.expect("B2")

    v = Vector("both-cases", "The same name in both cases: the one in upper case counts.")
    v.msg("A", "u0", absent=True)
    v.make.append({"file": v.files["A"].lower(), "text": "another\n"})
    v.expect("A1", findings=[("duplicate", v.files["A"].lower()), ("edited", v.files["A"].lower())])

    v = Vector("foreign", "Names of any other form are ignored, and reported.")
    chain(v)
    a = v.ids["A"]
    wrong = ["README.md", "notes.txt", f"{a}-x0-head.md", f"{a}-u2-head.md", f"{a}-u-head.md", f"{a}-u0-.md",
             f"{a}-u0-head", f"{a}-u0-head.md~", f"{a}-u0-head.MD", f"{a}_u0_head.md", f"{a}-u0-head.md.md"]
    for name in wrong:
        v.file(name, "foreign\n")
    v.expect("B2", findings=sorted(("foreign", name) for name in wrong))

    v = Vector("foreign-ids", "What is nearly an id is none: a first digit of 8, a letter that is no digit, 25 or 27 characters, HEAD.")
    chain(v)
    a = v.ids["A"]
    wrong = [f"8{a[1:]}-u0-head.md", f"{a[:-1]}U-u0-head.md", f"{a[:-1]}I-u0-head.md", f"{a[:-1]}-u0-head.md",
             f"{a}0-u0-head.md", f"{a}-a0-HEAD.md", f"{a}-a0-{a[:-1]}.md", f"{a}-a0-{a}0.md", f"{a}-A0-head.md"]
    for name in wrong:
        v.file(name, "foreign\n")
    v.expect("B2", findings=sorted(("foreign", name) for name in wrong))

    v = Vector("foreign-newline", "A newline in a foreign name does not make a message of its second line.")
    chain(v)
    name = f"x\n{id_of(START + 90_000, 'u0', None, b'')}-u0-head.md"
    v.make.append({"file": name, "text": ""})
    v.expect("B2", findings=[("foreign", name.replace("\n", "\\n"))])

    v = Vector("foreign-bytes", "A foreign name may be bytes that are no text.")
    chain(v)
    v.make.append({"file-hex": b"\xff\xfe.md".hex(), "text": ""})
    v.expect("B2", findings=[("foreign", "\ufffd\ufffd.md")])

    v = Vector("underscore", "Names that begin with _ or . are passed over, whatever is in them.")
    chain(v)
    c = f"{id_of(START + 90_000, 'u0', None, b'')}-u0-head.md"
    for name in (f"_future/{c}", f"_{c}", f".{c}", f"_prompts/{c}", f".hidden/{c}"):
        v.file(name, "")
    v.expect("B2")

    v = Vector("inner-store", "A directory with _insts.toml is another store.")
    chain(v)
    v.file("other/_insts.toml", "")
    v.file(f"other/{id_of(START + 90_000, 'u0', None, b'')}-u0-head.md", "")
    v.expect("B2")

    v = Vector("inner-folder", "Any other directory is foreign, and nothing in it is read.")
    chain(v)
    v.file(f"drafts/{id_of(START + 90_000, 'u0', None, b'')}-u0-head.md", "")
    v.expect("B2", findings=[("foreign", "drafts")])

    later = f"{id_of(START + 90_000, 'u0', None, b'')}-u0-head.md"
    for name, idea, make in (
            ("fifo", "A fifo of a message's name is no message, and is not waited for.", {"fifo": later}),
            ("directory", "A directory of a message's name is no message.", {"dir": later}),
            ("link", "A link of a message's name is no message, wherever it leads.", {"link": later, "to": "_insts.toml"}),
            ("link-out", "A link that leads out of the store is not followed.", {"link": later, "to": "/etc/hostname"})):
        v = Vector(name, idea)
        chain(v)
        v.file("_insts.toml", "")
        v.make.append(make)
        v.expect("B2", findings=[("not a file", later)])


def days():
    v = Vector("days", "Messages of days that are over, in their folders.")
    for label, tag, prev, at in (("A", "u0", None, 0), ("B", "a0", "A", 1), ("C", "u0", "B", DAY), ("D", "a0", "C", 40 * DAY)):
        v.msg(label, tag, prev, time=START + at, folder=day(START + at))
    v.expect("D4")

    v = Vector("day-and-store", "A conversation that goes on in the store itself.")
    v.msg("A", "u0", folder=day(START))
    v.msg("B", "a0", "A", folder=day(START))
    v.msg("C", "u0", "B", time=START + 3 * DAY)
    v.expect("C3")

    v = Vector("store-then-day", "An old message that is still in the store itself, followed by one in a day.")
    v.msg("A", "u0")
    v.msg("B", "a0", "A", time=START + DAY, folder=day(START + DAY))
    v.expect("B2")

    v = Vector("both-places", "The same file in both places is one message.")
    path = v.msg("A", "u0")
    v.file(day(START) + path, (v.store / path).read_bytes())
    v.expect("A1")

    v = Vector("both-places-differ", "Other bytes in the day: the store itself has the file that counts.")
    path = v.msg("A", "u0")
    v.file(day(START) + path, "other bytes\n")
    v.expect("A1", findings=[("duplicate", day(START) + path)])

    v = Vector("day-edges", "The last millisecond of a day and the first of the next.")
    midnight = (START // DAY + 1) * DAY
    v.msg("A", "u0", time=midnight - 1, folder=day(midnight - 1))
    v.msg("B", "a0", "A", time=midnight, folder=day(midnight))
    v.expect("B2")

    v = Vector("leap-day", "29 February of a leap year, and 1 March.")
    leap = 1_709_164_800_000
    v.msg("A", "u0", time=leap, folder="_old/2024-02/29/")
    v.msg("B", "a0", "A", time=leap + DAY, folder="_old/2024-03/01/")
    v.expect("B2")

    v = Vector("first-day", "The day of time zero.")
    v.msg("A", "u0", time=0, folder="_old/1970-01/01/")
    v.expect("A1")

    v = Vector("year-10889", "A year of five digits: the last day of all ids.")
    a = v.msg("A", "u0", time=(1 << 48) - 1, folder="_old/10889-08/02/")
    v.expect("A1", findings=[("future", a)])

    v = Vector("wrong-day", "A message in the folder of another day does not count.")
    v.msg("A", "u0")
    b = v.msg("B", "a0", "A", folder="_old/2025-11/14/", counts=False)
    v.expect("A1", findings=[("misplaced", b)])

    v = Vector("no-day", "Directly in _old, in a month, or below a day, nothing counts.")
    v.msg("A", "u0")
    found = [v.msg(label, "a0", "A", folder=folder, counts=False) for label, folder in
             (("B", "_old/"), ("C", "_old/2025-11/"), ("D", "_old/2025-11/13/x/"))]
    v.expect("A1", findings=sorted(("misplaced", path) for path in found))

    v = Vector("no-such-day", "Folders that are not written as a day is: 30 February, one digit, a fifth digit of zero.")
    v.msg("A", "u0")
    found = [v.msg(label, "a0", "A", folder=folder, counts=False) for label, folder in
             (("B", "_old/2025-02/30/"), ("C", "_old/2025-11/3/"), ("D", "_old/02025-11/13/"), ("E", "_old/2025-13/01/"))]
    v.expect("A1", findings=sorted(("misplaced", path) for path in found))

    v = Vector("old-before-prev", "In a day a message must be newer than its prev.")
    v.msg("A", "u0", time=START + 10)
    b = v.msg("B", "a0", "A", time=START + 5, folder=day(START), counts=False)
    v.expect("A1", findings=[("misplaced", b)])

    v = Vector("old-foreign", "Foreign names in a day.")
    v.msg("A", "u0", folder=day(START))
    v.file(day(START) + "README.md", "")
    v.expect("A1", findings=[("foreign", day(START) + "README.md")])

    v = Vector("old-link", "A link in place of a day is not followed.")
    v.msg("A", "u0")
    v.msg("B", "a0", "A", folder="_elsewhere/", counts=False)
    v.file("_old/2025-11/12/README.md", "")
    v.make.append({"link": "_old/2025-11/13", "to": "../../_elsewhere"})
    v.expect("A1", findings=[("foreign", "_old/2025-11/12/README.md"), ("misplaced", "_old/2025-11/13")])

    v = Vector("old-is-a-link", "A link in place of _old: nothing of past days is read.")
    v.msg("A", "u0")
    v.msg("B", "a0", "A", folder="_elsewhere/2025-11/13/", counts=False)
    v.make.append({"link": "_old", "to": "_elsewhere"})
    v.expect("A1", findings=[("misplaced", "_old")])

    v = Vector("day-lower-case", "Ids in lower case in a day.")
    v.msg("A", "u0", folder=day(START), case=str.lower)
    v.expect("A1")

    v = Vector("day-spent", "An answer in the store itself, its side branch in a day.")
    v.msg("A", "u0", folder=day(START))
    v.msg("B", "a1", "A", folder=day(START))
    v.msg("C", "a0", "A", time=START + 2 * DAY)
    v.expect("C2")


def blobs():
    cut = lambda size, name: f"[{size:,} bytes: _blobs/{name}]"
    attached = lambda name, of, size=12, media="image/png": f"[{media} {size:,} bytes {name}: _blobs/{of}]"
    png = b"\x89PNG\r\n\x1a\n....."

    v = Vector("blob", "The last line of a message names the blob that has the whole of it.")
    name = v.blob(b"x" * 12_345)
    v.msg("A", "t0", text=f"xxx\n{cut(12_345, name)}")
    v.expect("A1", blobs={v.ids["A"]: [name]})

    v = Vector("blob-folder", "A blob in the folder of its first two digits.")
    name = v.blob(b"folded\n", folder="_blobs/" + sha(b"folded\n")[:2])
    v.msg("A", "t0", text=cut(7, name))
    v.expect("A1", blobs={v.ids["A"]: [name]})

    v = Vector("blobs", "Several lines at the end name several blobs, in their order.")
    names = [v.blob(text) for text in (b"one\n", b"two\n")]
    v.msg("A", "t0", text="\n".join(["both", *(cut(4, name) for name in names)]))
    v.expect("A1", blobs={v.ids["A"]: names})

    v = Vector("blob-missing", "A blob that is named and not there.")
    name = sha(b"missing")
    a = v.msg("A", "t0", text=cut(7, name))
    v.expect("A1", findings=[("blob", a)], blobs={v.ids["A"]: [name]})

    v = Vector("blob-damaged", "A blob whose bytes do not have its hash.")
    name = v.blob(b"damaged", name=sha(b"whole"))
    v.msg("A", "t0", text=cut(5, name))
    v.expect("A1", findings=[("blob", f"_blobs/{name}")], blobs={v.ids["A"]: [name]})

    v = Vector("blob-words", "The same form anywhere but at the end, or not quite the form, is words.")
    name = sha(b"missing")
    v.msg("A", "t0", text=f"{cut(7, name)}\nand more")
    v.msg("B", "t0", "A", f"{cut(7, name)}\n")
    v.msg("C", "t0", "B", f"see {cut(7, name)}")
    v.msg("D", "t0", "C", f"[7 bytes: _blobs/{name.upper()}]")
    v.expect("D4", blobs={v.ids[label]: [] for label in "ABCD"})

    v = Vector("blob-foreign", "A name in _blobs that is no hash.")
    v.msg("A", "u0")
    v.file("_blobs/notes.txt", "")
    v.expect("A1", findings=[("foreign", "_blobs/notes.txt")])

    v = Vector("attachment", "A question with two files.")
    one, two = v.blob(png), v.blob(b"%PDF-1.7 ...")
    lines = attached("chart.png", one, len(png)), attached("그림 2.pdf", two, 12, "application/pdf")
    v.msg("A", "u0", text="what is this?\n\n" + "\n".join(lines))
    v.expect("A1", blobs={v.ids["A"]: [one, two]}, attachments={v.ids["A"]: ["chart.png", "그림 2.pdf"]})

    v = Vector("attachment-missing", "The file of a question is not there.")
    name = sha(b"missing")
    a = v.msg("A", "u0", text="why?\n\n" + attached("a.png", name))
    v.expect("A1", findings=[("blob", a)], attachments={v.ids["A"]: ["a.png"]})

    v = Vector("attachment-words", "In a message that is not the user's, or not quite of the form, an attachment is words.")
    name = sha(b"missing")
    good = attached("a.png", name)
    v.msg("A", "a0", text=good)
    v.msg("B", "u0", "A", good + "\n")
    v.msg("C", "u0", "B", good.replace("image/png", "image/tiff"))
    v.msg("D", "u0", "C", attached("a/b.png", name))
    v.msg("E", "u0", "D", good.replace("12 bytes", "1,2 bytes"))
    v.msg("F", "u0", "E", attached(" a.png", name))
    v.expect("F6", attachments={v.ids[label]: [] for label in "BCDEF"})


def furniture():
    v = Vector("branch", "A branch names a message.")
    chain(v)
    v.file("_branches/main", v.ids["A"] + "\n")
    v.expect("B2", branches={"main": v.ids["A"]})

    v = Vector("branch-slashes", "A slash of a branch's name is %2F in that of its file.")
    chain(v)
    v.file("_branches/feature%2Fone%2F둘", v.ids["B"] + "\n")
    v.expect("B2", branches={"feature/one/둘": v.ids["B"]})

    v = Vector("branch-merged", "A merge of two copies left several lines: the greatest id counts.")
    chain(v, "ABC", ("u0", "a0", "u0"))
    v.file("_branches/main", f"{v.ids['B']}\n{v.ids['C']}\nnot an id\n{v.ids['A']}\n")
    v.expect("C3", branches={"main": v.ids["C"]})

    v = Vector("branch-spelling", "An id in lower case, with a carriage return, without a newline.")
    chain(v)
    v.file("_branches/a", v.ids["A"].lower() + "\r\n")
    v.file("_branches/b", v.ids["B"])
    v.expect("B2", branches={"a": v.ids["A"], "b": v.ids["B"]})

    v = Vector("branch-dangling", "A branch names a message that is not there.")
    chain(v)
    v.file("_branches/gone", v.id("X") + "\n")
    v.expect("B2", findings=[("dangling", "_branches/gone")])

    v = Vector("branch-no-id", "A branch that holds no id.")
    chain(v)
    v.file("_branches/torn", "01H\n")
    v.expect("B2", findings=[("unreadable", "_branches/torn")], branches={})

    v = Vector("branch-foreign", "Names that no branch may have.")
    chain(v)
    wrong = ["head", "a..b", "x.lock", "a b", "x.md", "-x", v.ids["A"]]
    for name in wrong:
        v.file(f"_branches/{name}", v.ids["A"] + "\n")
    v.expect("B2", findings=sorted(("foreign", f"_branches/{name}") for name in wrong))

    v = Vector("titles", "The title of the greatest time counts, of equal times the last; an empty one takes it away.")
    chain(v)
    v.msg("C", "u0")
    v.msg("D", "u0")
    a, c, d = (v.ids[label] for label in "ACD")
    v.file("_titles", f"5 {a} newer\n3 {a} older\n4 {c} first\n4 {c} second 둘\n6 {d} taken\n7 {d} \nx {a} no time\n9 no-id t\n\n8")
    v.expect("D1 C1 B2", titles={v.ids["B"]: "newer", c: "second 둘", d: None})

    v = Vector("journal", "Facts of the journal; fields and kinds that are not known are passed over.")
    chain(v)
    v.file("_journal.ndjson", line({"time": 1, "bubb": v.ids["B"], "what": "answer", "model": "m", "input": 3,
           "output": 4, "ms": 5, "new": [1]}) + '\n{"time":2,"bubb":null,"what":"of-later","ms":1}\n')
    v.expect("B2", models={v.ids["B"]: "m"})

    v = Vector("journal-proof", "A line that holds a proof is no fact of its message, and a proof is no reader's matter.")
    chain(v)
    v.msg("C", "s1")
    v.file("_journal.ndjson", line({"time": 1, "bubb": v.ids["B"], "what": "answer", "model": "m", "ms": 5,
           "agent_session": "s", "proof": "00" * 16}) + "\n" + "".join(
           line({"time": 2, "bubb": v.ids[label], "what": "proven", "proof": "11" * 16}) + "\n" for label in "ABC"))
    v.expect("C1 B2", models={v.ids["B"]: "m"})

    v = Vector("journal-torn", "A torn line is skipped, and does not take the next one with it.")
    chain(v)
    fact = lambda model: line({"time": 1, "bubb": v.ids["B"], "what": "answer", "model": model, "ms": 5})
    v.file("_journal.ndjson", fact("first") + "\n" + fact("torn")[:60] + "\n\n\ufffd\n[]\n" + fact("last") + "\n" + fact("end")[:-3])
    v.expect("B2", models={v.ids["B"]: "last"})

    v = Vector("journal-title", "A conversation that was imported has the title it had there; a person's title wins.")
    chain(v)
    v.msg("C", "u0")
    imported = lambda label, title, changed: line({"time": 1, "bubb": v.ids[label], "what": "import", "as": 1, "format":
        "claude", "source": "x", "id": label, "title": title, "tools": "none", "changed": changed}) + "\n"
    v.file("_journal.ndjson", imported("A", "newer", 2) + imported("A", "older", 1) + imported("C", "theirs", 1))
    v.file("_titles", f"1 {v.ids['C']} mine\n")
    v.expect("C1 B2", titles={v.ids["B"]: "newer", v.ids["C"]: "mine"})

    v = Vector("spools", "What processes left in _tmp is no message: strays, and what is foreign there.")
    chain(v)
    strays = [f"a0-{v.ids['A']}-123-18a2", "s1-head-1-0", "branch-12-1f", "blob-12-1f", "cache-12-1f", "wire-12-1f", f"claim-{v.ids['A']}"]
    for name in strays:
        v.file(f"_tmp/{name}", "words\n")
    for name in ("notes.txt", "a2-head-1-1"):
        v.file(f"_tmp/{name}", "words\n")
    v.expect("B2", findings=sorted([("stray", f"_tmp/{name}") for name in strays] +
             [("foreign", "_tmp/notes.txt"), ("foreign", "_tmp/a2-head-1-1")]))


def conventions():
    request = '{"access":"read","command":"ls","why":"to see"}'
    call = '{"arguments":{"a":1,"b":{"x":2}},"name":"get","server":"s"}'

    v = Vector("pending", "Two requests that wait: a command, and a call of a tool.")
    v.msg("A", "u0")
    v.msg("B", "s1", "A", request)
    v.msg("C", "a1", "A", call)
    v.expect("C2 B2", pending=[v.ids["C"], v.ids["B"]])

    v = Vector("request-answered", "A request that has a result waits no more.")
    v.msg("A", "u0")
    v.msg("B", "s1", "A", request)
    v.msg("C", "s1", "B", "done\n")
    v.expect("C3", pending=[])

    v = Vector("request-overtaken", "A request that the conversation went on without waits no more; one that is newer than the answer does.")
    v.msg("A", "u0")
    v.msg("B", "a1", "A", request)
    v.msg("C", "a0", "A")
    v.msg("D", "a1", "C", request)
    v.expect("D3", pending=[v.ids["D"]])

    complaint = "This answer does not fit the JSON Schema: name is missing. Answer again."

    v = Vector("stopped", "A stopped answer is a part of the talk, at its end and before the next question.")
    v.msg("A", "u0")
    v.msg("B", "a1", "A", "Half an")
    v.msg("C", "u0", "B", "go on")
    v.msg("D", "s1", "C", '{"tool":"none"}')
    v.msg("E", "a1", "D", "Another {")
    v.expect("E5", stopped=[v.ids["B"], v.ids["E"]])

    v = Vector("stopped-calls", "Words around calls, calls of an agent, thinking alone and blanks are no stopped answers.")
    v.msg("A", "u0")
    v.msg("B", "a1", "A", "I look.")
    v.msg("C", "a1", "B", "(1 request)")
    v.msg("D", "a1", "C", call)
    v.msg("E", "t1", "D")
    v.msg("F", "a1", "E", '{"arguments":{},"name":"Read"}')
    v.msg("G", "t1", "F")
    v.msg("H", "a1", "G", "I write.")
    v.msg("I", "s1", "H", request)
    v.msg("J", "s1", "I", "done")
    v.msg("K", "a1", "J", "<think>\nhm\n</think>")
    v.msg("L", "u0", "K")
    v.msg("M", "a1", "L", " \n")
    v.expect("M13", stopped=[])

    v = Vector("stopped-schema", "Answers that do not fit their schema are no stopped answers; what is only like a call is one.")
    v.msg("A", "u0")
    v.msg("B", "a1", "A", "{}")
    v.msg("C", "s1", "B", complaint)
    v.msg("D", "a1", "C", "[]")
    v.msg("E", "u0", "D")
    v.msg("F", "a1", "E", call + "\n")
    v.msg("G", "u0", "F")
    v.msg("H", "a1", "G", '{"name":"get","arguments":{}}')
    v.expect("H8", stopped=[v.ids["F"], v.ids["H"]])

    v = Vector("request-words", "What is not in the one form, not hidden, or not of a model is no request.")
    v.msg("A", "u0")
    for label, tag, text in (("B", "s1", request + "\n"), ("C", "a1", '{"command":"ls","access":"read"}'), ("D", "t1", request),
                             ("E", "u1", request), ("F", "a1", '{"access":"root","command":"ls"}'), ("G", "s1", '{"access":"read","command":"..."}')):
        v.msg(label, tag, "A", text)
    v.expect("G2 F2 E2 D2 C2 B2", pending=[])

    v = Vector("parallel", "Two models were asked: a hidden SELECT before each answer names its speaker.")
    v.msg("A", "u0")
    for label, answer, name in (("B", "C", "one"), ("D", "E", "둘")):
        v.msg(label, "s1", "A", f"SELECT: {name}")
        v.msg(answer, "a0", label)
    v.expect("E3 C3", speakers={v.ids["C"]: "one", v.ids["E"]: "둘", v.ids["A"]: None})

    v = Vector("debate", "A debate: bids, a speech, and the conclusion of the orchestrator.")
    v.msg("A", "u0")
    v.msg("B", "s1", "A", "one: REQUEST\ntwo: PASS")
    v.msg("C", "s1", "B", "SELECT: one")
    v.msg("D", "a0", "C")
    v.msg("E", "s1", "D", "one: PASS\ntwo: PASS")
    v.msg("F", "s1", "E", "END: all was said.")
    v.msg("G", "a0", "F", "all was said.")
    v.expect("G7", speakers={v.ids["D"]: "one", v.ids["G"]: "orchestrator"})

    v = Vector("no-speaker", "A SELECT that is visible, or not right before an answer, names nobody.")
    v.msg("A", "u0")
    v.msg("B", "s0", "A", "SELECT: one")
    v.msg("C", "a0", "B")
    v.msg("D", "s1", "C", "SELECT: two")
    v.msg("E", "u0", "D")
    v.expect("E5", speakers={v.ids["C"]: None, v.ids["E"]: None})


def others():
    v = Vector("others", "Another person's messages are read beside one's own; @ is one's own.")
    chain(v)
    v.msg("C", "u0", folder="_from/alice/")
    v.msg("D", "a0", "C", folder="_from/alice/")
    v.expect("D2 B2", others={"D": "alice"})

    v = Vector("others-continued", "One's own message goes on from another person's, and nothing is missing.")
    v.msg("A", "u0", folder="_from/alice/")
    v.msg("B", "a0", "A")
    v.expect("B2")

    v = Vector("others-dangling", "One's own messages and a branch follow and name what other people's stores have, or nobody's.")
    v.msg("A", "u0", folder="_from/alice/")
    v.msg("B", "a0", "A", folder="_from/alice/")
    v.file("_branches/theirs", v.ids["B"] + "\n")
    v.file("_branches/gone", v.id("X") + "\n")
    c = v.msg("C", "u0", "Y")
    v.expect("C1 B2", newest="C", others={"B": "alice"}, broken="C",
             findings=[("dangling", "_branches/gone"), ("dangling", c)])

    v = Vector("others-days", "Another person's store has days too.")
    v.msg("A", "u0", folder="_from/bob/" + day(START))
    v.msg("B", "a0", "A", time=START + 3 * DAY, folder="_from/bob/")
    v.expect("B2", others={"B": "bob"})

    v = Vector("others-same", "A message that is in both is one's own; @ is of one's own messages alone.")
    path = v.msg("A", "u0")
    v.file(f"_from/alice/{path}", (v.store / path).read_bytes())
    v.msg("B", "a0", "A", folder="_from/alice/")
    v.expect("B2", newest="A", others={"B": "alice"})

    v = Vector("others-links", "Names that begin with _ or . are no store of others, nor is a link, nor one within another.")
    chain(v)
    for folder in ("_from/_x/", "_from/.x/", "_from/alice/_from/bob/"):
        v.msg("C", "u0", folder=folder, counts=False)
    v.make.append({"link": "_from/carol", "to": "_x"})
    v.expect("B2")


def main():
    for old in HERE.iterdir():
        if (old / "expected.json").exists():
            shutil.rmtree(old)
    for part in (texts, shapes, links, names, days, blobs, furniture, conventions, others):
        part()
    print(len([path for path in HERE.iterdir() if path.is_dir()]), "vectors")


if __name__ == "__main__":
    main()
