import { itemsField } from "../kubernetes/json-fields.ts";

/** Properties of the installed definitions of kinds. */
export interface KnownDefinitions {
  /** The release of the Gateway API that they are of (`v1.5.1`); undefined where they do not say. */
  readonly gatewayApi: string | undefined;
  /** Kinds that are read and not installed. */
  readonly kindsMissing: readonly string[];
  /** Fields of gwc's kinds that their definitions do not have: `KIND PATH`. */
  readonly fieldsMissing: readonly string[];
}

/** Releases of the Gateway API that gwc is tested with. */
const SUPPORTED = /^v1\.[45]\./;
/** Fields in a message, at most. */
const MAX_NAMED = 5;

/** The status of a GatewayClass with what is said of the installed definitions, where their release is known. */
export function withDefinitions(status: object, known: KnownDefinitions): object {
  if (known.gatewayApi === undefined) return status;
  const message = definitionProblems(known).join("; ");
  const condition = SUPPORTED.test(known.gatewayApi)
    ? { status: "True", reason: "SupportedVersion", message }
    : { status: "False", reason: "UnsupportedVersion", message };
  const conditions = itemsField(status, "conditions");
  return { ...status, conditions: [...conditions, { type: "SupportedVersion", ...condition }] };
}

/** Reports that gwc is not tested with the definitions, or that parts of them are missing. */
export function definitionProblems(known: KnownDefinitions): readonly string[] {
  const { gatewayApi, kindsMissing, fieldsMissing } = known;
  const isTested = gatewayApi === undefined || SUPPORTED.test(gatewayApi);
  const more = fieldsMissing.length - MAX_NAMED;
  const fields = [
    ...fieldsMissing.slice(0, MAX_NAMED),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join(", ");
  return [
    ...(isTested
      ? []
      : [
          `the definitions of the Gateway API are those of ${gatewayApi}; gwc is tested with v1.4 and v1.5`,
        ]),
    ...(kindsMissing.length === 0
      ? []
      : [`kinds that are not installed are not read: ${kindsMissing.join(", ")}`]),
    ...(fields === ""
      ? []
      : [
          `the installed definitions of gwc's kinds are of an older version, and the API server drops what they lack: ${fields}`,
        ]),
  ];
}
