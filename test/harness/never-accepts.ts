import { writeSync } from "node:fs";
import { connect, createServer } from "node:net";

// A script: a port of this machine where packets vanish, as behind a firewall that drops them. Its queue of connections is full
// and nobody takes one, so the kernel drops the first packet of each further one. Prints its port.

const server = createServer().listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  const address = server.address();
  if (address === null || typeof address === "string") return;
  const { port } = address;
  // The kernel queues one more than the backlog (Linux, listen(2)); they connect before the process is stopped.
  for (let i = 0; i < 4; i++) connect(port, "127.0.0.1").on("error", () => {});
  process.nextTick(() => {
    writeSync(1, `listening on 127.0.0.1:${port}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
});
