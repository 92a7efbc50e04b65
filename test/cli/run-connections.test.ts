import { expect, it } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startTcpServer } from "../harness/tcp-server.ts";
import { Workspace } from "../harness/workspace.ts";

const text = (port: number, protocol: string, routes: string, adminPort: number) => `
config: {adminAddr: "127.0.0.1:${adminPort}", statsAddr: "127.0.0.1:0", readinessAddr: "127.0.0.1:0"}
binds:
  - port: ${port}
    listeners:
      - {name: raw, protocol: ${protocol}, ${routes}}
`;
const to = (port: number) => `tcpRoutes: [{name: echo, backends: [{host: "127.0.0.1:${port}"}]}]`;

it("gwc run hot-reloads TCP routes: connections stay, new ones use the new routes", async () => {
  const echo = (name: string) =>
    startTcpServer((socket) => {
      socket.on("data", (chunk) => socket.write(`${name} ${chunk}`));
      socket.on("end", () => socket.end());
    });
  const [one, two] = [await echo("one"), await echo("two")];
  const [port, admin] = [await freePort(), await freePort()];
  const workspace = new Workspace({ "gateway.yaml": text(port, "TCP", to(one.port), admin) });
  const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")]);
  await running.seen(/admin page/);
  const before = new RawClient(port, { allowHalfOpen: true });
  before.send("a");
  await before.receives("one a");
  workspace.write("gateway.yaml", text(port, "TCP", to(two.port), admin));
  await expect
    .poll(async () => {
      const client = new RawClient(port, { allowHalfOpen: true });
      client.send("b");
      await client.receives(" b");
      client.socket.end();
      return client.received;
    })
    .toBe("two b");
  before.send("c");
  await before.receives("one c");
  const routes = await fetch(`http://127.0.0.1:${admin}/ui/api/routes`);
  const shown = JSON.parse(await routes.text());
  expect(shown.connections).toMatchObject([
    { port, scheme: "tcp", routes: [{ backends: [{ address: `127.0.0.1:${two.port}` }] }] },
  ]);
  // The same port can speak HTTP next.
  const http = "routes: [{name: web, policies: {directResponse: {status: 200, body: now}}}]";
  workspace.write("gateway.yaml", text(port, "HTTP", http, admin));
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/`).then(
        (response) => response.text(),
        () => "",
      ),
    )
    .toBe("now");
  expect(await running.stop()).toBe(0);
});
