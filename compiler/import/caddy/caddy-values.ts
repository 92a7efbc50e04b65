import { literalPattern } from "../../model/literal-pattern.ts";
import type { OrderedPath } from "../proxy/ordered-routes.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { celText, namesCredential, plainText, secretName } from "../proxy/texts.ts";

/** Converts the path of a Caddy matcher. */
export function caddyPath(text: string): OrderedPath {
  if (text === "*" || text === "/*") return { kind: "start", value: "/" };
  const stars = text.split("*").length - 1;
  if (stars === 0 && !text.includes("%")) return { kind: "exact", value: text };
  if (stars === 1 && text.endsWith("*")) return { kind: "start", value: text.slice(0, -1) };
  const parts = text.split("*").map(literalPattern);
  const isEnd = text.startsWith("*");
  // `*` at the start or end matches anything; in the middle it matches within a segment.
  return {
    kind: "regex",
    value: isEnd ? parts.join(".*") : parts.join("[^/]*").replace(/\[\^\/\]\*$/, ".*"),
  };
}

/** Converts a string with Caddy placeholders to a constant or a CEL expression; `undefined` if a placeholder is unknown. */
export function caddyText(
  text: string,
): { readonly text: string } | { readonly expression: string } | undefined {
  const parts = text.split(/(?<!\$)(\{[^{}$\s]+\})/).filter((part) => part !== "");
  const written = parts.map((part) => {
    const [, name] = /^\{([^{}$\s]+)\}$/.exec(part) ?? [];
    if (name === undefined) return { text: part };
    const expression = PLACEHOLDERS[name.replace(/^http\.request\./, "")] ?? headerExpression(name);
    return expression === undefined ? undefined : { expression };
  });
  const known = written.filter((part) => part !== undefined);
  if (known.length < written.length) return undefined;
  const [only] = known;
  if (known.every((part) => "text" in part))
    return { text: known.map((part) => part.text).join("") };
  if (known.length === 1 && only !== undefined) return only;
  return {
    expression: known
      .map((part) => ("text" in part ? celText(part.text) : part.expression))
      .join(" + "),
  };
}

const HOST = 'request.host.regexReplace(":[0-9]+$", "")';

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  host: HOST,
  hostport: "request.host",
  remote_host: "source.address",
  "remote.host": "source.address",
  client_ip: "source.address",
  "vars.client_ip": "source.address",
  "http.vars.client_ip": "source.address",
  scheme: "request.scheme",
  method: "request.method",
  path: "request.path",
  "uri.path": "request.path",
  uri: "request.pathAndQuery",
};

function headerExpression(name: string): string | undefined {
  const [, header] = /^(?:http\.request\.)?header\.([\w-]+)$/.exec(name) ?? [];
  return header === undefined ? undefined : `request.headers[${celText(header.toLowerCase())}]`;
}

/** A change to a header: `X value`, `+X value` or `-X`. */
export interface HeaderChange {
  readonly name: string;
  readonly value: string | undefined;
  readonly how: "set" | "add" | "remove";
}

/** Parses the arguments of `header_up -X` or `header +X value`; `undefined` if gwc has no counterpart. */
export function headerChange(words: readonly string[]): HeaderChange | undefined {
  const [field = "", value, replacement] = words;
  if (replacement !== undefined) return undefined;
  const [, sign = "", name = ""] = /^([+\->?]?)([\w-]+):?$/.exec(field) ?? [];
  if (name === "" || sign === "?") return undefined;
  if (sign === "-") return value === undefined ? { name, value, how: "remove" } : undefined;
  if (value === undefined) return undefined;
  return { name, value, how: sign === "+" ? "add" : "set" };
}

/** Converts request header changes to policies; adds a note for each that cannot be converted exactly. */
export function requestHeaderPolicies(
  changes: readonly HeaderChange[],
  place: string,
  notes: string[],
): DraftFields {
  const modifier = emptyModifier();
  const { set, add, remove } = modifier;
  const expressions: Record<string, string> = {};
  const policies: Record<string, unknown> = {};
  for (const { name, value = "", how } of changes) {
    const key = name.toLowerCase();
    const text = caddyText(value);
    if (key === "host" && how === "set") {
      if (/upstream_hostport|upstream\.hostport|upstream\.host\}/.test(value))
        policies.hostRewrite = { mode: "Auto" };
      else if (text !== undefined && "text" in text) {
        policies.urlRewrite = { authority: { full: text.text } };
        policies.hostRewrite = undefined;
      } else policies.hostRewrite = { mode: "None" };
    } else if (how === "remove") remove.push(name);
    else if (text === undefined) {
      remove.push(name);
      notes.push(
        `${place}: ${name} is removed for the backend, because gwc does not support ${value}`,
      );
    } else if ("expression" in text) {
      if (how === "add") notes.push(`${place}: ${name} is replaced, not added`);
      expressions[key] = text.expression;
    } else {
      const isSecret = namesCredential(name) && !/^\$\{\w+\}$/.test(text.text);
      const variable = secretName(name);
      if (isSecret)
        notes.push(`${place} may contain a credential: put it into the variable ${variable}`);
      (how === "add" ? add : set)[name] = isSecret ? `\${${variable}}` : text.text;
    }
  }
  const written = withoutEmpty(modifier);
  if (written !== undefined) policies.requestHeaderModifier = written;
  if (Object.keys(expressions).length > 0)
    policies.transformations = { request: { set: expressions } };
  return policies;
}

/** Converts response header changes to policies; adds a note for each that is skipped. */
export function responseHeaderPolicies(
  changes: readonly HeaderChange[],
  place: string,
  notes: string[],
): DraftFields {
  const modifier = emptyModifier();
  const { set, add, remove } = modifier;
  for (const { name, value = "", how } of changes) {
    const text = caddyText(value);
    if (how === "remove") remove.push(name);
    else if (text !== undefined && "text" in text) (how === "add" ? add : set)[name] = text.text;
    else notes.push(`${place}: the response header ${name} is skipped`);
  }
  const written = withoutEmpty(modifier);
  return written === undefined ? {} : { responseHeaderModifier: written };
}

/** A header modifier under construction. */
interface Modifier {
  readonly set: Record<string, string>;
  readonly add: Record<string, string>;
  readonly remove: string[];
}

function emptyModifier(): Modifier {
  return { set: {}, add: {}, remove: [] };
}

/** Returns the non-empty parts; `undefined` if all are empty. */
function withoutEmpty({ set, add, remove }: Modifier): DraftFields | undefined {
  const modifier = {
    ...(Object.keys(set).length > 0 && { set }),
    ...(Object.keys(add).length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
  return Object.keys(modifier).length > 0 ? modifier : undefined;
}

/** Converts a redirect; `undefined` if gwc has no counterpart. */
export function redirectPolicies(to: string, status: number): DraftFields | undefined {
  const text = caddyText(to);
  if (text !== undefined && "text" in text)
    return { directResponse: { status, headers: { location: text.text } } };
  const [, scheme = "", host = ""] =
    /^(https?|\{scheme\}|\{http\.request\.scheme\}):\/\/([^/{}$]+|\{(?:http\.request\.)?host\}|\$\{\w+\})\{(?:http\.request\.)?uri\}$/.exec(
      to,
    ) ?? [];
  if (scheme === "") return undefined;
  return {
    requestRedirect: {
      ...(/^https?$/.test(scheme) && { scheme }),
      ...(!/^\{/.test(host) && { authority: { full: host } }),
      status,
    },
  };
}

/** Converts `{$NAME:default}` and `{env.NAME}` to gwc's variables and escapes everything else that looks like one. */
export function caddyVariables(text: string): string {
  return plainText(text)
    .replace(/\{\$\$([A-Za-z_]\w*)(?::([^}]*))?\}/g, (_, name: string, fallback?: string) =>
      fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`,
    )
    .replace(/\{env\.([A-Za-z_]\w*)\}/g, "$${$1}");
}
