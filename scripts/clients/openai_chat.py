"""OpenAI's library, Chat Completions."""

import json

from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, TOOL, say
from openai import OpenAI

client = OpenAI(max_retries=0)
FUNCTION = {"type": "function", "function": {"name": TOOL["name"], "parameters": TOOL["schema"]}}


def ask(history, question, number):
    content = question
    if number == 2:
        url = "data:image/png;base64," + IMAGE
        content = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
    history.append({"role": "user", "content": content})
    while True:
        streams = number % 2 == 1
        answer = client.chat.completions.create(
            model="m", messages=history, tools=[FUNCTION], stream=streams, max_tokens=100
        )
        if streams:
            text = "".join(chunk.choices[0].delta.content or "" for chunk in answer if chunk.choices)
            message, calls = {"role": "assistant", "content": text}, None
        else:
            message = answer.choices[0].message.model_dump(exclude_none=True)
            text, calls = answer.choices[0].message.content, answer.choices[0].message.tool_calls
        history.append(message)
        if not calls:
            return say(text)
        for call in calls:
            say(call.function.name + " " + json.dumps(json.loads(call.function.arguments)))
            history.append({"role": "tool", "tool_call_id": call.id, "content": "it is 12"})


history = [{"role": "system", "content": SYSTEM}]
ends = []
for number, question in enumerate(QUESTIONS):
    ask(history, question, number)
    ends.append(len(history))
ask(history[: ends[0]], EDITED, 0)
