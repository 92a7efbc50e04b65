import { didYouMean, message } from "./message.ts";

/** Mistakes in what is said of tracing. */
export const tracingMessages = {
  "tracing-twice": message<Record<never, never>>({
    severity: "warning",
    text: () => '"config.tracing" has no effect beside "frontendPolicies.tracing"',
    hint: () => "remove one of them",
    explanation:
      "Both say where spans go and which requests are traced. `frontendPolicies.tracing` stands above the settings of the " +
      "process, as a whole: its fields are not mixed with theirs.",
  }),
  "sampling-unknown": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" is not known when it is decided whether a request is traced`,
    hint: () => "read the request's method, path, host or headers, or who sent it",
    explanation:
      "A request is traced from its first moment, or not at all: the decision is made before a route is chosen, before any " +
      "policy has run and before the body has come. Only the head of the request, its source and `env` are there by then.",
  }),
  "sampling-type": message<{ type: string }>({
    severity: "error",
    text: ({ type }) => `sampling is a share or a bool, and this is a ${type}`,
    hint: () => "write a share from 0.0 to 1.0, true or false, or an expression that gives one",
    explanation:
      "The value says how many requests are traced: 0.1 is one of ten, true is every one. Anything else would trace none.",
  }),
  "sampling-range": message<{ value: string }>({
    severity: "error",
    text: ({ value }) => `${value} is no share of the requests: it is 0.0 to 1.0`,
    hint: () => "write 1.0 or true for every request, 0.1 for one of ten",
    explanation:
      "The value says how many requests are traced. Whoever writes 10 may mean ten of a hundred, and every request would be " +
      "traced.",
  }),
  "nothing-traced": message<Record<never, never>>({
    severity: "warning",
    text: () => "no request is traced: neither randomSampling nor clientSampling takes one",
    hint: () => "write randomSampling: 0.1 for one of ten requests, or take the tracing out",
    explanation:
      "`randomSampling` is about requests without a trace (none by default), `clientSampling` about those whose sender records " +
      "one. With neither no span is ever made.",
  }),
  "no-new-traces": message<Record<never, never>>({
    severity: "note",
    text: () => "only requests are traced whose senders record a trace",
    hint: () => "write randomSampling: 1.0 to trace all others too, 0.1 for one of ten",
    explanation:
      "`randomSampling` says how many of the requests without a trace (a `traceparent`) begin one, and none do by default: " +
      "behind another gateway that traces this is right. A `curl` or an SDK without tracing leaves no span.",
  }),
  "otlp-port": message<{ port: string; over: string; protocol: string }>({
    severity: "warning",
    text: ({ port, over, protocol }) =>
      `collectors have OTLP over ${over} at port ${port}, and "${protocol}" is spoken here`,
    hint: ({ over, protocol }) =>
      `say so (the protocol is ${over}), or use port ${protocol === "grpc" ? "4317" : "4318"}`,
    explanation:
      "A collector takes OTLP over gRPC at port 4317 and over HTTP at port 4318, unless it is configured otherwise. What is " +
      "spoken to the other port is not understood there, and every span and record would be dropped.",
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
      "`remove` leaves attributes out of spans. A misspelled name would leave nothing out, and what should not be sent " +
      "would be. Names of access lines (`http.path`) mean the attribute that says the same (`url.path`).",
  }),
  "resource-of-request": message<{ name: string }>({
    severity: "error",
    text: ({ name }) => `"${name}" belongs to a request, and a resource is the gateway`,
    hint: () => "read env, write a constant, or add it to the attributes",
    explanation:
      "What the gateway says of itself is evaluated once, when it starts, and sent with every batch of spans. What belongs to " +
      "one request stands in its span: `attributes`.",
  }),
};
