import { existsSync, readdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import path from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { providers as units } from "../../compiler/backends/ai/providers/index.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { root } from "../harness/root.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import {
  callsOf,
  type Feature,
  features,
  hasResults,
  type Question,
  type Reading,
  script,
} from "./table/features.ts";
import { clients, type ProviderCase, providers, upstreamAt } from "./table/pairs.ts";
import { Wire } from "./table/wire.ts";

/** One way from a client to a provider. */
interface Pair {
  readonly client: string;
  readonly provider: ProviderCase;
  /** What its requests begin with. */
  readonly prefix: string;
}

const pairs: readonly Pair[] = Object.keys(clients).flatMap((client) =>
  providers.map((provider, index) => ({ client, provider, prefix: `/${client}/${index}` })),
);

const modes = ["plain", "stream"] as const;

it("the table has every format of clients and every provider", () => {
  const formats = path.join(root, "runtime/llm/formats");
  const ofClients = readdirSync(formats).filter((name) =>
    existsSync(path.join(formats, name, "client.ts")),
  );
  expect(Object.keys(clients).sort()).toEqual(ofClients.sort());
  const kinds = new Set(providers.flatMap(({ provider }) => Object.keys(provider)));
  expect([...kinds].sort()).toEqual(units.map(({ kind }) => kind).sort());
});

it("every client gets everything from every provider, or is told what it cannot get", async () => {
  const upstream = await startScripted(respond);
  const gateway = await startPairs(upstream);
  const faults: string[] = [];
  const rows: string[] = [];
  for (const pair of pairs) {
    const cells = await Promise.all(
      modes.flatMap((mode) =>
        features.map(async (feature) => {
          const name = `${pair.prefix.slice(1)} ${mode} ${feature}`;
          return tryCell(pair, feature, mode === "stream", gateway, upstream).catch((fault) => {
            faults.push(`${name} (${pair.provider.name}): ${fault}`);
            return "fails";
          });
        }),
      ),
    );
    for (const [index, mode] of modes.entries()) {
      const row = cells.slice(index * features.length, (index + 1) * features.length);
      rows.push(`| ${[pair.client, pair.provider.name, mode, ...row].join(" | ")} |`);
    }
  }
  expect(faults).toEqual([]);
  const file = path.join(root, ".github/reference/llm-table.md");
  await expect(tableText(rows)).toMatchFileSnapshot(file);
});

/** One gateway with a route for each pair. */
function startPairs({ host }: Scripted): Promise<Gateway> {
  return startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: pairs.map(({ client, provider, prefix }) => ({
          name: `${client}-${provider.name.replace(/\W+/g, "-")}`,
          matches: [{ path: { pathPrefix: prefix } }],
          policies: {
            backendAuth: { key: "${KEY}" },
            ai: { routes: { [clients[client]?.path ?? ""]: client } },
          },
          backends: [{ ai: { provider: provider.provider, hostOverride: host } }],
        })),
      },
    ],
  });
}

/** What the model says, by its turn: it is the same whole and streamed. */
function saidIn(feature: Feature, turn: number, thinks: boolean): Reading {
  const calls = turn === 0 ? callsOf(feature) : [];
  const reasoning = feature === "reasoning" && turn === 0 && thinks ? script.thought : "";
  const text = feature === "json schema" ? script.output : script.text;
  return { calls, reasoning, text: calls.length > 0 ? "" : text };
}

/** Whether a provider shows what its model thought when it is asked to think. */
function thinks(url: string): boolean {
  return !/nova|\/chat\/completions/.test(url);
}

/** Every provider's server: the prompt says what it is to do. */
function respond(response: ServerResponse, _count: number, { url, body }: Received): void {
  const text = body.toString("utf8");
  const feature = features.find((each) => text.includes(`[${each}]`)) ?? "text";
  const isStream = isStreamed(url, text);
  const server = upstreamAt(url);
  const status = statusOf(feature);
  const said = saidIn(feature, text.includes(script.results[0]) ? 1 : 0, thinks(url));
  if (status !== undefined) {
    const { headers, body: error } = server.error(status);
    const type = { "content-type": "application/json", "retry-after": "7" };
    response.writeHead(status, { ...type, ...headers }).end(error);
  } else if (isStream) {
    response.writeHead(200, { "content-type": server.streamType });
    const isBroken = feature === "EOF" || feature === "error after 200";
    for (const event of server.events(said).slice(0, isBroken ? -server.endings : undefined))
      response.write(event);
    response.end(feature === "error after 200" ? server.errorEvent : undefined);
  } else {
    response.writeHead(200, { "content-type": "application/json" });
    const whole = server.whole(said);
    if (feature === "error after 200") response.end(server.error(500).body);
    else response.end(feature === "EOF" ? whole.slice(0, -9) : whole);
  }
}

function isStreamed(url: string, text: string): boolean {
  return /stream/i.test(url) || JSON.parse(text).stream === true;
}

function statusOf(feature: Feature): 400 | 429 | undefined {
  if (feature === "error 400") return 400;
  return feature === "error 429" ? 429 : undefined;
}

/** Tries one feature of a pair: what stands in its cell. Throws when it is neither had nor refused as it should be. */
async function tryCell(
  { client, provider, prefix }: Pair,
  feature: Feature,
  isStream: boolean,
  gateway: Gateway,
  upstream: Scripted,
): Promise<string> {
  const prompt = `[${feature}] ${prefix} ${isStream ? "stream" : "plain"}.`;
  const wire = new Wire();
  const url = `${gateway.url}${prefix}`;
  const question = { url, model: provider.model, feature, isStream, prompt, fetch: wire.fetch };
  const outcome = await ask(client, question);
  const sent = upstream.received.filter(({ body }) => body.includes(prompt));
  if (sent.length === 0 && outcome.error !== undefined) return refusalOf(outcome.error);
  checkSent(sent, feature, isStream);
  const problems = await wire.problems(client);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  if (isFault(feature)) checkFault(feature, isStream, outcome.error);
  else {
    if (outcome.error !== undefined) throw outcome.error;
    const expected = sent.map(({ url: asked }, turn) => saidIn(feature, turn, thinks(asked)));
    expect(outcome.readings).toEqual(expected);
  }
  return "works";
}

interface Outcome {
  readonly readings: readonly Reading[];
  readonly error?: unknown;
}

function ask(client: string, question: Question): Promise<Outcome> {
  const { ask: send } = clients[client] ?? {};
  if (send === undefined) throw new Error(`there is no client of ${client}`);
  return send(question).then(
    (readings): Outcome => ({ readings }),
    (error: unknown): Outcome => ({ readings: [], error }),
  );
}

/** The cell of what the gateway refuses: the field that it names. */
function refusalOf(error: unknown): string {
  expect(error).toMatchObject({ status: 400 });
  const [, field] = /"((?:messages|input)\b[\w.[\]]*)\\?"/.exec(String(error)) ?? [];
  if (field === undefined) throw new Error(`no field is named: ${error}`);
  return `400 \`${field}\``;
}

/** What the provider got says in its own form what the client asked for. */
function checkSent(sent: readonly Received[], feature: Feature, isStream: boolean): void {
  expect(sent).toHaveLength(hasResults(feature) ? 2 : 1);
  for (const [turn, { url, body }] of sent.entries()) {
    const server = upstreamAt(url);
    const text = body.toString("utf8");
    expect(JSON.parse(text)).toMatchObject(
      turn === 0 ? server.asked(feature) : server.replayed(feature),
    );
    expect(isStreamed(url, text)).toBe(isStream);
  }
}

function isFault(feature: Feature): boolean {
  return feature.startsWith("error") || feature === "EOF";
}

/** The client's own class of error, with the status and what the provider said. */
function checkFault(feature: Feature, isStream: boolean, error: unknown): void {
  const status = statusOf(feature);
  const classes =
    status === 400
      ? [OpenAI.BadRequestError, Anthropic.BadRequestError]
      : status === 429
        ? [OpenAI.RateLimitError, Anthropic.RateLimitError]
        : isStream
          ? [OpenAI.APIError, Anthropic.APIError]
          : [OpenAI.InternalServerError, Anthropic.InternalServerError];
  expect(error).toSatisfy((raised) => classes.some((each) => raised instanceof each));
  if (status !== undefined) expect(error).toMatchObject({ status });
  if (status === 429) {
    expect(error).toMatchObject({
      headers: expect.toSatisfy((headers: Headers) => headers.get("retry-after") === "7"),
    });
  }
  const words = feature === "EOF" ? "before it was complete" : script.fault;
  if (isStream || status !== undefined) expect(String(error)).toContain(words);
}

function tableText(rows: readonly string[]): string {
  const head = ["client", "provider", "mode", ...features];
  return [
    "# Models: every client with every provider",
    "",
    "What the clients of each format get from each provider, as `test/llm/every-pair.test.ts` finds it with OpenAI's and",
    "Anthropic's own clients against a compiled gateway: it works, or the gateway refuses the request with a 400 that names",
    "the field. `npx vitest run test/llm/every-pair.test.ts -u` writes this page.",
    "",
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows,
    "",
  ].join("\n");
}
