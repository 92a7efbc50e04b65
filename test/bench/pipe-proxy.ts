import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

// A pipe of node:net on PORT to UPSTREAM, over TLS where CERT and KEY are files, in as many threads as THREADS says. It parses
// nothing, so it bounds what a proxy in Node.js can reach. Of several upstreams, connections get one after the other. Prints its
// port.

const { PORT, UPSTREAM = "", CERT, KEY = "", THREADS = "1" } = process.env;
const upstreams = UPSTREAM.split(" ").map((each) => new URL(each));
let connections = 0;
const options = { noDelay: true };
const server =
  CERT === undefined
    ? createServer(options, pipe)
    : createTlsServer({ ...options, cert: readFileSync(CERT), key: readFileSync(KEY) }, pipe);
server.listen({ port: Number(PORT), host: "127.0.0.1", reusePort: true }, async () => {
  if (!isMainThread) return parentPort?.postMessage("listening");
  for (let thread = 1; thread < Number(THREADS); thread++)
    await once(new Worker(new URL(import.meta.url)), "message");
  process.stdout.write(`listening on 127.0.0.1:${PORT}\n`);
});

function pipe(client: Socket): void {
  const { hostname, port } = upstreams[connections++ % upstreams.length] ?? {};
  const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
  client.pipe(upstream);
  upstream.pipe(client);
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
}
