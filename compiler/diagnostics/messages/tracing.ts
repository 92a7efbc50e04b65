import { didYouMean, message } from "./message.ts";

/** Diagnostics about tracing. */
export const tracingMessages = {
  "tracing-twice": message<Record<never, never>>({
    severity: "warning",
    text: () => '"config.tracing" has no effect: "frontendPolicies.tracing" replaces it',
    hint: () => "remove one of them",
    explanation:
      "Both configure where spans are sent and which requests are traced. `frontendPolicies.tracing` replaces " +
      "`config.tracing` as a whole: their fields are not merged.",
  }),
  "sampling-unknown": message<{ name: string }>({
    severity: "error",
    text: ({ name }) =>
      `"${name}" is not available yet when the gateway decides whether to trace a request`,
    hint: () => "use the request's method, path, host or headers, or its source",
    explanation:
      "The sampling decision is made when a request arrives: before a route is chosen, before any policy runs and " +
      "before the body is read. Only the head of the request, its source and `env` are available.",
  }),
  "sampling-type": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `sampling must be a number or a bool, not a ${type}`,
    hint: () => "write a number from 0.0 to 1.0, true or false, or an expression that returns one",
    explanation:
      "The value is the fraction of requests that are traced: 0.1 is one in ten, true is every one. With any other " +
      "value no request would be traced.",
  }),
  "sampling-range": message<{ value: string }>({
    severity: "error",
    text: ({ value }) => `the sampling rate must be between 0.0 and 1.0, not ${value}`,
    hint: () => "write 1.0 or true for every request, 0.1 for one in ten",
    explanation:
      "The value is the fraction of requests that are traced. A 10 that means ten percent would trace every request.",
  }),
  "idle-capture": message<Record<never, never>>({
    severity: "warning",
    text: () => '"capture" has no effect: no route calls models',
    hint: () => "remove it, or add a route with models",
    explanation:
      "`capture` exports the prompts and completions of calls to models. Other requests have no such messages.",
  }),
  "nothing-traced": message<Record<never, never>>({
    severity: "warning",
    text: () => "no request is traced: randomSampling and clientSampling are both 0",
    hint: () => "write randomSampling: 0.1 for one in ten requests, or remove tracing",
    explanation:
      "`randomSampling` applies to requests without a trace (none by default), `clientSampling` to requests whose " +
      "sender records one. If both are 0, no span is ever created.",
  }),
  "no-new-traces": message<Record<never, never>>({
    severity: "note",
    text: () => "only requests that arrive with a recorded trace are traced",
    hint: () => "write randomSampling: 1.0 to trace all other requests too, 0.1 for one in ten",
    explanation:
      "`randomSampling` is the fraction of requests without a trace (a `traceparent` header) that start one, and is 0 " +
      "by default. That is right behind another gateway that traces. A `curl` or an SDK without tracing creates no " +
      "span.",
  }),
  "otlp-port": message<{ port: string; over: string; protocol: string }>({
    severity: "warning",
    text: ({ port, over, protocol }) =>
      `port ${port} is usually for OTLP over ${over}, but the protocol here is "${protocol}"`,
    hint: ({ over, protocol }) =>
      `set the protocol to ${over}, or use port ${protocol === "grpc" ? "4317" : "4318"}`,
    explanation:
      "By default a collector receives OTLP over gRPC on port 4317 and over HTTP on port 4318. It does not understand " +
      "the other protocol on either port, so every span and record would be dropped.",
  }),
  "unknown-span-attribute": message<{
    name: string;
    suggestion: string | undefined;
    known: string;
  }>({
    severity: "warning",
    text: ({ name }) => `spans have no attribute "${name}"`,
    hint: ({ suggestion, known }) =>
      didYouMean(suggestion) ?? `attributes of every request: ${known}`,
    explanation:
      "`remove` removes attributes from spans. A misspelled name removes nothing, so a value that should stay private " +
      "would be sent. Names of access log fields (`http.path`) refer to the corresponding attribute (`url.path`).",
  }),
  "resource-of-request": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" belongs to a request, but a resource describes the gateway`,
    hint: () => "use env or a constant, or move it to `attributes`",
    explanation:
      "Attributes of the resource describe the gateway: they are evaluated once at startup and sent with every batch " +
      "of spans. Attributes of one request belong in its span: `attributes`.",
  }),
};
