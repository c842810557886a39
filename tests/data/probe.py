# Tries every way out of a sandbox that anybody has thought of, and says which it believes worked.
# What it says is not believed: the test looks from outside.
import ctypes, json, os, signal, socket, struct, subprocess, sys, time

at = json.load(open("probe.json"))
libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, deed):
    try:
        deed()
        print("done:", name)
    except BaseException as error:
        # One line for each process of the machine would make the report longer than is kept whole.
        if not name.startswith(("environ", "memory")):
            print("held:", name, getattr(error, "errno", error))


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def write(path, mode="w", text="TRIPPED"):
    with open(path, mode) as file:
        file.write(text)


def mount(*arguments):
    checked(libc.mount(*arguments))


def on_descriptor(path, request, number):
    import fcntl
    with open(path) as file:
        fcntl.ioctl(file, request, struct.pack("l", number))


def lease(path, command):
    import fcntl
    fcntl.fcntl(os.open(path, os.O_RDONLY), command, fcntl.F_RDLCK)


def in_child(deed):
    pid = os.fork()
    if pid == 0:
        try:
            deed()
        except BaseException:
            os._exit(1)
        os._exit(0)
    checked(os.waitpid(pid, 0)[1])


def clone(call, *arguments):
    pid = libc.syscall(call, *arguments)
    if pid == 0:
        os._exit(0)
    checked(min(0, pid))
    os.waitpid(pid, 0)


for place in at["places"]:
    kept = place + "/_kept"
    attempt("make " + place, lambda: write(place + "/made"))
    attempt("truncate " + kept, lambda: write(kept))
    attempt("truncate by path " + kept, lambda: os.truncate(kept, 1))
    attempt("append " + kept, lambda: write(kept, "a"))
    attempt("mkdir " + place, lambda: os.mkdir(place + "/dir"))
    attempt("mkfifo " + place, lambda: os.mkfifo(place + "/fifo"))
    attempt("mknod " + place, lambda: os.mknod(place + "/node", 0o600 | 0o020000, os.makedev(1, 3)))
    attempt("chmod " + kept, lambda: os.chmod(kept, 0o777))
    attempt("fchmod " + kept, lambda: os.fchmod(os.open(kept, os.O_RDONLY), 0o777))
    attempt("chown " + kept, lambda: os.chown(kept, 1, 1))
    attempt("times " + kept, lambda: os.utime(kept, (1, 1)))
    attempt("times by descriptor " + kept, lambda: os.utime(os.open(kept, os.O_RDONLY), (1, 1)))
    attempt("xattr " + kept, lambda: os.setxattr(kept, "user.tripped", b"x"))
    attempt("xattr removed " + kept, lambda: os.removexattr(kept, "user.kept"))
    attempt("flags " + kept, lambda: on_descriptor(kept, 0x40086602, 0x40))  # FS_IOC_SETFLAGS, nodump
    for request in (0x40087602, 0x40047602, 0x40086604):  # FS_IOC_SETVERSION, for 32 bits, ext4's own
        attempt("version %x %s" % (request, kept), lambda: on_descriptor(kept, request, 12345))
    for command in (1024, 1040):  # F_SETLEASE, F_SETDELEG
        attempt("lease %d %s" % (command, kept), lambda: lease(kept, command))
    attempt("symlink " + place, lambda: os.symlink(kept, place + "/symlink"))
    attempt("link " + place, lambda: os.link(kept, place + "/link"))
    attempt("rename " + kept, lambda: os.rename(kept, place + "/renamed"))
    attempt("rename itself " + place, lambda: (os.rename(place, place + ".away"), os.rename(place + ".away", place)))
    attempt("unlink " + kept, lambda: os.unlink(kept))
    attempt("by /proc/self/root " + kept, lambda: write("/proc/self/root" + kept))
    attempt("by /proc/1/root " + kept, lambda: write("/proc/1/root" + kept))
    # A link in a place that may be written to one that may not.
    attempt("link trick " + kept, lambda: (os.symlink(kept, "trick"), write("trick")))
    attempt("link trick end", lambda: os.unlink("trick"))
for secret in at["secrets"]:
    attempt("read " + secret, lambda: print(open(secret).read()))
for secret in at["secrets"]:
    watch = libc.inotify_init()
    home = os.path.dirname(os.path.dirname(secret)).encode()
    attempt("watch", lambda: checked(min(0, libc.inotify_add_watch(watch, home, 0x100))))
for pid in os.listdir("/proc"):
    if pid.isdigit():
        attempt("environ " + pid, lambda: print(open("/proc/%s/environ" % pid).read().replace("\0", "\n")))
        attempt("memory " + pid, lambda: int(pid) != os.getpid() and open("/proc/%s/mem" % pid, "r+b"))
print("own environment:", dict(os.environ))
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", at["tcp"]), 2).send(b"TRIPPED"))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"TRIPPED", ("127.0.0.1", at["udp"])))
attempt("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
for name in at["unix"]:
    path = "\0" + name[1:] if name.startswith("@") else name
    attempt("unix " + name, lambda: socket.socket(socket.AF_UNIX).connect(path))
    attempt("unix datagram " + name, lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect(path))
    def by_pair(kind):
        ours = socket.socketpair(socket.AF_UNIX, kind)[0]
        ours.connect(path) if kind == socket.SOCK_RAW else ours.sendto(b"TRIPPED", path)
    for kind in (socket.SOCK_DGRAM, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, socket.SOCK_RAW):
        attempt("unix datagram by a pair " + name, lambda: by_pair(kind))
X32 = 0x40000000
attempt("unix by x32", lambda: checked(min(0, libc.syscall(X32 | 41, 1, 1, 0))))
attempt("io_uring", lambda: checked(min(0, libc.syscall(425, 1, ctypes.create_string_buffer(120)))))
for number in (signal.SIGTERM, signal.SIGKILL):
    attempt("signal", lambda: os.kill(at["pid"], number))
    attempt("signal all", lambda: number == signal.SIGTERM and os.kill(at["pid"], 0))
attempt("ptrace", lambda: checked(min(0, libc.ptrace(16, at["pid"], 0, 0))))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, at["pid"], 19))
attempt("processors", lambda: os.sched_setaffinity(at["pid"], {0}))
attempt("limits", lambda: __import__("resource").prlimit(at["pid"], 7, (5, 5)))
attempt("terminal", lambda: write("/dev/tty"))
attempt("terminal input", lambda: __import__("fcntl").ioctl(2, 0x5412, b"x"))
attempt("remount /", lambda: mount(b"none", b"/", None, 32 | 4096, None))
for place in at["places"]:
    attempt("remount", lambda: mount(b"none", place.encode(), None, 32 | 4096, None))
    attempt("umount", lambda: checked(libc.umount2(place.encode(), 2)))
for path in ("/tmp", "/run", os.environ.get("HOME", "/")):
    attempt("umount " + path, lambda: checked(libc.umount2(path.encode(), 2)))
for secret in at["secrets"]:
    attempt("read after umount", lambda: print(open(secret).read()))
attempt("host name", lambda: socket.sethostname("tripped"))
# Only where a number can be put back; the rest is opened for writing, and nothing is written.
attempt("sysctl", lambda: write("/proc/sys/kernel/core_pipe_limit", text=at["limit"]))
for top, below, names in os.walk("/proc"):
    if top == "/proc":
        below[:] = [name for name in below if not name.isdigit() and name not in ("self", "thread-self", "net")]
    for name in names:
        try:
            os.close(os.open(top + "/" + name, os.O_WRONLY | os.O_NONBLOCK))
            print("opened for writing:", top + "/" + name)
        except OSError:
            pass
KEYCTL_SEARCH, KEYCTL_READ, USER_KEYRING = 10, 11, -4
def read_key():
    key, text = libc.syscall(250, KEYCTL_SEARCH, USER_KEYRING, b"user", at["marker"].encode(), 0), ctypes.create_string_buffer(64)
    checked(min(0, libc.syscall(250, KEYCTL_READ, key, text, 64)))
    print(text.value.decode())
attempt("read a key", read_key)
attempt("add a key", lambda: checked(min(0, libc.syscall(248, b"user", b"tripped", b"TRIPPED", 7, USER_KEYRING))))
attempt("request a key", lambda: checked(min(0, libc.syscall(249, b"user", at["marker"].encode(), None, USER_KEYRING))))
message = struct.pack("l", 1) + b"TRIPPED"
attempt("message queue", lambda: checked(libc.msgsnd(at["queue"], message, 7, 0o4000)))
for number in (8, 9):
    attempt("inherited %d" % number, lambda: os.write(number, b"TRIPPED"))
    attempt("inherited %d" % number, lambda: os.open("made", os.O_CREAT | os.O_WRONLY, dir_fd=number))
NEW_USER = 0x10000000
attempt("user namespace", lambda: in_child(lambda: checked(libc.unshare(NEW_USER))))
attempt("user namespace by clone", lambda: clone(56, NEW_USER | 17, 0, 0, 0, 0))
attempt("user namespace by clone3", lambda: clone(435, struct.pack("Q", NEW_USER) + struct.pack("Q", 0) * 3 + struct.pack("Q", 17) + struct.pack("Q", 0) * 3, 64))
# A user namespace of its own gives every capability back, in it.
again = "mount -o remount,bind,rw / ; umount -l /tmp; for f in %s; do echo TRIPPED > $f/_kept; done"
attempt("namespace", lambda: subprocess.run(["unshare", "-Urm", "sh", "-c", again % " ".join(at["places"])], check=True))
sys.stdout.flush()
# A survivor: in a session of its own, deaf to what can be ignored.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", at["marker"]])
    os._exit(0)
time.sleep(at["sleep"])
