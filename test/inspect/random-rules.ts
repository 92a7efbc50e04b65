import { compileRule } from "../../compiler/cel/compile.ts";
import type { RequestData } from "../../compiler/inspect/effect/data/request-data.ts";
import type { Rule } from "../../compiler/model/rules.ts";

/** The phases that have rules. */
export type RulePhase = "request" | "mcp";

/** Random numbers that are the same every time (mulberry32). */
export class RandomSource {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  next(): number {
    this.#state += 0x6d2b79f5;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 0x100000000;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}

const SUBJECTS = ["alice", "bob", "test-user", "svc-ci", "svc-deploy", "admin@corp.example"];
const ROLES = ["admin", "dev", "ops", "viewer", "team-a", "team-b", "billing:read"];
const TOOLS = ["echo", "get-sum", "get-env", "get-user", "delete-user", "db_read", "printEnv"];
const PATHS = ["/", "/api", "/api/v1", "/api/v1/users", "/admin", "/admin/keys", "/files/a.json"];
const HOSTS = ["api.example.com", "www.example.com", "internal.example.com"];
const METHODS = ["GET", "POST", "DELETE", "PUT"];
const NETWORKS = ["10.0.0.0/8", "10.1.0.0/16", "192.168.0.0/16", "127.0.0.1/32", "2001:db8::/32"];
const PATTERNS = [
  "^get-[a-z]+$",
  "^(dev|ops)-",
  "user$",
  "^/api/v[0-9]+/",
  "[A-Z]",
  "^svc-.*$",
  "(?i)admin",
  "\\.(js|css)$",
  "^[a-z]+(-[a-z]+)*$",
  "@corp\\.example$",
  "^/admin(/|$)",
  "\\bdev\\b",
];

interface Field {
  readonly text: string;
  readonly type: "string" | "header" | "list" | "number" | "bool" | "address";
  readonly values: readonly string[];
}

const REQUEST: readonly Field[] = [
  { text: "request.path", type: "string", values: PATHS },
  { text: "request.path", type: "string", values: PATHS },
  { text: "request.method", type: "string", values: METHODS },
  { text: "request.host", type: "string", values: HOSTS },
  { text: 'request.headers["x-env"]', type: "header", values: ["prod", "dev", "staging"] },
  { text: 'request.headers["user-agent"]', type: "header", values: ["curl/7", "Mozilla/5.0"] },
  { text: "source.address", type: "address", values: NETWORKS },
  { text: "json(request.body).text", type: "string", values: ["hello", "bye"] },
  { text: "json(request.body).tags", type: "list", values: ROLES },
];

const IDENTITY: readonly Field[] = [
  { text: "jwt.sub", type: "string", values: SUBJECTS },
  { text: "jwt.sub", type: "string", values: SUBJECTS },
  { text: "jwt.roles", type: "list", values: ROLES },
  { text: "jwt.groups", type: "list", values: ROLES },
  { text: "jwt.org.team", type: "string", values: ["core", "infra", "web"] },
  { text: "jwt.org.level", type: "number", values: ["1", "3", "5", "2.5"] },
  { text: "jwt.level", type: "number", values: ["1", "3", "5", "10"] },
  { text: "jwt.scope", type: "string", values: ["read", "write", "read write"] },
  { text: "jwt.verified", type: "bool", values: [] },
  { text: "apiKey.tier", type: "string", values: ["gold", "free"] },
  { text: "auth.claims.email", type: "string", values: ["a@corp.example", "b@other.example"] },
];

const ITEMS: readonly Field[] = [
  { text: "mcp.tool.name", type: "string", values: TOOLS },
  { text: "mcp.tool.name", type: "string", values: TOOLS },
  { text: "mcp.tool.target", type: "string", values: ["everything", "second"] },
  { text: "mcp.prompt.name", type: "string", values: ["greet", "ask"] },
  { text: "mcp.resource.name", type: "string", values: ["file:///a", "db://users"] },
];

/** Expressions that no class of values captures. */
const OPAQUE = [
  "jwt.sub == apiKey.owner",
  'request.headers["x-user"] == jwt.sub',
  'request.path.startsWith("/u/" + jwt.sub)',
  "jwt.level > jwt.org.level",
  'request.path.split("/")[1] == "api"',
  'jwt.groups.filter(g, g.startsWith("team-")).size() > 1',
  'jwt.roles[0] == "admin"',
];

/** Compiles a rule as the policies do; undefined for one that is refused. */
export function ruleOf(action: Rule["action"], text: string, phase: RulePhase): Rule | undefined {
  const { expression, cases } = compileRule(text, phase, action);
  const origin = { file: "gateway.yaml", document: 0, path: ["rules"] };
  return expression && { action, text, expression, cases, origin };
}

/** Rules such as people write, and stranger ones. */
export function randomRules(random: RandomSource, phase: RulePhase): readonly Rule[] {
  const actions = ["allow", "allow", "allow", "deny", "require"] as const;
  return Array.from({ length: 1 + random.below(5) }, () =>
    ruleOf(random.pick(actions), randomExpression(random, phase), phase),
  ).filter((rule) => rule !== undefined);
}

/** The same rules with an edit of one of them. */
export function editedRules(
  rules: readonly Rule[],
  random: RandomSource,
  phase: RulePhase,
): readonly Rule[] {
  const at = random.below(rules.length);
  const [old] = rules.slice(at);
  if (old === undefined || random.chance(0.25)) return rules.toSpliced(at, 1);
  const atom = randomCondition(random, phase);
  const text = random.chance(0.3) ? atom : `(${old.text}) ${random.pick(["&&", "||"])} ${atom}`;
  const action = random.chance(0.1)
    ? random.pick(["allow", "deny", "require"] as const)
    : old.action;
  const changed = ruleOf(action, text, phase);
  return changed === undefined ? rules : rules.toSpliced(at, random.below(2), changed);
}

function randomExpression(random: RandomSource, phase: RulePhase, depth = 0): string {
  const share = random.next();
  const inner = () => randomExpression(random, phase, depth + 1);
  const several = () => Array.from({ length: 2 + random.below(2) }, inner);
  if (depth >= 3 || share < 0.42) return randomCondition(random, phase);
  if (share < 0.66) return `(${several().join(" && ")})`;
  if (share < 0.86) return `(${several().join(" || ")})`;
  if (share < 0.95) return `!(${inner()})`;
  return `(${randomCondition(random, phase)} ? ${inner()} : ${inner()})`;
}

function randomCondition(random: RandomSource, phase: RulePhase): string {
  if (random.chance(0.03))
    return random.pick(["jwt == null", "jwt != null", "has(jwt.org)", "has(jwt.sub)"]);
  if (random.chance(0.025)) return random.pick(OPAQUE);
  const request = random.chance(0.2) ? REQUEST : [];
  const fields = phase === "mcp" ? [...ITEMS, ...IDENTITY, ...request] : [...REQUEST, ...IDENTITY];
  return conditionOn(random.pick(fields), random);
}

function conditionOn({ text, type, values }: Field, random: RandomSource): string {
  const quoted = (value: string) => JSON.stringify(value);
  const compared = [">=", ">", "<", "<=", "==", "!="];
  switch (type) {
    case "number":
      return `${text} ${random.pick(compared)} ${random.pick(values)}`;
    case "bool":
      return random.chance(0.5) ? text : `${text} == true`;
    case "address":
      return random.chance(0.8)
        ? `cidr(${quoted(random.pick(values))}).containsIP(source.address)`
        : 'source.address == "10.1.2.3"';
    case "list":
      return listCondition(text, values, random);
    default:
      return textCondition(text, values, random);
  }
}

function listCondition(text: string, values: readonly string[], random: RandomSource): string {
  const [one, two] = [random.pick(values), random.pick(values)];
  return random.pick([
    `"${one}" in ${text}`,
    `"${two}" in ${text}`,
    `${text}.exists(r, r == "${one}" || r.startsWith("${two.slice(0, 3)}"))`,
    `${text}.exists(r, r.matches(${JSON.stringify(random.pick(PATTERNS))}))`,
    `${text}.all(r, r in ["${one}", "${two}"])`,
    `size(${text}) ${random.pick([">", "==", ">="])} ${random.below(3)}`,
    `["${one}", "${two}"].exists(x, x in ${text})`,
  ]);
}

function textCondition(text: string, values: readonly string[], random: RandomSource): string {
  const [one, two] = [random.pick(values), random.pick(values)];
  const part = one.slice(random.below(one.length)) || one;
  const presence = text.startsWith("jwt") ? `has(${text})` : `${text} != "${two}"`;
  return random.pick([
    `${text} == "${one}"`,
    `${text} == "${two}"`,
    `${text} != "${one}"`,
    `${text} in ["${one}", "${two}", "other"]`,
    `${text}.startsWith("${one.slice(0, 1 + random.below(one.length))}")`,
    `${text}.endsWith("${one.slice(-1 - random.below(one.length))}")`,
    `${text}.contains("${part}")`,
    `${text}.matches(${JSON.stringify(random.pick(PATTERNS))})`,
    `${text}.lowerAscii() == "${one.toLowerCase()}"`,
    `size(${text}) > ${random.below(6)}`,
    `size(${text}) <= ${random.pick([7, 40, 1000])}`,
    presence,
    `["${one}", "${two}"].exists(x, ${text}.startsWith(x))`,
    `cel.bind(v, ${text}, v == "${one}" || v == "${two}")`,
  ]);
}

const JUNK: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  3,
  2.5,
  -1,
  1e21,
  "",
  "x",
  "É😀",
  [],
  ["x"],
  [1, "admin"],
  [null],
  {},
  { admin: 1 },
  { team: "core" },
  "constructor",
  ["__proto__"],
  Number.MAX_SAFE_INTEGER,
];

/** A request that rules were not written for, more often than not. */
export function randomRequest(random: RandomSource, phase: RulePhase): RequestData {
  const path = mutated(random.pick(PATHS), random).replace(/[^!-~]|[\\?#]/g, "");
  const host = mutated(random.pick(HOSTS), random)
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "");
  const request = {
    path: `/${path}`.replace(/\/+/g, "/"),
    method: random.pick([...METHODS, "PATCH"]),
    host: host.replace(/^\.+|\.+$/g, "").replace(/\.+/g, ".") || "localhost",
    headers: randomHeaders(random),
    ...(random.chance(0.8) && { body: randomBody(random) }),
  };
  const source = {
    address: random.pick([
      "10.1.2.3",
      "10.1.2.4",
      "10.2.0.1",
      "192.168.1.1",
      "127.0.0.1",
      "127.0.0.2",
      "2001:db8::1",
      "2001:db9::1",
      "8.8.8.8",
    ]),
  };
  const apiKey = random.chance(0.4) ? null : claims(random, "apiKey", ["tier", "owner"]);
  const jwt = random.chance(0.1) ? null : claims(random, "jwt", []);
  const item = random.pick(["tool", "tool", "tool", "prompt", "resource", "none"]);
  const names = ITEMS.find(({ text }) => text === `mcp.${item}.name`)?.values ?? TOOLS;
  const target = random.pick(["everything", "second", "third"]);
  const mcp =
    item === "none"
      ? { methodName: "tools/list" }
      : { methodName: "tools/call", [item]: { name: mutated(random.pick(names), random), target } };
  return { request, source, jwt, apiKey, ...(phase === "mcp" ? { mcp } : {}) };
}

/** JSON that rules ask for, other JSON, and none. */
function randomBody(random: RandomSource): string {
  if (random.chance(0.1)) return random.pick(["", "{", "text", "[]x"]);
  if (random.chance(0.1)) return JSON.stringify(random.pick(JUNK));
  const text = random.chance(0.1)
    ? random.pick(JUNK)
    : mutated(random.pick(["hello", "bye", "x".repeat(1_000)]), random);
  const tags = Array.from({ length: random.below(4) }, () => random.pick(ROLES));
  return JSON.stringify({ ...(random.chance(0.9) && { text }), tags });
}

function randomHeaders(random: RandomSource): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (random.chance(0.7))
    headers["x-env"] = mutated(random.pick(["prod", "dev"]), random).replace(/[^!-~]/g, "") || "x";
  if (random.chance(0.7))
    headers["user-agent"] = random.pick(["curl/7", "curl/7.1", "Mozilla/5.0"]);
  if (random.chance(0.3)) headers["x-user"] = random.pick(SUBJECTS);
  return headers;
}

function claims(random: RandomSource, root: string, more: readonly string[]): RequestData {
  const object: Record<string, unknown> = {};
  for (const field of more) if (random.chance(0.5)) object[field] = random.pick(["gold", "alice"]);
  for (const field of IDENTITY) {
    const [owner, first = "", second] = field.text.replace("auth.claims", "jwt").split(".");
    if (owner !== root || random.chance(0.15)) continue;
    const value = random.chance(0.1) ? random.pick(JUNK) : valueFor(field, random);
    if (second === undefined) object[first] = value;
    else if (random.chance(0.15)) object[first] = random.pick(JUNK);
    else object[first] = { ...Object(object[first]), [second]: value };
  }
  return object;
}

function valueFor({ type, values }: Field, random: RandomSource): unknown {
  if (type === "list") {
    if (random.chance(0.12)) return mutated(random.pick(values), random);
    return Array.from({ length: random.below(4) }, () =>
      random.chance(0.08) ? random.pick(JUNK) : mutated(random.pick(values), random),
    );
  }
  if (type === "bool") return random.chance(0.7) ? random.chance(0.5) : random.pick(JUNK);
  if (type !== "number") return mutated(random.pick(values), random);
  if (random.chance(0.1)) return random.pick(values);
  return Number(random.pick(values)) + random.pick([0, 0, 0.5, -1, 1]);
}

function mutated(text: string, random: RandomSource): string {
  switch (random.below(8)) {
    case 0:
      return text + random.pick(["x", "/", "-", "1", ".js", "\n", "É", "\u212a"]);
    case 1:
      return random.pick(["x", "/", "svc-"]) + text;
    case 2:
      return text.slice(0, random.below(text.length + 1));
    case 3:
      return text.toUpperCase();
    case 4:
      return text.slice(random.below(text.length + 1));
    default:
      return text;
  }
}
