import { text } from "node:stream/consumers";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { quantile } from "./compare.ts";
import { LoadClient, now } from "./load-client.ts";

// A load generator with an open loop: `node open-loop.ts PORT RATE SECONDS CONNECTIONS`, with a request on stdin. The times of
// all requests are fixed before the first one is sent, and a latency is measured from that time, so that a slow response
// shortens no other latency. A second thread sleeps until each request is due: timers of Node.js count whole milliseconds.
// The first second does not count. Prints an `OpenLoad` as JSON.

/** Result of a run; times in milliseconds. */
export interface OpenLoad {
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** How late 99 % of the requests were sent at most, because this process had no processor. Part of the latencies. */
  readonly late: number;
}

/** Seconds at the start in which V8 compiles the generator. */
const WARM_UP = 1;

/** Times of requests, in milliseconds. */
interface Schedule {
  readonly start: number;
  readonly interval: number;
  readonly count: number;
}

/** Milliseconds between the start of the generator and the first request. */
const LEAD = 50;

if (isMainThread) await generate();
else wake(workerData);

/** Posts a message as soon as requests are due. */
function wake({ start, interval, count }: Schedule): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let next = 0; next < count; ) {
    const left = start + next * interval - now();
    if (left > 0) Atomics.wait(cell, 0, 0, left);
    next = Math.floor((now() - start) / interval) + 1;
    parentPort?.postMessage(next);
  }
}

async function generate(): Promise<void> {
  const [port = 0, rate = 0, seconds = 0, connections = 0] = process.argv.slice(2).map(Number);
  const request = Buffer.from(await text(process.stdin), "latin1");
  const idle: LoadClient[] = [];
  /** Times of requests that are due while all connections wait for responses. */
  const waiting: number[] = [];
  const latencies: number[] = [];
  const late: number[] = [];
  const total = Math.round(rate * (seconds + WARM_UP));
  const ignored = rate * WARM_UP;
  let [failures, ended] = [0, 0];
  const { promise, resolve } = Promise.withResolvers<void>();
  const free = (client: LoadClient): void => {
    const due = waiting.shift();
    if (due === undefined) idle.push(client);
    else client.ask(request, due);
  };
  await new Promise<void>((connected) => {
    for (let at = 0; at < connections; at++)
      new LoadClient(
        { port, isTls: false },
        (client) => {
          idle.push(client);
          if (idle.length === connections) connected();
        },
        ({ isGood, milliseconds }, client) => {
          if (!isGood) failures += 1;
          ended += 1;
          if (ended > ignored) latencies.push(milliseconds);
          if (ended === total) resolve();
          free(client);
        },
      );
  });
  const schedule: Schedule = { start: now() + LEAD, interval: 1000 / rate, count: total };
  let sent = 0;
  const clock = new Worker(new URL(import.meta.url), { workerData: schedule });
  clock.on("message", () => {
    const time = now();
    for (; sent < total; sent++) {
      const due = schedule.start + sent * schedule.interval;
      if (due > time) return;
      if (sent >= ignored) late.push(time - due);
      const client = idle.pop();
      if (client === undefined) waiting.push(due);
      else client.ask(request, due);
    }
  });
  await promise;
  const result: OpenLoad = {
    failures,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    p999: quantile(latencies, 0.999),
    late: quantile(late, 0.99),
  };
  process.stdout.write(JSON.stringify(result), () => process.exit());
}
