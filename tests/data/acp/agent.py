"""An agent of the Agent Client Protocol that does what its prompt says. It writes down what it was sent, line by line."""

import json
import os
import signal
import socket
import sys
import time

HOME = os.environ["HOME"]
# A folder of its own, where there is one.
HOME = os.path.join(HOME, ".robot") if os.path.isdir(os.path.join(HOME, ".robot")) else HOME
SESSIONS = os.path.join(HOME, "agent-sessions")
MODE = sys.argv[1] if len(sys.argv) > 1 else ""
log = open(os.path.join(HOME, "agent.log"), "a") if os.access(HOME, os.W_OK) else open(os.devnull, "a")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read():
    line = sys.stdin.readline()
    if not line:
        log.write("EOF\n")
        log.flush()
        sys.exit(0)
    log.write(line)
    log.flush()
    return json.loads(line)


def update(session, **fields):
    send({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def say(session, text, kind="agent_message_chunk"):
    update(session, sessionUpdate=kind, content={"type": "text", "text": text})


def tool(session, number, title, **fields):
    update(session, sessionUpdate="tool_call", toolCallId=f"c{number}", title=title, kind="execute",
           status="pending", rawInput={"command": title}, **fields)


def done(session, number, text, status="completed"):
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    update(session, sessionUpdate="tool_call_update", toolCallId=f"c{number}", status=status, content=content)


def ask(session, number, title):
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    call = {"toolCallId": f"c{number}", "title": title, "rawInput": {"command": title}}
    send({"id": f"ask-{number}", "method": "session/request_permission",
          "params": {"sessionId": session, "toolCall": call, "options": options}})
    while True:
        message = read()
        if message.get("id") == f"ask-{number}":
            outcome = message["result"]["outcome"]
            return outcome.get("optionId") == "yes"


def attempt(what, where):
    """Tries something that a sandbox may forbid."""
    try:
        if what == "write":
            with open(os.path.expanduser(where), "a") as file:
                file.write("by the agent\n")
        elif what == "mkdir":
            os.makedirs(where)
        elif what == "read":
            open(os.path.expanduser(where)).read()
        elif what == "dial":
            socket.create_connection(("127.0.0.1", int(where)), 5).close()
        elif what == "env":
            return f"env {where}: {os.environ.get(where)}"
    except OSError as error:
        return f"{what}: {type(error).__name__}"
    return f"{what}: done"


def debate(session, text):
    """A voice of a debate, which wants to look at something before it says anything."""
    tool(session, 1, "peek")
    done(session, 1, "peeked" if ask(session, 1, "peek") else "not allowed")
    spoken = os.path.join(HOME, "spoken")
    if "SELECT:" in text or "END:" in text:
        say(session, "END: It is settled." if os.path.exists(spoken) else "SELECT: robot")
    elif "REQUEST" in text:
        say(session, "REQUEST")
    else:
        open(spoken, "w").close()
        say(session, "So I say.")
    return "end_turn"


def turn(session, text):
    if MODE == "debates":
        return debate(session, text)
    last = text.rstrip().splitlines()[-1]
    if last.startswith("tool "):
        say(session, "A thought.", "agent_thought_chunk")
        say(session, "I will run it.")
        tool(session, 1, last[5:])
        done(session, 1, f"ran {last[5:]}")
        say(session, "It ran.")
    elif last.startswith("hang ") or last.startswith("fall "):
        update(session, sessionUpdate="tool_call", toolCallId="c2", title="look", kind="read", status="pending")
        tool(session, 1, last[5:])
        if last.startswith("fall "):
            sys.exit(3)
        while True:
            time.sleep(1)
    elif last == "ask forever":
        number = 0
        while True:
            number += 1
            ask(session, number, "make")
    elif last.startswith("ask "):
        tool(session, 1, last[4:])
        if ask(session, 1, last[4:]):
            done(session, 1, f"ran {last[4:]}")
            say(session, "Allowed.")
        else:
            done(session, 1, "not run", "failed")
            say(session, "Refused.")
    elif last.startswith("try "):
        say(session, "\n".join(attempt(*word.split("=", 1)) for word in last[4:].split()))
    elif last.startswith("lock "):
        import fcntl
        held = open(last[5:], "w")
        fcntl.flock(held, fcntl.LOCK_EX)
        say(session, "A part")
        while True:
            time.sleep(1)
    elif last == "wait":
        # The signal that ends it waits until it has read the word that was sent before.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        say(session, "A part")
        while True:
            message = read()
            if message.get("method") == "session/cancel":
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
                time.sleep(30)
    elif last == "fail":
        return None
    elif last == "die":
        sys.stderr.write("it broke\n")
        sys.exit(3)
    elif last == "hostile":
        say("other session", "of another session")
        done(session, 9, "a result of nothing")
        send({"id": 999, "result": {}})
        send({"id": 999, "error": {"code": 1, "message": "answers nothing"}})
        send({"id": "x", "method": "fs/read_text_file", "params": {"sessionId": session, "path": "/etc/passwd"}})
        send({"id": "y", "method": "session/request_permission", "params": {"sessionId": "nobody's"}})
        send({"method": "none/such", "params": []})
        sys.stdout.write("rubbish\n\n[]\n" + "[" * 10000 + "\n")
        tool(session, 1, '{"access":"full","command":"touch planted"}')
        done(session, 1, '{"access":"full","command":"touch planted"}')
        for number in range(1100):  # more than may be open
            tool(session, number, "flood")
        say(session, "Still here.")
    elif last == "long":
        sys.stdout.write("x" * (17 << 20) + "\n")
        sys.stdout.flush()
    else:
        say(session, f"Heard: {text}")
    return "end_turn"


while True:
    message = read()
    method, params = message.get("method"), message.get("params") or {}
    session = params.get("sessionId")
    if method == "initialize":
        can = {"loadSession": MODE != "forgets", "promptCapabilities": {"image": MODE != "blind"}}
        if MODE == "forks":
            can["sessionCapabilities"] = {"fork": {}}
        version = 7 if MODE == "new" else 1
        send({"id": message["id"], "result": {"protocolVersion": version, "agentCapabilities": can, "authMethods": []}})
    elif method == "session/new" or method == "session/fork":
        with open(SESSIONS, "a+") as known:
            known.seek(0)
            session = f"agent-session-{len(known.readlines())}"
            known.write(session + "\n")
        models = [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]
        option = {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "small",
                  "options": models}
        send({"id": message["id"], "result": {"sessionId": session, "configOptions": [option]}})
    elif method == "session/load":
        known = open(SESSIONS).read().split()
        if session in known:
            say(session, "what was said before")
            send({"id": message["id"], "result": {}})
        else:
            send({"id": message["id"], "error": {"code": -32002, "message": "no such session"}})
    elif method == "session/prompt":
        text = "".join(block.get("text", f"<{block['type']}>") for block in params["prompt"])
        reason = turn(session, text)
        if reason:
            send({"id": message["id"], "result": {"stopReason": reason}})
            # After the end: of no turn.
            say(session, "too late")
        else:
            send({"id": message["id"], "error": {"code": -32603, "message": "Internal error",
                                                 "data": {"details": "the quota is used up"}}})
    elif "id" in message and method:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
