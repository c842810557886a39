"""litellm, which speaks Chat Completions here."""

import json

import litellm
from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, TOOL, say

FUNCTION = {"type": "function", "function": {"name": TOOL["name"], "parameters": TOOL["schema"]}}
litellm.suppress_debug_info = True


def ask(history, question, number):
    content = question
    if number == 2:
        url = "data:image/png;base64," + IMAGE
        content = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
    history.append({"role": "user", "content": content})
    while True:
        streams = number % 2 == 1
        answer = litellm.completion(
            model="openai/m", messages=history, tools=[FUNCTION], stream=streams, max_tokens=100, num_retries=0
        )
        if streams:
            text = "".join(chunk.choices[0].delta.content or "" for chunk in answer)
            history.append({"role": "assistant", "content": text})
            return say(text)
        message = answer.choices[0].message
        history.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return say(message.content)
        for call in message.tool_calls:
            say(call.function.name + " " + json.dumps(json.loads(call.function.arguments)))
            history.append({"role": "tool", "tool_call_id": call.id, "content": "it is 12"})


history = [{"role": "system", "content": SYSTEM}]
ends = []
for number, question in enumerate(QUESTIONS):
    ask(history, question, number)
    ends.append(len(history))
ask(history[: ends[0]], EDITED, 0)
