"""Prints a headline for a note, by OpenAI's Chat Completions: headline.py FILE"""

import json
import os
import sys
import urllib.request

with open(sys.argv[1], encoding="utf-8") as file:
    note = file.read()
body = {
    "model": "gpt",
    "max_tokens": 60,
    "messages": [
        {"role": "system", "content": "You write headlines of six words at most."},
        {"role": "user", "content": note},
    ],
}
headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as answer:
    print(json.load(answer)["choices"][0]["message"]["content"])
