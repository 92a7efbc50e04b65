import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { milliseconds } from "../../code/units.ts";
import type { BackendScope } from "../backend.ts";

type AiNode = BackendNode<"ai">;

/** How requests of one route type are served. */
export interface ServiceCode {
  /** Constants and functions of the module. */
  readonly declarations: readonly Code[];
  /** Whether providers are called. */
  readonly asksProviders: boolean;
  /** Whether the retry policy is used. */
  readonly keepsTries: boolean;
  /** Returns the statement for requests under a path; the empty path means all of them. */
  readonly statement: (path: string) => Code;
}

/** Returns the response header that names the provider; `undefined` if none does. */
export function providerHeader({ namesProvider }: AiNode): string | undefined {
  return namesProvider ? "x-llm-provider" : undefined;
}

type Timeouts = Readonly<Record<string, Printable | undefined>>;

/** Returns the timeouts of a service that tries several providers. */
export function timeouts({ request, attempt }: BackendScope["limits"]): Timeouts {
  return {
    timeout: request && milliseconds(request),
    attemptTimeout: attempt && milliseconds(attempt),
  };
}

/** Returns the shorter of two timeouts if there is only one try. */
export function onlyTimeout({ request, attempt }: BackendScope["limits"]): Timeouts {
  const all = [request, attempt].filter((each) => each !== undefined);
  return { timeout: all.length === 0 ? undefined : milliseconds(Math.min(...all)) };
}
