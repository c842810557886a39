//! A real terminal for the program under test, by Python's `pty`: std cannot make one without `unsafe`.

use std::process::Command;

use super::home::{Ran, find_program, run};

/// Answers what it expects in turn, and prints all that the terminal showed. A signal's name in
/// braces, `{TERM}`, is sent as that signal, and bytes as `hex:00ff`. Unless it is mute it tells where its cursor is, as
/// terminals do: a prompt waits four seconds for that.
const PYTHON: &str = r#"
import json, os, pty, select, signal, sys, time
steps, mute, argv = json.loads(sys.argv[1]), sys.argv[2] == "mute", sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
seen, at, told, deadline = b"", 0, 0, time.time() + 60
while True:
    if not select.select([fd], [], [], max(0, deadline - time.time()))[0]:
        seen += b"\n[nothing more came; still expected: %s]\n" % json.dumps(steps).encode()
        os.kill(pid, signal.SIGKILL)
        break
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
    while not mute and seen.count(b"\x1b[6n") > told:
        os.write(fd, b"\x1b[24;1R")
        told += 1
    while steps and steps[0][0].encode() in seen[at:]:
        expected, reply = steps.pop(0)
        at = seen.index(expected.encode(), at) + len(expected.encode())
        if reply.startswith("{"):
            os.kill(pid, getattr(signal, "SIG" + reply.strip("{}")))
        else:
            os.write(fd, bytes.fromhex(reply[4:]) if reply.startswith("hex:") else reply.encode())
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(seen)
sys.exit(status if status >= 0 else 128 - status)
"#;

/// Runs `command` on a terminal of its own; `steps` are what to wait for and what to type then.
/// `out` is all that the terminal showed.
pub fn on_terminal(command: Command, steps: &[(&str, &str)]) -> Ran {
    on_pty(command, steps, "")
}

/// The same on a terminal that answers nothing it is asked.
pub fn on_mute_terminal(command: Command, steps: &[(&str, &str)]) -> Ran {
    on_pty(command, steps, "mute")
}

fn on_pty(command: Command, steps: &[(&str, &str)], kind: &str) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut python = Command::new(find_program("python3", &path));
    // Without the modules of the machine, which can take longer than the test.
    python.arg("-S").args(["-c", PYTHON, &serde_json::to_string(steps).unwrap(), kind]);
    python.arg(command.get_program()).args(command.get_args());
    python.current_dir(command.get_current_dir().unwrap()).env_clear();
    for (name, value) in command.get_envs() {
        python.env(name, value.unwrap());
    }
    run(python, b"")
}
