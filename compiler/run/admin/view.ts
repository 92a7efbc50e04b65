import type { RouteCount } from "../../../runtime/gateway/live-figures.ts";
import type { ServerState } from "../../../runtime/process/server-states.ts";
import type { AdminRequest } from "../../../runtime/telemetry/logs/audit-log.ts";
import type { Finding } from "../../diagnostics/report/findings.ts";
import type { SourceFile } from "../../diagnostics/source.ts";
import type { Compiled } from "../candidate.ts";
import type { RequestJournal } from "../journal.ts";

/** The part of a live gateway that the admin page may see. */
export interface LiveView {
  /** The configuration's path, as the user named it. */
  readonly file: string;
  readonly current: Compiled;
  /** The files that it was made of. */
  readonly sourceFiles: readonly SourceFile[];
  /** Since when that is served. */
  readonly servedSince: Date;
  readonly lastChange: LastChange;
  /** The last requests. */
  readonly journal: Pick<RequestJournal, "entries" | "sessions" | "ofPort">;
  /** Somebody sends a request from the page. */
  adminRequest(request: AdminRequest): void;
  /** Responses of each route so far. */
  routes(): readonly RouteCount[];
  /** MCP calls that wait for what their clients were asked. */
  waitingCalls(): number;
  /** How the servers do that routes choose from, as far as they were asked. */
  servers(): readonly ServerState[];
}

/** The last change, as the admin page shows it. */
export interface LastChange {
  readonly at: Date;
  /** Mistakes and warnings in it. */
  readonly findings: readonly Finding[];
  /** Why it is not served; `undefined` if it is. */
  readonly problem: string | undefined;
}
