"""Pydantic AI, which speaks Chat Completions here and calls the tool itself."""

import base64

from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, say
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models.openai import OpenAIChatModel

agent = Agent(OpenAIChatModel("m"), system_prompt=SYSTEM, model_settings={"max_tokens": 100}, retries=0)


@agent.tool_plain
def clock(zone: str) -> str:
    say("clock " + zone)
    return "it is 12"


def ask(history, question, number):
    prompt = [question]
    if number == 2:
        prompt.append(BinaryContent(base64.b64decode(IMAGE), media_type="image/png"))
    if number % 2 == 1:
        with agent.run_stream_sync(prompt, message_history=history) as run:
            say(run.get_output())
            return run.all_messages()
    run = agent.run_sync(prompt, message_history=history)
    say(run.output)
    return run.all_messages()


first = history = ask([], QUESTIONS[0], 0)
for number, question in enumerate(QUESTIONS[1:], 1):
    history = ask(history, question, number)
ask(first, EDITED, 0)
