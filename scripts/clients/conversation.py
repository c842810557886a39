"""What every client asks: ten questions, of which one needs a tool and one has an image, then the history is cut."""

SYSTEM = "Answer in one short sentence."
QUESTIONS = [f"Question {number}: what is new?" for number in range(10)]
# The scripted server calls the tool for this question.
QUESTIONS[4] = "Question 4: what does the tool say?"
EDITED = "Another second question."
TOOL = {
    "name": "clock",
    "schema": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
}
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def say(line):
    print(line, flush=True)
