import { get } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { startGateway } from "../harness/gateway.ts";

/** Collects what is young all the time; at a signal it says what of the rest nobody held. */
const collector = `
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const young = () => collect({ type: "minor" });
  setInterval(young, 50).unref();
  process.on("SIGUSR2", () => {
    for (let i = 0; i < 3; i++) young();
    const { heapUsed } = process.memoryUsage();
    collect();
    console.log("left behind: " + (heapUsed - process.memoryUsage().heapUsed));
  });
`;

it("what a closed connection was used for does not wait for a collection of the whole heap", async () => {
  const echo = await startEcho();
  const { host } = new URL(echo.url);
  const gateway = await startGateway({
    listeners: [{ name: "http", routes: [{ name: "all", backends: [{ host }] }] }],
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(collector)}` },
  });
  const leftBehind = async (): Promise<number> => {
    const before = gateway.output.length;
    gateway.signal("SIGUSR2");
    return Number((await gateway.seen(/left behind: (-?\d+)/, before))[1]);
  };
  await ask(gateway.port, 100);
  await leftBehind();
  await ask(gateway.port, 100);
  // The text of a head alone has 16 KB.
  expect((await leftBehind()) / 100).toBeLessThan(4_000);
});

/** Requests that have a connection of their own each. */
async function ask(port: number, count: number): Promise<void> {
  const headers = { "x-long": "x".repeat(16_000) };
  for (let i = 0; i < count; i++) {
    await new Promise((resolve, reject) => {
      get({ port, host: "127.0.0.1", agent: false, headers }, (response) => {
        response.resume().on("close", resolve);
      }).on("error", reject);
    });
    await nextTurn();
  }
}
