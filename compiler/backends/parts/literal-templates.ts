import { compileExpression } from "../../cel/compile.ts";
import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import type { EnvTemplate, Text } from "../../model/texts.ts";

/** Place of a literal string, as far as the hint depends on it. */
export type LiteralPlace = "header" | "path" | "host" | "body";

/** Warns about a literal string that looks like a template or an expression of this or another gateway. */
export function checkLiteral(
  text: Text | number | undefined,
  place: LiteralPlace,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (typeof text === "number") return;
  const found = typeof text === "string" ? templateIn(text, place) : nginxVariableIn(text);
  if (found === undefined) return;
  const isVariable = typeof text !== "string";
  diagnostics.report("literal-template", origin, { ...found, place, isVariable });
}

interface FoundTemplate {
  /** The part that looks like a template. */
  readonly template: string;
  /** The equivalent expression, if it is known. */
  readonly expression: string | undefined;
}

function templateIn(text: string, place: LiteralPlace): FoundTemplate | undefined {
  // Pages contain scripts and styles with a similar syntax.
  const isPage = place === "body" && /<script|<style/i.test(text);
  for (const { pattern, isShort, expressionOf } of isPage ? [] : TEMPLATES) {
    if (isShort === true && place === "body") continue;
    const match = pattern.exec(text);
    if (match === null) continue;
    const expression = expressionOf(match[1] ?? "", match);
    return { template: match[0], expression: isExpression(expression) ? expression : undefined };
  }
  const isCel = place !== "body" && CHAIN.test(text.trim()) && isExpression(text.trim());
  return isCel && !HOST_END.test(text.trim())
    ? { template: text.trim(), expression: text.trim() }
    : undefined;
}

/** A variable of the environment that has the name of a variable of nginx. */
function nginxVariableIn(text: EnvTemplate | undefined): FoundTemplate | undefined {
  for (const part of text?.parts ?? []) {
    const template = typeof part === "string" ? "" : `$${part.env}`;
    const [found, name = ""] = NGINX_VARIABLE.exec(template) ?? [];
    if (found !== template || found === "") continue;
    const expression = nginxExpression(name);
    return { template, expression: isExpression(expression) ? expression : undefined };
  }
  return undefined;
}

interface TemplateSyntax {
  readonly pattern: RegExp;
  /** Set if it is too short to be distinguished from ordinary text in a body. */
  readonly isShort?: true;
  /** Returns the equivalent in CEL; it is not suggested if it does not compile. */
  readonly expressionOf: (inner: string, match: RegExpExecArray) => string;
}

const NGINX_VARIABLE =
  /\$(remote_(?:addr|port|user)|host|hostname|uri|request(?:_\w+)?|scheme|args|query_string|is_args|server_\w+|document_uri|proxy_\w+|realip_\w+|upstream_\w+|(?:http|arg|cookie|sent_http|ssl|jwt_claim|jwt_header)_\w+)\b/;

/** Templates of shells, Helm, Envoy, nginx, HAProxy, Kong, Caddy and Traefik. */
const TEMPLATES: readonly TemplateSyntax[] = [
  // `${NAME}` alone is an environment variable, or was written as $${NAME}.
  { pattern: /\$\{\s*([^{}]*[^\w{}][^{}]*?)\s*\}/, expressionOf: (inner) => inner },
  { pattern: /\{\{-?\s*\.?([^{}]*?)\s*-?\}\}/, expressionOf: (inner) => inner },
  {
    pattern: /%([A-Z][A-Z0-9_]+)(?:\(([^()%]*)\))?(?::\d+)?%/,
    expressionOf: (command, [, , name = ""]) => envoyExpression(command, name),
  },
  { pattern: /\$\(\s*([^()]+?)\s*\)/, expressionOf: kongExpression },
  { pattern: /%\[\s*([^[\]]+?)\s*\]/, expressionOf: (inner) => (inner === "src" ? ADDRESS : "") },
  { pattern: NGINX_VARIABLE, expressionOf: nginxExpression },
  {
    pattern:
      /\{((?:http|remote|request|client|server|user|re|header|query|path|host|method|scheme|uri|tls|cookie)(?:[._][\w.-]+)?)\}/,
    isShort: true,
    expressionOf: () => "",
  },
];

/** Matches strings that look like expressions on a request. */
const CHAIN =
  /^(?:jwt|auth|apiKey|basicAuth|request|source|response|mcp|llm|llmRequest|extauthz|extproc|metadata|custom|backend)(?:\.\w+|\[(?:"[^"]*"|'[^']*')\])+(?:\([^()]*\))?$/;

/** Matches host names: `jwt.example.com` is not an expression. */
const HOST_END =
  /\.(?:com|net|org|io|dev|app|cloud|local|localhost|internal|svc|test|example|invalid)$/;

const ADDRESS = "source.address";

function envoyExpression(command: string, name: string): string {
  if (command.startsWith("DOWNSTREAM_REMOTE_ADDRESS")) return ADDRESS;
  if (command === "REQ") {
    const [header = ""] = name.split("?");
    if (header.toLowerCase() === ":path") return "request.pathAndQuery";
    if (header.toLowerCase() === ":authority") return "request.host";
    if (header.toLowerCase() === ":method") return "request.method";
    return `request.headers["${header.toLowerCase()}"]`;
  }
  if (command === "RESP") return `response.headers["${name.toLowerCase()}"]`;
  if (command === "PROTOCOL") return "request.version";
  return "";
}

function kongExpression(inner: string): string {
  const [, header] = /^headers[.[]["']?([\w-]+)/.exec(inner) ?? [];
  return header === undefined ? "" : `request.headers["${header.toLowerCase()}"]`;
}

function nginxExpression(name: string): string {
  const known = NGINX[name];
  if (known !== undefined) return known;
  const [, kind, rest = ""] = /^(http|arg|cookie|jwt_claim)_(\w+)$/.exec(name) ?? [];
  const dashed = rest.replaceAll("_", "-");
  if (kind === "http") return `request.headers["${dashed}"]`;
  if (kind === "arg") return `request.uri.query("${rest}")`;
  if (kind === "cookie") return `request.headers.cookie.cookie("${rest}")`;
  return kind === "jwt_claim" ? `jwt.${rest}` : "";
}

const NGINX: Readonly<Record<string, string>> = {
  remote_addr: ADDRESS,
  remote_port: "source.port",
  remote_user: "basicAuth.username",
  host: "request.host",
  uri: "request.path",
  document_uri: "request.path",
  request_uri: "request.pathAndQuery",
  request_method: "request.method",
  scheme: "request.scheme",
  ssl_client_s_dn: "source.subject",
};

function isExpression(text: string): boolean {
  return (
    text !== "" &&
    compileExpression(text, { phase: "response", slot: "value" }).expression !== undefined
  );
}
