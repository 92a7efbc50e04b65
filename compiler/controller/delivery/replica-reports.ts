import { setTimeout as pause } from "node:timers/promises";
import type { UnopenedPort } from "../../../runtime/discovery/resource-types.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import type { ApiObject, ResourceType } from "../kubernetes/api-object.ts";
import { resourcePath } from "../kubernetes/api-object.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
import { errorText, Reflector } from "../kubernetes/reflector.ts";
import { unopenedPorts } from "./unopened-ports.ts";

/** Result of a data plane for its code. */
export interface TakenCode {
  /** Of the generation; empty: it has not said yet. */
  readonly version: string;
  /** Why it does not serve it; `undefined` if it does. */
  readonly problem: string | undefined;
  /** Its ports that it cannot open. */
  readonly unopened: readonly UnopenedPort[];
}

/** By Gateway, what its data planes made of their code. */
type DeliveryReport = ReadonlyMap<string, readonly TakenCode[]>;

/** Dependencies of reports. */
export interface ReplicaReportsSettings {
  readonly api: ApiServer;
  /** Namespace of the controller. */
  readonly namespace: string;
  /** Of this replica. */
  readonly identity: string;
  /** Results of the data planes of this replica. */
  readonly own: () => DeliveryReport;
  /** Called when another replica's report changes, or the replica is gone. */
  readonly changed: () => void;
  readonly warn: (message: string) => void;
}

/** The Leases of replicas have this label. */
const LABEL = "gwc.dev/replica";
/** The annotation that has the report: what fits is all data planes of some thousand Gateways. */
const REPORT = "gwc.dev/data-planes";
/** Seconds after which a replica that is silent has no data planes any more. */
const LEASE_TIME = 15;
/** How often a report is renewed, and others are looked at, in milliseconds. */
const INTERVAL = 5_000;
/** Silence after which the Lease of a replica that is gone is removed, in milliseconds. */
const FORGET = 60_000;
/** Milliseconds in which what several data planes say becomes one report. */
const GATHER = 50;
/** Characters of a data plane's refusal that are reported. */
const MAX_PROBLEM = 500;

const leases: ResourceType = {
  ...{ group: "coordination.k8s.io", version: "v1", kind: "Lease", plural: "leases" },
  isNamespaced: true,
};

/**
 * Reports of replicas about the data planes that they serve, for the leading replica: it alone writes statuses. Each
 * replica keeps a Lease of its own with its report; a Lease that is no longer renewed is ignored. Clocks are never
 * compared.
 */
export class ReplicaReports {
  readonly #settings: ReplicaReportsSettings;
  readonly #path: string;
  readonly #name: string;
  readonly #others: Reflector;
  readonly #timer: NodeJS.Timeout;
  /** Since when the Lease of another replica is as it is, by its name. */
  readonly #seen: Map<string, { readonly version: string; readonly since: number }> = new Map();
  readonly #silent: Set<string> = new Set();
  #isWriting = false;
  #isChanged = false;
  /** The last written report; `undefined` if there is no report. */
  #written: string | undefined;
  #renewed = 0;
  #isLeading = false;
  #isStopped = false;

  constructor(settings: ReplicaReportsSettings) {
    const { api, namespace, identity, changed, warn } = settings;
    this.#settings = settings;
    this.#path = resourcePath(leases, namespace);
    this.#name = `gwc-replica-${identity.toLowerCase().replace(/[^a-z0-9-]/g, "-")}`;
    this.#others = new Reflector(api, {
      ...{ type: leases, namespace, labelSelector: LABEL, warn },
      keep: (object) => object,
      changed: () => changed(),
    });
    this.#timer = setInterval(() => this.#look(), INTERVAL);
  }

  /** Returns the reports of all other replicas about the data planes of a Gateway. */
  ofGateway(gateway: string): readonly TakenCode[] {
    return [...this.#others.objects.values()].flatMap((lease) => {
      const { name } = lease.metadata;
      if (name === this.#name || this.#silent.has(name)) return [];
      return reportOf(lease).get(gateway) ?? [];
    });
  }

  /** A replica that leads has nobody to report to. */
  set isLeading(isLeading: boolean) {
    this.#isLeading = isLeading;
    this.report();
  }

  /** Called when the results of this replica's data planes change. */
  report(): void {
    this.#isChanged = true;
    void this.#write();
  }

  /** Takes the report back. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#others.stop();
    if (this.#written !== undefined) await this.#delete(this.#name).catch(() => {});
  }

  #look(): void {
    const now = performance.now();
    const before = this.#silent.size;
    for (const { metadata } of this.#others.objects.values()) {
      const { name, resourceVersion: version = "" } = metadata;
      const seen = this.#seen.get(name);
      if (seen?.version !== version) {
        this.#seen.set(name, { version, since: now });
        this.#silent.delete(name);
        continue;
      }
      if (now - seen.since > LEASE_TIME * 1000) this.#silent.add(name);
      if (now - seen.since > FORGET && this.#isLeading && name !== this.#name)
        void this.#delete(name).catch(() => {});
    }
    for (const name of this.#seen.keys()) {
      if (this.#others.objects.has(`${this.#settings.namespace}/${name}`)) continue;
      this.#seen.delete(name);
      this.#silent.delete(name);
    }
    if (this.#silent.size !== before) this.#settings.changed();
    if (now - this.#renewed > INTERVAL - GATHER) this.report();
  }

  async #write(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#isChanged && !this.#isStopped) {
      await pause(GATHER);
      this.#isChanged = false;
      await this.#writeOnce().catch((error: unknown) =>
        this.#settings.warn(`the report of this replica: ${errorText(error)}`),
      );
    }
    this.#isWriting = false;
  }

  async #writeOnce(): Promise<void> {
    const report = this.#isLeading ? undefined : textOf(this.#settings.own());
    const now = performance.now();
    if (report === undefined) {
      if (this.#written !== undefined) await this.#delete(this.#name);
      this.#written = undefined;
      return;
    }
    if (report === this.#written && now - this.#renewed < INTERVAL - GATHER) return;
    const { namespace, identity } = this.#settings;
    const { status } = await this.#settings.api.request({
      method: "PATCH",
      path: `${this.#path}/${this.#name}?fieldManager=gwc-controller&force=true`,
      contentType: "application/apply-patch+yaml",
      body: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: {
          ...{ name: this.#name, namespace, labels: { [LABEL]: "true" } },
          annotations: { [REPORT]: report },
        },
        spec: {
          ...{ holderIdentity: identity, leaseDurationSeconds: LEASE_TIME },
          renewTime: new Date().toISOString().replace("Z", "000Z"),
        },
      },
    });
    if (status >= 300) throw new Error(`status ${status}`);
    this.#written = report;
    this.#renewed = now;
  }

  async #delete(name: string): Promise<void> {
    await this.#settings.api.request({ method: "DELETE", path: `${this.#path}/${name}` });
  }
}

/** A report as text: each thing that data planes say once. Undefined: there are no data planes. */
function textOf(report: DeliveryReport): string | undefined {
  const entries = [...report].flatMap(([gateway, planes]) => {
    const said = planes.map(({ version, problem, unopened }) =>
      JSON.stringify([
        version,
        ...(problem === undefined && unopened.length === 0
          ? []
          : [problem?.slice(0, MAX_PROBLEM) ?? null]),
        ...(unopened.length === 0 ? [] : [unopened]),
      ]),
    );
    return said.length === 0 ? [] : [`${JSON.stringify(gateway)}:[${[...new Set(said)].sort()}]`];
  });
  return entries.length === 0 ? undefined : `{${entries.sort()}}`;
}

function reportOf({ metadata }: ApiObject): DeliveryReport {
  const text = textField(recordOf(metadata)?.annotations, REPORT) ?? "{}";
  const entries = Object.entries(recordOf(valueOfJson(text)) ?? {});
  return new Map(
    entries.map(([gateway, said]) => [gateway, Array.isArray(said) ? said.flatMap(takenOf) : []]),
  );
}

function takenOf(said: unknown): readonly TakenCode[] {
  if (!Array.isArray(said)) return [];
  const [version, problem, unopened]: readonly unknown[] = said;
  if (typeof version !== "string") return [];
  return [
    {
      version,
      problem: typeof problem === "string" ? problem : undefined,
      unopened: unopenedPorts(unopened),
    },
  ];
}
