// Anthropic's library for JavaScript, Messages: what conversation.py has, without the image.
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ maxRetries: 0 });
const schema = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };
const tools = [{ name: 'clock', input_schema: schema }];
const system = 'Answer in one short sentence.';
const questions = [...Array(10).keys()].map((number) => `Question ${number}: what is new?`);
questions[4] = 'Question 4: what does the tool say?';

async function ask(history, question, number) {
  history.push({ role: 'user', content: question });
  for (;;) {
    const request = { model: 'm', max_tokens: 100, system, messages: history, tools };
    const message =
      number % 2 === 1
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
    history.push({ role: 'assistant', content: message.content });
    const results = [];
    for (const block of message.content) {
      if (block.type === 'text') console.log(block.text);
      if (block.type === 'tool_use') {
        console.log(block.name, JSON.stringify(block.input));
        results.push({ type: 'tool_result', tool_use_id: block.id, content: 'it is 12' });
      }
    }
    if (results.length === 0) return;
    history.push({ role: 'user', content: results });
  }
}

const history = [];
const ends = [];
for (const [number, question] of questions.entries()) {
  await ask(history, question, number);
  ends.push(history.length);
}
await ask(history.slice(0, ends[0]), 'Another second question.', 0);
