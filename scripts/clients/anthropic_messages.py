"""Anthropic's library, Messages."""

import json

from anthropic import Anthropic
from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, TOOL, say

client = Anthropic(max_retries=0)
FUNCTION = {"name": TOOL["name"], "input_schema": TOOL["schema"]}


def ask(history, question, number):
    content = question
    if number == 2:
        source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
        content = [{"type": "text", "text": question}, {"type": "image", "source": source}]
    history.append({"role": "user", "content": content})
    while True:
        request = {
            "model": "m", "max_tokens": 100, "system": SYSTEM, "messages": history, "tools": [FUNCTION]
        }
        if number % 2 == 1:
            with client.messages.stream(**request) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(**request)
        blocks = [block.model_dump(exclude_none=True) for block in answer.content]
        history.append({"role": "assistant", "content": blocks})
        results = []
        for block in answer.content:
            if block.type == "text":
                say(block.text)
            elif block.type == "tool_use":
                say(block.name + " " + json.dumps(block.input))
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": "it is 12"})
        if not results:
            return
        history.append({"role": "user", "content": results})


history = []
ends = []
for number, question in enumerate(QUESTIONS):
    ask(history, question, number)
    ends.append(len(history))
ask(history[: ends[0]], EDITED, 0)
