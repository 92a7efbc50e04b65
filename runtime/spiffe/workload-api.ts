import { createHash } from "node:crypto";
import { type GrpcChannel, type MessageStream, openGrpcChannel } from "../grpc/channel.ts";
import {
  SpiffeWorkloadAPI,
  type X509SVIDRequestSchema,
  type X509SVIDResponse,
} from "../grpc/gen/spiffe/workload_pb.ts";
import { GrpcError } from "../grpc/status.ts";
import { grpcStatus } from "../http/grpc-status.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { identityExpiry, identityStart } from "../metrics/table/identity.ts";
import { Enrollment, type EnrollmentLog } from "../process/enrollment.ts";
import { MINUTE, SECOND } from "../process/units.ts";
import type { IssuedIdentity } from "../tls/identity.ts";
import { identityChanged, offerIdentity } from "../tls/workload-identity.ts";
import type { IdentitySource, OpenIdentity } from "./open-identity.ts";
import { readX509Svid } from "./x509-svid.ts";

/** Gets the gateway's identity from the SPIFFE Workload API at `unix:///PATH` or `tcp://ADDRESS:PORT`. */
export function workloadApi(endpoint: string): IdentitySource {
  const key = createHash("sha256").update(endpoint).digest("hex");
  return {
    key,
    enrollment: (log, metrics) =>
      new Enrollment(log, metrics, (open) => offerIdentity(() => open()?.issued), identityChanged),
    open: (log, metrics) => new WorkloadApi(key, endpoint, log, metrics),
  };
}

/** Milliseconds to connect to the agent, which runs on the same machine. */
const CONNECT_TIME = 5 * SECOND;
/** First and longest pause after a failed attempt; milliseconds. */
const FIRST_PAUSE = 250;
const MAX_PAUSE = 30 * SECOND;
/** Longest wait of one timer. Longer waits check the clock in between. */
const MAX_WAIT = 60 * MINUTE;
/** The standard requires it, so that no other program can be made to send the request (SPIFFE Workload API 3). */
const METADATA = ["workload.spiffe.io", "true"];

/**
 * Identities that an agent pushes. An identity stays in use until the agent replaces it or takes it back, or until it expires,
 * even if the agent cannot be reached.
 */
class WorkloadApi implements OpenIdentity {
  readonly key: string;
  readonly #endpoint: string;
  readonly #log: EnrollmentLog;
  readonly #channel: GrpcChannel;
  readonly #connections = { connections: new Map() };
  readonly #forgetMetrics: () => void;
  #issued: IssuedIdentity | undefined;
  #isReady = false;
  #stream: MessageStream<typeof X509SVIDRequestSchema> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Last logged failure. */
  #logged = "";
  #isClosed = false;

  constructor(key: string, endpoint: string, log: EnrollmentLog, metrics: Metrics) {
    this.key = key;
    this.#endpoint = endpoint;
    this.#log = log;
    this.#channel = openGrpcChannel({
      url: endpoint.replace(/^tcp:/, "http:"),
      connectTimeout: CONNECT_TIME,
    });
    this.#forgetMetrics = this.#report(metrics);
    log.info(`waiting for an identity of the SPIFFE Workload API at ${endpoint}`);
    void this.#fetch();
  }

  get issued(): IssuedIdentity | undefined {
    return this.#issued;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#expiry);
    this.#stream?.cancel();
    this.#forgetMetrics();
  }

  async #fetch(): Promise<void> {
    const { fetchX509SVID } = SpiffeWorkloadAPI.method;
    const handler = {
      onMessage: (message: X509SVIDResponse) => this.#receive(message),
      onEnd: (error: GrpcError | undefined) => this.#ended(error),
    };
    const options = { deadline: undefined, metadata: METADATA, beginsWithin: CONNECT_TIME };
    try {
      const stream = await this.#channel.stream(this.#connections, fetchX509SVID, handler, options);
      if (this.#isClosed) {
        stream.cancel();
        return;
      }
      this.#stream = stream;
      stream.send({});
      stream.end();
    } catch (error) {
      if (error instanceof GrpcError) this.#ended(error);
      else throw error;
    }
  }

  /** Uses the first identity: of several, it is the default (SPIFFE Workload API 5.2.1). */
  #receive({ svids: [svid] }: X509SVIDResponse): void {
    if (this.#isClosed) return;
    try {
      if (svid === undefined) throw new Error("the response has no identity");
      this.#use(readX509Svid(svid));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.#warn(`the SPIFFE Workload API sent an identity that can't be used: ${problem}`);
    }
  }

  #use(issued: IssuedIdentity): void {
    this.#issued = issued;
    this.#isReady = true;
    this.#failures = 0;
    this.#logged = "";
    const { spiffeId, expiry } = issued;
    this.#log.info(`identity ${spiffeId} is valid until ${new Date(expiry).toISOString()}`);
    this.#watchExpiry(issued);
    identityChanged();
  }

  /** Listeners hold the identity in their own form, so its end is a change as well. */
  #watchExpiry(issued: IssuedIdentity): void {
    clearTimeout(this.#expiry);
    const wait = Math.max(0, Math.min(MAX_WAIT, issued.expiry - Date.now()));
    this.#expiry = setTimeout(() => {
      if (Date.now() < issued.expiry) {
        this.#watchExpiry(issued);
        return;
      }
      this.#log.warn(`the identity ${issued.spiffeId} has expired; what needs it is refused`);
      identityChanged();
    }, wait);
    this.#expiry.unref();
  }

  #ended(error: GrpcError | undefined): void {
    if (this.#isClosed) return;
    this.#stream = undefined;
    const problem = error?.message ?? "it ended the stream";
    if (error?.code === grpcStatus.permissionDenied) this.#takeBack(problem);
    else this.#warn(`the SPIFFE Workload API at ${this.#endpoint} can't be used: ${problem}`);
    const longest = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** this.#failures);
    this.#failures += 1;
    this.#retry = setTimeout(() => void this.#fetch(), longest * (0.5 + Math.random() / 2));
    this.#retry.unref();
  }

  /** An agent that denies every identity takes back those that it has issued (SPIFFE Workload API 5.2.1). */
  #takeBack(problem: string): void {
    const before = this.#issued;
    this.#issued = undefined;
    clearTimeout(this.#expiry);
    this.#warn(`the SPIFFE Workload API has no identity for this process: ${problem}`);
    if (before !== undefined) identityChanged();
  }

  #warn(problem: string): void {
    if (problem === this.#logged) return;
    this.#logged = problem;
    const { spiffeId, expiry = 0 } = this.#issued ?? {};
    const kept =
      expiry <= Date.now()
        ? "; what needs it is refused"
        : `; ${spiffeId} stays in use until ${new Date(expiry).toISOString()}`;
    this.#log.warn(`${problem}; retrying${kept}`);
  }

  /** Reports the validity in metrics until the returned function is called. */
  #report(metrics: Metrics): () => void {
    const read = (metric: typeof identityExpiry | typeof identityStart, end: "start" | "expiry") =>
      metrics.read(metric, () => {
        const issued = this.#issued;
        return issued === undefined ? [] : [[[issued.spiffeId], issued[end] / SECOND]];
      });
    const readers = [read(identityStart, "start"), read(identityExpiry, "expiry")];
    return () => {
      for (const forget of readers) forget();
    };
  }
}
