import {
  type Alias,
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { presentFields } from "../../1-parse/earlier/present-fields.ts";

/** A file in agentgateway's present form. */
export interface PresentForm {
  readonly text: string;
  /** Names of its fields in forms from before 1.0. */
  readonly earlier: readonly string[];
  /** Whether its routes attach to gateways now. */
  readonly hasGateways: boolean;
  /** Places of routes by their places in the old form. */
  readonly moved: ReadonlyMap<string, string>;
}

/**
 * Rewrites fields from before agentgateway 1.0, and `binds` and the ports of `llm` and `mcp` as `gateways` with routes
 * that attach to them; comments are kept. The program is the same. Returns a file without them, or with parts that have
 * no other form, unchanged.
 */
export function presentForm(text: string): PresentForm {
  const { text: present, earlier } = withPresentFields(text);
  const document = parseDocument(present, { logLevel: "silent" });
  const unchanged = { text: present, earlier, hasGateways: false, moved: new Map() };
  if (document.errors.length > 0 || !isMap(document.contents)) return unchanged;
  const form = new Rewriting(document, document.contents);
  if (!form.isPossible()) return unchanged;
  form.rewrite();
  const written = textOfDocument(document);
  if (written === undefined) return unchanged;
  return { text: written, earlier, hasGateways: true, moved: form.moved };
}

/** Rewrites fields from before agentgateway 1.0; comments are kept. */
export function withPresentFields(text: string): Pick<PresentForm, "text" | "earlier"> {
  const document = parseDocument(text, { logLevel: "silent" });
  const aliases = new Map<Alias, Node>();
  visit(document, {
    Alias(_, alias) {
      const target = alias.resolve(document);
      if (target !== undefined) aliases.set(alias, target);
    },
  });
  const earlier = presentFields(document, aliases).map(({ field }) => field);
  const written = earlier.length === 0 ? text : textOfDocument(document);
  return written === undefined ? { text, earlier: [] } : { text: written, earlier };
}

/** Returns the YAML of a document; `undefined` if an alias would come before its anchor. */
function textOfDocument(document: Document): string | undefined {
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    return undefined;
  }
}

const BIND_FIELDS = ["port", "address", "tunnelProtocol", "listeners"];
const LISTENER_FIELDS = [
  ...["name", "hostname", "protocol", "tls", "pathHandling"],
  ...["policies", "routes", "tcpRoutes"],
];
const DOORS = [
  { name: "llm", port: 4000, fields: ["port", "address", "tls"] },
  { name: "mcp", port: 3000, fields: ["port", "address"] },
] as const;
const DEFAULT = "default";

type Fields = YAMLMap<unknown, unknown>;

class Rewriting {
  readonly moved = new Map<string, string>();
  readonly #document: Document;
  readonly #root: Fields;
  readonly #gateways: Fields = new YAMLMap();
  readonly #routes = { routes: new YAMLSeq(), tcpRoutes: new YAMLSeq() };
  /** Names of listeners in targets of policies, by their former names. */
  readonly #renamed = new Map<string, string>();

  constructor(document: Document, root: Fields) {
    this.#document = document;
    this.#root = root;
  }

  /** Whether there is something to rewrite, and all of it has another form. */
  isPossible(): boolean {
    const binds = this.#root.get("binds", true);
    const hasOwnPorts = binds !== undefined || this.#ownDoors().length > 0;
    return hasOwnPorts && !this.#root.has("gateways") && this.#binds().every(isPlainBind);
  }

  rewrite(): void {
    const doors = this.#ownDoors();
    const first = pairOf(this.#root, "binds") ?? pairOf(this.#root, doors[0]?.name ?? "");
    for (const [index, bind] of this.#binds().entries()) this.#addBind(bind, index);
    for (const door of doors) this.#addDoor(door);
    this.#renameTargets();
    const at = this.#root.items.indexOf(first as Pair);
    const lists = Object.entries(this.#routes).filter(([, list]) => list.items.length > 0);
    const added = [["gateways", this.#gateways] as const, ...lists].map(([name, value]) =>
      this.#document.createPair(name, value),
    );
    const [gateways] = added;
    if (gateways !== undefined && first?.key !== undefined) carryComment(first.key, gateways.key);
    this.#root.items.splice(Math.max(at, 0), 0, ...added);
    this.#root.delete("binds");
    if (doors.some(({ name }) => name === "mcp")) this.#root.delete("mcp");
  }

  #binds(): readonly unknown[] {
    const binds = this.#root.get("binds", true);
    return isSeq(binds) ? itemsOf(binds) : binds === undefined ? [] : [binds];
  }

  /** The sections that listen on a port of their own. */
  #ownDoors(): (typeof DOORS)[number][] {
    return DOORS.filter(({ name }) => {
      const value = this.#root.get(name, true);
      return isMap(value) && !value.has("gateways");
    });
  }

  #addBind(bind: unknown, index: number): void {
    if (!isMap(bind)) return;
    const listeners = listenersOf(bind);
    const [only] = listeners;
    const port = textOf(bind.get("port"));
    const isOne = listeners.length === 1 && only?.has("hostname") === false;
    if (isOne) takeComment(bind, only);
    const name = this.#freeName([
      ...(isOne && only.has("name") ? [textOf(only.get("name"))] : []),
      DEFAULT,
      `port-${port}`,
    ]);
    const gateway: Fields = new YAMLMap();
    for (const pair of bind.items) {
      if (textOf(pair.key) !== "listeners") gateway.items.push(pair);
    }
    takeComment(gateway, bind);
    const list = new YAMLSeq();
    listeners.forEach((listener, at) => {
      const hostname = textOf(listener.get("hostname") ?? "*");
      const own = textOf(listener.get("name") ?? (hostname === "*" ? `port-${port}` : hostname));
      const reference = isOne || listeners.length === 1 ? name : `${name}/${own}`;
      this.#renamed.set(own, isOne ? name : `${name}/${own}`);
      const place = `binds[${index}].listeners[${at}]`;
      for (const field of ["routes", "tcpRoutes"] as const)
        this.#moveRoutes(field, listener, reference, place);
      const rest = withoutPolicies(listener);
      if (isOne) gateway.items.push(...rest.filter(({ key }) => textOf(key) !== "name"));
      else {
        const item: Fields = new YAMLMap();
        if (!listener.has("name")) item.items.push(this.#document.createPair("name", own));
        item.items.push(...rest);
        takeComment(item, listener);
        list.items.push(item);
      }
    });
    if (!isOne) gateway.items.push(this.#document.createPair("listeners", list));
    this.#gateways.items.push(this.#document.createPair(name, gateway));
  }

  #addDoor({ name: section, port, fields }: (typeof DOORS)[number]): void {
    const value = this.#root.get(section, true);
    if (!isMap(value)) return;
    const isOnly = this.#gateways.items.length === 0 && this.#ownDoors().length === 1;
    const name = this.#freeName(isOnly ? [DEFAULT] : [section, `${section}-gateway`]);
    this.#renamed.set(section, name);
    const gateway: Fields = new YAMLMap();
    if (!value.has("port")) gateway.items.push(this.#document.createPair("port", port));
    const isOfPort = ({ key }: Pair) => fields.some((field) => field === textOf(key));
    gateway.items.push(...value.items.filter(isOfPort));
    value.items = value.items.filter((pair) => !isOfPort(pair));
    this.#gateways.items.push(this.#document.createPair(name, gateway));
    if (section === "llm") this.#attach(value, name);
    else this.#moveServers(value, name);
  }

  /** Moves the servers of `mcp` to a route: an attached `mcp` section serves fewer paths. */
  #moveServers(value: Fields, gateway: string): void {
    const route: Fields = new YAMLMap();
    route.items.push(this.#document.createPair("name", "mcp"));
    this.#attach(route, gateway);
    const policies = pairOf(value, "policies");
    if (policies !== undefined) route.items.push(policies);
    const servers: Fields = new YAMLMap();
    servers.items.push(...value.items.filter((pair) => pair !== policies));
    const backend: Fields = new YAMLMap();
    backend.items.push(this.#document.createPair("mcp", servers));
    const backends = new YAMLSeq();
    backends.items.push(backend);
    route.items.push(this.#document.createPair("backends", backends));
    this.#routes.routes.items.push(route);
    this.moved.set("mcp", `routes[${this.#routes.routes.items.length - 1}]`);
  }

  #moveRoutes(
    field: "routes" | "tcpRoutes",
    listener: Fields,
    gateway: string,
    place: string,
  ): void {
    const list = this.#routes[field].items;
    for (const [index, route] of itemsOf(listener.get(field, true)).entries()) {
      if (isMap(route)) this.#attach(route, gateway);
      this.moved.set(`${place}.${field}[${index}]`, `${field}[${list.length}]`);
      list.push(route);
    }
  }

  /** Adds `gateways` after the name. */
  #attach(value: Fields, gateway: string): void {
    if (gateway === DEFAULT) return;
    const at = value.items.findIndex(({ key }) => textOf(key) === "name");
    value.items.splice(at + 1, 0, this.#document.createPair("gateways", gateway));
  }

  #renameTargets(): void {
    const policies = this.#root.get("policies", true);
    if (!isSeq(policies)) return;
    for (const policy of policies.items) {
      if (!isMap(policy)) continue;
      const at = ["target", "gateway", "listenerName"];
      const renamed = this.#renamed.get(textOf(policy.getIn(at) ?? ""));
      if (renamed !== undefined) policy.setIn(at, renamed);
    }
  }

  #freeName(wanted: readonly string[]): string {
    const isFree = (name: string) => !this.#gateways.has(name) && !name.includes("/");
    const free = wanted.find(isFree);
    const last = wanted.at(-1) ?? DEFAULT;
    for (let count = 2; ; count++) {
      const name = free ?? `${last}-${count}`;
      if (isFree(name)) return name;
    }
  }
}

function isPlainBind(bind: unknown): boolean {
  if (!isMap(bind) || !has(bind, BIND_FIELDS)) return false;
  const listeners = bind.get("listeners", true);
  if (!isSeq(listeners) || listeners.items.length === 0) return false;
  return listeners.items.every((listener) => {
    if (!isMap(listener) || !has(listener, LISTENER_FIELDS)) return false;
    const policies = listener.get("policies", true);
    const routes = [listener.get("routes", true), listener.get("tcpRoutes", true)];
    const arePlain = routes.every((each) => each === undefined || isSeq(each));
    return arePlain && (policies === undefined || isMap(policies)) && isName(listener);
  });
}

function has(value: Fields, fields: readonly string[]): boolean {
  return value.items.every(({ key }) => fields.includes(textOf(key)));
}

/** Whether the name of a listener, if it has one, can be a part of a reference. */
function isName(listener: Fields): boolean {
  return !textOf(listener.get("name") ?? "").includes("/");
}

function listenersOf(bind: Fields): readonly Fields[] {
  return itemsOf(bind.get("listeners", true)).filter((each) => isMap(each));
}

/** Returns the fields of a listener without its routes, its policies next to the others. */
function withoutPolicies(listener: Fields): readonly Pair[] {
  return listener.items.flatMap((pair) => {
    const key = textOf(pair.key);
    if (key === "routes" || key === "tcpRoutes") return [];
    return key === "policies" && isMap(pair.value) ? pair.value.items : [pair];
  });
}

function pairOf(value: Fields, name: string): Pair | undefined {
  return value.items.find(({ key }) => textOf(key) === name);
}

/** Returns the items of a list. The comment above the first one belongs to the list, and is moved to the item. */
function itemsOf(list: unknown): readonly unknown[] {
  if (!isSeq(list)) return [];
  const [first] = list.items;
  if (isMap(first)) takeComment(first, list);
  return list.items;
}

/** Adds the comment above a node to that of another one. */
function takeComment(to: Node, from: Node): void {
  const comments = [from.commentBefore, to.commentBefore].filter((each) => each != null);
  if (comments.length > 0) to.commentBefore = comments.join("\n");
  from.commentBefore = null;
}

function carryComment(from: unknown, to: unknown): void {
  if (!isScalar(from) || !(to instanceof Scalar)) return;
  const { commentBefore, spaceBefore }: Node = from;
  if (commentBefore != null) to.commentBefore = commentBefore;
  if (spaceBefore === true) to.spaceBefore = true;
}

function textOf(value: unknown): string {
  return String(isScalar(value) ? value.value : value);
}
