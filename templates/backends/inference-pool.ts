import type { BackendNode } from "../../compiler/ir/backends.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Expression } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import type { AtLeastOne, BackendCode, BackendScope, BackendTemplate } from "./backend.ts";
import { passthrough, upstreamSettings } from "./parts/connection.ts";
import { endpointPicker } from "./parts/endpoint-picker.ts";
import { plainForward } from "./parts/forward.ts";

const MODULE = "gwc/runtime/backends/inference-pool";
const WEIGHTED = "gwc/runtime/backends/weighted";
const PROCESSING = "gwc/runtime/policies/ext-proc";

/** Model servers: the endpoint picker gets the request, and chooses an endpoint of the pool. */
export const inferencePoolTemplate: BackendTemplate<"inferencePool"> = { code: poolsCode };

function poolsCode(
  all: AtLeastOne<BackendNode<"inferencePool">>,
  scope: BackendScope,
): BackendCode {
  const [only, ...others] = all.filter(({ weight }) => weight > 0);
  if (only === undefined) {
    const step = [code`return ${imported("gwc/runtime/http/refuse", "noBackend")}(exchange);`];
    return { declarations: [], first: [], guard: [], step, isAsync: false };
  }
  if (others.length === 0) {
    const { declaration, pool, picker } = poolCode(only, 0, scope);
    return serving([declaration], [], { pool, picker }, [only], scope);
  }
  const pools = [only, ...others].map((node, place) => ({
    weight: node.weight,
    ...poolCode(node, place, scope),
  }));
  const choices = pools.map(
    ({ weight, pool, picker }) =>
      code`{ weight: ${literal(weight)}, upstream: { pool: ${pool}, picker: ${picker} } },`,
  );
  const declaration = code`
    const inferencePools = ${imported(WEIGHTED, "weighUpstreams")}([
      ${choices}
    ]);
  `;
  const choose = code`const { pool, picker } = ${imported(WEIGHTED, "pickUpstream")}(inferencePools);`;
  const chosen = { pool: code`pool`, picker: code`picker` };
  const declarations = [...pools.map((each) => each.declaration), declaration];
  return serving(declarations, [choose], chosen, [only, ...others], scope);
}

/** Expressions for a pool and its picker. */
interface PoolExpressions {
  readonly pool: Expression;
  readonly picker: Expression;
}

/** Writes the code that asks the picker of a pool, and forwards to the endpoint that it names. */
function serving(
  declarations: readonly Code[],
  choose: readonly Code[],
  { pool, picker }: PoolExpressions,
  nodes: AtLeastOne<BackendNode<"inferencePool">>,
  scope: BackendScope,
): BackendCode {
  const pass = scope.forward ?? plainForward;
  return {
    declarations,
    first: [],
    guard: [],
    step: [
      ...passthrough(nodes.map(({ connection }) => connection)),
      ...choose,
      code`const offered = await ${imported(MODULE, "offerEndpoints")}(exchange, ${pool});`,
      code`if (offered === undefined) return;`,
      code`if (!(await ${imported(PROCESSING, "processExternally")}(exchange, ${picker}, offered))) return;`,
      code`const upstream = await ${imported(MODULE, "pickedEndpoint")}(exchange, ${pool});`,
      code`if (upstream === undefined) return;`,
      code`return ${pass(code`upstream`)};`,
    ],
    isAsync: true,
  };
}

/** Writes the constants of a pool. `place`: among the pools of the route. */
function poolCode(
  node: BackendNode<"inferencePool">,
  place: number,
  scope: BackendScope,
): PoolExpressions & { readonly declaration: Code } {
  const { url, connection, passesOnFailure, takesAnyEndpoint, origin } = node;
  const open = imported(MODULE, "openInferencePool");
  const processor = endpointPicker(node, scope.maxBufferSize);
  const settings = {
    ...upstreamSettings(url, connection),
    ...scope.messagesOf(node),
    passesOnFailure,
    ...(takesAnyEndpoint && { takesAnyEndpoint }),
  };
  const number = place === 0 ? "" : place + 1;
  const [pool, own] = [name(`inferencePool${number}`), name(`endpointPicker${number}`)];
  return {
    pool: code`${pool}`,
    picker: code`${own}`,
    declaration: code`
      ${scope.trace(origin)}
      const ${pool} = ${open}(${literal(settings)});
      const ${own}: ${importedType(PROCESSING, "Processor")} = ${literal(processor)};
    `,
  };
}
