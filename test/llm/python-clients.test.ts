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
let python: string;

beforeAll(async () => {
  python = await pythonFor("tests");
  gateway = await startPairs(await startScripted(upstream.respond));
}, 300_000);

it.each(Object.keys(clients))(
  "Python's client of %s gets everything",
  async (client) => {
    const routes = pairs
      .filter((pair) => pair.client === client)
      .map(({ provider: { model }, prefix }) => {
        return { url: `${gateway.url}${prefix}`, model, endless: `[endless ${prefix}]` };
      });
    const file = path.join(import.meta.dirname, "python/clients.py");
    const running = new TestProcess(python, [file, client, JSON.stringify(routes)]);
    expect(await running.exited, running.output).toBe(0);
    expect(JSON.parse(running.stdout)).toEqual(routes.map(() => expect.objectContaining(readings)));
    for (const { endless } of routes) {
      await eventually(() => upstream.abandoned.has(endless) || null, "the end of the request");
    }
  },
  600_000,
);

const failed = { class: expect.stringMatching(/^APIError$|^APIStatusError$|^OverloadedError$/) };

/** What is read of every provider, and which errors are raised. */
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
