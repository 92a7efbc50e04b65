import { writeFileSync } from "node:fs";
import path from "node:path";
import { freePort } from "./free-port.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { GwcProcess } from "./gwc.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Builds routes (YAML, as below `routes:`) and runs the bundle; `files` are the files that the configuration names. */
export async function startRoutesText(
  routes: string,
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Gateway> {
  return startGateway({ config: routesConfig(routes, await freePort()), files, env });
}

/** A gateway that follows its configuration. */
export interface FollowingGateway {
  readonly port: number;
  readonly url: string;
  /** Changes the configuration to these routes; resolves when they are served. */
  change(routes: string): Promise<void>;
}

/** Serves the routes with `gwc run`. */
export async function startFollowing(routes: string): Promise<FollowingGateway> {
  const port = await freePort();
  const folder = temporaryFolder({ "gateway.yaml": routesConfig(routes, port) });
  const file = path.join(folder, "gateway.yaml");
  const env = {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
    ADMIN_ADDR: "127.0.0.1:0",
  };
  const running = new GwcProcess(["run", "-f", file], { env });
  await running.seen(/listening on/);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    change: async (routes) => {
      const from = running.output.length;
      writeFileSync(file, routesConfig(routes, port));
      await running.seen(/gateway\.yaml changed: /, from);
    },
  };
}

/** A standalone file of one listener with these routes. */
export function routesConfig(routes: string, port: number): string {
  const indented = routes.trim().replace(/^/gm, "          ");
  return `binds:\n  - port: ${port}\n    listeners:\n      - routes:\n${indented}\n`;
}
