import type { RequestVariables } from "../cel/variables.ts";
import { AmbiguousRequest } from "../http/ambiguous-request.ts";
import {
  isRepeating,
  type ParametersRead,
  type RepeatingRequest,
  someReading,
} from "../http/request-readings.ts";
import type { McpRuleInput, ReceivedItem } from "./mcp-authorization.ts";
import { allowed, type RuleVerdict } from "./rule-verdict.ts";

/**
 * Evaluates rules for a request with repeated headers or parameters. All readings must be allowed: a deny rule matches if
 * it matches one of the repeated lines, an allow or require rule only if it matches all of them.
 */
export function judgeReadings(
  request: RepeatingRequest,
  judge: (reading: RequestVariables) => RuleVerdict,
  parameters?: ParametersRead,
): RuleVerdict {
  let verdict = allowed;
  const isRefused = someReading(request, parameters, (reading) => {
    verdict = judge(reading);
    return !verdict.isAllowed;
  });
  return isRefused === undefined ? TOO_MANY : verdict;
}

/** Evaluates rules for a request, and for each of its readings if it has repeated headers or parameters. */
export function judgeRequest(
  request: RepeatingRequest,
  judge: (reading: RequestVariables) => RuleVerdict,
  parameters?: ParametersRead,
): RuleVerdict {
  const verdict = judge(request);
  if (!verdict.isAllowed || !isRepeating(request, parameters)) return verdict;
  return judgeReadings(request, judge, parameters);
}

const TOO_MANY: RuleVerdict = { isAllowed: false, rule: "too many repeated headers or parameters" };

/** Evaluates the rules about an MCP item for every reading of the request. */
export function judgeItem(
  input: ReceivedItem,
  judge: (input: McpRuleInput) => RuleVerdict,
  parameters?: ParametersRead,
): RuleVerdict {
  const verdict = judge(input);
  const { request } = input;
  if (!verdict.isAllowed || !isRepeating(request, parameters)) return verdict;
  return judgeReadings(request, (reading) => judge({ ...input, request: reading }), parameters);
}

/**
 * Whether a condition holds for a request. Throws `AmbiguousRequest` if the readings of the request disagree: servers may
 * read another line than the condition.
 */
export function isMetByAll(
  request: RepeatingRequest,
  condition: (reading: RequestVariables) => boolean,
  parameters?: ParametersRead,
): boolean {
  const isMet = condition(request);
  if (!isRepeating(request, parameters)) return isMet;
  const differs = someReading(request, parameters, (reading) => condition(reading) !== isMet);
  if (differs !== false)
    throw new AmbiguousRequest("a header or parameter that a condition reads is repeated");
  return isMet;
}
