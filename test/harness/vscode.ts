import { spawn } from "node:child_process";
import { atEnd } from "./at-end.ts";
import { program } from "./tool.ts";
import type { Workspace } from "./workspace.ts";

/** Folder of a workspace with the extensions of its editor. */
export const EXTENSIONS = ".editor/extensions";

/**
 * Starts Visual Studio Code as a server for a workspace; resolves with its address. `settings`: those of its user, which
 * `.editor/data/User` of the workspace has.
 */
export async function startEditor(workspace: Workspace, settings: object): Promise<string> {
  const all = {
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    ...settings,
  };
  workspace.write(".editor/data/User/settings.json", JSON.stringify(all));
  const argv = [
    ...["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry"],
    ...["--disable-update-check", "--user-data-dir", workspace.path(".editor/data")],
    ...["--extensions-dir", workspace.path(EXTENSIONS), workspace.folder],
  ];
  const child = spawn(program("code-server"), argv, {
    env: { ...process.env, HOME: workspace.path(".editor") },
    detached: true,
  });
  // Its servers are children of the process that is started.
  atEnd(() => process.kill(-(child.pid ?? 0), "SIGKILL"));
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
      const address = /listening on (http:\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(`${address}?folder=${workspace.folder}`);
    });
    child.on("exit", () => reject(new Error(said)));
  });
}
