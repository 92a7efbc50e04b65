import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { beforeAll, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const tls = { cert: "edge.pem", key: "edge.key" };

beforeAll(() => void makeCertificate(folder, "edge", { names: "DNS:*.test" }));

/** Response to some bytes on a connection, and the session for the next connection. */
interface Heard {
  readonly text: string;
  readonly isResumed: boolean;
  readonly session: Buffer | undefined;
}

function talk(port: number, name: string, send: string, options: ConnectionOptions) {
  return new Promise<Heard>((resolve) => {
    let text = "";
    let session: Buffer | undefined;
    let isResumed = false;
    const servername = `${name}.test`;
    const socket: TLSSocket = connect({
      ...{ port, host: "127.0.0.1", servername, rejectUnauthorized: false, ...options },
    });
    atEnd(() => socket.destroy());
    socket.on("error", () => {});
    socket.on("secureConnect", () => {
      isResumed = socket.isSessionReused();
      socket.write(send);
    });
    socket.on("session", (next) => {
      session = next;
    });
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve({ text, isResumed, session }));
  });
}

const site = (name: string, own: object = {}) => ({
  ...{ name, protocol: "HTTPS", tls: { ...tls, ...own } },
  ...(name === "rest" ? {} : { hostname: `${name}.test` }),
  routes: [{ policies: { directResponse: { status: 200, bodyExpression: SAYS } } }],
});

/** The name that rules see. */
const SAYS = '"name " + destination.hostname';

const get = (name: string) => `GET / HTTP/1.1\r\nHost: ${name}.test\r\nConnection: close\r\n\r\n`;

const VERSIONS = ["TLSv1.2", "TLSv1.3"] as const;

/** Listeners of ports. On the divided one, a name has TLS settings of its own. */
const PORTS: readonly (readonly [string, readonly object[]])[] = [
  ["one name", [site("rest")]],
  ["names with the same settings", [site("rest"), site("a"), site("b")]],
  ["a divided port", [site("rest"), site("a"), site("b", { maxTLSVersion: "1.2" })]],
];

it.each(
  PORTS.flatMap(([what, listeners]) =>
    VERSIONS.map((version) => [what, version, listeners] as const),
  ),
)("a resumed connection keeps its server name: %s, %s", async (_what, maxVersion, listeners) => {
  const { port } = await startGateway({ folder, listeners: [...listeners] });
  for (const name of ["a", "b", "other"]) {
    const first = await talk(port, name, get(name), { maxVersion });
    expect(first.text).toMatch(new RegExp(`^HTTP/1.1 200[^]*name ${name}\\.test$`));
    const session = first.session;
    const again = await talk(port, name, get(name), { maxVersion, ...(session && { session }) });
    expect(again.text).toMatch(new RegExp(`^HTTP/1.1 200[^]*name ${name}\\.test$`));
    expect([name, again.isResumed]).toEqual([name, true]);
  }
});

it.each(VERSIONS)(
  "a session of one name leads to no routes of another name: %s",
  async (maxVersion) => {
    const { port } = await startGateway({
      folder,
      listeners: [site("rest"), site("a"), site("b")],
    });
    const { session } = await talk(port, "a", get("a"), { maxVersion });
    const options = { maxVersion, ...(session && { session }) };
    expect((await talk(port, "b", get("b"), options)).text).toContain("name b.test");
    expect((await talk(port, "b", get("a"), options)).text).toMatch(/^HTTP\/1.1 421/);
    expect((await talk(port, "other", get("b"), options)).text).toMatch(/^HTTP\/1.1 421/);
  },
);

it("a resumed connection whose bytes are passed on reaches the backend of its name", async () => {
  const greeter = async (name: string) => {
    const { port } = await startTcpServer((socket) => socket.end(`${name}\n`));
    return { name, backends: [{ host: `127.0.0.1:${port}` }] };
  };
  const stream = async (name: string) => ({
    ...{ name, hostname: `${name}.test`, protocol: "TLS", tls },
    tcpRoutes: [await greeter(name)],
  });
  const gateway = await startGateway({ folder, listeners: [await stream("a"), await stream("b")] });
  for (const name of ["a", "b"]) {
    const maxVersion = "TLSv1.2";
    const first = await talk(gateway.port, name, "x", { maxVersion });
    const { session } = first;
    const again = await talk(gateway.port, name, "x", { maxVersion, ...(session && { session }) });
    expect([first.text, again.text, again.isResumed]).toEqual([`${name}\n`, `${name}\n`, true]);
  }
  await gateway.seen(
    /listener=b route=b .*tls\.sni=b\.test[\s\S]*listener=b route=b .*tls\.sni=b\.test/,
  );
});
