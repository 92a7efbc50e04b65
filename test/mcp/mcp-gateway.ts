import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { freePort, startProcess, type TestProcess } from "../harness/test-process.ts";
import type { GatewayFixture, RouteConfig } from "./gateway-config.ts";
import { issuer, keySet } from "./subjects.ts";

/** A gateway that serves MCP at `url`, and other routes beside it. */
export type TestGateway = TestProcess & { readonly url: string };

type Environment = Readonly<Record<string, string>>;

const serviceAddresses = { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" };
const ready = /listening on 0\.0\.0\.0:(\d+)/;

/** Compiles the routes and runs the bundle in a folder that holds nothing else. */
export async function startGateway(
  routes: readonly RouteConfig[],
  env: Environment = {},
): Promise<TestGateway> {
  const port = await freePort();
  const listeners = [{ routes: routes.map(routeOf) }];
  // JSON is YAML.
  const text = JSON.stringify({ binds: [{ port, listeners }] });
  const host = memoryHost({ "gateway.yaml": text });
  const { files } = await compileFile("gateway.yaml", { name: "test", host });
  const folder = mkdtempSync(join(tmpdir(), "gwc-mcp-"));
  writeFiles(folder, files);
  const script = join(folder, "gateway.mjs");
  const child = await startProcess(process.execPath, [script], {
    ready,
    env: { ...serviceAddresses, ...env },
  });
  const stop: TestProcess["stop"] = async (signal) => {
    const status = await child.stop(signal);
    rmSync(folder, { recursive: true, force: true });
    return status;
  };
  return { ...child, stop, url: `http://127.0.0.1:${port}/mcp` };
}

/** A gateway with times and limits that no configuration can set: see test/mcp/fixtures/gateway.ts. */
export async function startHandwritten(
  fixture: GatewayFixture,
  env: Environment = {},
): Promise<TestGateway> {
  const script = fileURLToPath(new URL("./fixtures/gateway.ts", import.meta.url));
  const child = await startProcess(process.execPath, [script], {
    ready,
    env: { ...env, GATEWAY_FIXTURE: JSON.stringify(fixture) },
  });
  return { ...child, url: `http://127.0.0.1:${child.port}/mcp` };
}

/** The route as the configuration file has it. */
function routeOf({
  name,
  path = "/mcp",
  targets,
  failureMode,
  rules,
  allowOrigins,
  hasSubjects,
}: RouteConfig) {
  const jwtAuth = { mode: "optional", issuer, jwks: { inline: keySet } };
  return {
    name,
    matches: [{ path: { exact: path } }],
    policies: {
      ...(allowOrigins === undefined ? {} : { cors: { allowOrigins, allowHeaders: ["*"] } }),
      ...(hasSubjects === true ? { jwtAuth } : {}),
      ...(rules === undefined ? {} : { mcpAuthorization: { rules } }),
    },
    backends: [{ mcp: { targets, ...(failureMode === undefined ? {} : { failureMode }) } }],
  };
}
