import { Agent, request as httpRequest } from "node:http";
import { createServer } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { accessOutcome } from "../../compiler/inspect/access/access-text.ts";
import type { Asker } from "../../compiler/inspect/access/item-access.ts";
import { type RequestAccess, requestAccess } from "../../compiler/inspect/access/request-access.ts";
import { tunnelAccess } from "../../compiler/inspect/access/tunnel-access.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { trialRequest } from "../../compiler/inspect/tests/test-request.ts";
import { openTrialProgram } from "../../compiler/inspect/tests/trial-program.ts";
import { atEnd } from "../harness/at-end.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";

const REQUESTS = process.env.GWC_LONG_TESTS === undefined ? 2_000 : 100_000;
/** Requests in flight at a time. */
const AT_ONCE = 50;

interface Sent {
  readonly method: string;
  readonly path: string;
  /** Header lines; a name may occur several times. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** For a tunnel: its place among the authorities. */
  readonly authority: number;
}

const ok = { directResponse: { status: 200 } };
const route = (path: string, policies: object) => ({
  name: path.slice(1),
  matches: [{ path: { pathPrefix: path } }],
  policies: { ...policies, ...ok },
});
const rules = (...list: readonly (string | object)[]) => ({ authorization: { rules: list } });

function configOf(port: number, proxyPort: number, target: number): string {
  const routes = [
    route("/csrf", { csrf: { additionalOrigins: ["https://ok.test"] } }),
    route("/deny", rules({ deny: 'request.headers["d"] == "1"' })),
    route("/allow", rules('request.headers["d"] == "1"')),
    route("/require", rules({ require: 'request.headers["d"].startsWith("1")' }, "true")),
    route("/method", rules({ deny: 'request.method in ["DELETE", "TRACE"]' })),
    route("/both", { csrf: {}, ...rules({ deny: 'request.headers["d"].contains("2")' }) }),
    {
      name: "matched",
      matches: [
        { path: { pathPrefix: "/matched" }, headers: [{ name: "d", value: { exact: "1" } }] },
      ],
      policies: ok,
    },
  ];
  const proxy = {
    name: "proxy",
    policies: rules(
      { deny: 'request.headers["d"] == "1" && request.method == "CONNECT"' },
      { deny: 'request.host == "localhost"' },
      {
        allow: `request.host in ["localhost:${target}", "127.0.0.1:${target}"] && request.path == "/"`,
      },
      { allow: 'request.host == "127.0.0.1:9"' },
    ),
    backends: [
      { dynamic: { allowPrivate: ["127.0.0.0/8", "::1/128"], connect: { ports: [target] } } },
    ],
  };
  return JSON.stringify({
    binds: [
      { port, listeners: [{ routes }] },
      { port: proxyPort, listeners: [{ routes: [proxy] }] },
    ],
  });
}

const PATHS = ["/csrf", "/deny", "/allow", "/require", "/method", "/both", "/matched", "/none"];
const METHODS = ["GET", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "HEAD", "PATCH"];
const ORIGINS = ["null", "https://ok.test", "http://own", "https://own", "http://other.test", ""];
const SITES = ["same-origin", "same-site", "cross-site", "none", "x"];

const lines = (name: string, values: readonly string[]) =>
  fc
    .array(fc.constantFrom(...values), { maxLength: 2 })
    .map((some) => some.map((value) => [name, value] as const));

const requests: fc.Arbitrary<Sent> = fc
  .record({
    method: fc.constantFrom(...METHODS, "CONNECT"),
    path: fc.constantFrom(...PATHS),
    parts: fc.tuple(
      lines("origin", ORIGINS),
      lines("sec-fetch-site", SITES),
      lines("d", ["1", "2", "12", "1, 2", ""]),
    ),
    authority: fc.nat(5),
  })
  .map(({ parts, ...rest }) => ({ ...rest, headers: parts.flat() }));

/** Sends a request and returns the gateway's status. */
function statusOf(
  { method, headers }: Sent,
  { port, path, agent }: { readonly port: number; readonly path: string; readonly agent: Agent },
): Promise<number> {
  const host = method === "CONNECT" ? path : `127.0.0.1:${port}`;
  const list = ["host", host, ...headers.flat()];
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, method, path, headers: list, agent });
    sent.on("response", (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("connect", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end();
  });
}

function askerOf(headers: Sent["headers"]): Asker {
  const groups = Map.groupBy(headers, ([name]) => name);
  const values = [...groups].map(([name, same]) => {
    const all = same.map(([, value]) => value);
    return [name, all.length === 1 ? (all[0] ?? "") : all] as const;
  });
  return {
    identities: { given: {}, isAnyone: false },
    headers: Object.fromEntries(values),
    address: "127.0.0.1",
  };
}

function outcomeOf(found: readonly RequestAccess[]): string {
  const asked = found.flatMap((each) => (each.kind === "asked" ? each.access : []));
  return asked.length === 0 ? "no" : accessOutcome(asked);
}

/** Returns the verdict of `gwc test` on a request at the first port, which takes no tunnels. */
async function openTrialOf(
  text: string,
): Promise<(method: string, url: URL, headers: Asker["headers"]) => Promise<number | undefined>> {
  const [first] = JSON.parse(text).binds;
  const own = JSON.stringify({ binds: [first] });
  const { programs, files } = checkInput(["g.yaml"], memoryHost({ "g.yaml": own }), false);
  const [program] = programs;
  const [bind] = program?.binds ?? [];
  if (program === undefined || bind === undefined) throw new Error("there is no program");
  const trial = await openTrialProgram(program, files);
  atEnd(() => trial.close());
  return async (method, url, headers) => {
    const test = { name: "tried", headers, expect: {} };
    const request = trialRequest(test, { kind: "url", method, url, bind }, "stateless");
    return (await trial.send(request, 1)).status;
  };
}

it("gwc can says yes to what the gateway lets through, and gwc test sees the status that clients see", async () => {
  const server = createServer((socket) => socket.destroy());
  const target = await listen(server);
  const [port, proxyPort] = [await freePort(), await freePort()];
  const text = configOf(port, proxyPort, target);
  const checked = checkInput(["g.yaml"], memoryHost({ "g.yaml": text }), false);
  expect(checked.findings.filter(({ severity }) => severity === "error")).toEqual([]);
  await startGateway({ config: JSON.parse(text) });
  const trialStatus = await openTrialOf(text);
  const authorities = ["localhost", "127.0.0.1", "other.test"].map((host) => `${host}:${target}`);
  const names = [...authorities, "127.0.0.1:9", "localhost:443", "localhost:80"];
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const tunnels = new Agent({ maxSockets: AT_ONCE });
  const wrong: unknown[] = [];
  const counts = { yes: 0, no: 0 };
  const check = async (sent: Sent) => {
    const own = sent.headers.map(
      ([name, value]) => [name, value.replace("own", `127.0.0.1:${port}`)] as const,
    );
    const request = { ...sent, headers: own };
    const isTunnel = sent.method === "CONNECT";
    const path = isTunnel ? (names[sent.authority] ?? "") : sent.path;
    const status = isTunnel
      ? await statusOf(request, { port: proxyPort, path, agent: tunnels })
      : await statusOf(request, { port, path, agent });
    const asker = askerOf(own);
    const url = new URL(`http://127.0.0.1:${port}${isTunnel ? "/" : path}`);
    const said = outcomeOf(
      isTunnel
        ? tunnelAccess(checked.programs, path, asker)
        : [requestAccess(checked, sent.method, url, asker)],
    );
    const isServed = status < 400 ? "yes" : "no";
    counts[isServed] += 1;
    const tried = isTunnel ? status : await trialStatus(sent.method, url, asker.headers);
    if (said !== isServed || tried !== status) wrong.push({ request, path, status, said, tried });
  };
  const all = fc.sample(requests, { numRuns: REQUESTS, seed: 11 });
  for (let at = 0; at < all.length; at += AT_ONCE)
    await Promise.all(all.slice(at, at + AT_ONCE).map(check));
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(REQUESTS / 10);
  agent.destroy();
  server.close();
}, 3_600_000);
