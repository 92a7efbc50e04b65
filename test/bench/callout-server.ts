import { createServer, type ServerHttp2Stream } from "node:http2";

// Says yes to every call of Envoy's protocols over gRPC; prints its port.

const head = { ":status": 200, "content-type": "application/grpc" };

const server = createServer();
server.on("stream", (stream, headers) => {
  stream.on("error", () => {});
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  if (headers[":path"]?.endsWith("/Process") === true) {
    process(stream);
    return;
  }
  // RateLimitResponse{overall_code: OK}; a CheckResponse says yes with nothing in it, and so does a collector.
  const yes = headers[":path"]?.endsWith("/ShouldRateLimit") === true ? [0x08, 0x01] : [];
  stream.resume();
  stream.on("end", () => stream.end(frame(yes)));
});

/** A head passes unchanged: ProcessingRequest has it in field 2 or 3, ProcessingResponse in 1 or 2. */
function process(stream: ServerHttp2Stream): void {
  let held = Buffer.alloc(0);
  stream.on("data", (piece: Buffer) => {
    held = Buffer.concat([held, piece]);
    while (held.length >= 5 && held.length >= 5 + held.readUInt32BE(1)) {
      const length = held.readUInt32BE(1);
      const message = held.subarray(5, 5 + length);
      held = held.subarray(5 + length);
      stream.write(frame(message[0] === 0x12 ? [0x0a, 0x00] : [0x12, 0x00]));
    }
  });
  stream.on("end", () => stream.end());
}

function frame(bytes: readonly number[]): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, Buffer.from(bytes)]);
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") {
    console.log(`listening on 127.0.0.1:${address.port}`);
  }
});
