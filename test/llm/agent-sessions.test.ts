import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { expect } from "vitest";
import type { JsonObject } from "../../runtime/cel/variables.ts";
import { isJsonObject } from "../../runtime/json/json-object.ts";
import { type Received, startScripted } from "../harness/scripted.ts";
import { itUnless, NOT_LONG } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { agents, type Provider, refusalOf, startAgentGateway } from "./agent-gateway.ts";
import { programs } from "./agent-programs.ts";
import type { Call } from "./table/features.ts";
import { upstreamAt } from "./table/pairs.ts";
import { isStreamed } from "./table/respond.ts";

/** A picture of one red pixel. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/** The calls of each turn, by the marks that their commands print: in steps, and several at once in a step. */
const turns: readonly (readonly (readonly string[])[])[] = [
  [["a"]],
  [["b", "c", "d"]],
  [],
  [["long"]],
  [],
  [["failing"]],
  [["e"], ["f", "g"]],
  [["h"]],
  [],
  [["i"]],
];

const PICTURED = 3;
const INTERRUPTED = 5;
const COMPACTED = 9;

/** Returns a command that prints a mark, which is not part of the command itself. */
function commandOf(mark: string): string {
  const print = `printf 'mark-%s-end' ${mark}`;
  if (mark === "long") return `head -c 60000 /dev/zero | tr '\\0' x; ${print}`;
  return mark === "failing" ? `${print}; exit 3` : print;
}

for (const agent of ["gemini", "opencode"] as const)
  for (const provider of ["openai", "anthropic", "gemini", "bedrock"] as const)
    itUnless(NOT_LONG)(
      `${agent} has a session of ${turns.length} turns with ${provider}`,
      () => holdSession(agent, provider),
      900_000,
    );

async function holdSession(agent: "gemini" | "opencode", provider: Provider): Promise<void> {
  const { call, native } = agents[agent];
  const faults: string[] = [];
  const interruption = new AbortController();
  const pictures: string[] = [];
  const upstream = await startScripted((response, _count, request) => {
    const text = request.body.toString("utf8");
    // An agent may repeat results in its own format.
    const broken = native === provider ? undefined : brokenHistory(request.url, JSON.parse(text));
    const fault = refusalOf(request.url, text) ?? broken;
    if (fault !== undefined) faults.push(`${request.url}: ${fault}`);
    if (text.includes(PICTURE)) pictures.push(request.url);
    respond(response, request, call, interruption);
  }, "anything");
  const gateway = await startAgentGateway(upstream, provider);
  const home = temporaryFolder();
  writeFileSync(path.join(home, "red.png"), Buffer.from(PICTURE, "base64"));
  for (let turn = 1; turn <= turns.length; turn++) {
    const output = await programs[agent]({
      ...{ url: gateway.url, home, continues: turn > 1 },
      prompt: `Do step ${turn}. [turn ${turn}]`,
      ...(turn === PICTURED && { picture: "red.png" }),
      ...(turn === INTERRUPTED && { signal: interruption.signal }),
      ...(turn === COMPACTED && { compacts: true }),
    });
    expect(faults, `turn ${turn}`).toEqual([]);
    if (turn === INTERRUPTED) expect(interruption.signal.aborted).toBe(true);
    else expect(output).toContain(`Step ${turn} is done.`);
    if (turn === PICTURED) expect(pictures.length).toBeGreaterThan(0);
  }
}

function respond(
  response: ServerResponse,
  { url, body }: Received,
  call: (command: string) => Call,
  interruption: AbortController,
): void {
  const text = body.toString("utf8");
  const turn = Math.max(0, ...[...text.matchAll(/\[turn (\d+)\]/g)].map(([, n]) => Number(n)));
  const steps = turns[turn - 1] ?? [];
  const hasTool = text.includes(`"${call("").name}"`);
  const isDone = (mark: string) => text.includes(`mark-${mark}-end`);
  const next = steps.find((marks) => !marks.every(isDone));
  const wanted = hasTool && next !== undefined ? next : [];
  const server = upstreamAt(url);
  const said = {
    reasoning: "",
    text: wanted.length === 0 ? `Step ${turn} is done.` : "",
    calls: wanted.map((mark, index) => ({
      id: `call_${turn}_${mark}_${index}`,
      ...call(commandOf(mark)),
    })),
  };
  if (!isStreamed(url, text)) {
    response.writeHead(200, { "content-type": "application/json" }).end(server.whole(said));
    return;
  }
  response.writeHead(200, { "content-type": server.streamType });
  const events = server.events(said);
  const isStalled = turn === INTERRUPTED && hasTool && !interruption.signal.aborted;
  for (const event of isStalled ? events.slice(0, -2) : events) response.write(event);
  if (isStalled) interruption.abort();
  else response.end();
}

/** Returns what strict providers refuse in a history that their schema allows; `undefined` if there is nothing. */
function brokenHistory(url: string, body: JsonObject): string | undefined {
  // Requests in the format of chat completions reach Google as the agent sends them.
  if (/count|chat\/completions/.test(url)) return undefined;
  if (url.includes("/responses")) {
    const items = listOf(body.input);
    const ids = (type: string) =>
      items.filter((item) => item.type === type).map((item) => String(item.call_id));
    return unequal(ids("function_call").toSorted(), ids("function_call_output").toSorted());
  }
  const turnsOf = listOf(body.messages ?? body.contents);
  const last = turnsOf.at(-1);
  if (last?.role !== "user") return "the last message must be one of the user";
  for (const [index, { content, parts }] of turnsOf.entries()) {
    const blocks = listOf(content ?? parts);
    if (Array.isArray(content ?? parts) && blocks.length === 0) return "a message is empty";
    if (blocks.some((block) => block.text === "")) return "text content blocks must be non-empty";
    const following = turnsOf[index + 1];
    const broken = unequal(
      callsIn(blocks),
      resultsIn(listOf(following?.content ?? following?.parts)),
    );
    if (broken !== undefined && (callsIn(blocks).length > 0 || index === 0)) return broken;
  }
  return undefined;
}

function callsIn(blocks: readonly JsonObject[]): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type === "tool_use") return [String(block.id)];
    if (isJsonObject(block.toolUse)) return [String(block.toolUse.toolUseId)];
    return isJsonObject(block.functionCall) ? [String(block.functionCall.name)] : [];
  });
}

function resultsIn(blocks: readonly JsonObject[]): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type === "tool_result") return [String(block.tool_use_id)];
    if (isJsonObject(block.toolResult)) return [String(block.toolResult.toolUseId)];
    return isJsonObject(block.functionResponse) ? [String(block.functionResponse.name)] : [];
  });
}

function unequal(calls: readonly string[], results: readonly string[]): string | undefined {
  return calls.join() === results.join()
    ? undefined
    : `calls ${calls.join()} have results ${results.join()}`;
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
