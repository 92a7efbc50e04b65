import { exportJWK, generateKeyPair, type JWK } from "jose";
import { expect, it } from "vitest";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import type { TrialRequest } from "../../runtime/trial/trial.ts";
import { startEcho } from "../harness/echo.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { editedPair, opensAccess, opensRoute, requestOf } from "./gateway-pairs.ts";
import { HOSTS, PORTS, type RandomGateway } from "./random-gateways.ts";
import { RandomSource } from "./random-rules.ts";

/** Bundles of each side, how many gateways are in each, and how many examples there are to be. */
const IS_LONG = process.env.GWC_LONG_TESTS === "1";
const [BUNDLES, GATEWAYS, EXAMPLES] = IS_LONG ? [18, 25, 200] : [1, 16, 4];

/** Issuers of tokens with their audiences: a gateway accepts some of them. */
const ISSUERS = ["https://one.issuer", "https://two.issuer"];
const AUDIENCES = ["a", "b"];

/** Gateways in one process, each on ports of its own. */
interface Side {
  readonly process: Gateway;
  readonly portOf: (gateway: number, port: number) => number | undefined;
}

async function sideOf(
  gateways: readonly RandomGateway[],
  echo: string,
  jwks: string,
): Promise<Side> {
  const ports = await freePorts(gateways.length * PORTS.length);
  const used = new Map<string, number>();
  const binds = gateways.flatMap((gateway, index) =>
    gateway.binds.map((bind) => {
      const port = ports[index * PORTS.length + PORTS.indexOf(bind.port)] ?? 0;
      used.set(`${index} ${bind.port}`, port);
      return { ...bind, port };
    }),
  );
  const text = JSON.stringify({ binds }).replaceAll(/10\.0\.0\.\d:80/g, echo);
  const process = await startGateway({ config: text, files: { "jwks.json": jwks } }).catch(
    (error: unknown) => {
      // Of so many ports another process may have taken one meanwhile.
      if (String(error).includes("the port is in use")) return undefined;
      throw error;
    },
  );
  if (process === undefined) return sideOf(gateways, echo, jwks);
  return { process, portOf: (gateway, port) => used.get(`${gateway} ${port}`) };
}

/** The status of a request, and whether a server or the gateway answered it as it answers those who may. */
async function seenBy(
  port: number | undefined,
  { method, target, headers }: TrialRequest,
  token: string | undefined,
) {
  if (port === undefined) return { isThere: false, isServed: false };
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { status, headers: shown } = await send(`http://127.0.0.1:${port}${target}`, method, {
    ...headers,
    ...authorization,
  });
  const isServed = shown["x-echo"] === "1" || ![401, 403, 404].includes(status);
  return { isThere: isServed || status !== 404, isServed };
}

it("what gwc diff says opens in whole gateways does so in bundles that were built of both sides", async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: "one", alg: "ES256" };
  const jwks = JSON.stringify({ keys: [publicPart(key)] });
  const echo = new URL((await startEcho({ "x-echo": "1" })).url).host;
  const tokensFor = (claims: object | undefined) =>
    claims === undefined
      ? [undefined]
      : Promise.all(
          ISSUERS.flatMap((iss) =>
            AUDIENCES.map((aud) => sign(key, { ...claims, iss, aud, exp: now() + 600 })),
          ),
        );
  const closed: unknown[] = [];
  let executed = 0;
  let seed = 0;
  for (let bundle = 0; bundle < BUNDLES; bundle += 1) {
    const pairs: NonNullable<ReturnType<typeof editedPair>>[] = [];
    while (pairs.length < GATEWAYS) {
      seed += 1;
      const pair = editedPair(new RandomSource(seed * 15_485_863));
      if (pair !== undefined) pairs.push(pair);
    }
    const [old, fresh] = await Promise.all([
      sideOf(
        pairs.map(({ before }) => before.gateway),
        echo,
        jwks,
      ),
      sideOf(
        pairs.map(({ after }) => after.gateway),
        echo,
        jwks,
      ),
    ]);
    for (const [index, { before, after }] of pairs.entries()) {
      for (const each of programDiff(before.program, after.program).differences) {
        // The requests of tests come from this machine.
        if (!(opensAccess(each) || opensRoute(each)) || each.example?.includes("  from ")) continue;
        const requests = HOSTS.flatMap((host) => requestOf(each, host) ?? []);
        if (requests.length === 0) continue;
        executed += 1;
        let flips = false;
        for (const request of requests) {
          for (const token of await tokensFor(request.identities.jwt)) {
            const from = await seenBy(old.portOf(index, request.port), request, token);
            const to = await seenBy(fresh.portOf(index, request.port), request, token);
            flips ||= !from.isServed && (opensRoute(each) ? to.isThere : to.isServed);
          }
        }
        if (!flips) closed.push({ bundle, index, each });
      }
    }
    await Promise.all([old.process.stop(), fresh.process.stop()]);
  }
  if (IS_LONG) process.stderr.write(`${executed} examples, ${closed.length} wrong\n`);
  expect(closed.slice(0, 3)).toEqual([]);
  expect(executed).toBeGreaterThanOrEqual(EXAMPLES);
}, 900_000);
