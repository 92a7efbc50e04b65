import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { beforeAll, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { bytesTaken, bytesUnread } from "../harness/kernel-queues.ts";
import { settled } from "../harness/settled.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";

// Bytes of servers are read into memory that is reused: no client may find another response's bytes in it.

/** More than the buffers of the systems on the way hold. */
const long = 16 * 1024 * 1024;
const megabyte = 1024 * 1024;

/** A body that is unlike any other one in every part of it. */
function bodyOf(path: string): Buffer {
  const body = Buffer.alloc(long, " ");
  for (let at = 0; at < long; at += 1024) body.write(`${path} ${at}\n`, at);
  return body;
}

function digest(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

/** Asks for a path and takes nothing of the response yet. */
async function ask(port: number, path: string, isTls = false): Promise<Socket> {
  const to = { port, host: "127.0.0.1" };
  const socket = isTls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  atEnd(() => socket.destroy());
  await once(socket, isTls ? "secureConnect" : "connect");
  socket.pause();
  // Nothing is in chunks for a client of HTTP/1.0.
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  return socket;
}

async function take(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  return digest(bytes.subarray(bytes.indexOf("\r\n\r\n") + 4));
}

/** Sends the last byte of the response that a policy gathers. */
let finishGathered = () => {};
/** The connection on which it is still to come. */
let unfinished: Socket | null = null;
let gateway: Gateway;
let secureGateway: Gateway;

beforeAll(async () => {
  const host = await startUpstream(({ url = "" }, response) => {
    const body = bodyOf(url);
    if (url.startsWith("/gathered")) {
      unfinished = response.socket;
      response.setHeader("content-length", megabyte);
      response.write(body.subarray(0, megabyte - 1));
      finishGathered = () => response.end(body.subarray(megabyte - 1, megabyte));
    } else if (url.endsWith("chunks")) {
      // Their frames fall on every place of what is read.
      for (let at = 0; at < long; at += 30_011) response.write(body.subarray(at, at + 30_011));
      response.end();
    } else {
      response.setHeader("content-length", long);
      response.end(body);
    }
  });
  const backends = [{ host }];
  const policies = { transformations: { response: { body: "response.body" } } };
  const routes = [
    { matches: [{ path: { exact: "/gathered-by-route" } }], policies, backends },
    { matches: [{ path: { exact: "/gathered-by-backend" } }], backends: [{ host, policies }] },
    { backends },
  ];
  gateway = await startGateway({ listeners: [{ routes }] });
  const folder = temporaryFolder();
  makeCertificate(folder, "server");
  const tls = { cert: join(folder, "server.pem"), key: join(folder, "server.key") };
  secureGateway = await startGateway({ listeners: [{ protocol: "HTTPS", tls, routes }] });
});

async function takeQuickly(): Promise<void> {
  for (const path of ["/quick", "/quick-chunks"]) {
    const response = await fetch(`${gateway.url}${path}`);
    expect(digest(await response.bytes())).toBe(digest(bodyOf(path)));
  }
}

it("clients that read slowly get their own responses, whatever others get meanwhile", async () => {
  const paths = ["/a", "/b", "/c-chunks", "/d-chunks"];
  const slow = await Promise.all(paths.map((path) => ask(gateway.port, path)));
  // Their sockets hold what they can.
  await settled(() => slow.reduce((sum, socket) => sum + bytesUnread(socket), 0));
  await takeQuickly();
  const digests = await Promise.all(slow.map(take));
  expect(digests).toEqual(paths.map((path) => digest(bodyOf(path))));
});

it("the same over TLS, with quick clients next to slow ones", async () => {
  const paths = ["/a", "/b", "/c-chunks", "/d-chunks"];
  const { port } = secureGateway;
  const slow = await Promise.all(paths.map((path) => ask(port, path, true)));
  await settled(() => slow.reduce((sum, socket) => sum + bytesUnread(socket), 0));
  for (const path of ["/e", "/f-chunks"]) {
    const quick = await Promise.all(["", "", ""].map(() => ask(port, path, true)));
    const bodies = await Promise.all(quick.map(take));
    expect(bodies).toEqual(quick.map(() => digest(bodyOf(path))));
  }
  const digests = await Promise.all(slow.map(take));
  expect(digests).toEqual(paths.map((path) => digest(bodyOf(path))));
});

it.each(["route", "backend"])(
  "a response that a policy of the %s gathers stays what it was while others pass",
  async (level) => {
    const path = `/gathered-by-${level}`;
    unfinished = null;
    const asked = await ask(gateway.port, path);
    const hasTaken = () => unfinished !== null && bytesTaken(unfinished) >= megabyte - 1;
    await eventually(() => hasTaken() || null, "all but the end of the response in the gateway");
    await takeQuickly();
    finishGathered();
    expect(await take(asked)).toBe(digest(bodyOf(path).subarray(0, megabyte)));
  },
);
