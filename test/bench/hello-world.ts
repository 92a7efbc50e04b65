import { createServer } from "node:http";

// The least that a server of Node can be: what a gateway's start and memory are held against. Prints its port.

const server = createServer((_request, response) => response.end("hello world"));
server.listen(Number(process.env.BENCH_PORT ?? 0), "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`listening on 127.0.0.1:${address.port}\n`);
  }
});
