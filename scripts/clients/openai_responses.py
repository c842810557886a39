"""OpenAI's library, Responses: by the whole history, then by the id of the last response."""

import json

from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, TOOL, say
from openai import OpenAI

client = OpenAI(max_retries=0)
FUNCTION = {"type": "function", "name": TOOL["name"], "parameters": TOOL["schema"], "strict": False}


def ask(history, question, number, previous=None):
    content = question
    if number == 2:
        url = "data:image/png;base64," + IMAGE
        content = [{"type": "input_text", "text": question}, {"type": "input_image", "image_url": url}]
    history.append({"role": "user", "content": content})
    more = {"previous_response_id": previous} if previous else {"instructions": SYSTEM}
    while True:
        request = {"model": "m", "input": history, "tools": [FUNCTION], "max_output_tokens": 100, **more}
        if number % 2 == 1:
            with client.responses.stream(**request) as stream:
                stream.until_done()
                answer = stream.get_final_response()
        else:
            answer = client.responses.create(**request)
        calls = [item for item in answer.output if item.type == "function_call"]
        for item in answer.output:
            if item.type == "message":
                say(item.content[0].text)
                text = {"type": "output_text", "text": item.content[0].text, "annotations": []}
                history.append({"type": "message", "role": "assistant", "content": [text]})
            elif item.type == "function_call":
                say(item.name + " " + json.dumps(json.loads(item.arguments)))
                call = {"type": "function_call", "call_id": item.call_id, "name": item.name}
                history.append({**call, "arguments": item.arguments})
        if not calls:
            return answer.id
        for call in calls:
            history.append({"type": "function_call_output", "call_id": call.call_id, "output": "it is 12"})


history = []
ends = []
previous = None
for number, question in enumerate(QUESTIONS):
    if number < 7:
        previous = ask(history, question, number)
        ends.append(len(history))
    else:
        previous = ask([], question, number, previous)
ask(history[: ends[0]], EDITED, 0)
