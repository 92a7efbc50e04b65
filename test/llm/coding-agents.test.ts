import type { ServerResponse } from "node:http";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Received, startScripted } from "../harness/scripted.ts";
import { itUnless, NOT_LONG } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { agents, refusalOf, startAgentGateway } from "./agent-gateway.ts";
import { programs } from "./agent-programs.ts";
import type { Call } from "./table/features.ts";
import { upstreamAt } from "./table/pairs.ts";
import { isStreamed } from "./table/respond.ts";

const pairs = (["claude", "codex", "gemini", "opencode"] as const).flatMap((agent) =>
  (["openai", "anthropic", "gemini", "bedrock"] as const).map(
    (provider) => [agent, provider] as const,
  ),
);

/** Two agents need seconds, the others minutes. */
const QUICK = ["claude", "codex"];

for (const [agent, provider] of pairs)
  itUnless(QUICK.includes(agent) ? undefined : NOT_LONG)(
    `${agent} runs a command that the model of ${provider} calls, and continues in a second run`,
    async () => {
      const { native, call } = agents[agent];
      const upstream = await startScripted(
        (response, _count, request) => respond(response, request, call),
        native === provider ? "anything" : "valid",
      );
      const gateway = await startAgentGateway(upstream, provider);
      const { url } = gateway;
      const home = temporaryFolder();
      for (const number of [1, 2]) {
        const prompt = `Run the command of step ${number}. [run ${number}]`;
        const output = await programs[agent]({ url, home, prompt, continues: number > 1 });
        expect(output).toContain(`The command has printed a${number}${number}b.`);
      }
      expect(refused).toEqual([]);
      if (agent !== "codex") return;
      // Each run tries a WebSocket once.
      const attempts = () => [...gateway.output.matchAll(/http\.status=426 /g)].length;
      await eventually(() => attempts() > 1 || null, "the attempts of both runs");
      expect(attempts()).toBe(2);
    },
    300_000,
  );

/** Requests that a provider has refused, and why. */
const refused: string[] = [];

/** Calls a command that prints `a11b` or `a22b`, and reports it when the output arrives. */
function respond(
  response: ServerResponse,
  { url, body }: Received,
  call: (command: string) => Call,
): void {
  const text = body.toString("utf8");
  const refusal = refusalOf(url, text);
  if (refusal !== undefined) {
    refused.push(refusal);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: refusal, type: "invalid_request_error" } }));
    return;
  }
  const number = text.includes("[run 2]") ? 2 : 1;
  const printed = `a${number}${number}b`;
  const wanted = call(`printf 'a%sb' ${number}${number}`);
  const isCalled = text.includes("[run") && text.includes(`"${wanted.name}"`);
  const isDone = text.includes(printed) || !isCalled;
  const said = {
    reasoning: "",
    text: isDone ? `The command has printed ${printed}.` : "",
    calls: isDone ? [] : [{ id: `call_of_run_${number}`, ...wanted }],
  };
  const server = upstreamAt(url);
  if (!isStreamed(url, text)) {
    response.writeHead(200, { "content-type": "application/json" }).end(server.whole(said));
    return;
  }
  response.writeHead(200, { "content-type": server.streamType });
  for (const event of server.events(said)) response.write(event);
  response.end();
}
