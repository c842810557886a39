"""Ollama's library."""

import json

import ollama
from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, TOOL, say

FUNCTION = {"type": "function", "function": {"name": TOOL["name"], "parameters": TOOL["schema"]}}


def ask(history, question, number):
    message = {"role": "user", "content": question}
    if number == 2:
        message["images"] = [IMAGE]
    history.append(message)
    while True:
        streams = number % 2 == 1
        answer = ollama.chat(
            model="m", messages=history, tools=[FUNCTION], stream=streams, options={"num_predict": 100}
        )
        if streams:
            text = "".join(piece.message.content or "" for piece in answer)
            history.append({"role": "assistant", "content": text})
            return say(text)
        history.append(answer.message.model_dump(exclude_none=True))
        if not answer.message.tool_calls:
            return say(answer.message.content)
        for call in answer.message.tool_calls:
            say(call.function.name + " " + json.dumps(dict(call.function.arguments)))
            history.append({"role": "tool", "tool_name": call.function.name, "content": "it is 12"})


history = [{"role": "system", "content": SYSTEM}]
ends = []
for number, question in enumerate(QUESTIONS):
    ask(history, question, number)
    ends.append(len(history))
ask(history[: ends[0]], EDITED, 0)
