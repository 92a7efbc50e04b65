import { json } from "node:stream/consumers";
import { LoadClient, now } from "./load-client.ts";

// A load generator: `node load.ts PORT SECONDS|COUNTx CONNECTIONS [tls]`, with a JSON list of requests on stdin, for so long or
// so many. Each connection sends the next one, in turns, when its response is complete; below 400 is a good one. Prints its results as JSON.

const [port = "", length = "", connections = "", tls] = process.argv.slice(2);
const most = length.endsWith("x") ? Number(length.slice(0, -1)) : Number.POSITIVE_INFINITY;
const texts = (await json(process.stdin)) as readonly string[];
const requests = texts.map((text) => Buffer.from(text, "latin1"));
const target = { port: Number(port), isTls: tls !== undefined };
const start = now();
let asked = 0;
const latencies: number[] = [];
let responses = 0;
let failures = 0;

const clients = Array.from(
  { length: Number(connections) },
  () =>
    new LoadClient(target, ask, ({ isGood, milliseconds }, client) => {
      if (isGood) responses += 1;
      else failures += 1;
      latencies.push(milliseconds);
      if (latencies.length === most) finish();
      else if (asked < most) ask(client);
    }),
);
if (most === Number.POSITIVE_INFINITY) setTimeout(finish, Number(length) * 1000);

function ask(client: LoadClient): void {
  client.ask(requests[asked++ % requests.length] ?? Buffer.alloc(0));
}

function finish(): void {
  for (const client of clients) client.end();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const perSecond = (responses / (now() - start)) * 1000;
  const found = { responses, failures, perSecond, p50: at(0.5), p99: at(0.99) };
  process.stdout.write(JSON.stringify(found));
}
