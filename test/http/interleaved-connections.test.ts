import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Says what it got: of who asked, and the body. Some bodies wait before they are read. */
async function startUpstream(): Promise<string> {
  const server = createServer(async (request, response) => {
    const { "x-client": client = "" } = request.headers;
    if (Number(client) % 3 === 0) await setImmediate();
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`<${request.url} ${client} ${body}>`);
  });
  return `127.0.0.1:${await listen(server)}`;
}

/** A client's bytes in pieces, and the expected response. */
function conversation(client: number): { pieces: Buffer[]; wanted: string[] } {
  const mark = String(client).padStart(3, "0").repeat(40);
  const line = (method: string, path: string) =>
    `${method} /${path} HTTP/1.1\r\nHost: a.test\r\nX-Client: ${client}\r\n`;
  const chunk = `${mark.length.toString(16)}\r\n${mark}\r\n`;
  const sent = [
    `${line("POST", `length/${mark}`)}Content-Length: ${mark.length}\r\n\r\n${mark}`,
    `${line("GET", `plain/${mark}`)}\r\n`,
    `${line("POST", `chunks/${mark}`)}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    `${line("GET", `last/${mark}`)}Connection: close\r\n\r\n`,
  ].join("");
  // Every client is cut in another way, in the middle of heads, bodies and frames.
  const size = 7 + ((client * 13) % 61);
  const pieces: Buffer[] = [];
  for (let at = 0; at < sent.length; at += size)
    pieces.push(Buffer.from(sent.slice(at, at + size)));
  const wanted = [
    `</length/${mark} ${client} ${mark}>`,
    `</plain/${mark} ${client} >`,
    `</chunks/${mark} ${client} ${mark}${mark}>`,
    `</last/${mark} ${client} >`,
  ];
  return { pieces, wanted };
}

it.each(["HTTP", "HTTPS"] as const)(
  "clients whose requests come in pieces, turn by turn, each get what they asked for (%s)",
  async (protocol) => {
    const folder = temporaryFolder();
    makeCertificate(folder, "server", { names: "DNS:a.test" });
    const tls = { cert: "server.pem", key: "server.key" };
    const isTls = protocol === "HTTPS";
    const gateway = await startGateway({
      folder,
      listeners: [
        {
          ...(isTls && { protocol, tls }),
          routes: [{ backends: [{ host: await startUpstream() }] }],
        },
      ],
      files: Object.fromEntries(
        Object.values(tls).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
      ),
    });
    const clients = await Promise.all(
      Array.from({ length: 60 }, async (_, client) => {
        const place = { port: gateway.port, host: "127.0.0.1" };
        const socket: Socket = isTls
          ? connectTls({ ...place, rejectUnauthorized: false })
          : connect({ ...place, noDelay: true });
        await once(socket, isTls ? "secureConnect" : "connect");
        let received = "";
        socket.on("data", (bytes) => {
          received += bytes;
        });
        const ended = once(socket, "end");
        return { socket, ended, received: () => received, ...conversation(client) };
      }),
    );
    const turns = Math.max(...clients.map(({ pieces }) => pieces.length));
    for (let turn = 0; turn < turns; turn++) {
      for (const { socket, pieces } of clients) {
        const piece = pieces[turn];
        if (piece !== undefined) socket.write(piece);
      }
      await setImmediate();
    }
    for (const { ended, received, wanted } of clients) {
      await ended;
      expect(received().match(/<\/[^>]*>/g)).toEqual(wanted);
    }
  },
);
