import { celMessages } from "./messages/cel.ts";
import { connectionMessages } from "./messages/connections.ts";
import { kubernetesMessages } from "./messages/kubernetes.ts";
import { logMessages } from "./messages/log.ts";
import type { Message } from "./messages/message.ts";
import { referenceMessages } from "./messages/references.ts";
import { shapeMessages } from "./messages/shape.ts";
import { yamlMessages } from "./messages/yaml.ts";

/** Every diagnostic gwc can give: code to severity, message, hint and explanation. Codes are permanent. */
export const messages = {
  ...yamlMessages,
  ...shapeMessages,
  ...referenceMessages,
  ...connectionMessages,
  ...logMessages,
  ...celMessages,
  ...kubernetesMessages,
};

/** The permanent name of a diagnostic. */
export type MessageCode = keyof typeof messages;

/** The parameters that the message of a code needs. */
export type MessageParams<Code extends MessageCode> =
  (typeof messages)[Code] extends Message<infer Params> ? Params : never;

/** A table row by code, with its parameters' type forgotten: for printing. */
export function messageOf(code: MessageCode): Message<never> {
  return messages[code] as Message<never>;
}
