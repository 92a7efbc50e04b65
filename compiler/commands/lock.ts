import { writeFileSync } from "node:fs";
import path from "node:path";
import { ITEM_LIST_NAMES, itemLists } from "../../runtime/mcp/protocol/item-lists.ts";
import {
  APPROVED_WORDS,
  lockChanges,
  OFFERED_WORDS,
  readToolLock,
} from "../backends/mcp/tool-lock.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { type FileText, fileProblem, type Host } from "../host.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import { configMapPlace, lockEntry, withLockEntry } from "../inspect/lock/lock-place.ts";
import { lockText } from "../inspect/lock/lock-text.ts";
import { fetchDocument, lockedDocuments, writeDocument } from "../inspect/lock/locked-documents.ts";
import { DEFAULT_LOCK, type LockFile, lockFiles } from "../inspect/lock/locked-servers.ts";
import { serverOffers } from "../inspect/lock/server-offers.ts";
import { isStartupError } from "../model/startup-error.ts";
import type { LockedTarget } from "../model/tool-lock.ts";
import { visibleText } from "../model/visible-text.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway } from "./shared-options.ts";

/** `gwc lock`: records the tools, prompts and resources of MCP servers, or reports what changed. */
export const lock: Command = {
  minPositionals: 0,
  maxPositionals: Number.POSITIVE_INFINITY,
  details:
    "Fetches the OpenAPI documents that the configuration names by URL. Lists the tools, prompts and resources of the configured MCP servers, connecting as the gateway does: with " +
    "credentials, over TLS, or as child processes. Writes them to the file that `toolLock` names, " +
    `else to ${DEFAULT_LOCK} next to the configuration. If that file exists and differs, it is not changed: the changes are printed, and --update approves them.\n` +
    "Exit code: 0 the lock matches or was written, 1 it differs (or a server cannot be reached), 2 usage error.",
  options: [
    fileOption,
    { name: "update", summary: "approve all changes: rewrite the lock" },
    { name: "check", summary: "write nothing, not even a new lock" },
    {
      name: "header",
      value: "NAME: VALUE",
      summary: "a client's header, for servers that need the client's credentials",
    },
    gateway,
  ],
  examples: ["gwc lock", "gwc lock --check", "gwc lock --update && git diff gwc.lock.yaml"],
  work: lockItems,
};

async function lockItems(
  { positionals, options, flags }: Arguments,
  { host, isColored, progress }: CommandContext,
): Promise<CommandResult> {
  if (flags.has("update") && flags.has("check"))
    return { exitCode: 2, stderr: "error: --check and --update exclude each other\n" };
  const input = commandInput(positionals, host, "gwc lock FILE");
  if (input.kind === "none") return input.result;
  const headers = headerOf(options.header);
  if (headers === undefined)
    return { exitCode: 2, stderr: "error: --header needs `NAME: VALUE`\n" };
  const [config = "."] = input.files;
  const folder = host.filesIn(config) === undefined ? path.dirname(config) : config;
  const documents = await lockDocuments(input.files, options.gateway, { host, flags, progress });
  if (documents.exitCode !== 0) return documents;
  const checked = checkWithoutLocks(input.files, folder, host, {
    isUpdate: flags.has("update"),
    named: options.gateway,
  });
  if (checked.programs.length === 0)
    return { exitCode: 1, stderr: textReport(checked.findings, isColored.stderr) };
  // Servers and credentials resolve variables and relative paths as in a running gateway.
  for (const { variable, value } of checked.literals) process.env[variable] = value;
  process.env.GWC_CONFIG_DIR = path.resolve(folder);
  const files = lockFiles(checked.programs, checked.files, folder);
  if (files.length === 0) return { exitCode: 1, stderr: `error: ${config} has no MCP servers\n` };
  const isOfManifests = checked.programs.some(({ deployment }) => deployment !== undefined);
  if (isOfManifests && files.some(({ isNamed }) => !isNamed))
    return { exitCode: 1, stderr: UNNAMED };
  const results: CommandResult[] = [documents];
  for (const file of files) {
    progress(`connecting to ${counted(file.servers.length, "server")}`);
    results.push(await lockFile(file, checked, { host, headers, flags }));
  }
  return {
    exitCode: results.some(({ exitCode }) => exitCode !== 0) ? 1 : 0,
    stdout: results.map(({ stdout = "" }) => stdout).join(""),
    stderr: results.map(({ stderr = "" }) => stderr).join(""),
  };
}

/** Fetches the OpenAPI documents of a configuration, or reports which of them differ from their copies. */
async function lockDocuments(
  files: readonly string[],
  gateway: string | undefined,
  { host, flags, progress }: Pick<LockWork, "host" | "flags"> & Pick<CommandContext, "progress">,
): Promise<CommandResult> {
  const isCheck = flags.has("check");
  let stdout = "";
  let stderr = "";
  for (const { url, file } of lockedDocuments(files, host, gateway)) {
    progress(`fetching ${url}`);
    const known = textOf(host.readText(file));
    try {
      const text = await fetchDocument(url);
      if (known === text) stdout += `${file}: unchanged\n`;
      else if (known === undefined && isCheck) stderr += `error: there is no ${file}\n`;
      else if (known !== undefined && !flags.has("update"))
        stderr += `error: ${file} is out of date: ${url} has changed\nhint: \`gwc lock --update\` writes the new document\n`;
      else {
        writeDocument(file, text);
        stdout += `${file}: ${known === undefined ? "fetched" : "updated"}\n`;
      }
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      stderr += `error: the OpenAPI document ${url} cannot be fetched: ${problem}\n`;
    }
  }
  return { exitCode: stderr === "" ? 0 : 1, stdout, stderr };
}

const UNNAMED =
  "error: no GatewayBackend names a lock\n" +
  "hint: add `toolLock: {name: NAME}` next to `targets`; `gwc lock` writes the ConfigMap of that name\n";

function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

/** Parses `NAME: VALUE`; `undefined` if it is malformed. */
function headerOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return {};
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : { [name.toLowerCase()]: value };
}

/** Checks the configuration with empty locks for those that are missing or, with `--update`, malformed. */
function checkWithoutLocks(
  files: readonly string[],
  folder: string,
  host: Host,
  { isUpdate, named }: { readonly isUpdate: boolean; readonly named: string | undefined },
): CheckedInput {
  const checked = checkInput(files, host, false, named);
  const missing = checked.diagnostics.flatMap(({ code, params }) =>
    code === "no-tool-lock" || (isUpdate && code === "bad-tool-lock") ? params : [],
  );
  if (missing.length === 0) return checked;
  const empty = new Map<string, string>();
  const readText: Host["readText"] = (file) => {
    const text = empty.get(file);
    return text === undefined ? host.readText(file) : { kind: "text", text };
  };
  const own = { ...host, readText };
  const added = new Set<string>();
  for (const { file, configMap } of missing) {
    if (configMap === undefined) {
      empty.set(file, lockText([]));
      continue;
    }
    const place = configMapPlace(configMap, checked.files, folder);
    empty.set(place.file, withLockEntry(place, lockText([]), own) ?? "");
    if (checked.files.every((each) => each.path !== place.file)) added.add(place.file);
  }
  return checkInput([...files, ...added], own, false, named);
}

/** Inputs for writing one lock. */
interface LockWork {
  readonly host: Host;
  readonly headers: Readonly<Record<string, string>>;
  readonly flags: ReadonlySet<string>;
}

async function lockFile(
  { file, configMap, servers, isNamed }: LockFile,
  { files }: CheckedInput,
  { host, headers, flags }: LockWork,
): Promise<CommandResult> {
  const offered = await serverOffers(servers, files, headers).catch((error: unknown) => {
    if (isStartupError(error)) return error;
    throw error;
  });
  if (offered instanceof Error)
    return { exitCode: 1, stderr: `error: the gateway would not start: ${offered.message}\n` };
  const targets: LockedTarget[] = [];
  const problems: string[] = [];
  for (const [at, { name, server }] of servers.entries()) {
    const found = offered[at];
    if (found === undefined) continue;
    if ("items" in found) targets.push({ name, server, ...found });
    else problems.push(`error: cannot list what ${name} (${server}) offers: ${found.problem}\n`);
  }
  if (problems.length > 0)
    return { exitCode: 1, stderr: `${problems.join("")}${file}: nothing was written\n` };
  const read = configMap === undefined ? textOf(host.readText(file)) : lockEntry(configMap, host);
  const known = read === undefined ? undefined : readToolLock(read);
  const lock = lockText(targets);
  const text = configMap === undefined ? lock : withLockEntry(configMap, lock, host);
  if (text === undefined)
    return { exitCode: 1, stderr: `error: "${file}" is invalid: nothing was written\n` };
  const amount = `${itemCounts(targets)} of ${counted(servers.length, "server")}`;
  const hint = isNamed
    ? ""
    : `hint: add \`toolLock: ${path.basename(file)}\` next to \`targets\` to enforce it\n`;
  if (known === undefined) {
    if (flags.has("check")) return { exitCode: 1, stderr: `error: there is no ${file}\n` };
    return written(file, text, `${file}: ${amount}\n`, hint);
  }
  if (typeof known === "string" && !flags.has("update"))
    return {
      exitCode: 1,
      stderr: `error: ${file} ${known}\nhint: \`gwc lock --update\` rewrites it\n`,
    };
  const before = typeof known === "string" ? [] : known;
  const words = flags.has("update") ? APPROVED_WORDS : OFFERED_WORDS;
  const changes = lockChanges(before, targets, words).map(({ text }) => `  ${visibleText(text)}\n`);
  if (typeof known !== "string" && lockText(known) === lock)
    return { exitCode: 0, stdout: `${file}: unchanged, ${amount}\n` };
  if (!flags.has("update"))
    return {
      exitCode: 1,
      stdout: `${file}: out of date\n${changes.join("") || "  the servers changed\n"}`,
      stderr: "hint: `gwc lock --update` approves what the servers offer now\n",
    };
  return written(file, text, `${file}: updated\n${changes.join("")}`, hint);
}

function textOf(read: FileText): string | undefined {
  return read.kind === "text" ? read.text : undefined;
}

/** Formats "2 tools, 1 prompt"; tools are counted even if there are 0. */
function itemCounts(targets: readonly LockedTarget[]): string {
  const items = targets.flatMap((each) => each.items);
  const instructions = targets.filter((each) => each.instructions !== undefined).length;
  const counts = ITEM_LIST_NAMES.map(
    (list) => [list, items.filter((item) => item.list === list).length] as const,
  )
    .filter(([list, count]) => count > 0 || list === "tools")
    .map(([list, count]) => counted(count, itemLists[list].word));
  if (instructions > 0) counts.push(counted(instructions, "instruction text"));
  return counts.join(", ");
}

function written(file: string, text: string, stdout: string, stderr: string): CommandResult {
  try {
    writeFileSync(file, text);
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    return { exitCode: 1, stderr: `error: "${file}" cannot be written: ${fileProblem(error)}\n` };
  }
  return { exitCode: 0, stdout, stderr };
}
