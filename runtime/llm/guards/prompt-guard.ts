import type { LlmError } from "../chat/llm-error.ts";
import type { GuardRejection, RegexGuard } from "./regex-guard.ts";

/** What guards the texts of requests and responses, in this order. */
export interface PromptGuard {
  readonly request: readonly Guard[];
  readonly response: readonly Guard[];
}

/** One guard. */
export type Guard = RegexGuard;

/** The error of a rejection. */
export function rejectionError({ status, message, own }: GuardRejection): LlmError {
  return { kind: "filtered", message, status, own };
}
