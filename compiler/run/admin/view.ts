import type { RouteCount } from "../../../runtime/gateway/live-figures.ts";
import type { CounterMetric, GaugeMetric } from "../../../runtime/metrics/metric.ts";
import type { ServerState } from "../../../runtime/process/server-states.ts";
import type { AdminRequest } from "../../../runtime/telemetry/logs/audit-log.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { Finding } from "../../diagnostics/report/findings.ts";
import type { Host } from "../../host.ts";
import type { Compiled } from "../candidate.ts";
import type { ComparedVersion } from "../inspection/inspect.ts";
import type { RequestJournal } from "../journal.ts";
import type { LiveSample } from "../live-samples.ts";
import type { AccessData, DiffData } from "./api/admin-api.ts";

/** The part of a live gateway that the admin page may see. */
export interface LiveView {
  /** The configuration's path, as the user named it. */
  readonly file: string;
  readonly current: Compiled;
  /** Environment of the gateway. */
  readonly host: Host;
  /** Returns the line of a place in the files that it was made of; `undefined` until lines are known. */
  lineOf(origin: Origin): number | undefined;
  /** Since when that is served. */
  readonly servedSince: Date;
  readonly lastChange: LastChange;
  /** The last requests. */
  readonly journal: Pick<
    RequestJournal,
    "entries" | "sessions" | "ofPort" | "inFlight" | "figures"
  >;
  /** Versions that were served, the oldest first; the last one is served. */
  readonly generations: readonly ServedVersion[];
  /** Somebody sends a request from the page. */
  adminRequest(request: AdminRequest): void;
  /** Somebody logged in to the page, or used a wrong key. */
  adminLogin(isRight: boolean, address: string): void;
  /** Responses of each route so far. */
  routes(): readonly RouteCount[];
  /** MCP calls that wait for what their clients were asked. */
  waitingCalls(): number;
  /** How the servers do that routes choose from, as far as they were asked. */
  servers(): readonly ServerState[];
  /** The values of a metric. */
  samples(metric: CounterMetric | GaugeMetric): readonly LiveSample[];
  /** Reviews who may use what in the served version. Rejects if the thread ends over it. */
  reviewAccess(): Promise<AccessData>;
  /** Compares a version with the one before; `undefined` if one of them is not remembered. */
  compare(generation: number): Promise<DiffData> | undefined;
}

/** A version of the configuration that was served. */
export interface ServedVersion {
  /** The first is 1. */
  readonly number: number;
  readonly at: Date;
  /** Changed parts, as in the log. */
  readonly changes: readonly string[];
  readonly compiled: ComparedVersion;
}

/** The last change, as the admin page shows it. */
export interface LastChange {
  readonly at: Date;
  /** Mistakes and warnings in it. */
  readonly findings: readonly Finding[];
  /** Why it is not served; `undefined` if it is. */
  readonly problem: string | undefined;
}
