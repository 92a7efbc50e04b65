import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { bytesUnread } from "../harness/kernel-queues.ts";
import { listen } from "../harness/listen.ts";
import { settled } from "../harness/settled.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

// Bytes of clients are read into memory that is reused: no server may find another request's bytes in it.

/** More than the buffers of the systems on the way hold. */
const long = 16 * 1024 * 1024;

/** A body that is unlike any other one in every part of it. */
function bodyOf(path: string): Buffer {
  const body = Buffer.alloc(long, " ");
  for (let at = 0; at < long; at += 1024) body.write(`${path} ${at}\n`, at);
  return body;
}

/** A request, with its body in chunks whose frames fall on every place of what is read, or of a known length. */
function requestOf(path: string): Buffer {
  const body = bodyOf(path);
  const line = `POST ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n`;
  if (!path.endsWith("chunks")) {
    return Buffer.concat([Buffer.from(`${line}Content-Length: ${long}\r\n\r\n`), body]);
  }
  const pieces: Buffer[] = [Buffer.from(`${line}Transfer-Encoding: chunked\r\n\r\n`)];
  for (let at = 0; at < long; at += 30_011) {
    const data = body.subarray(at, at + 30_011);
    pieces.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n"));
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

async function digestOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of body) hash.update(piece);
  return hash.digest("hex");
}

it.each(["HTTP", "HTTPS"] as const)(
  "servers that read slowly get their own requests, whatever others get meanwhile (%s)",
  async (protocol) => {
    const folder = temporaryFolder();
    makeCertificate(folder, "server", { names: "DNS:a.test" });
    const isTls = protocol === "HTTPS";
    const tls = { cert: "server.pem", key: "server.key" };
    const waiting: IncomingMessage[] = [];
    let goOn = () => {};
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const server = createServer(async (request, response) => {
      if (request.url?.startsWith("/slow") === true) {
        waiting.push(request);
        await released;
      }
      response.end(await digestOf(request));
    });
    const host = `127.0.0.1:${await listen(server)}`;
    const gateway = await startGateway({
      folder,
      listeners: [{ ...(isTls && { protocol, tls }), routes: [{ backends: [{ host }] }] }],
      files: Object.fromEntries(
        Object.values(tls).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
      ),
    });
    const send = async (path: string): Promise<string> => {
      const place = { port: gateway.port, host: "127.0.0.1" };
      const socket: Socket = isTls
        ? connectTls({ ...place, rejectUnauthorized: false })
        : connect(place);
      atEnd(() => socket.destroy());
      await once(socket, isTls ? "secureConnect" : "connect");
      socket.write(requestOf(path));
      const response = await text(socket);
      return response.slice(response.indexOf("\r\n\r\n") + 4);
    };
    const wanted = (path: string) => createHash("sha256").update(bodyOf(path)).digest("hex");
    const paths = ["/slow-a", "/slow-b", "/slow-c-chunks", "/slow-d-chunks"];
    const slow = Promise.all(paths.map(send));
    // Their servers' sockets hold what they can.
    await settled(() => waiting.reduce((sum, { socket }) => sum + bytesUnread(socket), 0));
    for (const path of ["/quick", "/quick-chunks"]) {
      expect(await send(path)).toContain(wanted(path));
    }
    goOn();
    const digests = await slow;
    for (const [index, path] of paths.entries()) expect(digests[index]).toContain(wanted(path));
  },
);
