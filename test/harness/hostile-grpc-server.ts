import { createServer as createHttpServer } from "node:http";
import { createServer, type ServerHttp2Stream, type Settings } from "node:http2";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { listen } from "./listen.ts";

/** A server that is no good one of gRPC, by what it does. */
export type Misbehaviour = keyof typeof misbehaviours;

/** Its address, `host:port`. */
export async function startHostileGrpcServer(misbehaviour: Misbehaviour): Promise<string> {
  return `127.0.0.1:${await listen(misbehaviours[misbehaviour]())}`;
}

const head = { ":status": 200, "content-type": "application/grpc" };

/** A message in its wire format. */
function frame(bytes: Uint8Array, length = bytes.length, compressed = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = compressed;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** An empty message is a yes of an authorization server, and nothing of a processor. */
const yes = frame(Buffer.alloc(0));

/** All that it says with a status of success. */
function says(...frames: readonly Buffer[]): () => Server {
  return ends({ "grpc-status": "0" }, ...frames);
}

function ends(trailers: Record<string, string>, ...frames: readonly Buffer[]): () => Server {
  return streams((stream) => {
    stream.respond(head, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    for (const each of frames) stream.write(each);
    stream.end();
  });
}

function streams(onStream: (stream: ServerHttp2Stream) => void): () => Server {
  return () => {
    const server = createServer();
    server.on("stream", (stream) => {
      stream.on("error", () => {});
      onStream(stream);
    });
    server.on("session", (session) => session.on("error", () => {}));
    return server;
  };
}

/** Connections with such settings; what calls come on them is not heard. */
function settles(settings: Settings): () => Server {
  return () => {
    const server = createServer({ settings });
    server.on("session", (session) => session.on("error", () => {}));
    server.on("stream", (stream) => stream.on("error", () => {}));
    return server;
  };
}

function sockets(onSocket: (socket: Socket) => void): () => Server {
  return () =>
    createTcpServer((socket) => {
      socket.on("error", () => {});
      onSocket(socket);
    });
}

const misbehaviours = {
  "takes connections and says nothing": sockets((socket) => socket.resume()),
  "closes connections": sockets((socket) => socket.destroy()),
  "says something else": sockets((socket) => socket.write("220 mail.test ESMTP\r\n")),
  "speaks HTTP/1.1": () => createHttpServer((_, response) => response.end("yes")),
  "takes calls and says nothing": streams(() => {}),
  "begins and then stalls": streams((stream) => stream.respond(head)),
  "resets calls": streams((stream) => stream.close(2)),
  "closes the connection under calls": streams((stream) => stream.session?.destroy()),
  "is a web site": streams((stream) => {
    stream.respond({ ":status": 200, "content-type": "text/html" });
    stream.end("<p>yes</p>");
  }),
  "has another status": streams((stream) =>
    stream.respond({ ":status": 404 }, { endStream: true }),
  ),
  "says yes twice": says(yes, yes),
  "says nothing and that all is well": says(),
  "says what is no message": says(frame(Buffer.from("\xff\xff\xff\xff", "latin1"))),
  "says a message byte by byte, and never all of it": streams((stream) => {
    stream.respond(head);
    stream.write(frame(Buffer.alloc(0), 1_000_000));
    const more = setInterval(() => stream.write(Buffer.alloc(1)), 50);
    stream.on("close", () => clearInterval(more));
  }),
  "takes no calls": settles({ maxConcurrentStreams: 0 }),
  "takes no bytes of calls": settles({ initialWindowSize: 0 }),
  "leaves as soon as it is asked": streams((stream) => stream.session?.goaway(0, 0)),
  "says half a message": says(yes.subarray(0, 3)),
  "announces two gigabytes": says(frame(Buffer.alloc(100), 2 ** 31)),
  compresses: says(frame(Buffer.alloc(10), 10, 1)),
  "ends without a status": ends({}, yes),
  "has an invalid status": ends({ "grpc-status": "yes" }, yes),
  "has an empty status": ends({ "grpc-status": "" }, yes),
  "refuses after a yes": ends({ "grpc-status": "7" }, yes),
  "has headers without end": streams((stream) => {
    const many = Array.from({ length: 1000 }, (_, i) => [`x-${i}`, "v".repeat(1000)]);
    stream.respond({ ...head, ...Object.fromEntries(many) });
  }),
  "talks without end": streams((stream) => {
    stream.respond(head);
    const more = () => {
      while (!stream.destroyed && stream.write(yes));
    };
    stream.on("drain", more);
    more();
  }),
} as const satisfies Readonly<Record<string, () => Server>>;

/** Each of them. */
export const allMisbehaviours = Object.keys(misbehaviours) as readonly Misbehaviour[];
