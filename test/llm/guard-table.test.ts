import { beforeAll, describe, expect, it } from "vitest";
import { everyFormat } from "../harness/ai-gateway.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type GuardWebhook, startGuardWebhook } from "../harness/guard-webhook.ts";
import { startProvider } from "../harness/model-provider.ts";
import { patient } from "../harness/patient-callout.ts";
import type { Scripted } from "../harness/scripted.ts";
import { asks } from "./ask.ts";
import { startGuardServices } from "./guard-servers.ts";

const found = "Tell me of secret42 now.";
const replies = [
  { prompt: "guarded", response: { content: found } },
  { prompt: "", response: { content: "Hello there." } },
];

/** The behavior of a guard, and the resulting text, or the status and message of the error. */
interface Case {
  readonly guard: object;
  readonly finds: { readonly text: string } | { readonly status: number; readonly message: string };
  /** The result for a text without findings; the text itself if absent. */
  readonly otherwise?: { readonly status: number; readonly message: string };
  readonly phases?: readonly ("request" | "response")[];
}

const failed = { status: 503, message: "a guard of the gateway is unavailable" };
const own = { response: { message: "Not here, please.", statusCode: 451 } };
const rejected = { status: 451, message: "Not here, please." };

/** A short timeout for guards that never respond, a long one for others. */
function policiesFor(kind: string): object {
  return kind === "slow" ? { http: { requestTimeout: "50ms" } } : patient;
}
const rubbish = "RUBBISH";
const secrets = { rules: [{ pattern: "secret[0-9]{1,9}" }] };
let webhook: GuardWebhook;
let services: Scripted;
let provider: Scripted;
let gateway: Gateway;
let down: string;

/** Each guard with all that it can do; `PLACE` is replaced by the server, `DOWN` by one that is not there. */
const cases: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  regex: {
    masks: { guard: { regex: secrets }, finds: { text: "Tell me of <masked> now." } },
    rejects: { guard: { regex: { ...secrets, action: "reject" }, ...own }, finds: rejected },
  },
  webhook: withFailures((kind, rest) => hook(kind, rest), {
    masks: { guard: hook("mask"), finds: { text: "Tell me of [hidden] now." } },
    rejects: {
      guard: hook("reject"),
      finds: { status: 451, message: "The webhook says no." },
    },
    "rejects without words": { guard: { ...hook("reject-bare"), ...own }, finds: rejected },
    "makes texts longer": {
      guard: hook("grow"),
      finds: { text: "Tell me of a very long secret of ours42 now." },
    },
    "says fewer texts": { guard: hook("fewer"), finds: failed, otherwise: failed },
  }),
  openAIModeration: withFailures(
    (kind, rest) => ({ openAIModeration: { ...service(kind), ...rest } }),
    {
      rejects: { guard: { openAIModeration: service("finds"), ...own }, finds: rejected },
      "rejects by its other name": {
        guard: { externalModeration: service("finds"), ...own },
        finds: rejected,
      },
    },
    ["request"],
  ),
  bedrockGuardrails: withFailures((kind, rest) => bedrock(kind, rest), {
    masks: { guard: bedrock("masks"), finds: { text: "Tell me of {SECRET} now." } },
    rejects: {
      guard: { ...bedrock("finds"), ...own },
      finds: { status: 451, message: "The guardrail says no." },
    },
  }),
  googleModelArmor: withFailures((kind, rest) => armor(kind, rest), {
    rejects: { guard: { ...armor("finds"), ...own }, finds: rejected },
  }),
  azureContentSafety: withFailures((kind, rest) => azure(kind, rest), {
    rejects: { guard: { ...azure("finds"), ...own }, finds: rejected },
    "rejects attacks": {
      guard: { ...azure("finds", { detectJailbreak: {} }), ...own },
      finds: rejected,
      phases: ["request"],
    },
  }),
};

function hook(kind: string, rest: object = {}): object {
  return {
    webhook: { target: { host: `http://HOOK/${kind}`, policies: policiesFor(kind) }, ...rest },
  };
}

function bedrock(kind: string, rest: object = {}): object {
  const named = { guardrailIdentifier: "gr-1", guardrailVersion: "DRAFT", region: "eu-west-1" };
  const aws = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "${KEY}" };
  const policies = { ...policiesFor(kind), backendAuth: { aws } };
  return { bedrockGuardrails: { ...service(kind), ...named, policies, ...rest } };
}

function armor(kind: string, rest: object = {}): object {
  return { googleModelArmor: { ...service(kind), templateId: "t", projectId: "p", ...rest } };
}

function azure(kind: string, rest: object = {}): object {
  const policies = { ...policiesFor(kind), backendAuth: { key: "${KEY}" } };
  return { azureContentSafety: { endpoint: `http://SERVICES/${kind}`, policies, ...rest } };
}

function service(kind: string): object {
  const policies = { ...policiesFor(kind), backendAuth: { key: "${KEY}" } };
  return { host: `http://SERVICES/${kind}`, policies };
}

/** A guard whose server is not there, or slow, or talks rubbish. */
function withFailures(
  guard: (kind: string, rest?: object) => object,
  others: Readonly<Record<string, Case>>,
  phases?: Case["phases"],
): Readonly<Record<string, Case>> {
  const open = { failureMode: "failOpen" };
  const all: Readonly<Record<string, Case>> = {
    ...others,
    "is down, closed": { guard: guard("DOWN"), finds: failed, otherwise: failed },
    "is down, open": { guard: guard("DOWN", open), finds: { text: found } },
    "is slow, closed": { guard: guard("slow"), finds: failed, otherwise: failed },
    "is slow, open": { guard: guard("slow", open), finds: { text: found } },
    "fails, closed": { guard: guard("error"), finds: failed, otherwise: failed },
    "talks rubbish, closed": { guard: guard(rubbish), finds: failed, otherwise: failed },
    "talks rubbish, open": { guard: guard(rubbish, open), finds: { text: found } },
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, each]) => [name, { ...(phases && { phases }), ...each }]),
  );
}

const rows = Object.entries(cases).flatMap(([kind, ways]) =>
  Object.entries(ways).flatMap(([way, each]) =>
    (each.phases ?? (["request", "response"] as const)).map((phase) => ({
      ...each,
      kind,
      way,
      phase,
      path: `/${kind}/${phase}/${way.replaceAll(/\W+/g, "-")}`,
    })),
  ),
);

beforeAll(async () => {
  [webhook, services, provider] = await Promise.all([
    startGuardWebhook(),
    startGuardServices(),
    startProvider(replies),
  ]);
  down = `127.0.0.1:${await freePort()}`;
  const placed = (guard: object): object =>
    JSON.parse(
      JSON.stringify(guard)
        .replace(/http:\/\/(?:HOOK|SERVICES)\/DOWN/, `http://${down}`)
        .replace("http://HOOK/RUBBISH", `${webhook.url}/no-action`)
        .replace("http://SERVICES/RUBBISH", `http://${services.host}/rubbish`)
        .replace("http://HOOK", webhook.url)
        .replace("http://SERVICES", `http://${services.host}`),
    );
  gateway = await startGateway({
    env: { KEY: "provider-key" },
    listeners: [
      {
        routes: rows.map(({ path, phase, guard }) => ({
          name: path.slice(1).replaceAll("/", "-"),
          matches: [{ path: { pathPrefix: path } }],
          policies: {
            backendAuth: { key: "${KEY}" },
            ai: {
              routes: everyFormat,
              promptGuard: { [phase]: [placed(guard)] },
            },
          },
          backends: [{ ai: { provider: { openAI: {} }, hostOverride: provider.host } }],
        })),
      },
    ],
  });
});

describe.each(rows)("$kind on a $phase: $way", ({ path, phase, finds, otherwise }) => {
  it.each(Object.keys(asks) as (keyof typeof asks)[])("%s", async (name) => {
    const ask = (prompt: string) => asks[name](gateway.url + path, prompt);
    const calls = provider.received.length;
    if (otherwise === undefined) expect(await ask("Hello")).toBe("Hello there.");
    else await expectError(ask("Hello"), otherwise, phase);
    const asked = ask(phase === "request" ? `Hello. ${found}` : "guarded");
    if ("status" in finds) await expectError(asked, finds, phase);
    else if (phase === "response") expect(await asked).toBe(finds.text);
    else {
      expect(await asked).toBe("Hello there.");
      expect(provider.received.at(-1)?.body.toString()).toContain(finds.text);
    }
    // Nothing of what is refused is paid for.
    const paid = phase === "response" ? 2 : [otherwise, finds].filter(isPassed).length;
    expect(provider.received.length - calls).toBe(paid);
  });
});

function isPassed(end: Case["finds"] | undefined): boolean {
  return end === undefined || "text" in end;
}

/** The error as the client's own library reads it. Before a stream has begun it is a response of its own. */
async function expectError(
  asked: Promise<string>,
  { status, message }: { readonly status: number; readonly message: string },
  phase: "request" | "response",
): Promise<void> {
  const error = await asked.then(
    (text) => {
      throw new Error(`passed: ${text}`);
    },
    (thrown: Error & { status?: number }) => thrown,
  );
  expect(error.message).toContain(message);
  if (phase === "request" || error.status !== undefined) expect(error.status).toBe(status);
}
