import type { UnopenedPort } from "../../../runtime/discovery/resource-types.ts";
import type { Delivery, DeliveryState } from "../delivery/delivery.ts";
import type { CompiledStatus } from "../model/compile-files.ts";
import type { CompiledModel } from "../model/compiler-thread.ts";
import type { NamespaceTurns } from "../model/namespace-turns.ts";
import type { WatchedObjects } from "../model/watched-objects.ts";
import type { Provisioner } from "../provisioning/provisioner.ts";
import { withDefinitions } from "./class-status.ts";
import { withDelays } from "./delayed-objects.ts";
import { withAddresses, withDelivery, withUnopened, withUnopenedPorts } from "./delivery-status.ts";
import type { WantedStatus } from "./status-writer.ts";
import type { UnservedChanges } from "./unserved-changes.ts";

/** The last compilation. */
export interface LastCompilation extends Omit<CompiledModel, "processorTime"> {
  /** The generations of objects that were compiled. */
  readonly generations: ReadonlyMap<string, number>;
  /** Why the newest state could not be compiled at all; `undefined` if it could. */
  readonly failure: string | undefined;
}

/** Parts of a controller that know what became of a compilation. */
interface StatusSources {
  readonly objects: WatchedObjects;
  readonly delivery: Delivery;
  readonly provisioner: Provisioner | undefined;
  readonly turns: NamespaceTurns;
  readonly unserved: () => UnservedChanges;
}

/** Derives the statuses of objects from the last compilation, and from what data planes made of it. */
export class WantedStatuses {
  readonly #sources: StatusSources;
  #last: LastCompilation = {
    gateways: new Map(),
    statuses: [],
    generations: new Map(),
    failure: undefined,
  };

  constructor(sources: StatusSources) {
    this.#sources = sources;
  }

  /** Takes over what came of a compilation. */
  set last(last: LastCompilation) {
    this.#last = last;
  }

  get last(): LastCompilation {
    return this.#last;
  }

  /** Returns the status of everything that was compiled. */
  all(): readonly WantedStatus[] {
    const { turns, objects } = this.#sources;
    const waiting = turns.waiting(performance.now());
    const namespaces = new Map(
      [...waiting].map(([name, until]) => [name, performance.timeOrigin + until] as const),
    );
    const delays = { namespaces, compiled: this.#last.generations };
    return withDelays(this.#compiled(), delays, objects);
  }

  /** Why the data planes of a Gateway do not serve what is declared; `undefined` if they do, or none is connected. */
  backlogOf(key: string): string | undefined {
    const { failure, gateways } = this.#last;
    const { delivery } = this.#sources;
    if (failure !== undefined) return failure;
    if (!gateways.has(key) && delivery.servedGenerations(key) !== undefined)
      return "the Gateway has mistakes, and still serves its last good state";
    if (!delivery.isBehind(key)) return undefined;
    const state = delivery.stateOf(key);
    return state.kind === "refused" ? state.problem : "its data planes have not taken it yet";
  }

  #compiled(): readonly WantedStatus[] {
    const { statuses, generations } = this.#last;
    const { objects, delivery } = this.#sources;
    const unserved = this.#sources.unserved();
    unserved.look(statuses.flatMap(({ kind, key }) => (kind === "Gateway" ? key : [])));
    return statuses.map((compiled) => {
      const { kind, key, status } = compiled;
      const generation = generations.get(`${kind} ${key}`);
      if (kind === "GatewayClass") {
        const known = withDefinitions(status, objects.definitions.known);
        return { kind, key, status: known, generation };
      }
      const [gateway] = compiled.gateways;
      if (kind === "ListenerSet" && gateway !== undefined) {
        // Its listeners are in the code of its Gateway, which is what data planes take.
        const state = this.#stateOf(gateway);
        const served = delivery.servedGenerations(gateway)?.get(`${kind} ${key}`);
        const own = state.kind === "taken" ? { ...state, generation: served ?? 0 } : state;
        const delivered = withDelivery(status, own, generation);
        return { kind, key, status: this.#opened(compiled, delivered, state), generation };
      }
      if (kind !== "Gateway") {
        const isInDelivery = unserved.isInDelivery(compiled, generation);
        const inForce = unserved.withBacklog(compiled, generation);
        const opened = withUnopenedPorts(inForce, compiled.ports, (at) =>
          unopenedIn(this.#stateOf(at)),
        );
        return { kind, key, status: opened, generation, isInDelivery };
      }
      const state = this.#stateOf(key);
      const delivered = this.#opened(compiled, withDelivery(status, state, generation), state);
      return { kind, key, status: this.#addressed(key, delivered), generation };
    });
  }

  /** The status of a Gateway or ListenerSet with its listeners whose ports data planes cannot open. */
  #opened({ kind, key }: CompiledStatus, status: object, state: DeliveryState): object {
    const { objects } = this.#sources;
    return withUnopened(status, unopenedIn(state), objects.find(kind, key)?.spec);
  }

  /** Returns the result of a Gateway at its data planes. */
  #stateOf(key: string): DeliveryState {
    const { provisioner, delivery } = this.#sources;
    const problem = this.#last.failure ?? provisioner?.problemOf(key);
    return problem === undefined ? delivery.stateOf(key) : { kind: "refused", problem };
  }

  /** The status of a Gateway with the addresses of the Service that this controller made for it. */
  #addressed(key: string, status: object): object {
    const { provisioner, objects } = this.#sources;
    const compiled = this.#last.gateways.get(key);
    if (provisioner === undefined || compiled === undefined) return status;
    const service = objects.find("Service", `${compiled.namespace}/${compiled.name}`);
    return withAddresses(status, objects.find("Gateway", key), service);
  }
}

function unopenedIn(state: DeliveryState): readonly UnopenedPort[] {
  return state.kind === "taken" ? state.unopened : [];
}
