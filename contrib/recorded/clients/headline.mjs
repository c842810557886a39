// Prints a headline for a note, by OpenAI's Responses: headline.mjs FILE
import { readFileSync } from 'node:fs';

const answer = await fetch(`${process.env.OPENAI_BASE_URL}/responses`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
  body: JSON.stringify({
    model: 'gpt',
    max_output_tokens: 60,
    instructions: 'You write headlines of six words at most.',
    input: readFileSync(process.argv[2], 'utf8'),
  }),
});
const response = await answer.json();
if (!answer.ok) throw new Error(response.error.message);
console.log(response.output[0].content[0].text);
