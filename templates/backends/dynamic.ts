import type { DynamicBackendNode } from "../../compiler/ir/backends.ts";
import { type Code, code, imported, literal, type Printable } from "../code/code.ts";
import type { Trace } from "../code/trace.ts";
import type { BackendCode } from "./backend.ts";
import { connectionSettings, passthrough } from "./connection.ts";
import { plainForward } from "./host.ts";

const MODULE = "gwc/runtime/backends/dynamic";

/** The host that the request names, as far as it may be reached. */
export function dynamicBackend(
  { connection, port, allowPrivate, origin }: DynamicBackendNode,
  forward: ((upstream: Code) => Code) | undefined,
  trace: Trace,
): BackendCode {
  const settings: Readonly<Record<string, Printable | undefined>> = {
    scheme: connection.tls === undefined ? "http" : "https",
    port,
    allowPrivate,
    ...connectionSettings(connection),
  };
  const token = passthrough([connection]);
  const pass = forward ?? plainForward;
  return {
    declarations: [
      code`
        ${trace(origin)}
        const destinations = new ${imported(MODULE, "Destinations")}(${literal(settings)});
      `,
    ],
    first: [],
    guard: [],
    step: [
      ...token,
      code`const upstream = ${imported(MODULE, "chooseDestination")}(exchange, destinations);`,
      code`if (upstream === undefined) return;`,
      code`return ${pass(code`upstream`)};`,
    ],
    isAsync: false,
  };
}
