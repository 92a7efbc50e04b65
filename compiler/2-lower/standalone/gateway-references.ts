import { DEFAULT_GATEWAY } from "../../1-parse/standalone/gateway.ts";
import type { StandaloneFile } from "../../1-parse/standalone/standalone.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type { ListenerResource, ListenerTlsResource } from "../../config/resources.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { gatewayListenerKey } from "./declared-listeners.ts";

/** Value of a `gateways` field of a route, `llm` or `mcp`. */
export type GatewayRefs = string | readonly string[];

/** Kind of the listeners that something can attach to. */
export type RouteForm = "HTTP" | "TCP";

interface ReferencesContext {
  /** The listeners that were read, with those of binds. */
  readonly listeners: readonly ListenerResource[];
  /** Location of the file's root. */
  readonly root: Origin;
  readonly broken: readonly ConfigPath[];
  readonly diagnostics: Diagnostics;
}

/** The `gateways` of a file as others refer to them. */
export class GatewayReferences {
  /** Keys of the listeners by reference. */
  readonly #keys = new Map<string, readonly string[]>();
  readonly #attached = new Set<string>();
  readonly #context: ReferencesContext;

  constructor(gateways: StandaloneFile["gateways"], context: ReferencesContext) {
    this.#context = context;
    for (const [gateway, { listeners }] of Object.entries(gateways ?? {})) {
      const keys = listeners?.flatMap((listener, index) => {
        if (listener === undefined) return [];
        const { key, name } = gatewayListenerKey(gateway, listener, index);
        if (this.#keys.has(name)) {
          const at = childOf(context.root, "gateways", gateway, "listeners", index, "name");
          context.diagnostics.report("duplicate-listener", at, { name });
        } else this.#keys.set(name, [key]);
        return [key];
      });
      this.#keys.set(gateway, keys ?? [gatewayListenerKey(gateway).key]);
    }
  }

  /** Whether there is a gateway for requests of sections that name none. */
  get hasDefault(): boolean {
    const keys = this.#keys.get(DEFAULT_GATEWAY) ?? [];
    const found = this.#context.listeners.filter(({ key }) => keys.includes(key));
    return found.some((each) => formOf(each) === "HTTP") || this.#isUnknown();
  }

  /**
   * Returns the listeners of `form` that references lead to, by default those of the gateway `default`; reports
   * references to nothing. `owner` is the location of what attaches to them.
   */
  listenersOf(
    given: GatewayRefs | undefined,
    owner: Origin,
    form: RouteForm,
  ): readonly ListenerResource[] {
    const { listeners, diagnostics } = this.#context;
    const at = childOf(owner, "gateways");
    const named =
      typeof given === "string"
        ? [{ reference: given, place: at }]
        : given?.map((reference, index) => ({ reference, place: childOf(at, index) }));
    const wanted = named ?? [{ reference: DEFAULT_GATEWAY, place: owner }];
    const keys = wanted.flatMap(({ reference, place }) => {
      const own = this.#keys.get(reference);
      if (own === undefined) {
        this.#reportMissing(reference, place, named === undefined);
        return [];
      }
      const found = listeners.filter(({ key }) => own.includes(key));
      const fitting = found.filter((each) => formOf(each) === form);
      const [first] = found;
      // The protocol of a gateway with mistakes may be one of them.
      if (fitting.length === 0 && first !== undefined && first.isPartial !== true) {
        const params = { reference, protocol: first.protocol, form };
        diagnostics.report("wrong-gateway", place, params);
      }
      return fitting.map(({ key }) => key);
    });
    for (const key of keys) this.#attached.add(key);
    return listeners.filter(({ key }) => keys.includes(key));
  }

  /** Reports gateways and listeners that nothing attached to. */
  reportIdle(): void {
    const { listeners, diagnostics } = this.#context;
    // A port without routes may be there for the ACME server's requests.
    const isAsked = listeners.some(({ tls }) => tls !== undefined && isOrdered(tls));
    for (const { key, name, protocol, origin } of listeners) {
      if (!this.#isOfGateway(key) || this.#attached.has(key)) continue;
      if (isAsked && protocol === "HTTP") continue;
      diagnostics.report("unused-gateway", keyPlace(origin), { reference: name });
    }
  }

  #isOfGateway(key: string): boolean {
    return this.#keys.values().some((keys) => keys.includes(key));
  }

  #reportMissing(reference: string, at: Origin, isDefault: boolean): void {
    // A gateway that could not be read may be the default.
    if (isDefault && this.#isUnknown()) return;
    const names = [...this.#keys.keys()];
    const candidates = names.map((name) => `"${name}"`);
    if (isDefault) {
      this.#context.diagnostics.report("no-default-gateway", at, { candidates });
      return;
    }
    const near = suggest(reference, names);
    this.#context.diagnostics.report("missing-reference", at, {
      what: `gateway "${reference}"`,
      candidates,
      place: `add it: gateways: { ${reference.replace(/\/.*/, "")}: { port: 3000 } }`,
      ...(near === undefined ? {} : { near }),
    });
  }

  #isUnknown(): boolean {
    return isPartial(childOf(this.#context.root, "gateways"), this.#context);
  }
}

function formOf({ protocol }: ListenerResource): RouteForm {
  return protocol === "HTTP" || protocol === "HTTPS" ? "HTTP" : "TCP";
}

function isOrdered({ certificate }: ListenerTlsResource): boolean {
  return "kind" in certificate && certificate.kind === "acme";
}
