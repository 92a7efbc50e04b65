import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endStartedByHooks } from "../harness/at-end.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { pause } from "../harness/pause.ts";
import { callTraffic } from "./calls.ts";
import { type SoakGateway, startBundle, startEdited } from "./gateways.ts";
import { SoakReport } from "./report.ts";
import { startServers } from "./servers.ts";
import { httpTraffic, type Traffic } from "./traffic.ts";

// `npm run soak [-- MINUTES]`, 60 unless given. Three gateways serve all kinds of traffic, with aborted requests and slow readers:
// a bundle, one with two threads, and `gwc run`, whose file is edited all the time. Every byte of every response is checked. In
// the end, each request has reached its server once and has one line in the access log, all spans have arrived, and what the
// gateways hold after a collection of garbage has not grown. Failed exchanges are counted by their cause in the access log, or by
// what the client saw. Other work may run at the same time, as long as no process waits for a CPU for ten seconds: then time
// limits of clients and backends pass.

/** Milliseconds between two edits, and number of looks at the memory. */
const EDIT = 20_000;
const LOOKS = 60;
/** Shares of the time at which the memory is compared: caches fill first, and V8 compiles. */
const COMPARED = [0.2, 0.97] as const;
/** Maximum number of exchanges of a kind at a time. */
const MAX_RUNNING = 30;
/** Milliseconds for spans and lines that are on their way at the end. */
const LAST = 3_000;

const duration = Number(process.argv[2] ?? 60) * 60_000;
const report = new SoakReport();
await soak();
process.exitCode = report.print() ? 0 : 1;

async function soak(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gwc-soak-"));
  const gateways: SoakGateway[] = [];
  try {
    makeCertificate(folder, "soak");
    const { port, received } = await startServers();
    const { gateway: edited, edit } = await startEdited(join(folder, "edited"), port);
    gateways.push(edited);
    for (const threads of [1, 2])
      gateways.push(await startBundle(join(folder, String(threads)), port, threads));
    const end = performance.now() + duration;
    const traffic = [...httpTraffic, ...callTraffic];
    await Promise.all([
      ...gateways.flatMap((gateway) => [
        ...traffic.map((kind) => keepUp(gateway, kind, end)),
        repeat(duration / LOOKS, end, () =>
          report.resident(gateway.name, gateway.residentMegabytes()),
        ),
        compareHeld(gateway, end),
      ]),
      repeat(EDIT, end, edit),
    ]);
    await pause(LAST);
    for (const gateway of gateways) await report.end(gateway);
    report.received(received);
  } finally {
    for (const gateway of gateways) await gateway.stop();
    await endStartedByHooks();
    rmSync(folder, { recursive: true });
  }
}

/** Starts one exchange after the other, without waiting for slow ones. */
async function keepUp(gateway: SoakGateway, kind: Traffic, end: number): Promise<void> {
  const running = new Set<Promise<void>>();
  for (let count = 0; performance.now() < end; count++) {
    const id = `soak-${gateway.http}-${kind.name.replaceAll(/\W/g, "")}-${count}`;
    const exchange = exchangeOnce(gateway, kind, id);
    running.add(exchange);
    void exchange.then(() => running.delete(exchange));
    await pause(kind.every);
    if (running.size >= MAX_RUNNING) await Promise.race(running);
  }
  await Promise.all(running);
}

async function exchangeOnce(gateway: SoakGateway, kind: Traffic, id: string): Promise<void> {
  try {
    await kind.exchange(gateway, id);
    report.good(gateway.name, kind.name, id, kind.lines !== 0);
  } catch (error) {
    report.failed(gateway.name, kind.name, id, describe(error));
  }
}

async function repeat(every: number, end: number, work: (count: number) => void): Promise<void> {
  for (let count = 1; performance.now() + every < end; count++) {
    await pause(every);
    work(count);
  }
}

async function compareHeld(gateway: SoakGateway, end: number): Promise<void> {
  const held: number[] = [];
  for (const share of COMPARED) {
    await pause(end - duration * (1 - share) - performance.now());
    held.push(await gateway.heldMegabytes());
  }
  const [before = 0, after = 0] = held;
  report.held(gateway.name, before, after);
}

function describe(error: unknown): string {
  // A WebSocket rejects with an event.
  if (error instanceof Event && "message" in error) return String(error.message);
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`;
}
