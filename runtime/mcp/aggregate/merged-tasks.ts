import { isObjectAt, stringAt, type TextRange } from "../../json/json-text.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import type { Message } from "../protocol/message.ts";
import { edited, paramOf, replaced, stringParamOf } from "../protocol/message-edit.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { respondRpcError, rpcCode } from "../protocol/rpc-response.ts";
import { isAllowed } from "../rules/authorization.ts";
import {
  type ActiveTarget,
  activeTargets,
  type SessionContext,
} from "../session/session-context.ts";
import { callerBinding } from "../session/sessions.ts";
import { recordPrimitive } from "./permission.ts";

/** A task of a target (MCP 2025-11-25), as it is sealed into the id that the client sees. */
export interface SealedTask {
  /** Name of the target. */
  readonly target: string;
  /** Name of the tool at the target, whose rules the task is under. */
  readonly tool: string;
  /** Id at the target. */
  readonly id: string;
}

/** A request about a task, for the target. */
export interface TaskRequest {
  readonly active: ActiveTarget;
  readonly request: Message;
  readonly names: TaskNames;
}

/** Ids of the tasks that the response to one request may contain. */
export interface TaskNames {
  /** Returns the client's id of a task that the request has created; `undefined` if it creates none. */
  created(id: string): string | undefined;
  /** Returns the client's id of the task that the request is about; `undefined` for other tasks. */
  known(id: string): string | undefined;
}

const TASK_METHODS: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/cancel"]);

/** Member of `_meta` that says to which task a message belongs. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** Whether a request is about one task. */
export function isTaskRequest({ method }: Message): boolean {
  return TASK_METHODS.has(method);
}

/**
 * Finds the target of a request about a task. Responds and returns `undefined` if the client did not get this id here, or may no
 * longer see the tool.
 */
export function taskRequest(context: SessionContext, request: Message): TaskRequest | undefined {
  const { exchange, access } = context;
  const at = paramOf(request, "taskId");
  const shown = stringAt(request.text, at);
  const task = shown === undefined ? undefined : openedTask(context, shown);
  const active = task && activeTargets(context).find(({ target }) => target.name === task.target);
  if (at === undefined || task === undefined || active === undefined) {
    refuseTask(exchange, request);
    return undefined;
  }
  const { target, tool, id } = task;
  recordPrimitive(exchange, "tool", tool, target);
  // Like lists: its arguments are unknown by now, so some of them must be allowed.
  if (!isAllowed(access, exchange, "tools/list", "tool", { name: tool, target })) {
    refuseTask(exchange, request);
    return undefined;
  }
  return {
    active,
    request: edited(request, [replaced(at, JSON.stringify(id))]),
    names: {
      created: () => undefined,
      known: (found) => (found === id ? shown : undefined),
    },
  };
}

/** Returns the names of the tasks that a request to a target may create. */
export function taskNames(
  context: SessionContext,
  { target }: ActiveTarget,
  request: Message,
): TaskNames {
  const tool = request.method === "tools/call" ? stringParamOf(request, "name") : undefined;
  const isTask = tool !== undefined && paramOf(request, "task") !== undefined;
  return {
    created: (id) => {
      if (!isTask) return undefined;
      const shown = sealedTask(context, { target: target.name, tool, id });
      noteTask(context, shown);
      return shown;
    },
    known: () => undefined,
  };
}

/** Returns a target's response or message with the client's ids of tasks. */
export function withTaskNames(message: Message, { created, known }: TaskNames): Message {
  const { text, result, params } = message;
  const whole = result ?? params;
  if (whole === undefined || !text.includes("task")) return message;
  const place = (at: TextRange | undefined, name: (id: string) => string | undefined) => {
    const id = stringAt(text, at);
    const shown = id === undefined ? undefined : name(id);
    return at === undefined || shown === undefined ? [] : [replaced(at, JSON.stringify(shown))];
  };
  const related = memberOf(text, memberOf(text, whole, "_meta"), RELATED_TASK);
  return edited(message, [
    ...place(memberOf(text, memberOf(text, whole, "task"), "taskId"), created),
    ...place(memberOf(text, whole, "taskId"), known),
    ...place(memberOf(text, related, "taskId"), known),
  ]);
}

/** Returns the capability of tasks that clients of merged targets have; `undefined` if no target runs tools as tasks. */
export function mergedTaskCapability(all: readonly TaskCapabilities[]): object | undefined {
  const offered = all.filter(({ tasks }) => callsAsTasks(tasks));
  if (offered.length === 0) return undefined;
  const canCancel = offered.some(({ tasks }) => Object.hasOwn(Object(tasks), "cancel"));
  return { requests: { tools: { call: {} } }, list: {}, ...(canCancel && { cancel: {} }) };
}

/** Capabilities of a target. */
interface TaskCapabilities {
  readonly tasks?: unknown;
}

function callsAsTasks(tasks: unknown): boolean {
  const { requests } = Object(tasks);
  const { tools } = Object(requests);
  return Object.hasOwn(Object(tools), "call");
}

function memberOf(text: string, at: TextRange | undefined, name: string): TextRange | undefined {
  return at !== undefined && isObjectAt(text, at.start) ? fieldOf(text, at, name) : undefined;
}

/** Maximum number of tasks of a session in its list; the oldest are dropped first. */
const MAX_LISTED = 100;

function noteTask({ session: { tasks } }: SessionContext, shown: string): void {
  tasks?.add(shown);
  const [oldest] = tasks ?? [];
  if (tasks !== undefined && tasks.size > MAX_LISTED) tasks.delete(oldest ?? "");
}

function sealedTask(context: SessionContext, task: SealedTask): string {
  const { sessionKeys } = context.exchange.gateway;
  return sealSession(sessionKeys, bindingOf(context), JSON.stringify(task));
}

/** Returns the task of a client's id; `undefined` if this client did not get it here. */
export function openedTask(context: SessionContext, shown: string): SealedTask | undefined {
  const { sessionKeys } = context.exchange.gateway;
  const opened = unsealSession(sessionKeys, bindingOf(context), shown);
  // Authenticated JSON that this gateway wrote itself.
  return opened === undefined ? undefined : JSON.parse(opened);
}

function bindingOf({ exchange, backend, access }: SessionContext): string {
  return `task\n${callerBinding(exchange, backend, access)}`;
}

function refuseTask(exchange: SessionContext["exchange"], { id }: Message): void {
  respondRpcError(exchange, 200, "MCP", {
    id,
    code: rpcCode.invalidParams,
    message: "Unknown task",
  });
}
