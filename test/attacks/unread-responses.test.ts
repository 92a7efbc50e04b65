import { connect } from "node:net";
import { expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { eventually } from "../harness/eventually.ts";
import { FrameClient, frameType } from "../harness/frame-client.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { startUpstream } from "../harness/upstream.ts";

/** More than the buffers of the systems on the way hold. */
const large = Buffer.alloc(16 * 1024 * 1024, "x");

/** Starts a gateway in front of a server of large responses, and counts those that were aborted. */
async function startTarget(
  http1IdleTimeout = "1s",
): Promise<{ gateway: Gateway; broken: () => number }> {
  let broken = 0;
  const upstream = await startUpstream((_request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) broken += 1;
    });
    response.end(large);
  });
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ host: upstream }] }] }],
    file: {
      frontendPolicies: { http: { http1IdleTimeout } },
      config: { logging: { level: "info,connection=debug" } },
    },
  });
  return { gateway, broken: () => broken };
}

it("a client that never reads its response is let go, and the server behind it too", async () => {
  const { gateway, broken } = await startTarget();
  const client = connect({ port: gateway.port, host: "127.0.0.1" });
  atEnd(() => client.destroy());
  client.on("error", () => {});
  client.pause();
  client.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await gateway.seen(/aborted: client does not read its response/);
  await eventually(() => broken() === 1 || null, "the end of the response of the server");
});

it("a client of HTTP/2 that opens no window is let go, and the server behind it too", async () => {
  const { gateway, broken } = await startTarget();
  const client = new FrameClient(gateway.port);
  client.request(1, [
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/"],
    [":authority", "a.test"],
  ]);
  await eventually(() => client.last(frameType.reset, 1), "the reset of the stream");
  await eventually(() => broken() === 1 || null, "the end of the response of the server");
  expect(client.last(frameType.reset, 1)?.payload.readUInt32BE(0)).toBe(8);
});

it("a client that reads slowly gets all of it", async () => {
  // Longer than a starved process takes.
  const { gateway, broken } = await startTarget("6s");
  const client = connect({ port: gateway.port, host: "127.0.0.1" });
  atEnd(() => client.destroy());
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  let received = 0;
  let paused = 0;
  for await (const chunk of client) {
    received += chunk.length;
    // Each piece is taken well within the time, all of them together are not.
    if (received < (paused + 1) * 320_000) continue;
    paused += 1;
    await pause(150);
  }
  expect(received).toBeGreaterThan(large.length);
  expect(broken()).toBe(0);
});
