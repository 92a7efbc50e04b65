import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../harness/certificate.ts";
import { startGateway } from "../harness/gateway.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** A server with a certificate of the folder; what reached it. */
async function startSecure(folder: string, certificate: string, reached: string[]) {
  const file = (name: string) => readFileSync(join(folder, name));
  const options = { cert: file(`${certificate}.pem`), key: file(`${certificate}.key`) };
  const server = createServer(options, (request, response) => {
    reached.push(`${certificate} ${request.url}`);
    response.end("ok");
  });
  return listen(server);
}

function listen(server: Server): Promise<number> {
  onTestFinished(() => {
    server.close();
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address !== null && typeof address === "object") resolve(address.port);
    });
  });
}

/** Each certificate, and what the log says of it. */
const refusals: Readonly<Record<string, RegExp>> = {
  "self-signed": /self-signed certificate/,
  stranger: /unable to verify the first certificate|unable to get local issuer/,
  expired: /certificate has expired/,
  "other-name": /Hostname\/IP does not match|altnames/,
};

it("an upstream of a wrong certificate gets no request; the client learns nothing of it, the log has the reason", async () => {
  const folder = temporaryFolder();
  const names = "DNS:localhost";
  makeCertificate(folder, "ca");
  makeCertificate(folder, "other-ca");
  makeCertificate(folder, "right", { signer: "ca", names });
  makeCertificate(folder, "self-signed", { names });
  makeCertificate(folder, "stranger", { signer: "other-ca", names });
  makeCertificate(folder, "expired", { signer: "ca", names, days: "-1" });
  makeCertificate(folder, "other-name", { signer: "ca", names: "DNS:elsewhere.test" });
  const reached: string[] = [];
  const routes = [];
  for (const name of ["right", ...Object.keys(refusals)]) {
    const host = `localhost:${await startSecure(folder, name, reached)}`;
    const policies = { backendTLS: { root: "ca.pem" } };
    routes.push({ matches: [{ path: { exact: `/${name}` } }], backends: [{ host, policies }] });
  }
  // One that does not speak TLS at all, and one that speaks another protocol behind it.
  const plain = await listen(createTcpServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n")));
  const backends = [{ host: `localhost:${plain}`, policies: { backendTLS: { root: "ca.pem" } } }];
  routes.push({ matches: [{ path: { exact: "/plain" } }], backends });
  const gateway = await startGateway({ folder, listeners: [{ routes }] });
  const ask = async (path: string) => {
    const headers = { authorization: "Bearer Q0FOQVJZ" };
    const response = await fetch(`http://127.0.0.1:${gateway.port}/${path}`, { headers });
    return [response.status, await response.text()];
  };
  expect(await ask("right")).toEqual([200, "ok"]);
  for (const [name, reason] of Object.entries(refusals)) {
    expect(await ask(name), name).toEqual([503, "upstream is not reachable"]);
    const line = new RegExp(`http.path=/${name} .*error="?[^\\n]*(?:${reason.source})`);
    await gateway.seen(line);
  }
  expect(await ask("plain")).toEqual([503, "upstream is not reachable"]);
  expect(reached).toEqual(["right /right"]);
  expect(gateway.output).not.toContain("Q0FOQVJZ");
  expect(await ask("right")).toEqual([200, "ok"]);
});
