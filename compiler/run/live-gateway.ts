import { statSync } from "node:fs";
import path from "node:path";
import type { RunningGateway } from "../../runtime/gateway/gateway.ts";
import type { RouteCount, routeCounts, serverStates } from "../../runtime/gateway/live-figures.ts";
import type { FamilyFigures } from "../../runtime/metrics/merged-exposition.ts";
import type { CounterMetric, GaugeMetric } from "../../runtime/metrics/metric.ts";
import { mcpWaitingCalls } from "../../runtime/metrics/table/mcp.ts";
import type { ServerState } from "../../runtime/process/server-states.ts";
import type { AdminRequest } from "../../runtime/telemetry/logs/audit-log.ts";
import type { LogFormat } from "../../runtime/telemetry/logs/log-line.ts";
import { buildInfoOf } from "../4-emit/build-info.ts";
import { type Origin, placeKey } from "../diagnostics/diagnostic.ts";
import { bugReport } from "../diagnostics/report/bug.ts";
import { totals } from "../diagnostics/report/findings.ts";
import { textReport } from "../diagnostics/report/text.ts";
import type { Host } from "../host.ts";
import { isStartupError } from "../model/startup-error.ts";
import type { AccessData, DiffData } from "./admin/api/admin-api.ts";
import type { LastChange, LiveView, ServedVersion } from "./admin/view.ts";
import { BackgroundCompiler } from "./background-compiler.ts";
import { type Candidate, type Compiled, changedParts, compileCandidate } from "./candidate.ts";
import { BackgroundInspector } from "./inspection/background-inspector.ts";
import { comparedVersion } from "./inspection/inspect.ts";
import { RequestJournal } from "./journal.ts";
import { type LiveSample, liveSamples } from "./live-samples.ts";
import { loadGateway } from "./load.ts";
import { FileWatch } from "./watch.ts";

/** Options of `gwc run`. */
export interface LiveSettings {
  readonly file: string;
  readonly isStrict: boolean;
  /** NAMESPACE/NAME of the Gateway to serve, of manifests with several. */
  readonly gateway?: string | undefined;
  readonly isColored: boolean;
  readonly host: Host;
  /** Prints to the terminal. A log in JSON gets the text instead, so that it has no other lines. */
  readonly print: (text: string) => void;
}

/** Ports listen on loopback only, unless the configuration names an address. */
const OWN_ADDRESS = "127.0.0.1";

/** Milliseconds for which values of metrics are not read again. */
const SAMPLES_AGE = 500;

/** Versions that are remembered for comparing them. */
const MAX_GENERATIONS = 8;

/** Reads the runtime's counters. */
interface LiveFigures {
  readonly routeCounts: typeof routeCounts;
  readonly serverStates: typeof serverStates;
}

/** Why a configuration can't be served at all. */
export interface Refusal {
  readonly talk: string;
}

/** A gateway that follows its configuration: it serves a good change, and after a bad one the last good version. */
export class LiveGateway implements LiveView {
  readonly #settings: LiveSettings;
  readonly #running: RunningGateway;
  readonly #figures: LiveFigures;
  readonly journal: RequestJournal;
  readonly #watch: FileWatch;
  #current: Compiled;
  #servedSince = new Date();
  #lastChange: LastChange;
  #work: Promise<void> = Promise.resolve();
  readonly #compiler = new BackgroundCompiler();
  readonly #inspector = new BackgroundInspector();
  #generations: readonly ServedVersion[];
  /** Lines of places in the configuration that is meant, once they are known. */
  #lines: ReadonlyMap<string, number> | undefined;
  #linesOf: Compiled | undefined;
  #samples: { readonly at: number; readonly figures: readonly FamilyFigures[] } | undefined;

  private constructor(
    settings: LiveSettings,
    running: RunningGateway,
    figures: LiveFigures,
    journal: RequestJournal,
    current: Compiled,
    { findings, dependencies }: Candidate,
  ) {
    this.#settings = settings;
    this.#running = running;
    this.#figures = figures;
    this.journal = journal;
    this.#current = current;
    this.#lastChange = { at: new Date(), findings, problem: undefined };
    this.#generations = [
      { number: 1, at: new Date(), changes: [], compiled: comparedVersion(current) },
    ];
    // One change is worked off after the other.
    this.#watch = new FileWatch(() => this.reload());
    this.#watch.follow([settings.file, ...dependencies]);
  }

  /** Compiles and serves. A refusal when there is a mistake, or when a port can't be opened. */
  static async open(settings: LiveSettings): Promise<LiveGateway | Refusal> {
    const began = Date.now();
    const candidate = compileCandidate(
      settings.file,
      settings.host,
      settings.isStrict,
      settings.gateway,
    );
    const talk = textReport(candidate.findings, settings.isColored);
    if (candidate.compiled === undefined)
      return {
        talk: isJsonLog(undefined) ? jsonLine(textReport(candidate.findings, false)) : talk,
      };
    const isJson = isJsonLog(candidate.compiled.program.process.logFormat);
    if (!isJson) settings.print(talk);
    // Paths in a configuration are relative to its file.
    process.env.GWC_CONFIG_DIR = path.dirname(path.resolve(settings.file));
    try {
      const { openGateway } = await import("gwc/runtime/gateway/gateway");
      const figures = await import("gwc/runtime/gateway/live-figures");
      const { compiled: first } = candidate;
      const journal = new RequestJournal();
      const running = await openGateway(await loadGateway(first), {
        defaultAddress: OWN_ADDRESS,
        build: buildInfoOf(first.modules),
        observer: journal,
      });
      await running.logged();
      const live = new LiveGateway(
        settings,
        running,
        figures,
        journal,
        candidate.compiled,
        candidate,
      );
      if (isJson) live.say("warn", textReport(candidate.findings, false));
      // Nobody watched while it was compiled and opened.
      if ([settings.file, ...candidate.dependencies].some((file) => changedAt(file) >= began))
        live.reload();
      return live;
    } catch (error) {
      if (!isStartupError(error)) throw error;
      return { talk: isJson ? jsonLine(error.message) : `error: ${error.message}\n` };
    }
  }

  get running(): RunningGateway {
    return this.#running;
  }

  get host(): Host {
    return this.#settings.host;
  }

  get file(): string {
    return this.#settings.file;
  }

  get current(): Compiled {
    return this.#current;
  }

  /** Returns the line of a place in the current configuration; `undefined` until a thread has found the lines. */
  lineOf(origin: Origin): number | undefined {
    this.#findLines();
    return this.#lines?.get(placeKey(origin));
  }

  #findLines(): void {
    const current = this.#current;
    if (this.#linesOf === current) return;
    this.#linesOf = current;
    this.#lines = undefined;
    this.#inspector.lines(comparedVersion(current)).then(
      (lines) => {
        if (this.#linesOf === current) this.#lines = lines;
      },
      // The page shows places without lines.
      () => {},
    );
  }

  get servedSince(): Date {
    return this.#servedSince;
  }

  get lastChange(): LastChange {
    return this.#lastChange;
  }

  /** Reads the configuration again, as if it had changed. */
  reload(): void {
    this.#work = this.#work.then(() => this.#follow());
  }

  /** Tells the operator: a line of the log if it is JSON, else text for a terminal. */
  say(level: "info" | "warn", text: string, colored = text): void {
    if (!isJsonLog(this.#current.program.process.logFormat)) this.#settings.print(colored);
    else if (text !== "") this.#running.log[level](text.trimEnd());
  }

  /** Somebody sends a request from the admin page. */
  adminRequest(request: AdminRequest): void {
    this.#running.adminRequest(request);
  }

  /** Somebody logged in to the admin page, or used a wrong key. */
  adminLogin(isRight: boolean, address: string): void {
    this.#running.adminLogin(isRight, address);
  }

  /** Responses of each route so far. */
  routes(): readonly RouteCount[] {
    return this.#figures.routeCounts(this.#running.metrics);
  }

  /** MCP calls that wait for what their clients were asked. */
  waitingCalls(): number {
    return this.samples(mcpWaitingCalls).reduce((sum, { value }) => sum + value, 0);
  }

  /** The values of a metric. */
  samples(metric: CounterMetric | GaugeMetric): readonly LiveSample[] {
    const now = performance.now();
    // One view of the page reads several metrics.
    if (this.#samples === undefined || now - this.#samples.at > SAMPLES_AGE)
      this.#samples = { at: now, figures: this.#running.metrics.figures() };
    return liveSamples(this.#samples.figures, metric);
  }

  /** Reviews who may use what in the served version, in a thread of its own. */
  reviewAccess(): Promise<AccessData> {
    return this.#inspector.access(comparedVersion(this.#current));
  }

  /** Compares a version with the one before, in a thread of its own; `undefined` if one of them is not remembered. */
  compare(generation: number): Promise<DiffData> | undefined {
    const at = this.#generations.findIndex(({ number }) => number === generation);
    const [before, after] = [this.#generations[at - 1], this.#generations[at]];
    if (at < 1 || before === undefined || after === undefined) return undefined;
    return this.#inspector.diff(before.compiled, after.compiled);
  }

  get generations(): readonly ServedVersion[] {
    return this.#generations;
  }

  /** How the servers do that routes choose from. */
  servers(): readonly ServerState[] {
    return this.#figures.serverStates(this.#running.metrics);
  }

  async #follow(): Promise<void> {
    const { file, isStrict, gateway, isColored } = this.#settings;
    const at = new Date();
    try {
      const candidate = await this.#compiler.compile({ file, isStrict, gateway });
      const { findings, compiled } = candidate;
      this.#watch.follow([file, ...candidate.dependencies]);
      this.say("warn", textReport(findings, false), textReport(findings, isColored));
      if (compiled === undefined) {
        this.#keep({ at, findings, problem: totals(findings) });
        return;
      }
      const changes = changedParts(this.#current, compiled);
      if (changes.length > 0) {
        await this.#running.replace(await loadGateway(compiled), buildInfoOf(compiled.modules));
        this.#servedSince = at;
        this.#remember({ at, changes, compiled: comparedVersion(compiled) });
      }
      this.#current = compiled;
      this.#lastChange = { at, findings, problem: undefined };
      this.say("info", `${file} changed: ${changes.join(", ") || "the gateway stays the same"}\n`);
    } catch (error) {
      if (!isStartupError(error)) this.say("warn", bugReport(error, false));
      this.#keep({
        at,
        findings: [],
        problem: isStartupError(error) ? error.message : "a bug in gwc",
      });
    }
  }

  #remember(served: Omit<ServedVersion, "number">): void {
    const number = (this.#generations.at(-1)?.number ?? 0) + 1;
    this.#generations = [...this.#generations, { number, ...served }].slice(-MAX_GENERATIONS);
  }

  #keep(change: LastChange): void {
    const { file } = this.#settings;
    this.#lastChange = change;
    this.#running.changeRefused();
    const what = `${file} was not applied (${change.problem})`;
    this.say("warn", `${what}; still serving the last good version\n`);
  }
}

/** Whether log lines are JSON. The variable LOG_FORMAT overrides the configuration, `undefined` if it is not known. */
function isJsonLog(configured: LogFormat | undefined): boolean {
  return (process.env.LOG_FORMAT?.toLowerCase() || configured) === "json";
}

/** Formats an error like a line of the log. */
function jsonLine(message: string): string {
  const time = new Date().toISOString();
  const line = { level: "error", time, scope: "gateway", message: message.trimEnd() };
  return `${JSON.stringify(line)}\n`;
}

/** Milliseconds since 1970 of the last write of a file; 0 if it does not exist. */
function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
