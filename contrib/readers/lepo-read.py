#!/usr/bin/env python3
"""Read, check and add to a lepo store (format 1.0)."""
import contextlib, datetime, errno, fcntl, hashlib, json, os, re, secrets, signal, stat, sys, time, unicodedata

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
TO_PYTHON = str.maketrans(DIGITS, "0123456789abcdefghijklmnopqrstuv")
ID = "[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}"
NAME = re.compile(f"({ID})-([suat])([01])-(head|{ID})\\.md")
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
REGULAR = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO)
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
DAY_MS, LAST_MS, MAX = 86_400_000, 2**48 - 1, 256 << 20
ACCESS, COMPLAINT = ("read", "write", "net", "full"), "This answer does not fit the JSON Schema: "
WORDS = dict(s="system", u="user", a="assistant", t="tool")

class Problem(Exception): """Told on stderr, with exit code 2."""
class Message:
    """A file that is a message: what its name says (prev is None for head), its store and its day (or ())."""
    def __init__(self, match, home, day):
        self.name, self.home, self.day = match.group(), home, day
        self.id, self.kind, self.hidden = match[1].upper(), match[2], int(match[3])
        self.prev = None if match[4] == "head" else match[4].upper()
        self.time = int(self.id.translate(TO_PYTHON), 32) >> 80
        self.rank = (bool(day), self.prev or "", "suat".index(self.kind), self.hidden, self.name)   # the least counts

def day_of(ms):
    """The path of a day. The calendar repeats after 400 years, of 146,097 days; datetime ends with the year 9999."""
    eras, days = divmod(ms // DAY_MS, 146_097)
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days)
    return "_old", f"{date.year + 400 * eras}-{date.month:02}", f"{date.day:02}"

def compute_id(ms, kind, hidden, prev, content_hash):
    stamp = ms.to_bytes(6, "big")
    prev_bytes = int((prev or "0").translate(TO_PYTHON), 32).to_bytes(16, "big")
    hashed = hashlib.sha256(b"lepo\0" + stamp + f"{kind}{hidden}".encode() + prev_bytes + content_hash)
    n = int.from_bytes(stamp + hashed.digest()[:10], "big")
    return "".join(DIGITS[n >> shift & 31] for shift in range(125, -1, -5))

@contextlib.contextmanager
def folder(top, parts):
    """A directory below top, opened without following a link at any step."""
    fd = os.dup(top)
    try:
        for part in parts:
            upper, fd = fd, os.open(part, DIRECTORY, dir_fd=fd)
            os.close(upper)
        yield fd
    finally:
        os.close(fd)

def look(top, parts):
    """The names of the directories in a directory, and those of its messages, parsed. None if it is not there."""
    try:
        with folder(top, parts) as fd, os.scandir(fd) as found:
            found = [(e.name, e.is_dir(follow_symlinks=False), e.is_file(follow_symlinks=False)) for e in found]
    except OSError as e:
        if e.errno not in GONE:
            raise
        found = []
    return ([name for name, is_dir, _ in found if is_dir],
            [match for name, _, is_file in found if is_file and (match := NAME.fullmatch(name))])

def messages_in(top, home):
    """All messages of one store but misplaced ones: those of the store itself first, then those of days."""
    yield from [Message(match, home, ()) for match in look(top, home)[1]]
    months = [("_old", month) for month in look(top, home + ("_old",))[0]]
    for day in [month + (day,) for month in months for day in look(top, home + month)[0]]:
        for m in [Message(match, home, day) for match in look(top, home + day)[1]]:
            if day_of(m.time) == day and (m.prev is None or m.id > m.prev):
                yield m

def scan(top, is_alone=False):
    """The messages that count, by id; and all files that are messages. Of the store and those of other people."""
    counts, every = {}, []
    others = sorted([name for name in look(top, ("_from",))[0] if name[0] not in "_."], key=os.fsencode)
    for home in [()] + [("_from", name) for name in others if not is_alone]:
        found = sorted(messages_in(top, home), key=lambda m: m.rank, reverse=True)
        counts, every = {m.id: m for m in found} | counts, every + found
    return counts, every

def chunks(top, m, most=1 << 62):
    """The content of a message, piece by piece, of at most so many bytes."""
    for day in ((), day_of(m.time), ()):
        try:
            with folder(top, m.home + day) as fd, open(os.open(m.name, REGULAR, dir_fd=fd), "rb", buffering=0) as file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    while piece := file.read(1 << 20):
                        if (most := most - len(piece)) < 0:
                            raise Problem(f"{m.id}: too large")
                        yield piece
                    return
        except OSError as e:
            if e.errno not in GONE:
                raise
    raise Problem(f"{m.id}: its file is gone")

def heights(counts):
    height = {}
    for start in counts:
        way, id = {}, start
        while id in counts and id not in height and id not in way:
            way[id] = len(way)
            id = counts[id].prev
        circle = len(way) - way.get(id, len(way))   # all of a circle is the conversation of each of it
        for n, id in enumerate(reversed(way)):
            height[id] = circle if n < circle else height.get(counts[id].prev, 0) + 1
    return height

def decider(counts, id, known):
    """What decides whether a hidden message is spent, or None."""
    way = []
    while id in counts and counts[id].hidden and id not in known:
        known[id] = None                            # which stays so in a circle of hidden ones
        way.append(id)
        id = counts[id].prev
    end = known[id] if id in known else id if id in counts else way[-1] if id is None else None
    known.update(dict.fromkeys(way, end))
    return end

def tails(counts):
    """The ends of conversations that can be continued, the greatest id first."""
    known, has_child, has_visible_below = {}, {m.prev for m in counts.values()}, set()
    for m in counts.values():
        id = None if m.hidden else m.prev
        while id in counts and id not in has_visible_below:
            has_visible_below.add(id)
            id = counts[id].prev
    return [id for id in sorted(counts, reverse=True) if id not in has_child
            and not (counts[id].hidden and decider(counts, id, known) in has_visible_below)]

def show_tails(counts):
    height = heights(counts)
    print(*(f"{id} ({height[id]})\n" for id in tails(counts)), sep="", end="")

def newest(top):
    """@: the greatest tail of the store's own messages alone that is not dated ahead, or where all are, the greatest."""
    own = scan(top, is_alone=True)[0]
    ends, latest = tails(own), time.time_ns() // 1_000_000 + DAY_MS
    return next((id for id in ends if own[id].time <= latest), ends[0] if ends else "@")

def find(counts, given):
    if not re.fullmatch(ID, given) or given.upper() not in counts:
        raise Problem(f"no such message: {ascii(given)}")
    return counts[given.upper()]

def path_to(counts, m):
    """A conversation from its first message on. One that does not begin with a root is said to be incomplete."""
    way, id = {}, m.id
    while id in counts and id not in way:
        way[id] = counts[id]
        id = counts[id].prev
    if id is not None:
        print(f"lepo-read: incomplete conversation, before {id}", file=sys.stderr)
    return list(way.values())[::-1]

def hidden_text(top, m):
    """What a hidden message between question and answer is: a call, words, a complaint about words, or nothing of these."""
    if not m.hidden or m.kind not in "as":
        return ""
    text = b"".join(chunks(top, m)).decode(errors="replace")
    with contextlib.suppress(ValueError):
        fields = json.loads(text)
        keys = sorted(fields) if isinstance(fields, dict) else []
        is_command = keys in (["access", "command"], ["access", "command", "why"]) and fields["access"] in ACCESS
        is_call = keys == ["arguments", "name", "server"] or keys == ["arguments", "name"] and m.kind == "a"
        form = json.dumps(fields, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        if (is_command or is_call) and form == text:
            return "call"
    if m.kind == "s":
        return "complaint" if text.startswith(COMPLAINT) else ""
    return "words" if text.strip() and not text.startswith("<think>") else ""

def stopped(top, way):
    """The ids of the stopped answers of a conversation."""
    found, after = set(), ""
    texts = [hidden_text(top, m) for m in way]
    for n in reversed(range(len(way))):
        text = texts[n]
        if text == "words" and after == "call":
            text = "call"                           # words before a call are of the call
        elif text == "words" and after != "complaint" and not (n and texts[n - 1] == "complaint"):
            found.add(way[n].id)
        after = text
    return found

def show(top, counts, m):
    way = path_to(counts, m)
    parts = stopped(top, way)
    for m in [m for m in way if not m.hidden or m.id in parts]:
        end = b"\n"
        mark = " (stopped)" if m.hidden else ""
        sys.stdout.buffer.write(f"# {WORDS[m.kind]} {m.id}{mark}\n".encode())
        for piece in chunks(top, m):
            if sys.stdout.isatty():
                piece = "".join(c for c in piece.decode(errors="replace") if c in "\n\t" or unicodedata.category(c) not in
                                ("Cc", "Cf", "Zl", "Zp")).encode()
            sys.stdout.buffer.write(piece)
            end = piece[-1:] or end
        sys.stdout.buffer.write(b"\n" if end == b"\n" else b"\n\n")

def verify(top, every):
    edited = set()
    for m in every:
        content_hash = hashlib.sha256()
        for piece in chunks(top, m):
            content_hash.update(piece)
        if compute_id(m.time, m.kind, m.hidden, m.prev, content_hash.digest()) != m.id:
            edited.add(m.id)
    print(*(id + "\n" for id in sorted(edited)), sep="", end="")
    return int(bool(edited))

def export(top, counts, m):
    for n, m in enumerate(path_to(counts, m)):
        fields, text = dict(id=m.id, kind=m.kind, hidden=bool(m.hidden), prev=m.prev, time=m.time), chunks(top, m, MAX)
        fields["text"] = b"".join(text).decode(errors="replace")
        print(",\n" if n else "[", json.dumps(fields), sep="", end="")
    print("]")

def create(at, name, content):
    """A new file, locked, written and synced: its descriptor."""
    fd = os.open(name, CREATE, 0o600, dir_fd=at)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with open(os.dup(fd), "wb") as file:
            file.write(content)
        os.fsync(fd)
        return fd
    except OSError:
        os.unlink(name, dir_fd=at)
        os.close(fd)
        raise

def settle(top, tmp, temporary, name, content, ms):
    """Give the file its final name, replacing nothing; False if the name is there already, or in its day."""
    try:
        try:
            os.link(temporary, name, src_dir_fd=tmp, dst_dir_fd=top, follow_symlinks=False)
        except OSError as e:
            if e.errno not in NO_LINKS:
                raise
            os.close(create(top, name, content))
    except FileExistsError:
        return False
    if in_day := any(match.group() == name for match in look(top, day_of(ms))[1]):
        os.unlink(name, dir_fd=top)
    return not in_day

def append(top, kind, given):
    if not re.fullmatch("[suat][01]?", kind) or os.fstat(top).st_uid != os.geteuid():
        raise Problem("KIND is s, u, a or t, with 0 or 1 (hidden) behind it; and the store has to be yours")
    content, (counts, every), kind, hidden = sys.stdin.buffer.read(), scan(top), kind[0], int(kind[1:] or 0)
    prev = None if given in ("", "-", "head") else find(counts, given)
    end = f"{kind}{hidden}-{prev.id if prev else 'head'}"
    with contextlib.suppress(FileExistsError):
        os.mkdir("_tmp", 0o700, dir_fd=top)
    with folder(top, ("_tmp",)) as tmp:
        temporary = f"{end}-{os.getpid()}-{secrets.token_hex(8)}"
        lock = create(tmp, temporary, content)
        try:
            now, content_hash = time.time_ns() // 1_000_000, hashlib.sha256(content).digest()
            before = [prev.time] if prev else [m.time for m in every if not m.home and m.time <= now + DAY_MS]
            for ms in range(max([now] + [t + 1 for t in before]), LAST_MS + 1):
                id = compute_id(ms, kind, hidden, prev and prev.id, content_hash)
                if id not in counts and settle(top, tmp, temporary, f"{id}-{end}.md", content, ms):
                    break
            else:
                raise Problem("nothing can follow a message of the last millisecond")
        finally:
            os.unlink(temporary, dir_fd=tmp)
        os.fsync(top)
        os.close(lock)
    print(id)

def main(command="", store="", *rest):
    if len(rest) != dict(list=0, verify=0, show=1, export=1, append=2).get(command, -1):
        raise Problem("usage: list STORE | show STORE ID|@ | verify STORE | export STORE ID|@ | append STORE KIND PREV")
    if command == "append":
        return append(os.open(store.rstrip("/") or store, DIRECTORY), *rest)
    top = os.open(store, DIRECTORY & ~os.O_NOFOLLOW)
    counts, every = scan(top)
    if command in ("list", "verify"):
        return show_tails(counts) if command == "list" else verify(top, every)
    (show if command == "show" else export)(top, counts, find(counts, newest(top) if rest == ("@",) else rest[0]))

if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(main(*sys.argv[1:]))
    except (Problem, OSError, ValueError, MemoryError) as e:
        print(f"lepo-read: {e or type(e).__name__}", file=sys.stderr)
        sys.exit(2)
