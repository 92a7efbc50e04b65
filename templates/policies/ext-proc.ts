import type { PolicySettings } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment, literal } from "../code/code.ts";
import type { Hole, Printable } from "../code/hole.ts";
import { assigned } from "../code/layout.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { bytes, milliseconds } from "../code/units.ts";
import { grpcChannelCode } from "./parts/callout-target.ts";
import { type CaseCode, casesCode } from "./parts/cases.ts";
import {
  type ObjectFunction,
  objectFunction,
  ofResponse,
  propertyKey,
  valuesFunction,
} from "./parts/object-function.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/ext-proc";

type Processor = PolicySettings["extProc"]["cases"][number]["value"];

/** `extProc`: the processor, the functions for its additional input, and the statement that calls it. */
export const extProcTemplate: PolicyTemplate<"extProc"> = {
  attributes: () => ["extproc"],
  code: ({ settings: { cases } }, scope) => {
    const made = casesCode(cases, "isProcessed", scope, (value, suffix) =>
      processorCode(value, suffix, scope),
    );
    const read = cases.flatMap(({ value }) => requestExpressions(value));
    return {
      ...made,
      isAsync: true,
      readsRequestBody: made.readsRequestBody || readsBody(read, "request"),
    };
  },
};

function requestExpressions({
  metadata,
  requestAttributes,
  responseAttributes,
}: Processor): readonly CompiledExpression[] {
  const values = metadata.flatMap((each) => each.values);
  return [...values, ...requestAttributes, ...responseAttributes].map(({ value }) => value);
}

function processorCode(value: Processor, suffix: string, scope: RouteScope): CaseCode {
  const {
    target,
    passesOnFailure,
    modes,
    allowsModeOverride,
    requestAttributes,
    responseAttributes,
    origin,
  } = value;
  const label = name(`extProc${suffix}`);
  const metadata = metadataFunction(`extProcMetadata${suffix}`, value, scope);
  const request = valuesFunction(`extProcRequest${suffix}`, requestAttributes, origin, scope);
  const response = valuesFunction(`extProcResponse${suffix}`, responseAttributes, origin, scope);
  const shown: Readonly<Record<string, Printable>> = {
    ...(metadata && { metadata: metadata.call }),
    ...(request && { request: request.call }),
    ...(response && { response: ofResponse(response) }),
  };
  const processor = {
    server: grpcChannelCode(target),
    deadline: milliseconds(target.deadline),
    passesOnFailure,
    ...modes,
    allowsModeOverride,
    maxBody: bytes(scope.maxBufferSize),
  };
  const run = imported(MODULE, "processExternally");
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${label}: ${importedType(MODULE, "Processor")} = ${literal(processor)};
      `,
      ...[metadata, request, response].flatMap((each): readonly Hole[] =>
        each === undefined ? [] : [each.declaration],
      ),
    ],
    steps:
      Object.keys(shown).length === 0
        ? [code`if (!(await ${run}(exchange, ${label}))) return;`]
        : [
            code`const shown = ${literal(shown)};`,
            code`if (!(await ${run}(exchange, ${label}, shown))) return;`,
          ],
  };
}

/** Writes the function that returns objects by namespace; `undefined` without namespaces. */
function metadataFunction(
  label: string,
  { metadata, origin }: Processor,
  scope: RouteScope,
): ObjectFunction | undefined {
  if (metadata.length === 0) return undefined;
  const members = metadata.map(
    ({ namespace, values }) => code`
      ${propertyKey(namespace)}: {
        ${values.map(
          ({ name: key, value }) => code`
            ${comment(value.source)}
            ${assigned(code`${propertyKey(key)}:`, scope.expressions.use(value.code))},
          `,
        )}
      },
    `,
  );
  const read = metadata.flatMap(({ values }) => values.map(({ value }) => value));
  const type = importedType("gwc/runtime/cel/variables", "JsonObject");
  return objectFunction(label, code`${type}`, read, members, origin, scope);
}
