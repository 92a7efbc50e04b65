import path from "node:path";
import { eventually } from "./eventually.ts";
import { pythonFor } from "./python.ts";
import { root } from "./root.ts";
import { TestProcess } from "./test-process.ts";

/** The value of an attribute, as protobuf's JSON has it. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span as a collector got it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  /** Undefined: nothing went wrong. */
  readonly error: string | undefined;
  /** Of other traces. */
  readonly links: readonly object[];
  readonly resource: Attributes;
}

/** A request to a collector. */
export interface CollectorRequest {
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly request?: object;
  readonly problem?: string;
}

/** The part of a configuration that has every request traced, over HTTP. */
export function tracedAll({ host }: Pick<OtlpCollector, "host">): object {
  return { frontendPolicies: { tracing: { host, protocol: "http", randomSampling: true } } };
}

/** An OTLP server that reads what it gets with the protocol's own messages. */
export class OtlpCollector extends TestProcess {
  port = 0;

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Returns everything received so far; throws if something was not OTLP. */
  get requests(): readonly CollectorRequest[] {
    const lines = this.stdout.split("\n").filter((line) => line.startsWith("{"));
    const requests = lines.map((line): CollectorRequest => JSON.parse(line));
    for (const { problem } of requests) if (problem !== undefined) throw new Error(problem);
    return requests;
  }

  /** The spans of the batches that it took. */
  get spans(): readonly CollectedSpan[] {
    return this.requests
      .filter(({ path: at, status }) => at === "/v1/traces" && status === 200)
      .flatMap(({ request }) => items(request, "resourceSpans"))
      .flatMap((each) => {
        const resource = attributesOf(Reflect.get(each, "resource"));
        return items(each, "scopeSpans").flatMap((scope) =>
          items(scope, "spans").map((span) => spanOf(span, resource)),
        );
      });
  }

  /** The spans, once there are so many. */
  async collected(count: number): Promise<readonly CollectedSpan[]> {
    return eventually(() => (this.spans.length >= count ? this.spans : null), `${count} spans`);
  }
}

/** The same over gRPC; `statuses`: names of gRPC's. */
export async function startGrpcCollector(...statuses: readonly string[]): Promise<OtlpCollector> {
  return started(await pythonFor("newest"), "grpc", ...statuses);
}

/** `statuses`: its first responses (`503`, `503:1` with Retry-After); all others are 200. */
export async function startCollector(...statuses: readonly string[]): Promise<OtlpCollector> {
  return started(await pythonFor("newest"), ...statuses);
}

async function started(python: string, ...parameters: readonly string[]): Promise<OtlpCollector> {
  const script = path.join(root, "test/harness/otlp-collector.py");
  const collector = new OtlpCollector(python, [script, ...parameters]);
  collector.port = Number((await collector.seen(/listening on (\d+)/))[1]);
  return collector;
}

function spanOf(span: object, resource: Attributes): CollectedSpan {
  const text = (name: string): string => String(Reflect.get(span, name) ?? "");
  const status: unknown = Reflect.get(span, "status");
  const isError = typeof status === "object" && Reflect.get(status ?? {}, "code") !== undefined;
  const parentSpanId = text("parentSpanId");
  return {
    traceId: text("traceId"),
    spanId: text("spanId"),
    ...(parentSpanId !== "" && { parentSpanId }),
    name: text("name"),
    kind: text("kind"),
    start: BigInt(text("startTimeUnixNano")),
    end: BigInt(text("endTimeUnixNano")),
    attributes: attributesOf(span),
    error: isError ? String(Reflect.get(status ?? {}, "message")) : undefined,
    links: items(span, "links"),
    resource,
  };
}

/** The attributes of a span or a resource by name. */
export function attributesOf(owner: object): Attributes {
  return Object.fromEntries(
    items(owner, "attributes").map((each) => {
      const value: unknown = Reflect.get(each, "value");
      const [entry] = Object.entries(typeof value === "object" ? (value ?? {}) : {});
      const [kind, content] = entry ?? [];
      return [Reflect.get(each, "key"), kind === "intValue" ? Number(content) : content];
    }),
  );
}

/** The objects of a list that another one holds. */
export function items(owner: object | undefined, name: string): readonly object[] {
  const list: unknown = Reflect.get(owner ?? {}, name);
  return Array.isArray(list) ? list : [];
}
