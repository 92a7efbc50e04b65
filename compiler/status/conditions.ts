import type { ClosedPart } from "../3-resolve/resolve-isolated.ts";
import type { Checked } from "../compile.ts";
import { type ConfigPath, type Diagnostic, formatPath } from "../diagnostics/diagnostic.ts";
import { type MessageCode, messageOf } from "../diagnostics/messages/index.ts";
import type { Manifest } from "../manifests/manifests.ts";

/** A metav1.Condition without its time, so that it depends on the manifests only. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** A diagnostic about a part of a resource. */
export interface Problem {
  readonly code: MessageCode;
  readonly message: string;
  /** Path from the resource's root. */
  readonly path: ConfigPath;
  readonly isError: boolean;
  /** Whether the part counts as one that fails for every request. */
  readonly isTolerated: boolean;
  /** Condition reason that the diagnostic specifies. */
  readonly cause: string | undefined;
}

/** Controller name of gwc, in statuses and GatewayClasses. */
export const CONTROLLER = "gwc.dev/gateway";

/** Creates a condition with status True. */
export function trueCondition(type: string, reason: string, message = ""): Condition {
  return { type, status: "True", reason, message };
}

/** Maximum length of a condition's message in characters. The API server allows 32,768, but an object has several conditions. */
const MAX_MESSAGE = 4_000;

/** Creates a condition with status False that lists problems. */
export function falseCondition(
  type: string,
  reason: string,
  problems: readonly Problem[],
): Condition {
  const messages = problems.map(({ path, message }) =>
    path.length === 0 ? message : `${formatPath(path)}: ${message}`,
  );
  return { type, status: "False", reason, message: joined([...new Set(messages)]) };
}

/** Creates a condition with status True whose message lists the parts with problems. */
export function partialCondition(
  type: string,
  reason: string,
  problems: readonly Problem[],
): Condition {
  return { ...falseCondition(type, reason, problems), status: "True" };
}

/**
 * Creates a condition: True with the reason `held` without problems, else False with the reason of the first cause that has
 * problems.
 */
export function conditionFrom(
  type: string,
  held: string,
  ...causes: readonly (readonly [reason: string, problems: readonly Problem[]])[]
): Condition {
  const cause = causes.find(([, problems]) => problems.length > 0);
  return cause === undefined ? trueCondition(type, held) : falseCondition(type, ...cause);
}

/** Joins messages up to MAX_MESSAGE characters. */
function joined(messages: readonly string[]): string {
  let length = 0;
  const first = messages.findIndex((each) => {
    length += each.length + SEPARATOR.length;
    return length > MAX_MESSAGE;
  });
  if (first < 0) return messages.join(SEPARATOR);
  const fitting = messages.slice(0, Math.max(1, first));
  const more = messages.length - fitting.length;
  const shown = fitting.join(SEPARATOR).slice(0, MAX_MESSAGE);
  return `${shown} ...${more === 0 ? "" : ` and ${more} more`}`;
}

const SEPARATOR = "; ";

/** Returns a function that lists the problems of a resource. */
export function problemsByResource({
  diagnostics,
  closed,
}: Checked): (manifest: Manifest) => readonly Problem[] {
  const byName = Map.groupBy(diagnostics, ({ at }) => at.resource?.name ?? "");
  const closedByName = Map.groupBy(closed, ({ origin }) => origin.resource?.name ?? "");
  return ({ origin }) => {
    const name = origin.resource?.name ?? " ";
    return [
      ...(byName.get(name) ?? []).map(problemOf),
      ...(closedByName.get(name) ?? []).map(problemOfClosed),
    ];
  };
}

/** Describes a part that is closed because of a mistake elsewhere, which the message names with its object. */
function problemOfClosed({ origin, mistake }: ClosedPart): Problem {
  const path = origin.path.slice(origin.resource?.depth ?? 0);
  const closed = { path, isError: true, isTolerated: false, cause: undefined };
  if (mistake === undefined)
    return { ...closed, code: "internal-error", message: "is closed because of a bug in gwc" };
  const { code, message, path: place } = problemOf(mistake);
  const of = [mistake.at.resource?.name, place.length > 0 && formatPath(place)];
  const where = of.filter((each) => typeof each === "string").join(" ");
  return { ...closed, code, message: `is closed because of ${where}: ${message}` };
}

/** Lists the problems at or below a path. */
export function within(problems: readonly Problem[], ...path: ConfigPath): readonly Problem[] {
  return problems.filter((each) => path.every((step, index) => each.path[index] === step));
}

function problemOf({ code, params, at, isTolerated }: Diagnostic): Problem {
  const { severity, text } = messageOf(code);
  return {
    code,
    // `text` and `params` belong to the same code, which the type cannot express.
    message: text(params as never),
    path: at.path.slice(at.resource?.depth ?? 0),
    isError: severity === "error" && isTolerated !== true,
    isTolerated: isTolerated === true,
    cause: "cause" in params ? params.cause : undefined,
  };
}
