import { type Message, ownMessage } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import { isAllowed } from "../rules/authorization.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import { ClientStream } from "../session/client-stream.ts";
import { activeTargets, callTarget, type SessionContext } from "../session/session-context.ts";
import { fanOut } from "../transports/fan-out.ts";
import { objectOf } from "./initialize-result.ts";
import { openedTask } from "./merged-tasks.ts";

/**
 * Responds to tasks/list (MCP 2025-11-25) with the tasks that calls of this session have created, as their targets describe
 * them. Lists of targets are not read: they may contain tasks of other users, and do not name the tools that rules are about.
 */
export function serveTaskList(context: SessionContext, request: Message): void {
  const { exchange, backend, session } = context;
  mcpMetrics(exchange).handedOn(exchange, { method: request.method });
  const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
  if (paramOf(request, "cursor") !== undefined) {
    stream.response(rpcError(request.id, rpcCode.invalidParams, "Invalid cursor"));
    return;
  }
  const asked = [...(session.tasks ?? [])].flatMap((shown) => questionAbout(context, shown) ?? []);
  if (asked.length === 0) {
    stream.response(rpcResult(request.id, '{"tasks":[]}'));
    return;
  }
  const call = fanOut(
    asked.map(({ active, text }) => {
      const own = ownMessage(text);
      return (sink) => callTarget(context, active, own, sink);
    }),
    {
      deadline: backend.timeouts.fanOut,
      onMessage: () => true,
      onDone: (outcomes) => {
        const tasks = outcomes.flatMap((outcome, at) => {
          // A task may have expired, and one target's failure does not hide the tasks of others.
          if (outcome.kind === "failure" || outcome.response.result === undefined) return [];
          const { result } = objectOf(JSON.parse(outcome.response.text));
          const { _meta, ...task } = objectOf(result);
          return [{ ...task, taskId: asked[at]?.shown }];
        });
        stream.response(rpcResult(request.id, JSON.stringify({ tasks })));
      },
    },
  );
  exchange.onAbort(() => call.cancel());
}

/** Returns the request about a task; `undefined` if the client may no longer see its tool. */
function questionAbout(context: SessionContext, shown: string) {
  const { exchange, access } = context;
  const task = openedTask(context, shown);
  const active = task && activeTargets(context).find(({ target }) => target.name === task.target);
  if (task === undefined || active === undefined) return undefined;
  const { tool: name, target, id } = task;
  if (!isAllowed(access, exchange, "tools/list", "tool", { name, target })) return undefined;
  const params = JSON.stringify({ taskId: id });
  const text = `{"jsonrpc":"2.0","id":"gwc-task","method":"tasks/get","params":${params}}`;
  return { shown, active, text };
}
