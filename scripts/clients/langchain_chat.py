"""LangChain's library for OpenAI, Chat Completions."""

import json

from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, TOOL, say
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

FUNCTION = {"type": "function", "function": {"name": TOOL["name"], "parameters": TOOL["schema"]}}
client = ChatOpenAI(model="m", max_tokens=100, max_retries=0).bind_tools([FUNCTION])


def ask(history, question, number):
    content = question
    if number == 2:
        url = "data:image/png;base64," + IMAGE
        content = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
    history.append(HumanMessage(content))
    while True:
        if number % 2 == 1:
            pieces = list(client.stream(history))
            message = sum(pieces[1:], pieces[0])
        else:
            message = client.invoke(history)
        history.append(message)
        if not message.tool_calls:
            return say(message.text)
        for call in message.tool_calls:
            say(call["name"] + " " + json.dumps(call["args"]))
            history.append(ToolMessage("it is 12", tool_call_id=call["id"]))


history = [SystemMessage(SYSTEM)]
ends = []
for number, question in enumerate(QUESTIONS):
    ask(history, question, number)
    ends.append(len(history))
ask(history[: ends[0]], EDITED, 0)
