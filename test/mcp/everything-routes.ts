import { everythingScript, startEverything } from "../harness/everything-server.ts";
import type { RouteConfig } from "./gateway-config.ts";

/** Returns routes to the everything server over each transport, and one with all three merged. */
export async function everythingRoutes(): Promise<readonly RouteConfig[]> {
  const [http, sse] = await Promise.all([
    startEverything("streamableHttp"),
    startEverything("sse"),
  ]);
  const targets = {
    http: { name: "http", mcp: { host: `http://127.0.0.1:${http}/mcp` } },
    sse: { name: "sse", sse: { host: `http://127.0.0.1:${sse}/sse` } },
    stdio: { name: "stdio", stdio: { cmd: process.execPath, args: [everythingScript()] } },
  };
  return [
    { name: "http", path: "/http", targets: [targets.http] },
    { name: "sse", path: "/sse", targets: [targets.sse] },
    { name: "stdio", path: "/stdio", targets: [targets.stdio] },
    { name: "all", path: "/all", targets: [targets.stdio, targets.http, targets.sse] },
    { name: "pair", path: "/pair", targets: [{ ...targets.http, name: "stdio" }, targets.http] },
  ];
}
