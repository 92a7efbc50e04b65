import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer, type SecureVersion, type TLSSocket } from "node:tls";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";

/** Gives names under `.test` the addresses that a test says. */
export const names = pathToFileURL(join(import.meta.dirname, "../harness/fake-names.mjs"));

/** A TLS server with a certificate for its names, which says its name and what it hears. */
export async function startSecure(
  folder: string,
  name: string,
  hosts: readonly string[],
  host = "127.0.0.1",
) {
  makeCertificate(folder, name, { names: hosts.map((each) => `DNS:${each}`).join() });
  const file = (extension: string) => readFileSync(join(folder, `${name}.${extension}`));
  const server = createServer(
    { cert: file("pem"), key: file("key"), ALPNProtocols: ["h2", "own"] },
    (socket) => {
      socket.write(`${name} for ${socket.servername}\n`);
      socket.on("data", (chunk) => socket.write(chunk));
      socket.on("error", () => {});
    },
  );
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return { port: (server.address() as AddressInfo).port, ca: file("pem") };
}

/** A TLS client's view of the connection. */
export interface Talk {
  readonly heard: string;
  readonly version: string | null;
  readonly alpn: string | false | null;
}

/** Connects as a client that trusts one certificate, says something, and hears it again; or the error. */
export function talk(
  port: number,
  servername: string | undefined,
  ca: Buffer,
  options: { readonly maxVersion?: SecureVersion; readonly ALPNProtocols?: string[] } = {},
): Promise<Talk | string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({
      port,
      host: "127.0.0.1",
      ca,
      ...(servername === undefined ? { checkServerIdentity: () => undefined } : { servername }),
      ...options,
    });
    onTestFinished(() => {
      socket.destroy();
    });
    let heard = "";
    socket.on("secureConnect", () => socket.write("hello\n"));
    socket.on("data", (chunk) => {
      heard += chunk;
      if (!heard.endsWith("hello\n")) return;
      resolve({
        heard,
        version: socket.getProtocol(),
        alpn: socket.alpnProtocol,
      });
      socket.end();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on("close", () => resolve("closed"));
  });
}

/** A backend on this port. */
export const to = (port: number) => ({ host: `127.0.0.1:${port}` });

/** A number in two bytes. */
export const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);

/** Bytes behind their length in two bytes. */
export const vector = (bytes: Buffer) => Buffer.concat([u16(bytes.length), bytes]);

/** A record of this type. */
export const record = (bytes: Buffer, type = 22) =>
  Buffer.concat([Buffer.from([type, 3, 1]), vector(bytes)]);

/** A ClientHello with these extensions. */
export function hello(extensions: Buffer, type = 1, length?: number): Buffer {
  const body = Buffer.concat([
    ...[u16(0x0303), Buffer.alloc(32), Buffer.from([0]), vector(u16(0x1301)), Buffer.from([1, 0])],
    vector(extensions),
  ]);
  const size = length ?? body.length;
  return Buffer.concat([Buffer.from([type, size >> 16, (size >> 8) & 255, size & 255]), body]);
}

/** An extension of a ClientHello. */
export const extension = (type: number, content: Buffer) =>
  Buffer.concat([u16(type), vector(content)]);

/** The extension that names a server. */
export const named = (name: string, type = 0) =>
  extension(0, vector(Buffer.concat([Buffer.from([type]), vector(Buffer.from(name, "latin1"))])));
