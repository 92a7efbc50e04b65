import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import type { ConfigValue } from "../../schema/config-values.ts";
import { type Infer, list, object, text } from "../../schema/schema.ts";
import { validator } from "../../schema/validate.ts";
import { frontendSchema } from "../standalone/frontend.ts";
import { pathHandlingSchema } from "../standalone/listener.ts";
import { processSchema } from "../standalone/process.ts";

/** The parts of a standalone file that GatewayParameters may hold. */
export type RawConfig = Infer<ReturnType<typeof rawConfigSchema>>;

/** Their `rawConfig`, which the definition of the kind leaves open; undefined with a mistake (reported). */
export function parseRawConfig(
  value: unknown,
  origin: Origin,
  diagnostics: Diagnostics,
): RawConfig | undefined {
  // A part of a document, which is data.
  const read = { value: value as ConfigValue, envTemplates: [], expanded: [] };
  const { whole } = validator(rawConfigSchema(), [read.value], "rawConfig");
  return whole(read, origin, diagnostics);
}

function rawConfigSchema() {
  return object(
    {
      config: processSchema,
      frontendPolicies: frontendSchema(),
      listeners: list(
        object(
          { name: text("The listener's name."), pathHandling: pathHandlingSchema },
          { required: ["name", "pathHandling"] },
        ),
        { description: "What Gateway API does not say of listeners." },
      ),
    },
    { saidElsewhere: { binds: RESOURCES, policies: RESOURCES, backends: RESOURCES } },
  );
}

const RESOURCES =
  "ports, routes, policies and backends are resources of their own beside the Gateway";
