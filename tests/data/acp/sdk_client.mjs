// A client by the protocol's own SDK: does what a test says in JSON lines, and prints what came of it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, ...command] = process.argv.slice(2);
const acp = await import(pathToFileURL(sdk));
const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

let permission = "allow_once";
const client = acp
  .client({ name: "test" })
  .onRequest("session/request_permission", ({ params }) => {
    print({ asked: params.toolCall.title, options: params.options.map((option) => option.kind) });
    const option = params.options.find((option) => option.kind === permission);
    return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
  })
  .onNotification("session/update", ({ params }) => print({ session: params.sessionId, update: params.update }));

const connection = client.connect(stream);
for await (const line of createInterface({ input: process.stdin })) {
  const { method, params, notify, answer } = JSON.parse(line);
  if (answer) {
    permission = answer;
  } else if (notify) {
    await connection.agent.notify(notify, params);
  } else {
    // Not awaited: several may be under way at once.
    connection.agent.request(method, params).then(
      (result) => print({ method, result }),
      (error) => print({ method, error: { code: error.code, message: error.message, data: error.data } }),
    );
  }
}
agent.stdin.end();
agent.on("exit", (code) => process.exit(code ?? 1));
