import { setTimeout as pause } from "node:timers/promises";
import type { ApiServer } from "./api-server.ts";
import { recordOf, textField } from "./json-fields.ts";

/** Candidate of an election, and its listeners. */
export interface ElectionSettings {
  readonly namespace: string;
  /** Of the Lease: one for each name of a controller. */
  readonly name: string;
  /** Of this replica: no other one has it. */
  readonly identity: string;
  /** How long the Lease is not taken from a holder that is silent. */
  readonly leaseSeconds: number;
  readonly changed: (isLeading: boolean) => void;
  readonly warn: (message: string) => void;
}

/** How long a Lease is not taken from a holder that is silent, in seconds, when nobody says anything else. */
export const LEASE_SECONDS = 15;
/**
 * Parts of that time: how long a holder without a renewal thinks that it has the Lease, shorter whatever the network does, and
 * the time between two looks. Of 15 seconds 10 and 2, as other controllers have it.
 */
const [GIVE_UP, INTERVAL] = [2 / 3, 2 / 15];

/**
 * Chooses one of several replicas by a Lease (coordination.k8s.io/v1). Clocks are never compared: a Lease is taken over
 * when it did not change for its time by the own clock.
 */
export class LeaderElection {
  readonly #api: ApiServer;
  readonly #settings: ElectionSettings;
  readonly #path: string;
  readonly #stopped = new AbortController();
  readonly #ended: Promise<void>;
  #isLeading = false;
  #renewed = 0;
  /** The Lease as it was seen last, and since when it is that. */
  #seen = { text: "", since: 0 };

  constructor(api: ApiServer, settings: ElectionSettings) {
    this.#api = api;
    this.#settings = settings;
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${settings.namespace}/leases`;
    this.#ended = this.#run();
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Gives the Lease back, so that another replica need not wait. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#ended;
    const wasLeading = this.#isLeading;
    this.#lead(false);
    if (!wasLeading) return;
    const lease = await this.#read();
    if (holderOf(lease) === this.#settings.identity) await this.#write(lease, "");
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    const time = this.#settings.leaseSeconds * 1000;
    while (!signal.aborted) {
      const began = performance.now();
      try {
        if (await this.#attempt()) this.#renewed = began;
      } catch (error) {
        this.#settings.warn(`the Lease ${this.#settings.name}: ${String(error)}`);
      }
      const age = performance.now() - this.#renewed;
      this.#lead(this.#renewed > 0 && age < time * GIVE_UP);
      await pause(time * INTERVAL, undefined, { signal }).catch(() => {});
    }
  }

  /** Whether this replica has the Lease. */
  async #attempt(): Promise<boolean> {
    const lease = await this.#read();
    const holder = holderOf(lease);
    const { identity, leaseSeconds } = this.#settings;
    if (holder !== undefined && holder !== "" && holder !== identity) {
      const text = JSON.stringify(recordOf(lease)?.spec);
      const now = performance.now();
      if (text !== this.#seen.text) this.#seen = { text, since: now };
      const time = recordOf(recordOf(lease)?.spec)?.leaseDurationSeconds;
      const patience = (typeof time === "number" ? time : leaseSeconds) * 1000;
      if (now - this.#seen.since < patience) {
        this.#renewed = 0;
        return false;
      }
    }
    return this.#write(lease, identity);
  }

  async #read(): Promise<unknown> {
    const path = `${this.#path}/${this.#settings.name}`;
    const { status, body } = await this.#api.request({ method: "GET", path });
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`status ${status}`);
    return body;
  }

  /** False when another one wrote in between. */
  async #write(lease: unknown, holder: string): Promise<boolean> {
    const { namespace, name } = this.#settings;
    const spec = recordOf(recordOf(lease)?.spec);
    const isSame = textField(spec, "holderIdentity") === holder;
    const transitions = typeof spec?.leaseTransitions === "number" ? spec.leaseTransitions : 0;
    const now = new Date().toISOString().replace("Z", "000Z");
    const body = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name,
        namespace,
        resourceVersion: textField(recordOf(lease)?.metadata, "resourceVersion"),
      },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: this.#settings.leaseSeconds,
        acquireTime: isSame ? spec?.acquireTime : now,
        renewTime: now,
        leaseTransitions: isSame ? transitions : transitions + 1,
      },
    };
    const response = await this.#api.request(
      lease === undefined
        ? { method: "POST", path: this.#path, body }
        : { method: "PUT", path: `${this.#path}/${name}`, body },
    );
    if (response.status === 409) return false;
    if (response.status >= 300) throw new Error(`status ${response.status}`);
    return true;
  }

  #lead(isLeading: boolean): void {
    if (isLeading === this.#isLeading) return;
    this.#isLeading = isLeading;
    this.#settings.changed(isLeading);
  }
}

function holderOf(lease: unknown): string | undefined {
  return textField(recordOf(lease)?.spec, "holderIdentity");
}
