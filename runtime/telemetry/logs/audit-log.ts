import type { DeniedClient } from "../../http/engine/server-handlers.ts";
import type { Exchange, ExchangeRecord, RefusalReason } from "../../http/exchange.ts";
import { pathIn } from "../../http/routing/path.ts";
import { plainAddress } from "../../net/connected-client.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { HOUR } from "../../process/units.ts";
import { AuditFile } from "./audit-file.ts";
import { type AccessLogLine, accessLogLine } from "./log-line.ts";
import type { LogWriter } from "./log-writer.ts";

/** What the process itself did. */
export type AuditAction = "started" | "configured" | "configuration-refused" | "draining" | "ended";

/** A connection whose bytes would have been passed on. */
interface AuditedConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly serverName: string | undefined;
  readonly record: Pick<ExchangeRecord, "listener" | "route" | "reason"> & {
    readonly error: string | undefined;
  };
}

/** Why a request was refused because of who sent it, or what it asked for. */
const DENIALS: ReadonlySet<RefusalReason> = new Set([
  "JwtAuth",
  "Oidc",
  "BasicAuth",
  "APIKeyAuth",
  "ExtAuth",
  "Authorization",
  "ToolLock",
  "ForbiddenDestination",
  "Csrf",
  "RateLimit",
  "PromptGuard",
]);

/** What explains a refusal, of the fields that policies noted. */
const EXPLANATIONS = ["error", "rule", "limit", "mcp.method.name", "mcp.target"] as const;
const ITEMS = ["gen_ai.tool.name", "gen_ai.prompt.name", "mcp.resource.uri"] as const;

/** Whoever was not seen on a route for so long logs in anew; milliseconds. */
export const LOGIN_TIME: number = HOUR;
/** Logins that are remembered; the one that is oldest makes room. */
export const MAX_LOGINS = 10_000;

/** Where audit lines go, before the gateway runs. */
export interface AuditStream {
  /** `stdout`: the process's own log. Throws StartupError when the file can't be written. */
  open(stdout: LogWriter): AuditLog;
}

/** Lines in a file of their own, which is added to. */
export function auditFile(path: string): AuditStream {
  return { open: () => new AuditLog(new AuditFile(path)) };
}

/** Lines between those of the access log. */
export const auditToStdout: AuditStream = {
  open: (stdout) =>
    new AuditLog({
      add: (line) => {
        stdout.add(line);
        stdout.flush();
      },
      close: () => stdout.written(),
    }),
};

/** Who was seen where. */
export interface Logins {
  /** Whether it was not seen for `loginTime`; now it is. */
  isNew(login: string, gateway: GatewayContext): boolean;
}

/** Takes the lines. */
interface AuditSink {
  add(line: string): void;
  /** Writes the rest; nothing more comes. */
  close(): Promise<void>;
}

/** A request that somebody sent from the admin page. */
export interface AdminRequest {
  readonly method: string;
  readonly target: string;
  readonly route: string;
}

/**
 * Who was refused, who was let in, and what the process did: a JSON object a line. Never a token, a password, a query or a
 * body; a key is shown by the beginning of its digest.
 */
export class AuditLog {
  readonly #sink: AuditSink;
  readonly #line: AccessLogLine = accessLogLine("json", "audit");
  readonly #logins: Logins;

  constructor(sink: AuditSink, logins: Logins = new OwnLogins()) {
    this.#sink = sink;
    this.#logins = logins;
  }

  /** Adds a line of another thread's. */
  add(line: string): void {
    this.#sink.add(line);
  }

  /** A request has ended: it is a line when it was refused, or when it is a client's first one for a while. */
  request(exchange: Exchange, status: number | undefined): void {
    const { record } = exchange;
    const isDenied = isDenial(record.reason, status);
    if (!isDenied && !this.#isLogin(exchange)) return;
    const line = this.#line;
    line.begin();
    line.plain("event", isDenied ? "denied" : "login");
    this.#place(record, identityOf(record));
    line.plain("src.addr", `${exchange.remoteAddress}:${exchange.remotePort}`);
    line.text("http.method", exchange.original.method);
    line.text("http.host", exchange.original.host);
    line.text("http.path", exchange.original.path);
    line.number("http.status", status);
    line.text("trace.id", record.traceId);
    line.text("request.id", record.fields?.get("request.id"));
    if (isDenied) this.#explain(record);
    this.#end();
  }

  /** A connection has ended: it is a line when it was refused. */
  connection({ record, remoteAddress, remotePort, serverName }: AuditedConnection): void {
    if (record.reason === undefined || !DENIALS.has(record.reason)) return;
    const line = this.#line;
    line.begin();
    line.plain("event", "denied");
    this.#place(record, undefined);
    line.plain("src.addr", `${remoteAddress}:${remotePort}`);
    line.text("tls.sni", serverName);
    line.text("reason", record.reason);
    line.text("error", record.error);
    this.#end();
  }

  /** A client was not allowed to connect. */
  client(
    reason: "Authorization" | "ClientCertificate",
    error: string,
    {
      remoteAddress,
      remotePort,
      serverName,
    }: DeniedClient & { readonly serverName?: string | undefined },
  ): void {
    const line = this.#line;
    line.begin();
    line.plain("event", "denied");
    line.plain("src.addr", `${plainAddress(remoteAddress)}:${remotePort}`);
    line.text("tls.sni", serverName);
    line.plain("reason", reason);
    line.text("error", error);
    this.#end();
  }

  /** The process did something. `config`: the digest of the configuration that it serves. */
  action(action: AuditAction, config: string): void {
    const line = this.#line;
    line.begin();
    line.plain("event", action);
    line.text("config.digest", config);
    this.#end();
  }

  /** Somebody sent a request from the admin page. What became of it is a request's own line, where it is one. */
  adminRequest({ method, target, route }: AdminRequest): void {
    const line = this.#line;
    line.begin();
    line.plain("event", "admin-request");
    line.text("route", route);
    line.text("http.method", method);
    line.text("http.path", pathIn(target));
    this.#end();
  }

  /** Writes the rest; nothing more comes. */
  close(): Promise<void> {
    return this.#sink.close();
  }

  #place({ listener, route }: Pick<ExchangeRecord, "listener" | "route">, identity?: string): void {
    this.#line.text("identity", identity);
    this.#line.text("listener", listener);
    this.#line.text("route", route);
  }

  #explain({ reason, fields }: ExchangeRecord): void {
    this.#line.text("reason", reason);
    for (const name of [...EXPLANATIONS, ...ITEMS]) this.#line.text(name, fields?.get(name));
  }

  #isLogin({ record, gateway }: Exchange): boolean {
    const identity = identityOf(record);
    return identity !== undefined && this.#logins.isNew(`${record.route}\n${identity}`, gateway);
  }

  #end(): void {
    this.#sink.add(this.#line.end());
  }
}

/** Those of a process of one thread. */
class OwnLogins implements Logins {
  /** When each was seen last, in milliseconds of the monotonic clock. */
  readonly #seen = new Map<string, number>();

  isNew(login: string): boolean {
    const now = performance.now();
    const seen = this.#seen.get(login);
    this.#seen.delete(login);
    this.#seen.set(login, now);
    if (this.#seen.size > MAX_LOGINS) {
      const { value: oldest } = this.#seen.keys().next();
      if (oldest !== undefined) this.#seen.delete(oldest);
    }
    return seen === undefined || now - seen > LOGIN_TIME;
  }
}

/** A page that may not use an MCP route gets a 403; what else breaks the protocol is no denial. */
function isDenial(reason: RefusalReason | undefined, status: number | undefined): boolean {
  return reason !== undefined && (DENIALS.has(reason) || (reason === "MCP" && status === 403));
}

/** Who a request was verified to be from: `alice`, `user bob`, `key 1f0e...`; undefined: nobody. */
function identityOf({ fields, caller }: ExchangeRecord): string | undefined {
  const subject = fields?.get("jwt.sub");
  const shown = caller?.replace(/\bkey ([0-9a-f]{12})[0-9a-f]+/g, "key $1");
  const all = [subject, shown].filter((each) => each !== undefined);
  return all.length === 0 ? undefined : all.join(", ");
}
