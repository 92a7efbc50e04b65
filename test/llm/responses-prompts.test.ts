import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";

it("configured prompts are placed around the instructions and the input", async () => {
  const { received, host } = await startScripted((response) => response.end("{}"));
  const prompts = {
    prepend: [
      { role: "system", content: "First." },
      { role: "user", content: "Before." },
    ],
    append: [{ role: "user", content: "After." }],
  };
  const gateway = await startGateway({
    listeners: [
      {
        routes: [
          {
            policies: { ai: { routes: { "*": "responses" }, prompts } },
            backends: [{ ai: { provider: { openAI: {} }, hostOverride: host } }],
          },
        ],
      },
    ],
  });
  const json = { "content-type": "application/json" };
  const ask = (body: string) => send(`${gateway.url}/v1/responses`, "POST", json, body);
  await ask(
    '{"model":"m", "instructions":"Own.", "input":"Hello", "max_output_tokens":9007199254740993}',
  );
  await ask('{"model":"m", "input":[ {"role":"user","content":"Hi"} ]}');
  expect(received[0]?.body.toString()).toBe(
    '{"model":"m","instructions":"First.\\n\\nOwn.","input":[{"role":"user","content":"Before."},' +
      '{"role":"user","content":"Hello"},{"role":"user","content":"After."}],"max_output_tokens":9007199254740993}',
  );
  expect(JSON.parse(received[1]?.body.toString() ?? "")).toMatchObject({
    instructions: "First.",
    input: [{ content: "Before." }, { content: "Hi" }, { content: "After." }],
  });
});
