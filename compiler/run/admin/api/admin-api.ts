/** Everything about the served gateway that the page shows at once (`GET /ui/api/gateway`). */
export interface GatewayData {
  readonly name: string;
  readonly version: string;
  /** Path of the configuration. */
  readonly file: string;
  /** Times are in milliseconds since the epoch. */
  readonly now: number;
  readonly servedSince: number;
  /** Number of the served generation; the first is 1. */
  readonly generation: number;
  readonly change: ChangeData;
  readonly links: readonly LinkData[];
  readonly servers: readonly ServerData[];
  readonly certificates: readonly CertificateData[];
  readonly guards: readonly GuardData[];
  readonly custom: readonly CustomPolicyData[];
  readonly counts: {
    readonly inFlight: number;
    readonly unrouted: number;
    readonly waitingCalls: number;
    readonly modules: number;
  };
  readonly has: {
    readonly usage: boolean;
    readonly keys: boolean;
    readonly keysApi: boolean;
    /** Whether people log in to the page. */
    readonly login: boolean;
  };
}

/** Listeners of requests, and those of connections (`GET /ui/api/routes`). */
export interface RoutesData {
  readonly listeners: readonly ListenerData[];
  readonly connections: readonly ListenerData[];
}

/** A page of another port of the process. */
export interface LinkData {
  readonly label: string;
  readonly url: string;
}

/** Result of the last change of the configuration. */
export interface ChangeData {
  readonly at: number;
  /** Why it is not served; `null` if it is. */
  readonly problem: string | null;
  readonly findings: readonly FindingData[];
}

/** A mistake or warning. */
export interface FindingData {
  readonly severity: "error" | "warning" | "note";
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  readonly place: string;
}

/** A listener with its routes. */
export interface ListenerData {
  readonly name: string;
  readonly port: number;
  readonly scheme: string;
  readonly host: string;
  readonly place: string;
  /** Policies before a route is chosen. */
  readonly policies: readonly PolicyData[];
  readonly routes: readonly RouteData[];
}

/** A policy of a route or listener. */
export interface PolicyData {
  readonly text: string;
  readonly place: string;
}

/** A route, and its requests since the process started. */
export interface RouteData {
  readonly id: string;
  readonly name: string;
  readonly place: string;
  /** Path of its generated module. */
  readonly code: string;
  readonly matches: readonly string[];
  readonly policies: readonly PolicyData[];
  readonly backends: readonly BackendData[];
  readonly requests: number;
  readonly errors: number;
  readonly refused: readonly { readonly cause: string; readonly requests: number }[];
  readonly p50: number | null;
  readonly p99: number | null;
}

/** A server of a route. */
export interface BackendData {
  readonly label: string | null;
  readonly address: string | null;
  readonly share: string | null;
  /** `null` if its state is not known. */
  readonly state: { readonly isGood: boolean; readonly text: string } | null;
}

/** State of a server that a route chooses from. */
export interface ServerData {
  readonly route: string;
  readonly server: string;
  readonly isGood: boolean;
  readonly text: string;
}

/** A certificate of a listener. */
export interface CertificateData {
  readonly hostname: string;
  /** `acme` if it is ordered. */
  readonly file: string;
  /** `null` if it is ordered and not issued yet. */
  readonly expires: number | null;
}

/** A guard of texts, and how often it acted. */
export interface GuardData {
  readonly routes: readonly string[];
  readonly phase: "request" | "response";
  /** Number in the configuration and kind: `2.webhook`. */
  readonly guard: string;
  readonly actions: readonly { readonly action: string; readonly count: number }[];
}

/** A hook of a custom policy, and its calls. */
export interface CustomPolicyData {
  readonly policy: string;
  readonly routes: readonly string[];
  readonly hooks: readonly {
    readonly hook: string;
    readonly results: readonly { readonly result: string; readonly count: number }[];
  }[];
}

/** A request, as far as it may be shown (`GET /ui/api/requests`). */
export interface SeenRequest {
  readonly id: number;
  readonly at: number;
  readonly client: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly listener: string | null;
  readonly route: string | null;
  readonly status: number | null;
  readonly duration: number | null;
  readonly caller: string | null;
  readonly traceId: string | null;
  readonly reason: string | null;
  readonly upstream: string | null;
  readonly notes: readonly (readonly [string, string])[];
}

/** Requests since a known one, those in flight, and MCP sessions. */
export interface RequestsData {
  readonly now: number;
  readonly requests: readonly SeenRequest[];
  readonly sessions: readonly {
    readonly name: string;
    readonly route: string | null;
    readonly subject: string | null;
    readonly client: string;
    readonly began: number;
    readonly last: number;
    readonly requests: number;
  }[];
}

/** Decisions about callers and what they may use (`GET /ui/api/access`). */
export interface AccessData {
  readonly routes: readonly {
    readonly name: string;
    readonly listeners: readonly string[];
    readonly place: string;
    readonly callers: readonly {
      readonly text: string;
      readonly credentials: readonly string[];
      readonly when: readonly string[];
      readonly unless: readonly string[];
      /** Example credentials as JSON, in the form of `gwc can`. */
      readonly example: string;
    }[];
    readonly rows: readonly {
      readonly kind: string;
      readonly name: string;
      readonly target: string | null;
      /** Indexes of decisions, in the order of the callers. */
      readonly cells: readonly number[];
    }[];
    readonly undecided: readonly string[];
  }[];
  readonly decisions: readonly {
    readonly outcome: "yes" | "no" | "depends";
    readonly policy: string | null;
    readonly reason: string;
    readonly when: string | null;
    readonly place: string;
    readonly example: readonly { readonly request: string; readonly isAllowed: boolean }[];
  }[];
}

/** Versions of the configuration that were served (`GET /ui/api/changes`). */
export interface GenerationData {
  readonly number: number;
  readonly at: number;
  readonly changes: readonly string[];
}

/** Effect of a generation on requests (`GET /ui/api/changes/NUMBER`). */
export interface DiffData {
  readonly verdict: string;
  readonly differences: readonly {
    readonly direction: "opens" | "closes" | "changes";
    readonly subject: string;
    readonly change: string;
    readonly details: readonly (readonly [string, string])[];
  }[];
  readonly undecided: readonly string[];
}

/** A box of the graph. */
export interface GraphData {
  readonly nodes: readonly {
    readonly id: string;
    readonly column: 0 | 1 | 2;
    readonly lines: readonly string[];
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/** A route that the playground can send requests to (`GET /ui/api/playground`). */
export interface TryData {
  readonly id: string;
  readonly name: string;
  readonly listener: string;
  readonly kind: "http" | "mcp" | "model";
  readonly origin: string;
  readonly method: string | null;
  readonly target: string;
  readonly headers: readonly string[];
  readonly credential: {
    readonly placeholder: string;
    readonly label: string;
    readonly encoding: "plain" | "base64";
    readonly owner: string;
  } | null;
  /** Names of models that clients can use. */
  readonly models: readonly string[];
}

/** Usage of models (`GET /ui/api/usage`). */
export interface UsageData {
  readonly since: string;
  readonly until: string;
  readonly by: readonly string[];
  readonly columns: readonly string[];
  readonly groups: readonly UsageGroupData[];
  readonly total: UsageGroupData;
}

/** Usage of a group. */
export interface UsageGroupData {
  readonly values: readonly (string | null)[];
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cost: number;
  readonly unpriced: number;
}

/** API keys of the store (`GET /ui/api/keys`). */
export interface KeysData {
  readonly keys: readonly {
    readonly name: string;
    readonly shown: string;
    readonly metadata: string;
    readonly models: readonly string[] | null;
    readonly limits: readonly string[];
    /** The limits as JSON, as the API for keys takes them. */
    readonly rules: string;
    readonly created: number;
    readonly expires: number | null;
    readonly isReplaced: boolean;
  }[];
  readonly findings: readonly string[];
}

/** Why something cannot be shown. */
export interface ProblemData {
  readonly problem: string;
}

/** Kind of names that requests are counted by. */
export type FigureKind = "route" | "tool" | "model";

/** Periods that charts show. */
export type FigureRange = "15m" | "1h" | "24h";

/** Sums of a series over a period. */
export interface FigureRow {
  readonly name: string;
  readonly requests: number;
  readonly rejected: number;
  readonly failed: number;
  /** Milliseconds; `null` without requests that have an end of their own. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
  /** Requests of each sixtieth of the period, for a small chart. */
  readonly trend: readonly number[];
}

/** Sums of an interval. */
export interface FigurePoint extends Omit<FigureRow, "name" | "trend"> {
  /** Begin of the interval, in milliseconds since the epoch. */
  readonly at: number;
}

/** Figures of a period. */
export interface FigureReport {
  readonly now: number;
  /** Length of the intervals of points, in milliseconds. */
  readonly step: number;
  readonly points: readonly FigurePoint[];
  readonly total: FigureRow;
  readonly rows: Readonly<Record<FigureKind, readonly FigureRow[]>>;
}
