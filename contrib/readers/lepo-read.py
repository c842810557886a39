#!/usr/bin/env python3
"""Reads, checks and writes a lepo store by docs/format.md alone, with Python's standard library.

    lepo-read.py list STORE               tails, newest first: ID (HEIGHT)
    lepo-read.py show STORE ID            the conversation of a message, its visible messages
    lepo-read.py verify STORE             each message that does not give its id; exit 1 if there is one
    lepo-read.py export STORE ID          the conversation as JSON, hidden messages too
    lepo-read.py append STORE KIND PREV   a message from stdin, KIND being u, a1 and so on; prints its id
"""
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import stat
import sys
import time
from datetime import date

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ID = "[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}"
NAME = re.compile(f"({ID})-([suat])([01])-(head|{ID})\\.md".encode())
WORDS = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
AHEAD = 86_400_000
# Control characters but tab and newline; bidirectional controls, zero-width characters, tags.
UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                    "\ufff9-\ufffb\U000e0000-\U000e007f]")


def number(written):
    """An id as a number; None, which is `head`, is 0."""
    return sum(DIGITS.index(digit) << 5 * place for place, digit in enumerate(reversed(written or "")))


def day_of(millis):
    """The folder of a UTC day, `2025-11/13`. Python's dates end with 9999; the calendar repeats after 400 years."""
    eras, days = divmod(millis // 86_400_000, 146_097)
    day = date.fromordinal(date(1970, 1, 1).toordinal() + days)
    return f"{day.year + 400 * eras:04}-{day.month:02}/{day.day:02}"


def make_id(millis, kind, hidden, prev, content_hash):
    """The id of a message, by section 4."""
    head = b"lepo\0" + millis.to_bytes(6, "big") + (kind + hidden).encode() + number(prev).to_bytes(16, "big")
    value = millis << 80 | int.from_bytes(hashlib.sha256(head + content_hash).digest()[:10], "big")
    return "".join(DIGITS[value >> 5 * place & 31] for place in reversed(range(26)))


def open_below(directory, *names):
    """Opens a directory by its path from another, following no link; None if there is none."""
    opened = os.dup(directory)
    for name in names:
        above = opened
        try:
            opened = os.open(name, DIRECTORY, dir_fd=above)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise
        finally:
            os.close(above)
    return opened


def entries(directory, folders=False):
    """The names of files, or of folders, in an open directory, as bytes; closes it."""
    if directory is None:
        return []
    try:
        with os.scandir(directory) as found:
            wanted = [one for one in found if (one.is_dir if folders else one.is_file)(follow_symlinks=False)]
        return sorted(os.fsencode(one.name) for one in wanted)
    finally:
        os.close(directory)


class Message:
    def __init__(self, name, store):
        written, self.kind, self.hidden, prev = [part.decode() for part in NAME.fullmatch(name).groups()]
        self.id, self.prev = written.upper(), None if prev == "head" else prev.upper()
        self.file, self.store = os.fsdecode(name), store
        upper = f"{self.id}-{self.kind}{self.hidden}-{self.prev or 'head'}.md"
        # Of several files with one id the least of these counts.
        self.rank = (self.prev or "", "suat".index(self.kind), self.hidden, self.file != upper)

    def open(self):
        """The file, in the store itself, its day, or the store itself again; only a regular one."""
        for folder in ((), ("_old", *day_of(number(self.id) >> 80).split("/")), ()):
            directory = open_below(self.store.directory, *folder)
            if directory is None:
                continue
            try:
                opened = os.open(self.file, READ, dir_fd=directory)
            except FileNotFoundError:
                continue
            finally:
                os.close(directory)
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                os.close(opened)
                break
            return os.fdopen(opened, "rb")
        raise OSError(f"{self.id} cannot be read")

    def read(self):
        with self.open() as file:
            return file.read()

    def proves_its_id(self):
        content = hashlib.sha256()
        with self.open() as file:
            for piece in iter(lambda: file.read(1 << 16), b""):
                content.update(piece)
        made = make_id(number(self.id) >> 80, self.kind, self.hidden, self.prev, content.digest())
        return made == self.id


class Store:
    """The messages of one store that count, by id; and with `union` those of other people too."""

    def __init__(self, directory, union=False, owner=None):
        self.directory, self.owner, self.messages = directory, owner, {}
        self.take(entries(os.dup(directory)), lambda message: True)
        for month in entries(open_below(directory, "_old"), True):
            for day in entries(open_below(directory, "_old", month), True):
                folder = os.fsdecode(month + b"/" + day)
                names = entries(open_below(directory, "_old", month, day))
                self.take(names, lambda message: day_of(number(message.id) >> 80) == folder
                          and (message.prev or "") < message.id)
        self.own = dict(self.messages)
        for name in entries(open_below(directory, "_from"), True) if union else []:
            below = open_below(directory, "_from", name)
            if below is not None and name[:1] not in (b"_", b"."):
                for message in Store(below, owner=os.fsdecode(name)).own.values():
                    self.messages.setdefault(message.id, message)

    def take(self, names, counts):
        """Adds the messages of one folder; an id that is there already was in a folder that wins."""
        found = sorted((Message(name, self) for name in names if NAME.fullmatch(name)), key=lambda one: one.rank)
        for message in found:
            if message.id not in self.messages and counts(message):
                self.messages.setdefault(message.id, message)

    def path(self, written):
        """The conversation of a message, oldest first, and what is wrong with its end."""
        path, seen, at = [], set(), written
        while at is not None and at not in seen and at in self.messages:
            seen.add(at)
            path.append(self.messages[at])
            at = path[-1].prev
        return path[::-1], "" if at is None else f"{at} is in a circle" if at in seen else f"{at} is not there"

    def tails(self):
        parents = {message.prev for message in self.messages.values()}
        above_visible = set()
        for message in self.messages.values():
            at = None if message.hidden == "1" else message.prev
            while at in self.messages and at not in above_visible:
                above_visible.add(at)
                at = self.messages[at].prev
        leaves = [message for message in self.messages.values() if message.id not in parents]
        tails = [leaf for leaf in leaves if leaf.hidden == "0" or self.decider(leaf) not in above_visible]
        return sorted(tails, key=lambda tail: tail.id, reverse=True)

    def decider(self, leaf):
        path, wrong = self.path(leaf.id)
        visible = [message.id for message in path if message.hidden == "0"]
        return visible[-1] if visible else None if wrong else path[0].id


def append(directory, kind, prev, content):
    """Writes one message by the steps of section 14; its id."""
    store = Store(directory, union=True)
    if prev is not None and prev not in store.messages:
        sys.exit(f"error: {prev} is not there")
    now = time.time_ns() // 1_000_000
    times = [number(written) >> 80 for written in store.own]
    newest = max((at for at in times if at <= now + AHEAD), default=-1)
    millis = max(now, 1 + (number(prev) >> 80 if prev else newest))
    with contextlib.suppress(FileExistsError):
        os.mkdir("_tmp", 0o700, dir_fd=directory)
    temporary = f"{kind}-{prev or 'head'}-{os.getpid()}-{time.time_ns():x}"
    below = os.open("_tmp", DIRECTORY, dir_fd=directory)
    made = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=below)
    try:
        fcntl.flock(made, fcntl.LOCK_EX)
        with os.fdopen(os.dup(made), "wb") as file:
            file.write(content)
        os.fsync(made)
        while True:
            written = make_id(millis, kind[0], kind[1], prev, hashlib.sha256(content).digest())
            name = f"{written}-{kind}-{prev or 'head'}.md"
            try:
                os.link(temporary, name, src_dir_fd=below, dst_dir_fd=directory, follow_symlinks=False)
                day = day_of(millis)
                if day == day_of(now) or name.encode() not in entries(
                        open_below(directory, "_old", *day.split("/"))):
                    break
                os.unlink(name, dir_fd=directory)
            except FileExistsError:
                pass
            millis += 1
    finally:
        os.unlink(temporary, dir_fd=below)
    os.fsync(directory)
    return written


def main(command, path, *words):
    directory = os.open(path, DIRECTORY)
    put = sys.stdout.buffer.write
    if sys.stdout.isatty():
        put = lambda data: sys.stdout.buffer.write(UNSEEN.sub("\ufffd", data.decode(errors="replace")).encode())
    if (command, len(words)) == ("append", 2) and re.fullmatch("[suat][01]?", words[0]):
        prev = None if words[1] == "head" else words[1].upper()
        print(append(directory, (words[0] + "0")[:2], prev, sys.stdin.buffer.read()))
    elif (command, len(words)) == ("list", 0):
        store = Store(directory, union=True)
        for tail in store.tails():
            owner = f"{tail.store.owner}/" if tail.store.owner else ""
            put(f"{owner}{tail.id} ({len(store.path(tail.id)[0])})\n".encode(errors="surrogateescape"))
    elif (command, len(words)) == ("verify", 0):
        edited = [message.id for message in Store(directory).own.values() if not message.proves_its_id()]
        sys.stdout.write("".join(f"{written}\n" for written in sorted(edited)))
        return 1 if edited else 0
    elif command in ("show", "export") and len(words) == 1:
        path, wrong = Store(directory, union=True).path(words[0].upper())
        if not path:
            sys.exit(f"error: {words[0]} is not there")
        if wrong:
            print(f"warning: {wrong}: incomplete conversation", file=sys.stderr)
        if command == "export":
            fields = [{"id": it.id, "kind": WORDS[it.kind], "hidden": it.hidden == "1", "prev": it.prev,
                       "time": number(it.id) >> 80, "text": it.read().decode(errors="replace")} for it in path]
            print(json.dumps(fields, indent=1))
        for message in path if command == "show" else []:
            if message.hidden == "0":
                text = message.read()
                put(f"# {WORDS[message.kind]} {message.id}\n".encode() + text)
                put(b"\n\n" if text and not text.endswith(b"\n") else b"\n")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
