import type { ConfigPath, Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import type { ConfigValue } from "../../schema/config-values.ts";
import { type Infer, list, object, text, unsupported } from "../../schema/schema.ts";
import { validator } from "../../schema/validate.ts";
import { readDefinitions } from "../custom-functions.ts";
import { withoutIgnored } from "../ignored-fields.ts";
import { pathHandlingSchema } from "../standalone/listener.ts";
import { standaloneFields } from "../standalone/standalone.ts";
import { readData } from "../values.ts";

/** A standalone file inside GatewayParameters. */
export type RawConfig = Infer<ReturnType<typeof rawConfigSchema>>;

/** The valid parts of a standalone file, and the paths of the others in its document. */
export interface ReadRawConfig {
  readonly value: RawConfig | undefined;
  readonly broken: readonly ConfigPath[];
}

/**
 * Reads and validates `rawConfig`, which the definition of the kind leaves open. `variable` returns the known variables
 * of the pods' environment.
 */
export function parseRawConfig(
  value: unknown,
  origin: Origin,
  variable: (name: string) => string | undefined,
  diagnostics: Diagnostics,
): ReadRawConfig {
  const schema = rawConfigSchema();
  // A part of a document is plain data.
  const given = readData(value as ConfigValue, origin, schema, variable, diagnostics);
  const read = withoutIgnored(given, schema, origin, diagnostics);
  readDefinitions(read, origin, diagnostics);
  const { parts } = validator(schema, [read.value], "rawConfig");
  const { value: valid, broken } = parts(read, origin, diagnostics);
  return { value: valid, broken: broken.map((path) => [...origin.path, ...path]) };
}

function rawConfigSchema() {
  const { name: _, config, ...fields } = standaloneFields();
  const modelCatalog = unsupported("prices of models in manifests");
  const keysApi = unsupported("the HTTP API for keys in manifests");
  const admin = unsupported("the admin page in manifests: data planes have none");
  return object(
    {
      ...fields,
      config: {
        ...config,
        properties: { ...config.properties, modelCatalog, keysApi, admin },
      },
      listeners: list(
        object(
          { name: text("The listener's name."), pathHandling: pathHandlingSchema },
          { required: ["name", "pathHandling"] },
        ),
        { description: "Listener settings that Gateway API does not have." },
      ),
    },
    { hasParts: true, misplacedFieldHints: { name: "the gateway has the name of its Gateway" } },
  );
}
