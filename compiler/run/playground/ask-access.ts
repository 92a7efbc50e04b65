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
  const asked = askedItem(request);
  if (asked !== undefined) {
    const { kind, name } = asked;
    const found = itemAccess(program, itemOf(asked, candidate.route), asker, candidate.route.id);
    return verdict(`${VERBS[kind]} ${kind} ${name}`, found);
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

const VERBS = { tool: "call", prompt: "get", resource: "read" } as const;

const KINDS: Readonly<Record<string, AskedItem["kind"]>> = {
  "tools/call": "tool",
  "prompts/get": "prompt",
  "resources/read": "resource",
};

/** Returns the tool, prompt or resource of a request, by the name that clients know; `undefined` if it asks for none. */
function askedItem({ mcp }: PlaygroundRequest): Omit<AskedItem, "target"> | undefined {
  const kind = KINDS[mcp?.method ?? ""];
  const { name: named, uri } = Object(mcp?.params);
  const name: unknown = kind === "resource" ? uri : named;
  return kind === undefined || typeof name !== "string" ? undefined : { kind, name };
}

/** Names begin with that of their server where there are several. */
function itemOf({ kind, name }: Omit<AskedItem, "target">, route: RouteNode): AskedItem {
  const targets = route.backends.flatMap(mcpTargets);
  const isPrefixed = kind !== "resource" && targets.length > 1;
  const [target] = targets
    .filter((each) => isPrefixed && name.startsWith(`${each}_`))
    .sort((a, b) => b.length - a.length);
  return target === undefined
    ? { kind, name, target }
    : { kind, name: name.slice(target.length + 1), target };
}
