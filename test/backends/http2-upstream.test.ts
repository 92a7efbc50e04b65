import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type ClientHttp2Session,
  connect,
  constants,
  createSecureServer,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { pause } from "../harness/pause.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A server of HTTP/2 whose responses are scripted by path. */
class ScriptedServer {
  readonly sessions: Http2Session[] = [];
  readonly requests: { readonly path: string; readonly session: number }[] = [];
  readonly #responses: Readonly<Record<string, Response>>;

  constructor(responses: Readonly<Record<string, Response>>) {
    this.#responses = responses;
  }

  async listen(maxConcurrentStreams: number, maxConnections = 100): Promise<string> {
    const server = createServer({ settings: { maxConcurrentStreams } });
    server.maxConnections = maxConnections;
    server.on("session", (session) => {
      this.sessions.push(session);
      session.on("error", () => {});
    });
    server.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      const path = String(headers[":path"]);
      const session = stream.session === undefined ? -1 : this.sessions.indexOf(stream.session);
      this.requests.push({ path, session });
      this.#responses[path]?.(stream, headers);
    });
    return `127.0.0.1:${await listen(server)}`;
  }

  /** How often a path was asked for. */
  count(path: string): number {
    return this.requests.filter((each) => each.path === path).length;
  }
}

type Response = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

const large = randomBytes(3_000_000);
const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const waiting: ServerHttp2Stream[] = [];
/** Results of bodies. */
const uploads: ("aborted" | "whole")[] = [];

const server = new ScriptedServer({
  "/trailers": (stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () =>
      stream.sendTrailers({ "x-sum": digestOf(large), "set-cookie": "a=b", "x-two": ["1", "2"] }),
    );
    stream.end(large);
  },
  "/announced": (stream) => {
    stream.respond({ ":status": 200, "content-length": 5 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    stream.end("hello");
  },
  "/cut": (stream) => {
    stream.respond({ ":status": 200 });
    stream.write(large.subarray(0, 100_000), () => stream.destroy(new Error("broken")));
  },
  "/gone": (stream) => {
    stream.respond({ ":status": 200 });
    stream.write(large.subarray(0, 100_000), () => stream.session?.destroy());
  },
  "/refused": (stream) => {
    if (server.count("/refused") === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else {
      stream.respond({ ":status": 200 });
      stream.end("second");
    }
  },
  "/leaving": (stream) => {
    stream.session?.goaway();
    stream.respond({ ":status": 200 });
    setImmediate(() => stream.end("last"));
  },
  "/wait": (stream) => {
    waiting.push(stream);
  },
  "/digest": (stream) => {
    const hash = createHash("sha256");
    stream.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      // It reads slowly: what is sent has to wait.
      stream.pause();
      setImmediate(() => stream.resume());
    });
    stream.on("end", () => {
      stream.respond({ ":status": 200 });
      stream.end(hash.digest("hex"));
    });
  },
  "/upload": (stream) => {
    stream.resume();
    stream.on("aborted", () => uploads.push("aborted"));
    stream.on("end", () => {
      if (!stream.aborted) uploads.push("whole");
    });
  },
  "/enough": (stream) => {
    stream.respond({ ":status": 413 });
    stream.end("too much");
  },
  "/head": (stream, headers) => {
    stream.respond({ ":status": 200, "x-te": String(headers.te), "set-cookie": ["a=1", "b=2"] });
    stream.end(String(headers[":authority"]));
  },
});

let gateway: Gateway;

beforeAll(async () => {
  const host = await server.listen(10);
  const policies = { http: { version: "HTTP2" } };
  gateway = await startGateway({ listeners: [{ routes: [{ backends: [{ host, policies }] }] }] });
}, 120_000);

function client(): ClientHttp2Session {
  const session = connect(gateway.url);
  onTestFinished(() => session.destroy());
  return session;
}

/** Response of a slow client of HTTP/2. */
async function readSlowly(path: string): Promise<{ body: Buffer; trailers: object | undefined }> {
  const stream = client().request({ ":path": path, te: "trailers" });
  let trailers: object | undefined;
  stream.on("trailers", (fields) => {
    trailers = fields;
  });
  const pieces: Buffer[] = [];
  for await (const piece of stream) {
    pieces.push(piece);
    await pause(1);
  }
  return { body: Buffer.concat(pieces), trailers };
}

describe("a server of HTTP/2", () => {
  it("a slow client gets all of a body, and the allowed trailers after it", async () => {
    const { body, trailers } = await readSlowly("/trailers");
    expect(digestOf(body)).toBe(digestOf(large));
    expect(trailers).toMatchObject({ "x-sum": digestOf(large), "x-two": "1, 2" });
    expect(trailers).not.toHaveProperty("set-cookie");
  });

  it("trailers follow a body with an announced length, too", async () => {
    const { body, trailers } = await readSlowly("/announced");
    expect(body.toString()).toBe("hello");
    expect(trailers).toMatchObject({ "x-sum": "1" });
  });

  it("a client of HTTP/1.1 gets the body, and no trailers", async () => {
    const response = await fetch(`${gateway.url}/trailers`);
    expect(digestOf(await response.bytes())).toBe(digestOf(large));
  });

  it.each(["/cut", "/gone"])("an aborted response (%s) does not look complete", async (path) => {
    const response = await fetch(`${gateway.url}${path}`);
    await expect(response.bytes().then(({ length }) => length)).rejects.toThrow();
    await gateway.seen(new RegExp(`path=${path} .*reason=UpstreamFailure`));
  });

  it("a request that the server has not looked at is sent again, whatever its method", async () => {
    const { status, body } = await send(`${gateway.url}/refused`, "POST", {}, "once");
    expect([status, body]).toEqual([502, "upstream closed the connection"]);
    expect((await send(`${gateway.url}/refused`, "GET")).body).toBe("second");
  });

  it("a server that leaves ends what it has, and the next request has another connection", async () => {
    const before = server.sessions.length;
    expect((await send(`${gateway.url}/leaving`, "GET")).body).toBe("last");
    expect((await send(`${gateway.url}/head`, "GET")).status).toBe(200);
    expect(server.sessions.length).toBe(before + 1);
  });

  it("as many connections are opened as the server's limit of streams asks for", async () => {
    const calls = Array.from({ length: 35 }, () => send(`${gateway.url}/wait`, "GET"));
    while (waiting.length < 35) await pause(10);
    const used = server.requests.filter(({ path }) => path === "/wait");
    const bySession = Object.values(Object.groupBy(used, ({ session }) => String(session)));
    expect(bySession.length).toBe(4);
    for (const stream of waiting) {
      stream.respond({ ":status": 200 });
      stream.end("done");
    }
    expect((await Promise.all(calls)).every(({ body }) => body === "done")).toBe(true);
  });

  it("a server that takes one connection serves all requests over it, as they get room", async () => {
    const narrow = new ScriptedServer({
      "/": (stream) => {
        stream.respond({ ":status": 200 });
        setImmediate(() => stream.end("done"));
      },
    });
    const host = await narrow.listen(2, 1);
    const policies = { http: { version: "HTTP2" } };
    const { url } = await startGateway({
      listeners: [{ routes: [{ backends: [{ host, policies }] }] }],
    });
    expect((await send(url, "GET")).status).toBe(200);
    const responses = await Promise.all(Array.from({ length: 30 }, () => send(url, "GET")));
    expect(responses.map(({ body }) => body)).toEqual(Array(30).fill("done"));
    expect(narrow.sessions.length).toBe(1);
  });

  it("a body that the server reads slowly arrives whole", async () => {
    const { body } = await send(`${gateway.url}/digest`, "POST", {}, large);
    expect(body).toBe(digestOf(large));
  });

  it("a client that leaves in the middle of its body leaves no whole one behind", async () => {
    const stream = client().request({ ":path": "/upload", ":method": "POST" });
    stream.on("error", () => {});
    stream.write(large.subarray(0, 50_000));
    while (server.count("/upload") === 0) await pause(10);
    stream.destroy(new Error("leaving"));
    while (uploads.length === 0) await pause(10);
    expect(uploads).toEqual(["aborted"]);
  });

  it("a response that comes before the body has ended is the client's", async () => {
    const stream = client().request({ ":path": "/enough", ":method": "POST" });
    stream.on("error", () => {});
    stream.write(large.subarray(0, 50_000));
    let body = "";
    for await (const piece of stream.setEncoding("utf8")) {
      body += piece;
      if (body === "too much") break;
    }
    expect(body).toBe("too much");
  });

  it("is asked by the name that its clients use, told that they take trailers, and keeps fields apart", async () => {
    const stream = client().request({ ":path": "/head", te: "trailers" });
    const [headers] = await new Promise<[IncomingHttpHeaders]>((resolve) =>
      stream.on("response", (...got) => resolve([got[0]])),
    );
    expect(headers).toMatchObject({ "x-te": "trailers", "set-cookie": ["a=1", "b=2"] });
    expect((await send(`${gateway.url}/head`, "GET")).headers["x-te"]).toBe("undefined");
  });
});

it("a slow client gets all of a response with trailers, as versions are negotiated, too", async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "server", { names: "DNS:localhost" });
  const file = (name: string) => readFileSync(join(folder, name));
  const secure = createSecureServer({ cert: file("server.pem"), key: file("server.key") });
  secure.on("stream", (stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": digestOf(large) }));
    stream.end(large);
  });
  const policies = { backendTLS: { root: "server.pem", alpn: ["h2", "http/1.1"] } };
  const host = `localhost:${await listen(secure)}`;
  const listeners = [{ routes: [{ backends: [{ host, policies }] }] }];
  const negotiating = await startGateway({ folder, listeners });
  const session = connect(negotiating.url);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":path": "/" });
  const read = async () => {
    let length = 0;
    for await (const piece of stream) {
      length += piece.length;
      await pause(1);
    }
    return length;
  };
  expect(await read()).toBe(large.length);
});
