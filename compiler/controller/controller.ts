import { hostname } from "node:os";
import { Admission, type AdmissionSettings } from "./admission/admission.ts";
import { certificateSecret } from "./admission/admission-certificate.ts";
import { Delivery } from "./delivery/delivery.ts";
import type { DiscoveryCertificate } from "./delivery/mounted-certificate.ts";
import { sharedSigner } from "./delivery/signing-key.ts";
import type { ApiServer } from "./kubernetes/api-server.ts";
import { LeaderElection } from "./kubernetes/leader-election.ts";
import { errorText } from "./kubernetes/reflector.ts";
import type { PodSettings } from "./model/compile-files.ts";
import { type CompiledModel, CompilerThread } from "./model/compiler-thread.ts";
import { othersGateways } from "./model/gateway-owner.ts";
import { type NamespaceTurn, NamespaceTurns } from "./model/namespace-turns.ts";
import { PublishedPolicies } from "./model/published-policies.ts";
import { snapshotFiles, snapshotGenerations, snapshotOf } from "./model/snapshot.ts";
import { WatchedObjects, type WatchScope } from "./model/watched-objects.ts";
import { type Figure, Times } from "./operation/figures.ts";
import { type ProvisionedGateway, Provisioner } from "./provisioning/provisioner.ts";
import { StatusWriter } from "./status/status-writer.ts";
import { UnservedChanges } from "./status/unserved-changes.ts";
import { WantedStatuses } from "./status/wanted-statuses.ts";

/** Dependencies of a controller. */
export interface ControllerSettings {
  readonly api: ApiServer;
  /** Namespace of the controller. */
  readonly namespace: string;
  /** Which objects are read. */
  readonly scope: Omit<WatchScope, "secrets">;
  /** Address for data planes. */
  readonly discovery: {
    readonly host: string;
    readonly port: number;
    /** PEM; without TLS if `undefined`. */
    readonly tls: { readonly cert: string; readonly key: string } | undefined;
  };
  /** Settings for the pods of Gateways; `undefined` if somebody else creates them. */
  readonly pods: Omit<PodSettings, "signer"> | undefined;
  /** How long another replica waits for one that leads and is silent. */
  readonly leaseSeconds: number;
  /** Settings for reviews of the API server; `undefined` without reviews. */
  readonly admission: Pick<AdmissionSettings, "configuration" | "port"> | undefined;
  /** Folder with published policies; `undefined` if there are none. */
  readonly policies: string | undefined;
  readonly log: (level: "info" | "warn", message: string) => void;
}

/** The Lease by which one of several replicas writes. */
const LEASE = "gwc-controller";
/** Milliseconds of quiet after a change before gateways are compiled, and the most that changes may be put off. */
const QUIET = 20;
const PATIENCE = 500;
/** Milliseconds after which a compilation that failed is tried again. */
const COMPILE_AGAIN = 5_000;
/** How often everything is compared with what it should be, in milliseconds, whatever was heard of it. */
const COMPARE_AGAIN = 30_000;

/** Compiles the Gateways of a Kubernetes API server as they change, and says on every object what came of it. */
export class Controller {
  readonly #settings: ControllerSettings;
  #pods: PodSettings | undefined;
  readonly #objects: WatchedObjects;
  readonly #statuses: StatusWriter;
  readonly #delivery: Delivery;
  readonly #provisioner: Provisioner | undefined;
  readonly #admission: Admission | undefined;
  readonly #compiler = new CompilerThread();
  readonly #turns = new NamespaceTurns();
  readonly #wanted: WantedStatuses;
  #isCompiling = false;
  #isStopped = false;
  readonly #unserved: UnservedChanges;
  readonly #compileTimes = new Times();
  /** From the first change that was heard of until data planes are sent what came of it. */
  readonly #reconcileTimes = new Times();
  /** Changes that were heard of and are not compiled yet, and when the first of them was. */
  #waiting = { changes: 0, since: 0 };
  #isDirty = true;
  /** Whether everything is compiled again, even if no object has changed. */
  #isOutdated = false;
  #timer: NodeJS.Timeout | undefined;
  #deadline = 0;
  /** Until expensive namespaces have their turn. */
  #nextTurn: NodeJS.Timeout | undefined;
  readonly #policies: PublishedPolicies | undefined;
  readonly #comparing: NodeJS.Timeout;
  /** Begins when everything is compiled: a replica that has nothing to write does not lead. */
  #election: LeaderElection | undefined;

  private constructor(
    settings: ControllerSettings,
    pods: PodSettings | undefined,
    objects: WatchedObjects,
    delivery: Delivery,
  ) {
    this.#settings = settings;
    this.#pods = pods;
    this.#delivery = delivery;
    this.#objects = objects;
    this.#unserved = new UnservedChanges(
      {
        reasonOf: (key) => this.#wanted.backlogOf(key),
        servedGenerations: (key) => delivery.servedGenerations(key),
      },
      () => this.#changed(false),
    );
    const warn = (message: string) => settings.log("warn", message);
    this.#statuses = new StatusWriter(settings.api, objects, warn);
    const { api } = settings;
    const hasSecret = (key: string) => objects.find("Secret", key) !== undefined;
    const changed = () => this.#changed(false);
    const others = () => othersGateways(objects);
    this.#provisioner = pods && new Provisioner({ api, warn, hasSecret, others, changed });
    this.#wanted = new WantedStatuses({
      ...{ objects, delivery, provisioner: this.#provisioner, turns: this.#turns },
      unserved: () => this.#unserved,
    });
    const { admission, namespace } = settings;
    this.#admission = admission && new Admission({ api, namespace, objects, warn, ...admission });
    const { policies } = settings;
    this.#policies =
      policies === undefined
        ? undefined
        : new PublishedPolicies(policies, () => {
            settings.log("info", "the published policies have changed");
            this.#isOutdated = true;
            this.#changed(true);
          });
    this.#comparing = setInterval(() => this.#compare(), COMPARE_AGAIN);
  }

  /** Resolves when everything is known and compiled for the first time. */
  static async open(settings: ControllerSettings): Promise<Controller> {
    // Changes before the first complete list are part of the first compilation.
    let changed = (_isDeclared: boolean): void => {};
    const secrets = settings.admission === undefined ? [] : [certificateSecret(settings.namespace)];
    const scope = { ...settings.scope, secrets };
    const objects = await WatchedObjects.open(settings.api, scope, {
      declared: () => changed(true),
      data: () => changed(false),
      warn: (message) => settings.log("warn", message),
    });
    const { api, namespace, discovery, log } = settings;
    const warn = (message: string) => log("warn", message);
    const signer = await sharedSigner(api, namespace, warn);
    const identity = `${hostname()}_${process.pid}`;
    const delivery = await Delivery.open({
      ...{ api, objects, signer, namespace, identity, log, ...discovery },
      changed: () => changed(false),
    });
    const pods = settings.pods && { ...settings.pods, signer: signer.publicKey };
    const controller = new Controller(settings, pods, objects, delivery);
    changed = (isDeclared) => controller.#changed(isDeclared);
    await controller.#compile();
    controller.#election = new LeaderElection(api, {
      ...{ namespace, name: LEASE, identity, leaseSeconds: settings.leaseSeconds },
      changed: (isLeading) => controller.#lead(isLeading),
      warn,
    });
    return controller;
  }

  /** Gives the lead to another replica. Work that ends meanwhile starts no timers, so that the process can end. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#comparing);
    this.#policies?.close();
    clearTimeout(this.#timer);
    clearTimeout(this.#nextTurn);
    this.#unserved.stop();
    await this.#election?.stop().catch(() => {});
    this.#compiler.stop();
    this.#provisioner?.stop();
    this.#admission?.stop();
    await this.#delivery.close();
    this.#objects.stop();
  }

  /** The port at which data planes are served. */
  get discoveryPort(): number {
    return this.#delivery.port;
  }

  /** New connections of data planes get this certificate, and their pods its authority. */
  useCertificate({ ca, ...pair }: DiscoveryCertificate): void {
    this.#delivery.useCertificate(pair);
    this.#settings.log("info", "data planes are served with another certificate");
    if (this.#pods === undefined || this.#pods.authority === ca) return;
    this.#pods = { ...this.#pods, authority: ca };
    this.#isOutdated = true;
    this.#changed(true);
  }

  /** Counters and histograms. */
  figures(): readonly Figure[] {
    const counter = (name: string, help: string, value: number): Figure => {
      return { name: `gwc_controller_${name}_total`, kind: "counter", help, value };
    };
    const gauge = (name: string, help: string, value: number): Figure => {
      return { name: `gwc_controller_${name}`, kind: "gauge", help, value };
    };
    const histogram = (name: string, help: string, times: Times): Figure => {
      return { name: `gwc_controller_${name}`, kind: "histogram", help, times };
    };
    return [
      gauge("leading", "Whether this replica writes.", Number(this.#election?.isLeading ?? false)),
      gauge("gateways", "Gateways that are compiled.", this.#wanted.last.gateways.size),
      gauge("data_planes", "Data planes that are connected.", this.#delivery.dataPlanes),
      histogram("compile_seconds", "Seconds that a compilation took.", this.#compileTimes),
      histogram(
        "reconcile_seconds",
        "Seconds from a change of what is declared until what came of it was sent to data planes.",
        this.#reconcileTimes,
      ),
      gauge(
        "gateways_stale",
        "Gateways whose data planes serve an older state than what is declared.",
        this.#unserved.stale.size,
      ),
      gauge(
        "unserved_seconds",
        "Age of the oldest change that data planes do not serve.",
        this.#unserved.age,
      ),
      gauge("changes_waiting", "Changes that are not compiled yet.", this.#waiting.changes),
      gauge(
        "namespaces_waiting",
        "Namespaces whose next changes wait because the last ones took long to compile.",
        this.#turns.waiting(performance.now()).size,
      ),
      gauge("statuses_waiting", "Statuses that are not written yet.", this.#statuses.waiting),
      counter("pushes", "Changes sent to data planes.", this.#delivery.pushes),
      counter("refusals", "Changes that data planes refused.", this.#delivery.refusals),
      counter("status_writes", "Statuses written.", this.#statuses.writes),
      counter("reviews", "Objects that the API server asked about.", this.#admission?.reviews ?? 0),
      counter("rejections", "Those of them that were refused.", this.#admission?.rejections ?? 0),
      counter("lists", "Lists of the API server that were read.", this.#objects.lists),
    ];
  }

  #lead(isLeading: boolean): void {
    this.#settings.log("info", isLeading ? "leading" : "another replica leads");
    this.#statuses.isLeading = isLeading;
    this.#delivery.isLeading = isLeading;
    if (this.#provisioner !== undefined) this.#provisioner.isLeading = isLeading;
    if (this.#admission !== undefined) this.#admission.isLeading = isLeading;
    this.#compare();
  }

  #compare(): void {
    this.#statuses.compare();
    this.#provisioner?.compare();
    void this.#admission?.compare();
  }

  #changed(isDeclared: boolean): void {
    if (this.#isStopped) return;
    this.#isDirty ||= isDeclared;
    const now = performance.now();
    if (isDeclared && this.#waiting.changes === 0) this.#waiting.since = now;
    if (isDeclared) this.#waiting.changes += 1;
    if (this.#timer === undefined) this.#deadline = now + PATIENCE;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#work(),
      Math.max(0, Math.min(QUIET, this.#deadline - now)),
    );
  }

  #work(): void {
    this.#timer = undefined;
    if (this.#isDirty) void this.#compile();
    this.#delivery.refreshData();
    this.#admission?.refresh();
    this.#statuses.want(this.#wanted.all());
  }

  /** Compiles what is declared now, and once more when that has changed meanwhile: the newest counts. */
  async #compile(): Promise<void> {
    if (this.#isCompiling) return;
    this.#isDirty = false;
    const newest = snapshotOf(this.#objects);
    const { turn, wait } = this.#turns.next(newest, performance.now(), this.#isOutdated);
    clearTimeout(this.#nextTurn);
    if (wait !== undefined) this.#nextTurn = setTimeout(() => this.#compileAgain(), wait).unref();
    if (turn !== undefined) await this.#compileTurn(turn);
  }

  #compileAgain(): void {
    this.#isDirty = true;
    this.#changed(false);
  }

  async #compileTurn(turn: NamespaceTurn): Promise<void> {
    this.#isCompiling = true;
    this.#isOutdated = false;
    const { log } = this.#settings;
    const began = performance.now();
    const { changes, since } = this.#waiting;
    this.#waiting = { changes: 0, since: 0 };
    const generations = snapshotGenerations(turn.snapshot);
    try {
      const limit = this.#turns.limitOf(turn);
      const files = { ...snapshotFiles(turn.snapshot), ...this.#policies?.files };
      const { processorTime, ...compiled } = await this.#compiler.compile(files, this.#pods, limit);
      if (this.#isStopped) return;
      const { gateways } = compiled;
      // Delivery keeps the code.
      this.#wanted.last = {
        ...compiled,
        gateways: withoutModules(gateways),
        generations,
        failure: undefined,
      };
      const time = performance.now() - began;
      this.#compileTimes.add(time / 1000);
      log("info", `compiled ${gateways.size} gateways in ${Math.round(time)} ms`);
      // Other processes on the machine make no namespace expensive.
      const wait = this.#turns.compiled(turn, processorTime, performance.now());
      if (wait !== undefined) log("warn", waitingText(turn, processorTime, wait));
      await this.#objects.keepValues(this.#delivery.valuesOf(gateways));
      this.#delivery.deliver(gateways, generations);
      if (changes > 0) this.#reconcileTimes.add((performance.now() - since) / 1000);
      this.#provisioner?.provision(this.#provisioned());
      this.#statuses.want(this.#wanted.all());
    } catch (error) {
      if (this.#isStopped) return;
      // The next compilation begins with everything.
      this.#compiler.stop();
      const isAvoidable = this.#turns.failed(turn, performance.now());
      const of = isAvoidable
        ? `the changes of namespaces ${turn.namespaces.join(", ")}`
        : "what is declared";
      const failure = `${of} can't be compiled: ${errorText(error)}`;
      log("warn", failure);
      // Avoidable changes are left out, which the statuses of their objects report.
      if (!isAvoidable) this.#wanted.last = { ...this.#wanted.last, failure };
      this.#statuses.want(this.#wanted.all());
      this.#isOutdated = !isAvoidable;
      setTimeout(() => this.#compileAgain(), isAvoidable ? 0 : COMPILE_AGAIN).unref();
    }
    this.#isCompiling = false;
    if (this.#isDirty) this.#compileAgain();
  }

  #provisioned(): ReadonlyMap<string, ProvisionedGateway> {
    const all = [...this.#wanted.last.gateways].flatMap(([key, compiled]) => {
      const gateway = this.#objects.find("Gateway", key);
      return gateway === undefined ? [] : [[key, { gateway, compiled }] as const];
    });
    return new Map(all);
  }
}

function waitingText({ namespaces: [only] }: NamespaceTurn, took: number, wait: number): string {
  const [seconds, next] = [took, wait].map((each) => (each / 1000).toFixed(1));
  return `compiling the changes of namespace "${only}" took ${seconds} s: its next ones wait ${next} s`;
}

/** Returns Gateways without their code. */
function withoutModules(gateways: CompiledModel["gateways"]): CompiledModel["gateways"] {
  return new Map([...gateways].map(([key, each]) => [key, { ...each, modules: [] }] as const));
}
