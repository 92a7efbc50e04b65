import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import { buffer, text } from "node:stream/consumers";
import { pause } from "../harness/pause.ts";
import { bodyOf, eventOf } from "./contents.ts";

/** Ports of a gateway. */
export interface Target {
  readonly http: number;
  readonly tls: number;
}

/** A kind of traffic: one exchange with a gateway, which rejects unless everything arrives as it was sent. */
export interface Traffic {
  readonly name: string;
  /** Milliseconds between two exchanges. */
  readonly every: number;
  readonly exchange: (target: Target, id: string) => Promise<void>;
  /** Number of lines in the access log with the id; absent: one. */
  readonly lines?: number;
}

/** Traffic over HTTP and HTTPS. */
export const httpTraffic: readonly Traffic[] = [
  { name: "GET", every: 50, exchange: get },
  { name: "POST", every: 100, exchange: post },
  { name: "slow reader", every: 2_000, exchange: readSlowly },
  { name: "SSE", every: 500, exchange: readEvents },
  { name: "SSE, aborted", every: 1_000, exchange: abortEvents },
  { name: "GET over TLS", every: 200, exchange: getOverTls },
  { name: "POST over HTTP/2", every: 400, exchange: postOverHttp2 },
];

/** Maximum bytes of a body. */
const MAX_BODY = 100_000;
const LARGE = 1_000_000;
const EVENTS = 40;

/** New connections, and handshakes, are a part of the traffic. */
const tlsAgent = new TlsAgent({ keepAlive: true, maxFreeSockets: 2, rejectUnauthorized: false });

async function get({ http }: Target, id: string): Promise<void> {
  const size = randomSize();
  const response = await fetch(`http://127.0.0.1:${http}/bytes/${id}?${size}`);
  const body = Buffer.from(await response.arrayBuffer());
  expectBody(response.status, body, bodyOf(id, size));
}

/** Every second body is sent in chunks. */
async function post({ http }: Target, id: string): Promise<void> {
  const body = bodyOf(id, randomSize());
  const headers = Math.random() < 0.5 ? { "content-length": body.length } : {};
  const request = httpRequest({ port: http, method: "POST", path: `/echo/${id}`, headers });
  const half = body.length / 2;
  request.write(body.subarray(0, half));
  request.end(body.subarray(half));
  const [response]: IncomingMessage[] = await once(request, "response");
  if (response !== undefined) expectBody(response.statusCode, await buffer(response), body);
}

async function readSlowly({ http }: Target, id: string): Promise<void> {
  const request = httpRequest({ port: http, path: `/bytes/${id}?${LARGE}` }).end();
  const [response]: IncomingMessage[] = await once(request, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response ?? []) {
    chunks.push(chunk);
    await pause(20);
  }
  expectBody(response?.statusCode, Buffer.concat(chunks), bodyOf(id, LARGE));
}

async function readEvents({ http }: Target, id: string): Promise<void> {
  const request = httpRequest({ port: http, path: `/events/${id}?${EVENTS}` }).end();
  const [response]: IncomingMessage[] = await once(request, "response");
  const found = response === undefined ? "" : await text(response);
  expectBody(response?.statusCode, Buffer.from(found), eventsOf(id));
}

async function abortEvents({ http }: Target, id: string): Promise<void> {
  const aborter = new AbortController();
  const response = await fetch(`http://127.0.0.1:${http}/events/${id}?${EVENTS}`, aborter);
  const first = await response.body?.getReader().read();
  const begin = Buffer.from(first?.value ?? []);
  expectBody(response.status, begin, eventsOf(id).subarray(0, begin.length));
  await pause(200);
  aborter.abort();
}

async function getOverTls({ tls }: Target, id: string): Promise<void> {
  const size = randomSize();
  const options = { port: tls, path: `/bytes/${id}?${size}`, agent: tlsAgent };
  const request = httpsRequest(options).end();
  const [response]: IncomingMessage[] = await once(request, "response");
  if (response !== undefined)
    expectBody(response.statusCode, await buffer(response), bodyOf(id, size));
}

async function postOverHttp2({ tls }: Target, id: string): Promise<void> {
  const body = bodyOf(id, randomSize());
  const session = connectHttp2(`https://127.0.0.1:${tls}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  try {
    const stream = session.request({ ":method": "POST", ":path": `/echo/${id}` }).end(body);
    const [headers] = await once(stream, "response");
    expectBody(Number(headers[":status"]), await buffer(stream), body);
  } finally {
    session.close();
  }
}

function eventsOf(id: string): Buffer {
  return Buffer.from(Array.from({ length: EVENTS }, (_, index) => eventOf(id, index)).join(""));
}

function randomSize(): number {
  return Math.floor(MAX_BODY * Math.random() ** 4);
}

function expectBody(status: number | undefined, found: Buffer, expected: Buffer): void {
  if (status !== 200) throw new Error(`status ${status}: ${found.subarray(0, 200)}`);
  if (!found.equals(expected))
    throw new Error(`${found.length} bytes instead of ${expected.length}, or other ones`);
}
