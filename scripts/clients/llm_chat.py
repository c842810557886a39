"""Simon Willison's llm, Chat Completions, by its library."""

import base64

import llm
from conversation import EDITED, IMAGE, QUESTIONS, SYSTEM, say

model = llm.get_model("gpt-4o-mini")


def clock(zone: str) -> str:
    say("clock " + zone)
    return "it is 12"


def ask(conversation, question, number):
    attachments = [llm.Attachment(type="image/png", content=base64.b64decode(IMAGE))] if number == 2 else []
    answer = conversation.chain(
        question, system=SYSTEM, attachments=attachments, tools=[clock], stream=number % 2 == 1, options={"max_tokens": 100}
    )
    say(answer.text())


conversation = model.conversation()
for number, question in enumerate(QUESTIONS):
    ask(conversation, question, number)
edited = model.conversation()
edited.responses = conversation.responses[:1]
ask(edited, EDITED, 0)
