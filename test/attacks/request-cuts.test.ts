import { createServer, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Http1ServerRequest } from "../../runtime/http/engine/node/http1-server-request.ts";
import { changedScript, validScript } from "./random-requests.ts";

const isLong = process.env.GWC_LONG_TESTS !== undefined;
const [cuts, comparisons] = isLong ? [100_000, 1_000_000] : [500, 3_000];

/** A request as a parser has read it. */
interface Read {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The result of reading a connection: whole requests, and the error after them. */
interface Reading {
  readonly requests: readonly Read[];
  readonly problem: string | undefined;
  /** The last request has ended the connection. */
  readonly isLast: boolean;
}

const socket = new Socket();

/** Reads a connection in pieces; `pauses`: after each piece of a body. */
function read(pieces: readonly string[], pauses = false): Reading {
  const requests: Read[] = [];
  let [request, body] = begin();
  for (const piece of pieces) {
    let bytes: Buffer | undefined = Buffer.from(piece, "latin1");
    while (bytes !== undefined) {
      let state = request.push(bytes);
      while (state === "paused") {
        request.resume();
        state = request.readOn();
      }
      if (state === "broken") return { requests, problem: request.problem, isLast: false };
      if (state !== "ended") break;
      const { method, url, rawHeaders, head, excess } = request;
      // The check of requests behind it refuses these.
      if (!url.startsWith("/"))
        return { requests, problem: "another form of target", isLast: false };
      const text = Buffer.concat(body).toString("latin1");
      requests.push({ method, target: url, headers: rawHeaders, body: text });
      // Nothing behind the last request of a connection counts.
      if (head?.keepsAlive === false) return { requests, problem: undefined, isLast: true };
      bytes = excess;
      [request, body] = begin();
    }
  }
  return { requests, problem: undefined, isLast: false };

  function begin(): [Http1ServerRequest, Buffer[]] {
    const chunks: Buffer[] = [];
    const next = new Http1ServerRequest({ socket, readOn: () => {} });
    next.flow({
      onData: (chunk) => {
        chunks.push(chunk);
        if (pauses) next.pause();
      },
      onEnd: () => {},
      onAbort: () => {},
    });
    return [next, chunks];
  }
}

/** The same by llhttp, node's own parser. */
function readByNode(bytes: string): Promise<readonly Read[]> {
  return new Promise((resolve) => {
    const requests: Read[] = [];
    let isOver = false;
    const server = createServer({ requireHostHeader: false });
    const take = (message: IncomingMessage) => {
      const body: Buffer[] = [];
      message.on("error", () => {});
      message.on("data", (chunk: Buffer) => body.push(chunk));
      message.on("end", () => {
        const { method = "", url = "", rawHeaders, httpVersion } = message;
        // The check of requests behind it refuses these.
        isOver ||= !url.startsWith("/") || !/^1\.[01]$/.test(httpVersion);
        if (isOver) return;
        const text = Buffer.concat(body).toString("latin1");
        requests.push({ method, target: url, headers: rawHeaders, body: text });
      });
    };
    // Nobody responds: what counts is what the parser sees.
    server.on("request", take);
    server.on("checkContinue", take);
    server.on("clientError", () => {});
    const connection = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
    connection.on("error", () => {});
    server.emit("connection", connection);
    connection.push(Buffer.from(bytes, "latin1"));
    setImmediate(() =>
      setImmediate(() => {
        connection.destroy();
        resolve(requests);
      }),
    );
  });
}

const any = fc.oneof(validScript, changedScript);

it("requests are read alike however their bytes are cut and whichever side pauses", () => {
  fc.assert(
    fc.property(any, ({ pieces }) => {
      const bytes = pieces.join("");
      const whole = read([bytes]);
      expect(read([bytes], true)).toEqual(whole);
      // A mistake may show before the rest of its line is there, and have another name then.
      const { requests, problem } = whole;
      for (const cut of [pieces, [...bytes]]) {
        for (const pauses of [false, true]) {
          const found = read(cut, pauses);
          expect(found.requests).toEqual(requests);
          if (problem !== undefined) expect(found.problem).toBeDefined();
        }
      }
    }),
    { numRuns: cuts },
  );
}, 600_000);

/** Requests that llhttp accepts and the gateway refuses, with the reason. */
const stricter: Readonly<Record<string, string>> = {
  "a transfer coding other than chunked":
    "a coding that no server behind has to know (RFC 9112 6.1)",
  "malformed request line": "a line break before it that is not CRLF, or bytes beyond ASCII in it",
  "no head": "the same, before its end is there",
  "chunks in HTTP/1.0": "who writes them may not mean them (RFC 9112 6.1)",
  "trailers with framing fields": "they come too late for that (RFC 9110 6.5.1)",
  "malformed chunk size": "extensions that are neither tokens nor quoted (RFC 9112 7.1.1)",
};

it("a request that is taken is one to llhttp too, and the same; what only llhttp takes is known", async () => {
  await fc.assert(
    fc.asyncProperty(any, async ({ pieces }) => {
      const bytes = pieces.join("");
      const own = read([bytes]);
      const theirs = await readByNode(bytes);
      expect(theirs.slice(0, own.requests.length)).toEqual(own.requests);
      if (theirs.length === own.requests.length) return;
      // A connection of HTTP/1.0 ends where Connection does not say otherwise; llhttp reads Proxy-Connection as that.
      const endsSooner = own.problem === undefined && own.isLast;
      if (endsSooner && /HTTP\/1\.0\r\n(?:.+\r\n)*Proxy-Connection: *keep-alive\r\n/i.test(bytes))
        return;
      expect(Object.keys(stricter)).toContain(own.problem);
    }),
    { numRuns: comparisons },
  );
}, 7_200_000);

const get = (fields: string) => `GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
const post = (fields: string, body: string) =>
  `POST / HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n${body}`;

it.each([
  ["a line break without CR", "GET / HTTP/1.1\nHost: a\r\n\r\n"],
  ["a folded field", get("X: a\r\n b\r\n")],
  ["a space before a colon", get("X : a\r\n")],
  ["two lengths", post("Content-Length: 1\r\nContent-Length: 1", "a")],
  ["a list of lengths", post("Content-Length: 1, 1", "a")],
  ["a length with a sign", post("Content-Length: +1", "a")],
  [
    "a length with chunks",
    post("Content-Length: 1\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n"),
  ],
  ["another coding", post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n")],
  ["chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a NUL in a value", get("X: a\0b\r\n")],
  ["a CR in a value", get("X: a\rb\r\n")],
  ["unknown method", "GOT / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["a byte beyond ASCII in the target", "GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["another version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"],
  ["a chunk size with a prefix", post("Transfer-Encoding: chunked", "0x1\r\na\r\n")],
  ["a chunk longer than its size", post("Transfer-Encoding: chunked", "1\r\nab\r\n")],
  ["a chunk that ends in LF", post("Transfer-Encoding: chunked", "1\na\n0\n\n")],
])("%s is no request", (_, bytes) => {
  expect(read([bytes]).problem).toBeDefined();
  expect(read([...bytes]).problem).toBeDefined();
});
