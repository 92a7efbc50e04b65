import type { ServiceValue } from "../../1-parse/standalone/services.ts";
import { UNRESOLVED } from "../../backends/ai/refused-models.ts";
import { serverAddress } from "../../backends/index.ts";
import type { PickingValue } from "../../backends/inference-pool/picking.ts";
import { type ServicePool, servicePool } from "../../backends/inference-pool/service-pool.ts";
import { readOwnPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import { findBackend } from "../../config/named-backends.ts";
import type { RouteBackend } from "../../config/resources.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { hostAndPort } from "../../model/host-url.ts";
import { backendOfService, type ServiceReference } from "../../model/server-address.ts";
import type { Text } from "../../model/texts.ts";

/** The services of a file, which backends can refer to. */
export class Services {
  readonly #services: readonly Service[];
  readonly #diagnostics: Diagnostics;
  /** The ports of the services as backends, by the names that `backendOfService` returns. */
  readonly backends: ReadonlyMap<string, RouteBackend>;

  constructor(
    values: readonly (ServiceValue | undefined)[],
    origin: Origin,
    context: { readonly diagnostics: Diagnostics; readonly broken: readonly ConfigPath[] },
  ) {
    this.#diagnostics = context.diagnostics;
    this.#services = values.flatMap((value, index) => {
      const place = childOf(origin, index);
      return value === undefined
        ? []
        : [{ ...value, origin: place, isPartial: isPartial(place, context) }];
    });
    this.backends = new Map(this.#services.flatMap(backendsOf));
  }

  /** Returns a service as a backend whose server a picker chooses; `undefined` if it has a mistake (reported). */
  pool(
    service: ServiceReference,
    picking: PickingValue,
    origin: Origin,
  ): (ServicePool & { readonly origin: Origin }) | undefined {
    const at = childOf(origin, "service");
    const address = this.#address(service, at);
    if (address === undefined) return undefined;
    const place = childOf(origin, "policies", "inferenceRouting");
    const pool = servicePool(address, picking, { origin: place, policies: readOwnPolicies });
    return { ...pool, origin: at };
  }

  /** Reports services that nothing in the file refers to. */
  reportIdle(file: unknown): void {
    if (this.#services.length === 0) return;
    const used = referencesIn(file);
    for (const service of this.#services) {
      if (namesOf(service).some((each) => used.has(each))) continue;
      const { name, origin } = service;
      this.#diagnostics.report("unused-service", childOf(origin, "name"), { name });
    }
  }

  #address(reference: ServiceReference, origin: Origin): Text | undefined {
    const name = backendOfService(reference);
    const found = findBackend(name, origin, this.backends, this.#diagnostics);
    // Mistakes of the service are reported there.
    if (found === undefined || found.isPartial === true) return undefined;
    return serverAddress(found);
  }
}

function backendsOf(service: Service): readonly (readonly [name: string, backend: RouteBackend])[] {
  const { origin, isPartial } = service;
  return Object.entries(service.ports).flatMap(([port, target]) =>
    namesOf(service).map((name) => {
      const address = isPartial ? UNRESOLVED : hostAndPort(service.hostname, target);
      const backend: RouteBackend = { kind: "host", config: { address }, origin, isPartial };
      return [backendOfService({ name, port: Number(port) }), backend] as const;
    }),
  );
}

/** Returns the names of the services that a file refers to. */
function referencesIn(file: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("service" in value && isReference(value.service)) found.add(value.service.name);
    for (const each of Object.values(value)) walk(each);
  };
  walk(file);
  return found;
}

function isReference(value: unknown): value is { readonly name: string } {
  return (
    typeof value === "object" && value !== null && "name" in value && typeof value.name === "string"
  );
}

interface Service extends ServiceValue {
  readonly origin: Origin;
  /** Whether parts of it have mistakes (reported). */
  readonly isPartial: boolean;
}

/** Returns the names by which backends can refer to a service. */
function namesOf({ name, namespace = "default", hostname }: ServiceValue): readonly string[] {
  return [...new Set([`${namespace}/${name}`, `${namespace}/${hostname}`])];
}
