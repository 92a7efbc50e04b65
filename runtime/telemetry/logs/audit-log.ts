import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import type { DeniedClient } from "../../http/engine/server-handlers.ts";
import type { Exchange, ExchangeRecord, RefusalReason } from "../../http/exchange.ts";
import { pathIn } from "../../http/routing/path.ts";
import { plainAddress } from "../../net/connected-client.ts";
import type {
  CertificateChange,
  GatewayContext,
  GrantChange,
} from "../../process/gateway-context.ts";
import { StartupError } from "../../process/startup-error.ts";
import { HOUR } from "../../process/units.ts";
import { type AccessLogLine, accessLogLine } from "./log-line.ts";
import { LogWriter } from "./log-writer.ts";

/** Actions of the process itself. */
export type AuditAction = "started" | "configured" | "configuration-refused" | "draining" | "ended";

/** The parts of a TCP connection that appear in audit lines. */
interface AuditedConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly serverName: string | undefined;
  readonly record: Pick<ExchangeRecord, "listener" | "route" | "reason"> & {
    readonly error: string | undefined;
  };
}

/** Reasons of refusals that depend on the sender of a request or on what it requests. */
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
  "Custom",
]);

/** Fields of policies that explain a refusal. */
const EXPLANATIONS = [
  "error",
  "custom.policy",
  "rule",
  "limit",
  "mcp.method.name",
  "mcp.target",
] as const;
const ITEMS = ["gen_ai.tool.name", "gen_ai.prompt.name", "mcp.resource.uri"] as const;

/** Milliseconds after which a caller that was not seen on a route counts as a new login. */
export const LOGIN_TIME: number = HOUR;
/** Maximum number of remembered logins; the oldest is dropped first. */
export const MAX_LOGINS = 10_000;

/** The destination of audit lines, before the gateway runs. */
export interface AuditStream {
  /** `stdout`: the process's own log. Throws StartupError if the file cannot be written. */
  open(stdout: LogWriter): AuditLog;
}

/** Returns a stream that appends audit lines to a file. */
export function auditFile(path: string): AuditStream {
  return { open: () => new AuditLog(new AuditFile(path)) };
}

/** Writes audit lines to the access log. */
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

/** The remembered logins. */
export interface Logins {
  /** Whether a login was not seen within `LOGIN_TIME`; records it. */
  isNew(login: string, gateway: GatewayContext): boolean;
}

/** Receives the lines. */
interface AuditSink {
  add(line: string): void;
  /** Writes the rest and closes the sink. */
  close(): Promise<void>;
}

/** A request that was sent from the admin page. */
export interface AdminRequest {
  readonly method: string;
  readonly target: string;
  readonly route: string;
}

/**
 * Logs refused requests, logins and actions of the process, one JSON object per line. Never contains tokens, passwords,
 * queries or bodies; a key is shown by the beginning of its digest.
 */
export class AuditLog {
  readonly #sink: AuditSink;
  readonly #line: AccessLogLine = accessLogLine("json", "audit");
  readonly #logins: Logins;

  constructor(sink: AuditSink, logins: Logins = new OwnLogins()) {
    this.#sink = sink;
    this.#logins = logins;
  }

  /** Adds a line of another thread. */
  add(line: string): void {
    this.#sink.add(line);
  }

  /** Logs a finished request if it was refused, or if it is a login: the caller's first request on a route for a while. */
  request(exchange: Exchange, status: number | undefined): void {
    const { record } = exchange;
    const isDenied = isDenial(record.reason, status);
    const change = record.fields?.get("connection.event");
    const client = record.fields?.get("oauth.client.event");
    const event = eventOf(isDenied, change, client);
    if (event === "login" && !this.#isLogin(exchange)) return;
    const line = this.#line;
    line.begin();
    line.plain("event", event);
    this.#place(record, identityOf(record));
    line.plain("src.addr", `${exchange.remoteAddress}:${exchange.remotePort}`);
    line.text("http.method", exchange.original.method);
    line.text("http.host", exchange.original.host);
    line.text("http.path", exchange.original.path);
    line.number("http.status", status);
    line.text("trace.id", record.traceId);
    line.text("request.id", record.fields?.get("request.id"));
    line.text("connection", record.fields?.get("connection"));
    line.text("connection.event", change);
    line.text("oauth.client.event", client);
    line.text("oauth.client.name", record.fields?.get("oauth.client.name"));
    line.text("oauth.client.redirect", record.fields?.get("oauth.client.redirect"));
    if (isDenied) this.#explain(record);
    this.#end();
  }

  /** Logs a change of the tokens that a user has granted. */
  grant({ identity, connection, event }: GrantChange): void {
    const line = this.#line;
    line.begin();
    line.plain("event", "connection");
    line.text("identity", identity);
    line.text("connection", connection);
    line.text("connection.event", event);
    this.#end();
  }

  /** Logs the end of an order of a certificate. */
  certificate({ event, names, expiry, error }: CertificateChange): void {
    const line = this.#line;
    line.begin();
    line.plain("event", "certificate");
    line.plain("certificate.event", event);
    line.text("certificate.names", names.join(","));
    line.text("certificate.expires", expiry);
    line.text("error", error);
    this.#end();
  }

  /** Logs a closed connection if it was refused. */
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

  /** Logs a client that was not allowed to connect. */
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

  /** Logs an action of the process. `config`: the digest of the served configuration. */
  action(action: AuditAction, config: string): void {
    const line = this.#line;
    line.begin();
    line.plain("event", action);
    line.text("config.digest", config);
    this.#end();
  }

  /** Logs a request from the admin page. Its result is logged as the line of a request, if it has one. */
  adminRequest({ method, target, route }: AdminRequest): void {
    const line = this.#line;
    line.begin();
    line.plain("event", "admin-request");
    line.text("route", route);
    line.text("http.method", method);
    line.text("http.path", pathIn(target));
    this.#end();
  }

  /** Logs a login to the admin page, or a wrong key. */
  adminLogin(isRight: boolean, address: string): void {
    const line = this.#line;
    line.begin();
    line.plain("event", isRight ? "admin-login" : "denied");
    line.text("listener", "admin-page");
    line.text("src.addr", plainAddress(address));
    if (!isRight) line.plain("reason", "APIKeyAuth");
    this.#end();
  }

  /** Writes the rest and closes the sink. */
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

/** The logins of a process with one thread. */
class OwnLogins implements Logins {
  /** When each login was last seen, in milliseconds of the monotonic clock. */
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

/** Whether a refusal is a denial. For MCP, only 403 is (a page of a foreign origin); other refusals are protocol errors. */
/** Returns the kind of a line about a request. */
function eventOf(
  isDenied: boolean,
  connection: string | undefined,
  client: string | undefined,
): "denied" | "connection" | "client" | "login" {
  if (isDenied) return "denied";
  if (connection !== undefined) return "connection";
  return client === undefined ? "login" : "client";
}

function isDenial(reason: RefusalReason | undefined, status: number | undefined): boolean {
  return reason !== undefined && (DENIALS.has(reason) || (reason === "MCP" && status === 403));
}

/** Returns the verified identity of a request: `alice`, `user bob`, `key 1f0e...`; `undefined` if it is anonymous. */
function identityOf({ fields, caller }: ExchangeRecord): string | undefined {
  const subject = fields?.get("jwt.sub");
  const shown = caller?.replace(/\bkey ([0-9a-f]{12})[0-9a-f]+/g, "key $1");
  const all = [subject, shown].filter((each) => each !== undefined);
  return all.length === 0 ? undefined : all.join(", ");
}

/**
 * A file to which lines are appended. If it was moved away or removed (log rotation), it is reopened before the next line;
 * a truncated one is continued from its start.
 */
class AuditFile {
  readonly #path: string;
  #opened: OpenFile;

  /** Throws StartupError if the file cannot be written. */
  constructor(path: string) {
    this.#path = path;
    this.#opened = openToAdd(path);
  }

  /** Appends a line, which ends with a line feed. */
  add(line: string): void {
    this.#follow();
    this.#opened.writer.add(line);
    this.#opened.writer.flush();
  }

  /** Writes the rest and closes the file. */
  close(): Promise<void> {
    return closeFile(this.#opened);
  }

  #follow(): void {
    const before = this.#opened;
    try {
      if (statSync(this.#path, { throwIfNoEntry: false })?.ino === before.inode) return;
      this.#opened = openToAdd(this.#path);
    } catch {
      // The old file stays in use, so that no lines are lost and no request fails.
      return;
    }
    void closeFile(before);
  }
}

interface OpenFile {
  readonly descriptor: number;
  readonly inode: number;
  readonly writer: LogWriter;
}

function openToAdd(path: string): OpenFile {
  try {
    const descriptor = openSync(path, "a", 0o640);
    return { descriptor, inode: fstatSync(descriptor).ino, writer: new LogWriter(descriptor) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(`cannot write the audit log: ${why}`);
  }
}

async function closeFile({ descriptor, writer }: OpenFile): Promise<void> {
  await writer.close();
  closeSync(descriptor);
}
