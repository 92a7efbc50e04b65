import { expect, it } from "vitest";
import { checkFiles } from "../../../compiler/compile.ts";
import { memoryHost } from "../../../compiler/host.ts";
import { freePorts } from "../../harness/free-port.ts";
import { startGateway } from "../../harness/gateway.ts";
import { RawClient } from "../../harness/raw-client.ts";
import { startTcpServer } from "../../harness/tcp-server.ts";
import { converted, sourceText } from "./vanished.ts";

/** A file whose ports forward to a server: one to everybody, one to nobody on this machine. */
const file = (open: number, closed: number, server: number) => `
stream {
  upstream app { server 127.0.0.1:${server}; }
  server { listen ${open}; proxy_pass app; allow 127.0.0.1; deny all; }
  server { listen ${closed}; proxy_pass 127.0.0.1:${server}; deny 127.0.0.0/8; }
}
`;

/** Bytes that a client gets from each port; empty if its connection is closed. */
async function received(ports: readonly number[]): Promise<readonly string[]> {
  const clients = ports.map((port) => new RawClient(port));
  for (const client of clients) client.send("hello");
  const [open, closed] = clients;
  await open?.receives("hello");
  await closed?.closes();
  return clients.map((each) => each.received);
}

const echo = () => startTcpServer((socket) => socket.on("data", (data) => socket.write(data)));

it("a file with streams only becomes TCP routes with the same rules", async () => {
  const server = await echo();
  const [open = 0, closed = 0] = await freePorts(2);
  await startGateway({ config: converted("a.conf", file(open, closed, server.port)) });
  expect(await received([open, closed])).toEqual(["hello", ""]);
});

it("ports without a counterpart are named, and the others are valid", () => {
  const text = converted("stream.conf", sourceText("stream.conf"));
  expect(text).toMatch(/DECIDE: line 12: .*nothing listens on its port/);
  expect(text).toMatch(/DECIDE: line 22: gwc has no counterpart for proxy_pass \$name/);
  const { program } = checkFiles(["gateway.yaml"], memoryHost({ "gateway.yaml": text }), {
    name: "gateway",
    isStrict: false,
  });
  expect(program).toBeDefined();
});
