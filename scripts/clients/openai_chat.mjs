// OpenAI's library for JavaScript, Chat Completions: what conversation.py has, without the image.
import OpenAI from 'openai';

const client = new OpenAI({ maxRetries: 0 });
const parameters = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };
const tools = [{ type: 'function', function: { name: 'clock', parameters } }];
const questions = [...Array(10).keys()].map((number) => `Question ${number}: what is new?`);
questions[4] = 'Question 4: what does the tool say?';

async function ask(history, question, number) {
  history.push({ role: 'user', content: question });
  for (;;) {
    const request = { model: 'm', messages: history, tools, max_tokens: 100 };
    let message;
    if (number % 2 === 1) {
      const stream = await client.chat.completions.create({ ...request, stream: true });
      let content = '';
      for await (const chunk of stream) content += chunk.choices[0]?.delta?.content ?? '';
      message = { role: 'assistant', content };
    } else {
      message = (await client.chat.completions.create(request)).choices[0].message;
    }
    history.push(message);
    if (!message.tool_calls?.length) return console.log(message.content);
    for (const call of message.tool_calls) {
      console.log(call.function.name, JSON.stringify(JSON.parse(call.function.arguments)));
      history.push({ role: 'tool', tool_call_id: call.id, content: 'it is 12' });
    }
  }
}

const history = [{ role: 'system', content: 'Answer in one short sentence.' }];
const ends = [];
for (const [number, question] of questions.entries()) {
  await ask(history, question, number);
  ends.push(history.length);
}
await ask(history.slice(0, ends[0]), 'Another second question.', 0);
