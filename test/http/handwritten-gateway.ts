import path from "node:path";
import { Gateway } from "../harness/gateway.ts";
import { ownScript } from "../harness/own-script.ts";

/** A gateway of test/http/fixtures that starts. */
export function handwrittenGateway(
  script: "gateway.ts" | "reload.ts",
  env: Readonly<Record<string, string>>,
): Gateway {
  const folder = path.join(import.meta.dirname, "fixtures");
  return new Gateway(ownScript(`http/fixtures/${script}`), folder, env);
}

/** The one whose handlers no configuration gives: they throw, respond in halves, set headers of their own. */
export async function startHandwritten(
  upstream: string,
): Promise<{ gateway: Gateway; port: number; url: string }> {
  const gateway = await handwrittenGateway("gateway.ts", { UPSTREAM: upstream }).listening();
  return { gateway, port: gateway.port, url: gateway.url };
}
