import type { BackendValue } from "../../1-parse/standalone/backend.ts";
import type { ServiceReferenceValue, ServiceValue } from "../../1-parse/standalone/services.ts";
import { type ServicePool, servicePool } from "../../backends/inference-pool/service-pool.ts";
import { readOwnPolicies } from "../../backends/parts/read-policies.ts";
import { isPartial } from "../../config/broken-parts.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import { hostAndPort } from "../../model/host-url.ts";

/** The services of a file, which backends can refer to. */
export class Services {
  readonly #services: readonly Service[];
  readonly #diagnostics: Diagnostics;
  readonly #used: Set<Service> = new Set();

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
  }

  /** Returns a service as a backend whose server a picker chooses; `undefined` if it has a mistake (reported). */
  pool(
    service: ServiceReferenceValue,
    { policies }: Pick<BackendValue, "policies">,
    origin: Origin,
  ): (ServicePool & { readonly origin: Origin }) | undefined {
    const at = childOf(origin, "service");
    const address = this.#address(service, at);
    const picking = policies?.inferenceRouting;
    if (picking === undefined) {
      this.#diagnostics.report("not-built-yet", keyPlace(at), {
        what: "services without policies.inferenceRouting",
        field: '"service"',
        instead: "name its host: backends: [{ host: NAME:PORT }]",
      });
      return undefined;
    }
    if (address === undefined) return undefined;
    const place = childOf(origin, "policies", "inferenceRouting");
    const pool = servicePool(address, picking, { origin: place, policies: readOwnPolicies });
    return { ...pool, origin: at };
  }

  /** Reports services that no backend refers to. */
  reportIdle(): void {
    for (const service of this.#services) {
      if (this.#used.has(service)) continue;
      const { name, origin } = service;
      this.#diagnostics.report("unused-service", childOf(origin, "name"), { name });
    }
  }

  #address({ name, port }: ServiceReferenceValue, origin: Origin): string | undefined {
    const found = this.#services.find((service) => namesOf(service).includes(name));
    if (found === undefined) {
      const names = this.#services.flatMap(namesOf);
      const near = suggest(name, names);
      this.#diagnostics.report("missing-reference", childOf(origin, "name"), {
        what: `service "${name}"`,
        candidates: names.map((each) => `"${each}"`),
        place: "define services under `services` of the file, each with a `name` and a `hostname`",
        ...(near === undefined ? {} : { near }),
      });
      return undefined;
    }
    this.#used.add(found);
    const target = found.ports[port];
    if (target === undefined) {
      this.#diagnostics.report("missing-reference", childOf(origin, "port"), {
        what: `port ${port} of service "${name}"`,
        candidates: Object.keys(found.ports),
      });
      return undefined;
    }
    // Mistakes of the service are reported there.
    return found.isPartial ? undefined : hostAndPort(found.hostname, target);
  }
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
