import { request } from "node:http";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ReadState } from "../../runtime/http/http1/message-reader.ts";
import { Http1Response } from "../../runtime/http/upstream/node/http1-message.ts";
import { changedResponse, validResponse } from "./random-responses.ts";

const RUNS = process.env.GWC_LONG_TESTS === undefined ? 500 : 100_000;

/** The result of reading a response. */
interface Reading {
  readonly state: ReadState | "cut";
  readonly status: number | undefined;
  readonly body: string;
  readonly trailers: readonly string[] | undefined;
  readonly hasExcess: boolean;
}

/** Reads a response in pieces, and then the end of its connection; `pauses`: after each piece of the body. */
function read(pieces: readonly string[], pauses = false): Reading {
  let status: number | undefined;
  const body: Buffer[] = [];
  const reader = {
    onInformation: () => {},
    onResponse: (head: { readonly status: number }) => {
      status = head.status;
    },
    onData: (chunk: Buffer) => {
      body.push(chunk);
      return !pauses;
    },
  };
  const response = new Http1Response(reader, false);
  let state: Reading["state"] = "open";
  for (const piece of pieces) {
    if (state === "broken") break;
    const next = response.push(Buffer.from(piece, "latin1"));
    // Behind its end a connection reads no further.
    if (state === "ended") break;
    state = next;
    while (state === "paused") state = response.readOn();
  }
  if (state === "open") state = response.close() ? "ended" : "cut";
  const { trailers } = response;
  const text = Buffer.concat(body).toString("latin1");
  return { state, status, body: text, trailers, hasExcess: response.excess !== undefined };
}

/** Reads the same with llhttp, node's own parser; `undefined` if it refuses the response. */
function readByNode(bytes: string): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const connection = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
    const sent = request({ createConnection: () => connection });
    sent.on("error", () => resolve(undefined));
    sent.on("upgrade", () => resolve(undefined));
    sent.on("response", async (response) => {
      const body: Buffer[] = [];
      response.on("error", () => resolve(undefined));
      response.on("data", (chunk: Buffer) => body.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(body).toString("latin1");
        resolve(response.complete ? { status: response.statusCode ?? 0, body: text } : undefined);
      });
    });
    sent.end();
    connection.push(Buffer.from(bytes, "latin1"));
    connection.push(null);
  });
}

const any = fc.oneof(validResponse, changedResponse);

it("a response is read alike however its bytes are cut, and whichever side pauses", () => {
  fc.assert(
    fc.property(any, ({ pieces }) => {
      const bytes = pieces.join("");
      const whole = read([bytes]);
      const { hasExcess: _, ...same } = whole;
      expect(read(pieces)).toMatchObject(same);
      expect(read([bytes], true)).toEqual(whole);
      expect(read([...bytes])).toMatchObject(same);
      expect(read([...bytes], true)).toMatchObject(same);
      const middle = bytes.length >> 1;
      expect(read([bytes.slice(0, middle), bytes.slice(middle)])).toMatchObject(same);
    }),
    { numRuns: RUNS },
  );
}, 600_000);

it("a response that is taken is one to llhttp too, and the same", async () => {
  await fc.assert(
    fc.asyncProperty(any, async ({ pieces }) => {
      const bytes = pieces.join("");
      const own = read([bytes]);
      if (own.state !== "ended" || own.hasExcess) return;
      expect(await readByNode(bytes)).toEqual({ status: own.status, body: own.body });
    }),
    { numRuns: RUNS },
  );
}, 600_000);

it.each([
  ["a line break without CR", "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n"],
  ["a folded field", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n"],
  ["a space before a colon", "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"],
  ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na"],
  ["a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na"],
  [
    "a length with chunks",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
  ],
  ["another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
  [
    "the coding twice",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["a NUL in a value", "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n"],
  ["a CR in a value", "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n"],
  ["a name with a space", "HTTP/1.1 200 OK\r\nX Y: a\r\nContent-Length: 0\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n"],
  ["another version", "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"],
  [
    "a chunk size with a prefix",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n",
  ],
  ["a chunk size with a space", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na\r\n"],
  [
    "a chunk size beyond every number",
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"f".repeat(17)}\r\na\r\n`,
  ],
  [
    "a chunk longer than its size",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
  ],
  ["a chunk that ends in LF", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n"],
])("%s is no response", (_, bytes) => {
  expect(read([bytes]).state).toBe("broken");
  expect(read([...bytes]).state).toBe("broken");
});
