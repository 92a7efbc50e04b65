import { isJsonObject } from "../../json/json-object.ts";
import { callServer } from "./call-server.ts";
import type { GuardStep } from "./prompt-guard.ts";
import type { GuardVerdict, ServerGuardSettings } from "./server-guard.ts";
import { ServerGuardStep } from "./server-step.ts";

/** A guardrail for texts. */
export interface BedrockGuardSettings extends ServerGuardSettings {
  readonly identifier: string;
  readonly version: string;
}

/** Applies a guardrail of Amazon Bedrock (ApplyGuardrail), which passes, masks or blocks. */
export function bedrockGuard({
  identifier,
  version,
  ...settings
}: BedrockGuardSettings): GuardStep {
  const names = [identifier, version].map(encodeURIComponent);
  const path = `/guardrail/${names[0]}/version/${names[1]}/apply`;
  return new ServerGuardStep({
    kind: "bedrockGuardrails",
    ...settings,
    check: async (input) => {
      const {
        texts,
        run: { phase },
      } = input;
      const source = phase === "request" ? "INPUT" : "OUTPUT";
      const content = texts.map(({ text }) => ({ text: { text } }));
      const result = await callServer(settings, { path, body: { source, content } }, input);
      if (result.action === "NONE") return { kind: "pass" };
      if (result.action !== "GUARDRAIL_INTERVENED") throw new Error("no action");
      return interventionOf(result.outputs, result.assessments, texts.length);
    },
  });
}

/** Masks anonymized text. For blocked text, clients get the guardrail's own message. */
function interventionOf(outputs: unknown, assessments: unknown, count: number): GuardVerdict {
  const texts = (Array.isArray(outputs) ? outputs : []).flatMap((each) =>
    isJsonObject(each) && typeof each.text === "string" ? [each.text] : [],
  );
  const isMask = texts.length === count && !hasBlocked(assessments);
  if (isMask) return { kind: "mask", texts };
  const [message] = texts;
  return { kind: "reject", ...(message !== undefined && message !== "" && { message }) };
}

/**
 * Whether a policy has blocked anything. Every policy reports its action for each finding: `BLOCKED`, `ANONYMIZED`, `NONE`.
 */
function hasBlocked(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasBlocked);
  if (!isJsonObject(value)) return false;
  return value.action === "BLOCKED" || Object.values(value).some(hasBlocked);
}
