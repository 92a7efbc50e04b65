import { SERVED_METHODS } from "../../runtime/http/request-line.ts";
import { isJsonObject } from "../../runtime/json/json-object.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { accessJson, accessOutcome, accessText, whoText } from "../inspect/access/access-text.ts";
import {
  type AskedItem,
  type Asker,
  itemAccess,
  type RouteAccess,
} from "../inspect/access/item-access.ts";
import { requestAccess } from "../inspect/access/request-access.ts";
import { tunnelAccess } from "../inspect/access/tunnel-access.ts";
import { type CheckedInput, checkInput } from "../inspect/check-input.ts";
import { askedUrl } from "../inspect/explain/asked-url.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

/** `gwc can`: decides whether a request or MCP call gets through, and names the deciding rule. */
export const can: Command = {
  minPositionals: 2,
  maxPositionals: 3,
  details:
    "Evaluates the compiled rules without serving anything. WHAT is one of:\n" +
    "  METHOD URL          a request as `curl` sends it, with the given headers only;\n" +
    "                      of one port //host/path or /path suffices\n" +
    "  CONNECT HOST:PORT   a tunnel through a forward proxy\n" +
    "  call tool NAME      an MCP call; NAME as in rules (search) or, with several\n" +
    "                      servers, as clients see it (web_search)\n" +
    "  get prompt NAME\n" +
    "  read resource URI\n" +
    "Credentials count as valid: --as gives the claims of the token; without it the request is anonymous. " +
    "Unknown facts (the client's address without --from, responses of other servers) stay open: if the outcome depends on one, the conditions are printed. " +
    "--who lists the conditions under which anyone gets through.\n" +
    "Exit code: 0 yes, 1 no (or an invalid configuration), 4 it depends.",
  options: [
    { name: "as", value: "CLAIMS", summary: `the claims of the token, as JSON: '{"sub":"eve"}'` },
    { name: "api-key", value: "METADATA", summary: "the metadata of the API key, as JSON" },
    { name: "user", value: "NAME", summary: "the user of basic authentication" },
    {
      name: "header",
      value: "HEADERS",
      summary: `headers such as "x-env: dev", one per line; a name may repeat`,
    },
    { name: "from", value: "ADDRESS", summary: "the client's IP address" },
    { name: "route", value: "ROUTE", summary: "consider only this MCP route" },
    { name: "target", value: "NAME", summary: "consider only this MCP server" },
    { name: "who", summary: "list the conditions under which anyone gets through" },
    {
      name: "file",
      short: "f",
      value: "PATH",
      summary: "the configuration (default: gateway.yaml)",
    },
    gateway,
    {
      name: "format",
      value: "FORMAT",
      choices: ["text", "json"],
      summary: "output format (default: text)",
    },
  ],
  examples: [
    `gwc can call tool delete_all --as '{"sub":"eve","roles":["dev"]}'`,
    `gwc can GET https://shop.example.com/admin --header "x-env: dev"`,
    "gwc can CONNECT api.example.com:443 --from 10.1.2.3",
    "gwc can --who tool delete_all",
  ],
  work: ask,
};

async function ask(given: Arguments, { host, isColored }: CommandContext): Promise<CommandResult> {
  const { options, positionals, flags } = given;
  const asker = askerOf(given);
  if ("problem" in asker) return usage(asker.problem);
  const input = commandInput(
    options.file === undefined ? [] : [options.file],
    host,
    "gwc can -f FILE",
  );
  if (input.kind === "none") return input.result;
  const checked = checkInput(input.files, host, false, options.gateway);
  if (checked.programs.length === 0)
    return { exitCode: 1, stderr: textReport(checked.findings, isColored.stderr) };
  const item = itemOf(positionals, options.target);
  if (item === undefined) return askRequest(given, checked, asker);
  const found = checked.programs.flatMap((program) =>
    itemAccess(program, item, asker, options.route),
  );
  if (found.length === 0) {
    const which = options.route === undefined ? "no MCP route" : `no MCP route "${options.route}"`;
    const where = options.target === undefined ? "" : ` with a server "${options.target}"`;
    return { exitCode: 1, stderr: `error: there is ${which}${where}\n` };
  }
  return resultOf(`${item.kind} ${item.name}`, found, checked, given, flags.has("who"));
}

/**
 * Parses `call tool NAME`, `get prompt NAME` or `read resource URI`; the verb is optional, so `--who tool NAME` works.
 * Methods of MCP (`tools/call NAME`), as examples of `gwc diff` have them, mean the same.
 */
function itemOf(argv: readonly string[], target: string | undefined): AskedItem | undefined {
  const words = argv.length === 3 ? argv.slice(1) : argv;
  const [word = "", name = ""] = words;
  const kind = ITEM_METHODS.get(word) ?? word;
  if (kind !== "tool" && kind !== "prompt" && kind !== "resource") return undefined;
  return { kind, name, target };
}

const ITEM_METHODS: ReadonlyMap<string, string> = new Map([
  ["tools/call", "tool"],
  ["prompts/get", "prompt"],
  ["resources/read", "resource"],
]);

function askRequest(given: Arguments, checked: CheckedInput, asker: Asker): CommandResult {
  const [method = "", target = "", extra] = given.positionals;
  if (extra !== undefined) return usage(`unexpected argument "${extra}"`);
  if (method === "CONNECT") return askTunnel(given, checked, asker);
  const asked = askedUrl(target, checked);
  if (asked.kind === "problem") {
    const isMethod = SERVED_METHODS.has(method);
    return isMethod
      ? usage(asked.problem, asked.hint)
      : usage(`"${target}" is not a URL, and "${method}" is not an MCP operation`);
  }
  const reached = requestAccess(checked, method, asked.url, asker);
  if (reached.kind === "none") return { exitCode: 1, stdout: `no: ${reached.reason}\n` };
  const what = `${method} ${target}`;
  return resultOf(what, [reached.access], checked, given, given.flags.has("who"));
}

/** Answers for a CONNECT request, which names the tunnel's destination and not the gateway. */
function askTunnel(given: Arguments, checked: CheckedInput, asker: Asker): CommandResult {
  const [, target = ""] = given.positionals;
  if (!/^(?:[^\s/?#@:[\]]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(target))
    return usage(`"${target}" is not HOST:PORT: write \`gwc can CONNECT host:443\``);
  const reached = tunnelAccess(checked.programs, target, asker);
  const found = reached.flatMap((each) => (each.kind === "asked" ? each.access : []));
  const [none] = reached.flatMap((each) => (each.kind === "none" ? each.reason : []));
  if (found.length === 0) return { exitCode: 1, stdout: `no: ${none}\n` };
  return resultOf(`CONNECT ${target}`, found, checked, given, given.flags.has("who"));
}

function resultOf(
  what: string,
  found: readonly RouteAccess[],
  { files }: CheckedInput,
  { options }: Arguments,
  isWho: boolean,
): CommandResult {
  const outcome = accessOutcome(found);
  const exitCode = ({ yes: 0, no: 1, depends: 4 } as const)[outcome];
  if (options.format === "json")
    return {
      exitCode,
      stdout: `${JSON.stringify(accessJson(outcome, found, files), undefined, 2)}\n`,
    };
  const stdout = isWho ? whoText(what, found, files) : accessText(outcome, what, found, files);
  return { exitCode: isWho ? 0 : exitCode, stdout };
}

function askerOf({ options, flags }: Arguments): Asker | { readonly problem: string } {
  const jwt = objectOf("as", options.as);
  const apiKey = objectOf("api-key", options["api-key"]);
  const headers = headersOf(options.header);
  for (const each of [jwt, apiKey, headers])
    if ("problem" in each) return { problem: each.problem };
  const user = options.user === undefined ? {} : { basicAuth: { username: options.user } };
  const given = {
    ...user,
    ...("value" in jwt && jwt.value !== undefined ? { jwt: jwt.value } : {}),
    ...("value" in apiKey && apiKey.value !== undefined ? { apiKey: apiKey.value } : {}),
  };
  return {
    identities: { given, isAnyone: flags.has("who") },
    headers: "headers" in headers ? headers.headers : {},
    address: options.from,
  };
}

type GivenObject = { readonly value: object | undefined } | { readonly problem: string };

function objectOf(option: string, text: string | undefined): GivenObject {
  if (text === undefined) return { value: undefined };
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return { value };
  } catch {
    // Reported below without the parser's message, which quotes the value.
  }
  return { problem: `--${option} needs a JSON object: '{"sub":"eve"}'` };
}

type GivenHeaders = { readonly headers: Asker["headers"] } | { readonly problem: string };

function headersOf(text: string | undefined): GivenHeaders {
  const headers: Record<string, string | readonly string[]> = {};
  for (const line of text?.split(/\r?\n/) ?? []) {
    const [, name = "", value = ""] =
      /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "") return { problem: `--header needs "name: value", not "${line}"` };
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value : [before, value].flat();
  }
  return { headers };
}

function usage(
  problem: string,
  hint = "`gwc can call tool NAME`, or `gwc can GET https://host/path`",
): CommandResult {
  return { exitCode: 2, stderr: `error: ${problem}\nhint: ${hint}\n` };
}
