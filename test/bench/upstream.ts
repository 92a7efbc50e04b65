import { createServer, type ServerResponse } from "node:http";

// Responses GET with 128 bytes, of /large with 1 MiB, of /events with 100 events, of /paced with as many that are 2 ms apart, of /held with one that nothing follows; POST with 1 KiB, of /v1/traces as a collector does. Prints its port.

const small = Buffer.alloc(128, "a");
const megabyte = Buffer.alloc(1_048_576, "c");
const large = Buffer.alloc(1024, "b");
const taken = Buffer.from("{}");

const server = createServer((request, response) => {
  if (request.url === "/held") {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: first\n\n");
    return;
  }
  if (request.url === "/events") {
    sendEvents(response, setImmediate);
    return;
  }
  if (request.url === "/paced") {
    sendEvents(response, (next) => setTimeout(next, 2));
    return;
  }
  const body = bodyFor(request.method, request.url);
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

function bodyFor(method: string | undefined, url: string | undefined): Buffer {
  if (url === "/v1/traces") return taken;
  if (method === "POST") return large;
  return url === "/large" ? megabyte : small;
}

/** Each event is a write of its own, as a model writes them. */
function sendEvents(response: ServerResponse, later: (next: () => void) => void): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let left = 100;
  const send = (): void => {
    response.write(`data: ${"d".repeat(100)}\n\n`);
    left -= 1;
    if (left === 0) response.end();
    else later(send);
  };
  send();
}

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    process.stdout.write(`listening on 127.0.0.1:${address.port}\n`);
  }
});
