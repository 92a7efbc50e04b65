import { metaKey } from "../protocol/envelope.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { readFields } from "../protocol/message-fields.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import { rpcResult } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import { ClientStream } from "../session/client-stream.ts";
import { approvedOutcome } from "../session/opening.ts";
import { activeTargets, callTarget, type SessionContext } from "../session/session-context.ts";
import { type FanOutCall, fanOut } from "../transports/fan-out.ts";
import { CacheHints } from "./cache-hints.ts";
import { failedTarget } from "./failed-target.ts";
import { forwardCall } from "./forward-call.ts";
import {
  type InitializeResult,
  joinInstructions,
  mergeCapabilities,
  objectOf,
  unavailableMeta,
} from "./initialize-result.ts";

/** Requests the capabilities of every target and responds with the merged ones. */
export function serveDiscover(context: SessionContext, request: Message): void {
  const { exchange, backend, access } = context;
  const targets = activeTargets(context);
  const [only] = targets;
  if (!backend.prefix && only !== undefined) {
    forwardCall(context, only, request);
    return;
  }
  const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
  const calls: readonly FanOutCall[] = targets.map(
    (active) => (sink) => callTarget(context, active, request, sink),
  );
  const call = fanOut(calls, {
    deadline: backend.timeouts.initialize,
    onMessage: () => true,
    onDone: (given) => {
      const outcomes = given.map((outcome, at) =>
        approvedOutcome(exchange, access, targets[at]?.target.name ?? "", outcome),
      );
      const results = outcomes.map(readDiscover);
      const failed = results.findIndex(({ kind }) => kind === "failure");
      const isAnyOpen = results.some(({ kind }) => kind === "opened");
      if (failed !== -1 && (backend.failureMode === "failClosed" || !isAnyOpen)) {
        const outcome = outcomes[failed];
        const { target } = targets[failed] ?? {};
        const failure = outcome?.kind === "failure" ? outcome.failure : refused;
        stream.fail(target ? failedTarget(context, target, failure) : failure);
      } else stream.response(rpcResult(request.id, discoverResult(context, outcomes, results)));
    },
  });
  exchange.onAbort(() => call.cancel());
}

const refused: TargetFailure = { kind: "protocol", detail: "refused server/discover" };

function readDiscover(outcome: Outcome): InitializeResult {
  if (outcome.kind === "failure" || outcome.response.result === undefined) {
    return { kind: "failure" };
  }
  const result = objectOf(JSON.parse(textAt(outcome.response.text, outcome.response.result)));
  const { instructions } = result;
  return {
    kind: "opened",
    version: STATELESS_REVISION,
    features: "",
    capabilities: objectOf(result.capabilities),
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

function discoverResult(
  { backend }: SessionContext,
  outcomes: readonly Outcome[],
  results: readonly InitializeResult[],
): string {
  const hints = new CacheHints();
  for (const outcome of outcomes) {
    if (outcome.kind === "failure" || outcome.response.result === undefined) continue;
    const { text, result } = outcome.response;
    const fields = readFields(text, result.start, new Set(["ttlMs", "cacheScope"]));
    if (typeof fields !== "string") hints.add(text, fields);
  }
  const opened = results.filter((result) => result.kind === "opened");
  const members = JSON.stringify({
    resultType: "complete",
    supportedVersions: [STATELESS_REVISION],
    capabilities: mergeCapabilities(opened.map(({ capabilities }) => capabilities)),
    instructions: joinInstructions(backend, results),
    _meta: {
      [metaKey.serverInfo]: { name: "gwc", version: "1" },
      ...unavailableMeta(backend.targets, results),
    },
  });
  return `${members.slice(0, -1)},${hints.members(true)}}`;
}
