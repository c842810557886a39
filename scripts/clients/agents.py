"""Coding agents, a process for each question: conversation.py's questions in one session, and a fork of it after the first.

    agents.py claude|codex|opencode PROGRAM
    agents.py clock                     the tool, as an MCP server on stdio
"""

import base64
import json
import os
import pathlib
import subprocess
import sys

from conversation import EDITED, IMAGE, QUESTIONS, TOOL, say

MODEL = {"claude": "claude-sonnet-4-5", "codex": "gpt-5", "opencode": "openai/gpt-5"}
CLOCK = [sys.executable, "-B", os.path.abspath(__file__), "clock"]
PICTURE = pathlib.Path("picture.png")


def run(*command, given=""):
    ran = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120)
    if ran.returncode != 0:
        sys.exit(f"{command}: {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def claude(program, question, session, forks, has_image):
    servers = {"mcpServers": {"clock": {"command": CLOCK[0], "args": CLOCK[1:]}}}
    options = ["--strict-mcp-config", "--mcp-config", json.dumps(servers), "--allowedTools", "mcp__clock__clock"]
    options += ["--model", MODEL["claude"], "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]
    options += ["--resume", session] if session else []
    options += ["--fork-session"] if forks else []
    content = [{"type": "text", "text": question}]
    if has_image:
        content.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}})
    given = {"type": "user", "message": {"role": "user", "content": content}}
    events = run(program, "-p", *options, given=json.dumps(given) + "\n")
    for block in [block for event in events if event["type"] == "assistant" for block in event["message"]["content"]]:
        say(block["text"] if block["type"] == "text" else f"{block['name']} {json.dumps(block['input'])}")
    return events[-1]["session_id"]


def codex(program, question, session, forks, has_image):
    settings = {
        # The manual's line: codex reads no address from the environment.
        "openai_base_url": os.environ["OPENAI_BASE_URL"],
        "mcp_servers.clock.command": CLOCK[0],
        "mcp_servers.clock.args": CLOCK[1:],
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={json.dumps(value)}")]
    options += ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", MODEL["codex"]]
    image = ["-i", str(PICTURE)] if has_image else []
    way = [] if session is None else ["fork" if forks else "resume"]
    events = run(program, "exec", *way, *options, *image, "--", *([session] if session else []), question)
    for item in [event["item"] for event in events if event["type"] == "item.completed"]:
        if item["type"] == "agent_message":
            say(item["text"])
        elif item["type"] == "mcp_tool_call":
            say(f"{item['tool']} {json.dumps(item['arguments'])} {item['status']}")
    return next(event["thread_id"] for event in events if event["type"] == "thread.started")


def opencode(program, question, session, forks, has_image):
    servers = {"clock": {"type": "local", "command": CLOCK}}
    settings = {"mcp": servers, "autoupdate": False, "share": "disabled"}
    # opencode reads no address from the environment, but fills it into its settings.
    settings["provider"] = {"openai": {"options": {"baseURL": "{env:OPENAI_BASE_URL}"}}}
    pathlib.Path("opencode.json").write_text(json.dumps(settings))
    options = ["--format", "json", "-m", MODEL["opencode"]]
    options += ["--session", session] if session else []
    options += ["--fork"] if forks else []
    options += ["-f", str(PICTURE)] if has_image else []
    events = run(program, "run", *options, "--", question)
    for part in [event["part"] for event in events if event["type"] in ("text", "tool_use")]:
        say(part["text"] if part["type"] == "text" else f"{part['tool']} {json.dumps(part['state']['input'])}")
    return events[0]["sessionID"]


def clock():
    """Serves the tool."""
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params") or {}
        tool = {"name": TOOL["name"], "description": "Says the time.", "inputSchema": TOOL["schema"]}
        version = params.get("protocolVersion")
        answers = {
            "initialize": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "clock", "version": "1"}},
            "tools/list": {"tools": [tool]},
            "tools/call": {"content": [{"type": "text", "text": "it is 12"}]},
        }
        if "id" in message:
            say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers.get(message["method"], {})}))


def main():
    ask, program = {"claude": claude, "codex": codex, "opencode": opencode}[sys.argv[1]], sys.argv[2]
    PICTURE.write_bytes(base64.b64decode(IMAGE))
    session = ask(program, QUESTIONS[0], None, False, False)
    ask(program, EDITED, session, True, False)
    for number, question in enumerate(QUESTIONS[1:], 1):
        ask(program, question, session, False, number == 2)


if __name__ == "__main__":
    clock() if sys.argv[1:] == ["clock"] else main()
