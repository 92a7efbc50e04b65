import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { auditPrograms } from "../../compiler/inspect/audit/audit.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { startCollector } from "../harness/otlp-collector.ts";
import { routesConfig } from "../harness/routes-gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";
import { nowhere, routesText, startRoutes } from "./routes.ts";

const device = `import { definePolicy } from "gwc/policy";

export default definePolicy({
  identity: true,
  options: { key: { type: "string", required: true, secret: true } },
  provides: { device: "string", zone: "string" },
  async request(request, { key }) {
    const device = request.headers.get("x-device");
    if (device === null) return request.refuse(401, "no device", { "www-authenticate": "Device" });
    if (device === "unsaid") return;
    if (device === "half") return { device };
    const encoder = new TextEncoder();
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const secret = await crypto.subtle.importKey("raw", encoder.encode(key), algorithm, false, ["verify"]);
    const pairs = request.headers.get("x-signature")?.match(/[0-9a-f]{2}/g) ?? [];
    const bytes = Uint8Array.from(pairs, (pair) => parseInt(pair, 16));
    const isValid = await crypto.subtle.verify("HMAC", secret, bytes, encoder.encode(device));
    return isValid ? { device, zone: "home" } : request.refuse(401, "invalid signature");
  },
});
`;

const KEY = "a key of devices";
const sign = (name: string) => createHmac("sha256", KEY).update(name).digest("hex");
const use = { use: "./policies/device.ts", with: { key: "${DEVICE_KEY}" } };
const files = { "policies/device.ts": device };

describe("a policy with an identity", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    const url = await startUpstream((_request, response) => response.end("ok"));
    const authorization = { rules: ['custom.device == "door" && custom.zone == "home"'] };
    const policies = { custom: [use], authorization };
    gateway = await startRoutes({ home: { policies } }, { url }, files, { DEVICE_KEY: KEY });
  });
  const get = (headers: Record<string, string>) => send(`${gateway.url}/home`, "GET", headers);

  it("lets rules decide on the caller that it has found", async () => {
    const statuses = await Promise.all([
      get({ "x-device": "door", "x-signature": sign("door") }),
      get({ "x-device": "lift", "x-signature": sign("lift") }),
      get({ "x-device": "door", "x-signature": sign("lift") }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([200, 403, 401]);
  });

  it("challenges callers without a credential", async () => {
    const { status, headers } = await get({});
    expect([status, headers["www-authenticate"]]).toEqual([401, "Device"]);
  });

  it.each(["unsaid", "half"])(
    "admits nobody whom it does not name completely: %s",
    async (name) => {
      expect((await get({ "x-device": name })).status).toBe(500);
      await expect
        .poll(() => gateway.output)
        .toContain(name === "half" ? "an identity without" : "other than a refusal or provided");
    },
  );
});

/** Checks a gateway with one route, and audits it. */
function judge(route: Parameters<typeof routesText>[0][string], modules: Record<string, string>) {
  const config = routesConfig(routesText({ route }, nowhere), 3000);
  const host = memoryHost({ "gateway.yaml": config, ...modules });
  const { findings, programs } = checkInput(["gateway.yaml"], host, false);
  return {
    mistakes: findings.map(({ message }) => message),
    audit: auditPrograms(programs).map(({ code }) => code),
  };
}

describe("the check and the audit of custom policies", () => {
  it("refuse an identity that passes requests on failure, or says nothing", () => {
    const open = judge({ policies: { custom: [{ ...use, failureMode: "failOpen" }] } }, files);
    expect(open.mistakes).toEqual([
      '"failureMode: failOpen" would admit callers whom ./policies/device.ts does not know',
    ]);
    const mute = device.replace("provides:", "// provides:");
    expect(judge({ policies: { custom: [use] } }, { "policies/device.ts": mute }).mistakes).toEqual(
      [expect.stringContaining('a policy with "identity" needs "provides" and a "request" hook')],
    );
  });

  it("report credentials without TLS", () => {
    const { audit } = judge({ policies: { custom: [use] } }, files);
    expect(audit).toContain("credentials-in-clear");
  });

  it("do not count a hook for results as a guard of tools", () => {
    const backends = [
      { mcp: { targets: [{ name: "a", mcp: { host: "http://127.0.0.1:1/mcp" } }] } },
    ];
    const custom = [{ use: "./policies/own.ts" }];
    const module = (hook: string) => ({
      "policies/own.ts": `import { definePolicy } from "gwc/policy";\nexport default definePolicy({ ${hook}(_given, _options, { refuse }) { return refuse(403, "no"); } });\n`,
    });
    const audited = (hook: string) => judge({ policies: { custom }, backends }, module(hook)).audit;
    expect(audited("toolResult")).toContain("open-backend");
    expect(audited("toolCall")).not.toContain("open-backend");
  });
});

it("a hook that the gateway waits for is an internal span", async () => {
  const collector = await startCollector();
  const host = await startUpstream((_request, response) => response.end("ok"));
  const gateway = await startGateway({
    env: { DEVICE_KEY: KEY },
    files,
    file: { frontendPolicies: { tracing: { host: collector.host, protocol: "http" } } },
    listeners: [{ routes: [{ policies: { custom: [use] }, backends: [{ host }] }] }],
  });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await send(gateway.url, "GET", { traceparent, "x-device": "unsaid" });
  await send(gateway.url, "GET", { traceparent, "x-device": "door", "x-signature": sign("door") });
  expect(await gateway.stop()).toBe(0);
  const hooks = collector.spans.filter(({ name }) => name === "custom device request");
  expect(hooks.map(({ kind }) => kind)).toEqual(["SPAN_KIND_INTERNAL", "SPAN_KIND_INTERNAL"]);
});
