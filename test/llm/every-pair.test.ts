import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeServiceException } from "@aws-sdk/client-bedrock-runtime";
import { ApiError } from "@google/genai";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { kindOf, providers as units } from "../../compiler/backends/ai/providers/index.ts";
import type { Gateway } from "../harness/gateway.ts";
import { root } from "../harness/root.ts";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";
import {
  type Feature,
  features,
  hasResults,
  type Question,
  type Reading,
  script,
} from "./table/features.ts";
import { clients, providers, upstreamAt } from "./table/pairs.ts";
import { type Pair, pairs, startPairs } from "./table/pairs-gateway.ts";
import { isStreamed, respond, saidIn, statusOf, thinks } from "./table/respond.ts";
import { Wire } from "./table/wire.ts";

const modes = ["plain", "stream"] as const;

it("the table has every format of clients and every provider", () => {
  const formats = path.join(root, "runtime/llm/formats");
  const ofClients = readdirSync(formats).filter((name) =>
    existsSync(path.join(formats, name, "client.ts")),
  );
  expect(Object.keys(clients).sort()).toEqual(ofClients.sort());
  const kinds = new Set(providers.flatMap(({ provider }) => Object.keys(provider).map(kindOf)));
  expect([...kinds].sort()).toEqual(units.map(({ kind }) => kind).sort());
});

it("every client gets each feature from every provider, or an error that names it", async () => {
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
}, 600_000);

/** Tries one feature of a pair and returns its cell. Throws if the feature neither works nor is refused as expected. */
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
  expect(statusOfError(error)).toBe(400);
  const [, field] = /"((?:messages|input|contents)\b[\w.[\]]*)\\?"/.exec(String(error)) ?? [];
  if (field === undefined) throw new Error(`no field is named: ${error}`);
  return `400 \`${field}\``;
}

/** Checks that the provider's request contains the client's feature in the provider's format. */
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

/** The status of an error as the client's own class has it. */
function statusOfError(error: unknown): number | undefined {
  if (error instanceof BedrockRuntimeServiceException) return error.$metadata.httpStatusCode;
  return Object(error).status;
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
  const own = [...classes, ApiError, BedrockRuntimeServiceException];
  expect(error).toSatisfy((raised) => own.some((each) => raised instanceof each));
  if (status !== undefined) expect(statusOfError(error)).toBe(status);
  const isOfOpenAi = error instanceof OpenAI.APIError || error instanceof Anthropic.APIError;
  if (status === 429 && isOfOpenAi) {
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
    "The result of every client format with every provider, as `test/llm/every-pair.test.ts` finds it with the own clients",
    "of OpenAI, Anthropic, Google and AWS against a compiled gateway: it works, or the gateway refuses the request with a 400 that",
    "names the field. `npx vitest run test/llm/every-pair.test.ts -u` writes this page.",
    "",
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows,
    "",
  ].join("\n");
}
