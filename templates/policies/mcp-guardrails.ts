import { code, join, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { bytes, milliseconds, nonEmpty } from "../code/units.ts";
import { grpcChannelCode } from "./parts/callout-target.ts";
import { valuesFunction } from "./parts/object-function.ts";
import type { PolicyTemplate } from "./policy.ts";

const MODULE = "gwc/runtime/mcp/guard-messages";

/** `mcpGuardrails`: the servers that check messages, the functions for their metadata, and the statement that asks them. */
export const mcpGuardrailsTemplate: PolicyTemplate<"mcpGuardrails"> = {
  code: ({ settings: { processors, servers, hasPrefixes }, origin }, scope) => {
    const { trace, toolCallers, maxBufferSize } = scope;
    const metadata = processors.map(({ metadata: values, origin: at }, index) =>
      valuesFunction(`guardrailMetadata${index === 0 ? "" : index + 1}`, values, at, scope),
    );
    const settings = {
      processors: processors.map((each) => ({
        server: grpcChannelCode(each.target),
        deadline: milliseconds(each.target.deadline),
        methods: { ...each.methods },
        passesOnFailure: each.passesOnFailure,
        allowedHeaders: each.allowedHeaders,
        disallowedHeaders: nonEmpty(each.disallowedHeaders),
      })),
      servers,
      hasPrefixes,
      limit: bytes(maxBufferSize),
      callers: nonEmpty(toolCallers),
    };
    const values: readonly (Code | undefined)[] = metadata.map((each) => each?.call);
    const hasValues = values.some((each) => each !== undefined);
    const list = join(
      values.map((each) => each ?? code`undefined`),
      ", ",
    );
    const isOfMessage = metadata.some((each) => each?.variables.includes("mcp") === true);
    const parameters = isOfMessage ? code`(mcp)` : code`()`;
    const more = hasValues ? code`, ${parameters} => [${list}]` : code``;
    return {
      declarations: [
        code`
          ${trace(origin)}
          const guardrails: ${importedType(MODULE, "Guardrails")} = ${literal(settings)};
        `,
        ...metadata.flatMap((each) => each?.declaration ?? []),
      ],
      steps: [
        code`if (!(await ${imported(MODULE, "guardMessages")}(exchange, ${name("guardrails")}${more}))) return;`,
      ],
      isAsync: true,
      readsRequestBody: readsBody(
        processors.flatMap((each) => each.metadata.map(({ value }) => value)),
        "request",
      ),
    };
  },
};
