import type { BackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import { imported } from "../code/names.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { forwardCode, passthrough } from "./parts/connection.ts";
import { plainForward } from "./parts/forward.ts";

/** A service of AWS: every request becomes a call of it. */
export const awsTemplate: BackendTemplate<"aws"> = { code: awsCode };

function awsCode(
  [node]: AtLeastOne<BackendNode<"aws">>,
  { trace, forward: pass = plainForward, messagesOf }: BackendScope,
): BackendCode {
  const { url, connection, target, origin } = node;
  const invoke = imported("gwc/runtime/backends/aws", "invoke");
  return {
    declarations: [
      code`
        ${trace(origin)}
        const upstream = ${forwardCode(url, connection, messagesOf(node))};
      `,
    ],
    first: [],
    guard: [],
    step: [
      ...passthrough([connection]),
      code`${invoke}(exchange, ${literal(target)});`,
      code`return ${pass(code`upstream`)};`,
    ],
    isAsync: false,
  };
}
