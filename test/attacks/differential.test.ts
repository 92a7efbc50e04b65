import fc from "fast-check";
import { expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { parseResponses } from "./engine-response.ts";
import { onePath } from "./one-path.ts";
import { type Origin, startOrigin } from "./origin.ts";
import { changedScript, type Script, validScript } from "./random-requests.ts";
import { type EngineRequest, readRequests } from "./strict-parser.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 300 : 10_000;

/** Headers that belong to one connection, or are rewritten for the next. */
const ownFields = new Set([
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A request as it means to be read behind a proxy. */
function meaning({ method, target, headers, body }: EngineRequest): string {
  const named = headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((name) => name.trim());
  const dropped = new Set([...ownFields, ...named.filter((name) => name !== "")]);
  const kept = headers.filter(([name]) => !dropped.has(name.toLowerCase()));
  return JSON.stringify({ method, target: onePath(target), kept, body });
}

/** Sends a script; what the client got and what the origin saw of it. */
async function run(port: number, origin: Origin, { pieces }: Script, whole: number) {
  const client = new RawClient(port);
  for (const piece of pieces) {
    client.send(piece);
    if (pieces.length > 2) await new Promise((resolve) => setImmediate(resolve));
  }
  const methods = () => origin.requests.map(({ method }) => method);
  const isOver = () =>
    client.isClosed || parseResponses(client.received, methods()).length >= whole;
  // A gateway that waits in vain shows what it received in the comparison.
  await eventually(() => isOver() || null, "the end of a script").catch(() => {});
  // An incomplete request occupies its connection. Nothing else may result from it.
  if (!client.isClosed) await pause(20);
  client.socket.destroy();
  const seen = origin.requests.splice(0);
  const responses = parseResponses(
    client.received,
    seen.map(({ method }) => method),
  );
  return { seen, responses, isClosed: client.isClosed };
}

/** The responses are the ones to the requests that the origin saw, in their order. */
function expectMatched(
  seen: readonly EngineRequest[],
  responses: ReturnType<typeof parseResponses>,
) {
  expect(seen.map(({ target }) => onePath(target))).toEqual(seen.map(({ target }) => target));
  const wanted = seen.map(({ method, target }) => (method === "HEAD" ? "" : `${method} ${target}`));
  const found = responses.slice(0, seen.length).map(({ body }) => body.replace(/ \d+$/, ""));
  expect(found).toEqual(wanted);
  expect(responses.slice(0, seen.length).every(({ status }) => status === 200)).toBe(true);
}

async function startTarget() {
  const origin = await startOrigin();
  const listeners = [{ routes: [{ backends: [{ host: origin.host }] }] }];
  return { origin, gateway: await startGateway({ listeners }) };
}

it("requests reach the origin as they were sent, and their responses come back in order", async () => {
  const { origin, gateway } = await startTarget();
  await fc.assert(
    fc.asyncProperty(validScript, async (script) => {
      const { requests } = script;
      const { seen, responses } = await run(gateway.port, origin, script, requests.length);
      expect(seen.map(meaning)).toEqual(requests.map(meaning));
      expect(responses).toHaveLength(requests.length);
      expectMatched(seen, responses);
      expect(origin.faults).toEqual([]);
    }),
    { seed: 5, numRuns: RUNS },
  );
}, 600_000);

it("a small change is read as an independent parser reads it, or refused", async () => {
  const { origin, gateway } = await startTarget();
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(changedScript, async (script) => {
      const read = readRequests(script.pieces.join(""));
      const whole = read.requests.length + (read.fault === undefined ? 0 : 1);
      const { seen, responses } = await run(gateway.port, origin, script, whole);
      const isRefused = seen.length < read.requests.length || read.fault !== undefined;
      expect(seen.map(meaning)).toEqual(read.requests.slice(0, seen.length).map(meaning));
      expectMatched(seen, responses);
      const rest = responses.slice(seen.length);
      expect(rest.every(({ status }) => status >= 400 && status < 500)).toBe(true);
      // A start of a request may be refused before it is whole.
      const refusals = read.rest === "" || isRefused ? [Number(isRefused)] : [0, 1];
      expect(refusals).toContain(rest.length);
      expect(origin.faults).toEqual([]);
      if (isRefused) refused += 1;
    }),
    { seed: 5, numRuns: RUNS },
  );
  // Both kinds must have been tried.
  expect(refused).toBeGreaterThan(RUNS / 10);
  expect(refused).toBeLessThan(RUNS);
  expect((await fetch(`http://127.0.0.1:${gateway.port}/`)).status).toBe(200);
}, 600_000);
