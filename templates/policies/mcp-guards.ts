import { guardReads, promptGuardCode, webhookHeadersCode } from "../backends/ai/guards.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported, name } from "../code/names.ts";
import { bytes, nonEmpty } from "../code/units.ts";
import type { PolicyTemplate } from "./policy.ts";

/** `mcpGuards`: the guards, the functions for headers of webhooks, and the statement that runs them. */
export const mcpGuardsTemplate: PolicyTemplate<"mcpGuards"> = {
  reads: guardReads,
  code: ({ settings, origin }, { trace, expressions, maxBufferSize, toolCallers }) => {
    const functions: Code[] = [];
    const guards = promptGuardCode(name("mcpGuards"), settings, {
      expressions,
      headersOf: ({ headers }) => {
        if (headers.length === 0) return undefined;
        const id = name(`webhookHeaders${functions.length === 0 ? "" : functions.length + 1}`);
        functions.push(code`
          ${trace(origin)}
          ${webhookHeadersCode(id, headers, expressions)}
        `);
        return id;
      },
    });
    const reading = literal({ limit: bytes(maxBufferSize), callers: nonEmpty(toolCallers) });
    const run = imported("gwc/runtime/policies/mcp-guards", "guardCalls");
    return {
      declarations: [
        ...functions,
        code`
          ${trace(origin)}
          ${guards}
        `,
      ],
      steps: [code`if (!(await ${run}(exchange, ${name("mcpGuards")}, ${reading}))) return;`],
      isAsync: true,
    };
  },
};
