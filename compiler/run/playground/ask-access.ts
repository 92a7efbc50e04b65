import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { type AccessOutcome, accessOutcome, accessText } from "../../inspect/access/access-text.ts";
import {
  type AskedItem,
  type Asker,
  itemAccess,
  type RouteAccess,
} from "../../inspect/access/item-access.ts";
import { requestAccess } from "../../inspect/access/request-access.ts";
import { mcpTargets } from "../../ir/backend-text.ts";
import type { RouteNode } from "../../ir/program.ts";
import { type Compiled, sourceFiles } from "../candidate.ts";
import type { RouteRequest } from "../try-command.ts";
import { headerPair } from "./header-pair.ts";
import { credentialOf, type PlaygroundRequest, playgroundRoutes } from "./playground.ts";

/** The decision of the rules about a request that is not sent. */
export type PlaygroundVerdict =
  | { readonly outcome: AccessOutcome; readonly text: string }
  | { readonly problem: string };

/**
 * Decides whether a request of the given caller would pass, as `gwc can` does: the caller is assumed to have valid
 * credentials.
 */
export function askAccess(
  request: PlaygroundRequest,
  compiled: Pick<Compiled, "program" | "texts">,
): PlaygroundVerdict {
  const { program } = compiled;
  const candidate = playgroundRoutes(program).find(({ route }) => route.id === request.route);
  if (candidate === undefined) return { problem: "there is no such route" };
  const given = identityOf(candidate, request.identity ?? "");
  if (given === undefined) return { problem: `an identity is a JSON object: {"sub":"eve"}` };
  const asker: Asker = {
    identities: { given, isAnyone: false },
    headers: Object.fromEntries(request.headers.map(headerPair)),
    address: "127.0.0.1",
  };
  const tool = toolName(request);
  if (tool !== undefined) {
    const found = itemAccess(program, itemOf(tool, candidate.route), asker, candidate.route.id);
    return verdict(`call tool ${tool}`, found);
  }
  const url = new URL(request.target, candidate.request.origin);
  const reached = requestAccess({ programs: [program] }, request.method, url, asker);
  return reached.kind === "none"
    ? { outcome: "no", text: `no: ${reached.reason}\n` }
    : verdict(`${request.method} ${url.pathname}`, [reached.access]);

  function verdict(what: string, found: readonly RouteAccess[]): PlaygroundVerdict {
    const outcome = accessOutcome(found);
    return { outcome, text: accessText(outcome, what, found, sourceFiles(compiled)) };
  }
}

/**
 * Returns the caller by the kind of credential that the route expects; nobody for an empty text. `undefined` if the
 * text is not a JSON object.
 */
function identityOf(
  { request }: RouteRequest,
  text: string,
): Asker["identities"]["given"] | undefined {
  const credential = credentialOf(request);
  if (credential === undefined || text.trim() === "") return {};
  if (credential.variable === "basicAuth") return { basicAuth: { username: text.trim() } };
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? { [credential.variable]: value } : undefined;
  } catch {
    return undefined;
  }
}

function toolName({ mcp }: PlaygroundRequest): string | undefined {
  const name: unknown = mcp?.method === "tools/call" ? Object(mcp.params).name : undefined;
  return typeof name === "string" ? name : undefined;
}

/** A tool by the name that clients know, which begins with that of its server where there are several. */
function itemOf(name: string, route: RouteNode): AskedItem {
  const targets = route.backends.flatMap(mcpTargets);
  const [target] = targets
    .filter((each) => targets.length > 1 && name.startsWith(`${each}_`))
    .sort((a, b) => b.length - a.length);
  return target === undefined
    ? { kind: "tool", name, target }
    : { kind: "tool", name: name.slice(target.length + 1), target };
}
