import { auditMessages } from "./audit.ts";
import { cacheMessages } from "./cache.ts";
import { celMessages } from "./cel.ts";
import { connectionMessages } from "./connections.ts";
import { fileMessages } from "./files.ts";
import { identityMessages } from "./identity.ts";
import { internalMessages } from "./internal.ts";
import { kubernetesMessages } from "./kubernetes.ts";
import { limitMessages } from "./limits.ts";
import { llmMessages } from "./llm.ts";
import { logMessages } from "./log.ts";
import type { DiagnosticMessage } from "./message.ts";
import { policyMessages } from "./policies.ts";
import { referenceMessages } from "./references.ts";
import { routingMessages } from "./routing.ts";
import { shapeMessages } from "./shape.ts";
import { storeMessages } from "./store.ts";
import { testMessages } from "./tests.ts";
import { toolSetMessages } from "./tool-sets.ts";
import { tracingMessages } from "./tracing.ts";
import { yamlMessages } from "./yaml.ts";

/** Table of all diagnostics by code: severity, message, hint and explanation. Codes are permanent. */
export const messages = {
  ...yamlMessages,
  ...shapeMessages,
  ...fileMessages,
  ...routingMessages,
  ...toolSetMessages,
  ...policyMessages,
  ...identityMessages,
  ...limitMessages,
  ...storeMessages,
  ...connectionMessages,
  ...logMessages,
  ...tracingMessages,
  ...llmMessages,
  ...cacheMessages,
  ...celMessages,
  ...kubernetesMessages,
  ...referenceMessages,
  ...auditMessages,
  ...testMessages,
  ...internalMessages,
};

/** The permanent name of a diagnostic. */
export type MessageCode = keyof typeof messages;

/** The parameters that the message of a code needs. */
export type MessageParams<Code extends MessageCode> =
  (typeof messages)[Code] extends DiagnosticMessage<infer Params> ? Params : never;

/** Returns the row of a code for printing, without the types of its parameters. */
export function messageOf(code: MessageCode): DiagnosticMessage<never> {
  return messages[code] as DiagnosticMessage<never>;
}
