import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { expect, it } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { itUnless } from "../harness/skip.ts";
import { exactRoutes } from "./exact-routes.ts";
import { secureUpstream } from "./secure-upstream.ts";

it("a handshake offers the configured groups only", async () => {
  const { folder, port } = await secureUpstream({ ecdhCurve: "P-384" });
  const to = (groups: object) => ({
    host: `localhost:${port}`,
    policies: { backendTLS: { root: "ca.pem", ...groups } },
  });
  const gateway = await startGateway({
    folder,
    listeners: exactRoutes({
      "/default": to({}),
      "/same": to({ keyExchangeGroups: ["X25519", "P-384"] }),
      "/other": to({ keyExchangeGroups: ["X25519"] }),
    }),
  });
  const status = async (path: string) => (await send(`${gateway.url}${path}`, "GET")).status;
  expect([await status("/default"), await status("/same"), await status("/other")]).toEqual([
    200, 200, 503,
  ]);
});

/** Kind of the timer that the kernel has for the connection from one port to another: 2 for keepalive. */
function timerOf(local: number, remote: number): string | undefined {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
  return ["/proc/net/tcp", "/proc/net/tcp6"]
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .map((line) => line.trim().split(/\s+/))
    .find(([, own = "", peer = ""]) => own.endsWith(hex(local)) && peer.endsWith(hex(remote)))?.[5]
    ?.slice(0, 2);
}

itUnless(process.platform === "linux" ? undefined : "needs /proc/net/tcp of Linux")(
  "connections have probes unless keepalive is disabled",
  async () => {
    const ports: number[] = [];
    const server = createServer(({ socket }, response) => {
      ports.push(socket.remotePort ?? 0);
      response.end("ok");
    });
    const port = await listen(server);
    const timers = async (enabled: boolean) => {
      const off = enabled ? {} : { keepalives: { enabled: false } };
      const gateway = await startGateway({
        listeners: [
          {
            routes: [
              {
                backends: [
                  {
                    host: `127.0.0.1:${port}`,
                    policies: { tcp: { connectTimeout: "5s", ...off } },
                  },
                ],
              },
            ],
          },
        ],
        ...(enabled ? {} : { file: { frontendPolicies: { tcp: off } } }),
      });
      const client = new RawClient(gateway.port);
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await client.receives("ok");
      const ofClient = timerOf(gateway.port, client.socket.localPort ?? 0);
      return [ofClient, timerOf(ports.at(-1) ?? 0, port)];
    };
    expect(await timers(true)).toEqual(["02", "02"]);
    expect(await timers(false)).toEqual(["00", "00"]);
  },
);
