import { expect, it } from "vitest";
import { dockerfile } from "../../templates/image/dockerfile.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";

it("metrics and readiness that are off open no ports", async () => {
  const port = await freePort();
  const routes = [{ policies: { directResponse: { status: 200, body: "on" } } }];
  const gateway = await startGateway({
    env: { STATS_ADDR: "off", READINESS_ADDR: "off" },
    config: { binds: [{ port, listeners: [{ routes }] }] },
  });
  expect((await send(`http://127.0.0.1:${port}/`, "GET")).body).toBe("on");
  await gateway.stop();
  expect(gateway.output).not.toMatch(/(stats|readiness) address on/);
});

it("an image without a readiness page has no health check", () => {
  const settings = { inputs: "gateway.yaml", ports: [3000], commands: [] };
  const text = dockerfile({ ...settings, statsPort: undefined, readinessPort: undefined });
  expect(text).toContain("EXPOSE 3000\n");
  expect(text).not.toContain("HEALTHCHECK");
});
