import { createServer } from "node:http";

// Responses GET with 128 bytes and POST with 1 KiB; prints its port.

const small = Buffer.alloc(128, "a");
const large = Buffer.alloc(1024, "b");

const server = createServer((request, response) => {
  const body = request.method === "POST" ? large : small;
  request.resume();
  request.on("end", () => {
    response.writeHead(200, [
      "content-type",
      "application/json",
      "content-length",
      String(body.length),
      "cache-control",
      "no-store",
    ]);
    response.end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`listening on 127.0.0.1:${address.port}\n`);
  }
});
