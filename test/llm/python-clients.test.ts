import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { pythonFor } from "../harness/python.ts";
import { startScripted } from "../harness/scripted.ts";
import { TestProcess } from "../harness/test-process.ts";
import { EndlessUpstream } from "./table/abandoned.ts";
import { calls, script } from "./table/features.ts";
import { clients } from "./table/pairs.ts";
import { pairs, startPairs } from "./table/pairs-gateway.ts";

const upstream = new EndlessUpstream();
let gateway: Gateway;
let python: TestProcess;

beforeAll(async () => {
  // Loading an SDK takes a second of a processor: one process is the client of every format.
  const script = path.join(import.meta.dirname, "python/clients.py");
  python = new TestProcess(await pythonFor("tests"), [script]);
  // Google's client writes some members in their second spelling, which Google reads, but its schema does not list.
  gateway = await startPairs(await startScripted(upstream.respond, "anything"));
}, 300_000);

it.each(Object.keys(clients))(
  "Python's client of %s gets everything",
  async (client) => {
    const routes = pairs
      .filter((pair) => pair.client === client)
      .map(({ provider: { model }, prefix }) => {
        return { url: `${gateway.url}${prefix}`, model, endless: `[endless ${prefix}]` };
      });
    const from = python.stdout.length;
    python.write(`${JSON.stringify({ format: client, routes })}\n`);
    const read = () => python.hasEnded || python.stdout.slice(from).includes("\n");
    await expect.poll(read, { timeout: 300_000 }).toBe(true);
    expect(python.hasEnded, python.output).toBe(false);
    expect(JSON.parse(python.stdout.slice(from))).toEqual(
      routes.map(() => expect.objectContaining({ ...readings, ...FAULTS[client] })),
    );
    for (const { endless } of routes) {
      await eventually(() => upstream.abandoned.has(endless) || null, "the end of the request");
    }
  },
  600_000,
);

/** The errors of clients that have no class for each kind of them. */
const FAULTS: Readonly<Record<string, object>> = {
  "generate-content": {
    invalid: { ...faultOf("ClientError", 400), message: expect.stringContaining(script.fault) },
    limited: expect.objectContaining(faultOf("ClientError", 429)),
    failed: expect.objectContaining({ class: "ServerError" }),
    cut: expect.objectContaining({ class: "ServerError" }),
  },
  converse: {
    invalid: {
      ...faultOf("ValidationException", 400),
      message: expect.stringContaining(script.fault),
    },
    limited: expect.objectContaining(faultOf("ThrottlingException", 429)),
    failed: expect.objectContaining({ class: "EventStreamError" }),
    cut: expect.objectContaining({ class: "EventStreamError" }),
  },
};

function faultOf(name: string, status: number) {
  return { class: name, status };
}

const failed = { class: expect.stringMatching(/^APIError$|^APIStatusError$|^OverloadedError$/) };

/** The parts that are read of every provider, and the errors that are raised. */
const readings = {
  text: script.text,
  stream: script.text,
  calls: calls.map(({ input }) => input),
  parsed: 18,
  invalid: {
    class: "BadRequestError",
    status: 400,
    message: expect.stringContaining(script.fault),
  },
  limited: expect.objectContaining({ class: "RateLimitError", status: 429 }),
  failed: expect.objectContaining({ ...failed, message: expect.stringContaining(script.fault) }),
  cut: expect.objectContaining({
    ...failed,
    message: expect.stringContaining("before it was complete"),
  }),
  abandoned: expect.stringMatching(/^./),
};
