import { once } from "node:events";
import { connect } from "node:http2";
import { request } from "node:https";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../../harness/certificate.ts";
import { startGateway } from "../../harness/gateway.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";

/** HTTPS listeners with a route each that says its name; the last one is for every name. */
async function secure(hostnames: readonly string[]): Promise<number> {
  const folder = temporaryFolder();
  makeCertificate(folder, "site");
  const listeners = hostnames.map((hostname, index) => ({
    name: `l${index}`,
    hostname,
    protocol: "HTTPS",
    tls: { cert: "site.pem", key: "site.key" },
    routes: [{ name: `r${index}`, policies: { directResponse: { status: 200, body: hostname } } }],
  }));
  return (await startGateway({ listeners, folder })).port;
}

type Ask = (port: number, servername: string, host: string) => Promise<string>;

const overHttp1: Ask = (port, servername, host) =>
  new Promise((resolve, reject) => {
    const target = { port, host: "127.0.0.1", agent: false, rejectUnauthorized: false };
    const asked = request({ ...target, servername, headers: { host } }, async (response) => {
      const body = await response.setEncoding("utf8").toArray();
      resolve(response.statusCode === 200 ? body.join("") : String(response.statusCode));
    });
    asked.on("error", reject);
    asked.end();
  });

const overHttp2: Ask = async (port, servername, host) => {
  const session = connect(`https://127.0.0.1:${port}`, { servername, rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":authority": host });
  const [headers] = await once(stream, "response");
  const body = await stream.setEncoding("utf8").toArray();
  session.close();
  return headers[":status"] === 200 ? body.join("") : String(headers[":status"]);
};

const few = ["a.test", "*.b.test", "*"];
const many = [...few, ...Array.from({ length: 30 }, (_, index) => `h${index}.test`)];

describe.each([
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
])("over %s", (_, ask) => {
  it.each([
    ["a chain", few],
    ["a lookup", many],
  ])(
    "a request for another listener than its connection's is answered 421, by %s",
    async (_form, hostnames) => {
      const port = await secure(hostnames);
      const cases = [
        ["a.test", "a.test", "a.test"],
        ["a.test", `A.test:${port}`, "a.test"],
        ["A.TEST", "a.test", "a.test"],
        ["x.b.test", "y.z.b.test", "*.b.test"],
        ["other.test", "another.test", "*"],
        ["a.test", "x.b.test", "421"],
        ["x.b.test", "a.test", "421"],
        ["a.test", "other.test", "421"],
        ["other.test", "a.test", "421"],
        // Nobody was named: the connection is that of every name.
        ["", "other.test", "*"],
        ["", "a.test", "421"],
      ] as const;
      const found: string[] = [];
      for (const [servername, host] of cases) found.push(await ask(port, servername, host));
      expect(found).toEqual(cases.map(([, , expected]) => expected));
    },
  );
});
