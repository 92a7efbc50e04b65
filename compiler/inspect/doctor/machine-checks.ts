import { availableParallelism, totalmem } from "node:os";
import type { Host } from "../../host.ts";
import { version } from "../../installation.ts";
import type { CheckedItem } from "./checked-item.ts";

/** Memory in bytes below which a gateway has little room for bodies and streams. */
const LITTLE_MEMORY = 256 * 1024 * 1024;
/** Open files below which connections are refused under load: each request may use two. */
const MIN_OPEN_FILES = 4096;
/** Variables of proxies that other programs follow. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"];

/** Checks what every gateway on this machine depends on. */
export function checkMachine(host: Host): readonly CheckedItem[] {
  return [checkNode(), checkMemory(), ...checkOpenFiles(), ...checkProxies(host)];
}

function checkNode(): CheckedItem {
  const { versions, platform, arch, execPath, argv0 } = process;
  // gwc.mjs gives this name to the Node.js that it starts in place of an older one.
  const isOwn = argv0 === "gwc";
  return {
    group: "machine",
    name: "Node.js",
    status: isOwn ? "note" : "ok",
    detail: `gwc ${version()} runs on Node.js ${versions.node} (${platform} ${arch}), ${execPath}`,
    ...(isOwn && {
      hint: "the Node.js of this machine is too old for bundles: start them with `npx node gateway.mjs`",
    }),
  };
}

function checkMemory(): CheckedItem {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 && limit < totalmem() ? limit : totalmem();
  const isLittle = bytes < LITTLE_MEMORY;
  return {
    group: "machine",
    name: "processors and memory",
    status: isLittle ? "warning" : "ok",
    detail: `${availableParallelism()} processors, ${Math.round(bytes / 1024 / 1024)} MB`,
    ...(isLittle && { hint: "give it at least 256 MB, or set config.maxBufferedBytes" }),
  };
}

/** Node.js raises its soft limit to the hard one, so the hard one counts. */
function checkOpenFiles(): readonly CheckedItem[] {
  const limit = openFilesLimit();
  if (limit === undefined) return [];
  const isLow = limit < MIN_OPEN_FILES;
  const status = isLow ? "warning" : "ok";
  const hint = "raise it: `ulimit -n 65536`, or LimitNOFILE=65536 in the unit of systemd";
  const detail = `at most ${limit === Number.POSITIVE_INFINITY ? "unlimited" : limit}`;
  return [{ group: "machine", name: "open files", status, detail, ...(isLow && { hint }) }];
}

/** Returns the hard limit of open files; `undefined` if the system has none. */
function openFilesLimit(): number | undefined {
  const report: unknown = process.report?.getReport();
  if (typeof report !== "object" || report === null || !("userLimits" in report)) return undefined;
  const { userLimits } = report;
  if (typeof userLimits !== "object" || userLimits === null) return undefined;
  if (!("open_files" in userLimits)) return undefined;
  const { open_files: files } = userLimits;
  if (typeof files !== "object" || files === null || !("hard" in files)) return undefined;
  return files.hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(files.hard);
}

function checkProxies(host: Host): readonly CheckedItem[] {
  const set = PROXY_VARIABLES.filter((name) => (host.variable(name) ?? "") !== "");
  if (set.length === 0) return [];
  const hint = "gateways connect directly; `backendTunnel` of a backend connects through a proxy";
  const detail = `${set.join(", ")} ${set.length === 1 ? "has" : "have"} no effect on gateways`;
  return [{ group: "machine", name: "proxy", status: "note", detail, hint }];
}
