import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import path from "node:path";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A name that everybody may use, and one for clients with a certificate, on one port. */
const [OPEN, GUARDED] = ["shop.test", "admin.test"];

let port = 0;
let certificate: Pick<ConnectionOptions, "cert" | "key">;

beforeAll(async () => {
  const folder = temporaryFolder();
  makeCertificate(folder, "site", { names: `DNS:${OPEN},DNS:${GUARDED}` });
  makeCertificate(folder, "ca");
  makeCertificate(folder, "client", { signer: "ca" });
  const read = (name: string) => readFileSync(path.join(folder, name));
  certificate = { cert: read("client.pem"), key: read("client.key") };
  const tls = { cert: "site.pem", key: "site.key" };
  const named = (hostname: string, own: object) => ({ hostname, protocol: "HTTPS", tls: own });
  const route = (body: string, index: number) => ({
    name: body,
    gateways: `default/listener${index}`,
    policies: { directResponse: { status: 200, body } },
  });
  port = await freePort();
  await startGateway({
    config: {
      gateways: {
        default: {
          port,
          listeners: [named(OPEN, tls), named(GUARDED, { ...tls, root: "ca.pem" })],
        },
      },
      routes: [route("open", 0), route("guarded", 1)],
    },
    folder,
  });
});

function opened(options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const settings = { port, host: "127.0.0.1", rejectUnauthorized: false, ...options };
    const socket = connect(settings, () => resolve(socket));
    socket.on("error", reject);
    onTestFinished(() => void socket.destroy());
  });
}

/** Returns the status and body of a request on a connection; "refused" if the connection ends without a response. */
async function ask(host: string, options: ConnectionOptions): Promise<string> {
  try {
    const socket = await opened({ ALPNProtocols: ["http/1.1"], ...options });
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    let text = "";
    for await (const piece of socket) text += piece;
    const [, status, body] = /^HTTP\/1\.1 (\d+)[\s\S]*\r\n\r\n([\s\S]*)$/.exec(text) ?? [];
    return status === undefined ? "refused" : status === "200" ? `200 ${body}` : status;
  } catch {
    return "refused";
  }
}

/** Returns the statuses of requests for hosts, in order, on one HTTP/2 connection. */
async function askTogether(
  hosts: readonly string[],
  options: ConnectionOptions,
): Promise<readonly number[]> {
  const socket = await opened({ ALPNProtocols: ["h2"], ...options });
  const session = connectHttp2(`https://${hosts[0]}`, { createConnection: () => socket });
  const statuses: number[] = [];
  for (const host of hosts) {
    const stream = session.request({ ":authority": host, ":path": "/" });
    statuses.push(
      await new Promise<number>((resolve, reject) => {
        stream.on("response", (headers) => resolve(Number(headers[":status"])));
        stream.on("error", reject);
      }),
    );
    stream.resume();
  }
  session.destroy();
  return statuses;
}

describe("a name that demands certificates on a shared port", () => {
  it("is served to clients with one, and refused to others", async () => {
    expect(await ask(GUARDED, { servername: GUARDED, ...certificate })).toBe("200 guarded");
    expect(await ask(GUARDED, { servername: GUARDED })).toBe("refused");
    expect(await ask(GUARDED, { servername: "ADMIN.test" })).toBe("refused");
    expect(await ask(OPEN, { servername: OPEN })).toBe("200 open");
  });

  it("is not reached over a connection for another name, or for none", async () => {
    for (const servername of [OPEN, undefined])
      for (const host of [GUARDED, `${GUARDED}:${port}`, "ADMIN.test", `${GUARDED}.`])
        expect([host, await ask(host, { ...(servername && { servername }) })]).toEqual([
          host,
          expect.stringMatching(servername === undefined ? /^(refused|421|400)$/ : /^(421|400)$/),
        ]);
  });

  it("is not reached by coalescing over HTTP/2, and the connection stays usable", async () => {
    const hosts = [OPEN, GUARDED, `${GUARDED}:${port}`, OPEN];
    expect(await askTogether(hosts, { servername: OPEN })).toEqual([200, 421, 421, 200]);
    const own = [GUARDED, GUARDED];
    expect(await askTogether(own, { servername: GUARDED, ...certificate })).toEqual([200, 200]);
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)(
    "is not reached with a resumed session of another name (%s)",
    async (version) => {
      const versions = { minVersion: version, maxVersion: version };
      const first = await opened({ servername: OPEN, ...versions });
      // TLS 1.3 sends the session after the handshake, earlier versions in it.
      const session =
        version === "TLSv1.2"
          ? first.getSession()
          : await new Promise<Buffer>((resolve) => {
              first.once("session", resolve);
              first.write(`GET / HTTP/1.1\r\nHost: ${OPEN}\r\n\r\n`);
            });
      if (version === "TLSv1.3")
        expect(await ask(OPEN, { servername: OPEN, session, ...versions })).toBe("200 open");
      expect(await ask(GUARDED, { servername: GUARDED, session, ...versions })).toBe("refused");
      expect(await ask(GUARDED, { servername: OPEN, session, ...versions })).not.toMatch(/200/);
    },
  );
});
