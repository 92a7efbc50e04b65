import type { Directive } from "../directives/directive.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { celText, namesCredential, plainText, secretName } from "../proxy/texts.ts";
import type { NginxScope } from "./nginx-scope.ts";
import { type NginxNames, nginxText } from "./nginx-text.ts";

/** Parts of a route: policies, what to decide, and why it can't serve anybody. */
export interface NginxPart {
  readonly policies: DraftFields;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
}

/** Who may: `auth_basic`, `allow` and `deny`, `limit_req`. */
export function accessPart(
  scope: NginxScope,
  zones: readonly Directive[],
  place: PlaceName,
): NginxPart {
  const policies: Record<string, unknown> = {};
  const notes: string[] = [];
  const problems: string[] = [];
  const rules = scope.all("allow", "deny");
  const isAny = scope.word("satisfy") === "any";
  const realm = scope.word("auth_basic");
  const users = scope.word("auth_basic_user_file");
  const hasLogin = realm !== undefined && realm !== "off";
  if (hasLogin && users === undefined) problems.push("auth_basic has no auth_basic_user_file");
  if (hasLogin && users !== undefined) {
    if (/\$/.test(realm + users)) problems.push("auth_basic has a variable");
    policies.basicAuth = { realm, htpasswd: { file: plainText(users) } };
  }
  if (isAny && hasLogin && rules.length > 0)
    problems.push("of addresses and passwords one is enough (satisfy any)");
  const condition = addressCondition(rules);
  if (typeof condition === "string") policies.authorization = { rules: [{ require: condition }] };
  else if (condition !== undefined)
    problems.push(`${place(condition)}: ${condition.words.join(" ")}`);
  const limits = scope.all("limit_req").map((each) => limitOf(each, zones));
  scope.all("limit_req_status");
  if (limits.some((each) => each === undefined))
    problems.push("limit_req counts by something else");
  else if (limits.length > 0) {
    policies.localRateLimit = limits;
    notes.push(
      "nginx counts all locations of a zone together and refuses with 503; here each route has a count of its own, and 429",
    );
  }
  return { policies, notes, problems };
}

/** How a place is named. */
export type PlaceName = (directive: Directive) => string;

/** `allow` and `deny`, of which the first decides, as one condition; a directive that can't be one. */
function addressCondition(rules: readonly Directive[]): string | Directive | undefined {
  let condition = "true";
  for (const rule of rules.toReversed()) {
    const [who = ""] = rule.words;
    const isAllowed = rule.name === "allow";
    if (who === "all") condition = String(isAllowed);
    else {
      const test = addressTest(who);
      if (test === undefined) return rule;
      if (condition === String(isAllowed)) continue;
      if (isAllowed) condition = condition === "false" ? test : `${test} || (${condition})`;
      else condition = condition === "true" ? `!${test}` : `!${test} && (${condition})`;
    }
  }
  return condition === "true" ? undefined : condition;
}

/** `cidr("10.0.0.0/8").containsIP(source.address)`; undefined: it is no address. */
export function addressTest(who: string): string | undefined {
  if (/^[0-9.]+$/.test(who) || /^[0-9a-f:]+$/i.test(who)) {
    const bits = who.includes(":") ? 128 : 32;
    return `cidr(${celText(`${who}/${bits}`)}).containsIP(source.address)`;
  }
  if (!/^[0-9a-f.:]+\/\d+$/i.test(who)) return undefined;
  return `cidr(${celText(who)}).containsIP(source.address)`;
}

/** `limit_req zone=a burst=20` with `limit_req_zone $binary_remote_addr zone=a:10m rate=10r/s`. */
function limitOf({ words }: Directive, zones: readonly Directive[]): DraftFields | undefined {
  const name = words.find((word) => word.startsWith("zone="))?.slice("zone=".length);
  const zone = zones.find((each) => each.words.some((word) => word.startsWith(`zone=${name}:`)));
  const rate = zone?.words.find((word) => word.startsWith("rate="));
  const [, count, unit] = /^rate=(\d+)r\/([sm])$/.exec(rate ?? "") ?? [];
  const key = { $binary_remote_addr: "source.address", $remote_addr: "source.address" }[
    zone?.words[0] ?? ""
  ];
  if (count === undefined || key === undefined) return undefined;
  const burst = words.find((word) => word.startsWith("burst="))?.slice("burst=".length);
  return {
    requests: Number(count),
    unit: unit === "s" ? "Seconds" : "Minutes",
    ...(burst !== undefined && { burst: Number(burst) }),
    key,
  };
}

/** Headers of requests and responses. */
export function headersPart(scope: NginxScope, names: NginxNames, place: PlaceName): NginxPart {
  const notes: string[] = [];
  const set: Record<string, string> = {};
  const remove: string[] = [];
  const expressions: Record<string, string> = {};
  const policies: Record<string, unknown> = { hostRewrite: { mode: "Auto" } };
  for (const each of scope.all("proxy_set_header")) {
    const [name = "", value = ""] = each.words;
    const key = name.toLowerCase();
    // What is of one connection alone gwc writes itself; it passes upgrades on.
    if (key === "connection" || key === "upgrade") continue;
    const text = nginxText(value, names);
    if (key === "host") {
      Object.assign(policies, hostPart(value, names, notes, place(each)));
      // Browsers leave out these two; any other port is not in $host.
      if (value === "$host" && ![80, 443].includes(names.port))
        notes.push(
          `${place(each)}: the Host that the backend sees has the port ${names.port}, too`,
        );
      continue;
    }
    if (text === undefined) {
      remove.push(name);
      notes.push(`${place(each)}: the backend gets no ${name}: gwc does not know ${value}`);
    } else if (text.kind === "expression") expressions[key] = plainText(text.expression);
    else if (text.text === "") remove.push(name);
    else if (namesCredential(name)) {
      set[name] = `\${${secretName(name)}}`;
      notes.push(
        `${place(each)} may have a credential: put it into the variable ${secretName(name)}`,
      );
    } else set[name] = plainText(text.text);
  }
  const request = {
    ...(Object.keys(set).length > 0 && { set }),
    ...(remove.length > 0 && { remove }),
  };
  if (Object.keys(expressions).length > 0)
    policies.transformations = { request: { set: expressions } };
  if (Object.keys(request).length > 0) policies.requestHeaderModifier = request;
  const response = responseHeaders(scope, names, notes, place);
  if (Object.keys(response).length > 0) policies.responseHeaderModifier = response;
  return { policies, notes, problems: [] };
}

function hostPart(value: string, names: NginxNames, notes: string[], place: string): DraftFields {
  if (value === "$proxy_host") return { hostRewrite: { mode: "Auto" } };
  if (value === "$host" || value === "$http_host") return { hostRewrite: { mode: "None" } };
  const text = nginxText(value, names);
  if (text?.kind === "constant")
    return { hostRewrite: undefined, urlRewrite: { authority: { full: plainText(text.text) } } };
  notes.push(`${place}: the backend gets the client's Host: gwc does not know ${value}`);
  return { hostRewrite: { mode: "None" } };
}

function responseHeaders(
  scope: NginxScope,
  names: NginxNames,
  notes: string[],
  place: PlaceName,
): DraftFields {
  const add: Record<string, string> = {};
  for (const each of scope.all("add_header")) {
    const [name = "", value = "", always] = each.words;
    const text = nginxText(value, names);
    if (text?.kind !== "constant" || name in add)
      notes.push(`${place(each)}: the response header ${name} is left out`);
    else add[name] = plainText(text.text);
    if (always === undefined)
      notes.push(
        `${place(each)}: nginx adds ${name} to 200 to 308 alone; here every response has it but those that refuse`,
      );
  }
  const remove = scope.all("proxy_hide_header").map(({ words: [name = ""] }) => name);
  return {
    ...(Object.keys(add).length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
}
