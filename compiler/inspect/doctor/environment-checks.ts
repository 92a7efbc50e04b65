import path from "node:path";
import { startedServers } from "../../4-emit/image-commands.ts";
import { startupNeeds } from "../../4-emit/startup-needs.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { Host } from "../../host.ts";
import type { Program } from "../../ir/program.ts";
import type { MountedFile } from "../../model/texts.ts";
import type { CheckedItem } from "./checked-item.ts";

/** Services that checks of a configuration use. */
export interface DoctorContext {
  readonly host: Host;
  /** Formats a place of the configuration as `FILE:LINE:COLUMN`. */
  readonly placeOf: (origin: Origin) => string;
}

/** Checks the variables, files and commands that a gateway needs to start. */
export function checkEnvironment(program: Program, context: DoctorContext): readonly CheckedItem[] {
  const { host, placeOf } = context;
  const needs = startupNeeds(program).map((need): CheckedItem => {
    const place = placeOf(need.origin);
    if (need.kind === "variable") return { ...variable(need.name, host), place };
    return { ...file(need.file, need.origin, host), place };
  });
  const commands = new Map(startedServers(program).map((each) => [each.command, each.origin]));
  const started = [...commands].map(
    ([name, origin]): CheckedItem => ({ ...command(name, host), place: placeOf(origin) }),
  );
  return [...needs, ...started, ...stateFolder(program, context)];
}

/** Checks the folder of the embedded store, without which a gateway does not start. */
function stateFolder({ store }: Program, { host }: DoctorContext): readonly CheckedItem[] {
  if (store?.kind !== "embedded") return [];
  const item = { group: "environment", name: "folder GWC_STATE_DIR" } as const;
  const folder = host.variable("GWC_STATE_DIR");
  if (folder === undefined || folder === "") {
    const hint =
      "set it to a folder that survives a restart: the configuration stores keys, usage or certificates";
    return [{ ...item, status: "failed", detail: "not set", hint }];
  }
  return host.namesIn(folder) === undefined
    ? [
        {
          ...item,
          status: "failed",
          detail: `${folder} is not a folder`,
          hint: `mkdir -p ${folder}`,
        },
      ]
    : [{ ...item, status: "ok", detail: folder }];
}

/**
 * Returns the path of a file that a gateway reads when it starts: from the folder of the configuration, or else the working
 * directory; `undefined` if its folder of mounts is not set.
 */
export function startupPath(
  { kind, file: name }: MountedFile,
  origin: Origin,
  host: Host,
): string | undefined {
  if (kind !== "path") {
    const folder = host.variable(kind === "secret" ? "GWC_SECRETS_DIR" : "GWC_CONFIG_MAPS_DIR");
    return folder === undefined ? undefined : path.join(folder, name);
  }
  if (path.isAbsolute(name)) return name;
  const folder = host.variable("GWC_CONFIG_DIR") ?? path.dirname(origin.file);
  const inFolder = path.join(folder, name);
  return host.readText(inFolder).kind === "problem" && host.readText(name).kind === "text"
    ? name
    : inFolder;
}

function variable(name: string, host: Host): CheckedItem {
  const isSet = host.variable(name) !== undefined;
  return {
    group: "environment",
    name: `variable ${name}`,
    status: isSet ? "ok" : "failed",
    detail: isSet ? "set" : "not set",
    ...(!isSet && { hint: `set it where the gateway starts: ${name}=...` }),
  };
}

function file(wanted: MountedFile, origin: Origin, host: Host): CheckedItem {
  const group = "environment";
  const name = `file ${wanted.file}`;
  const found = startupPath(wanted, origin, host);
  if (found === undefined) {
    const detail = "mounted in a pod; GWC_SECRETS_DIR or GWC_CONFIG_MAPS_DIR is not set here";
    return { group, name, status: "skipped", detail };
  }
  const read = host.readText(found);
  if (read.kind === "text") return { group, name, status: "ok", detail: `readable at ${found}` };
  const hint = "relative paths start at GWC_CONFIG_DIR, or at the folder of the configuration";
  return { group, name, status: "failed", detail: `${found}: ${read.problem}`, hint };
}

function command(name: string, host: Host): CheckedItem {
  const folders = (host.variable("PATH") ?? "").split(path.delimiter);
  const found = name.includes("/")
    ? host.readText(name).kind === "text"
    : folders.some((folder) => host.namesIn(folder)?.includes(name));
  return {
    group: "environment",
    name: `command ${name}`,
    status: found ? "ok" : "failed",
    detail: found ? "found" : "not on the PATH",
    ...(!found && { hint: `install ${name}, or give its path in "cmd"` }),
  };
}
