import { fieldsIn, listIn, textIn } from "../proxy/fields.ts";
import { CLOSED, type DraftFields } from "../proxy/route-draft.ts";
import { plainText } from "../proxy/texts.ts";

/**
 * The policies that refuse the requests of rules which are left out: a rule for every model must not take them. Where nobody
 * can say which requests those are, all are refused.
 */
export function closedRules(rules: readonly DraftFields[]): DraftFields {
  if (rules.length === 0) return {};
  const conditions = rules.flatMap(({ matches }) => listIn(matches).map(conditionOf));
  const known = conditions.filter((each) => each !== undefined);
  const isEach = rules.every(({ matches }) => listIn(matches).length > 0);
  if (!isEach || known.length < conditions.length) return { directResponse: CLOSED };
  return { authorization: { rules: [...new Set(known)].map((deny) => ({ deny })) } };
}

/** Which requests a match is for; undefined: gwc can't say. */
function conditionOf(match: unknown): string | undefined {
  const { headers, ...others } = fieldsIn(match);
  const parts = listIn(headers).map((each) => headerCondition(fieldsIn(each)));
  const known = parts.filter((each) => each !== undefined);
  if (known.length === 0 || known.length < parts.length || Object.keys(others).length > 0)
    return undefined;
  return plainText(known.join(" && "));
}

/** What is not there is no reason to refuse: it is as an empty text. */
function headerCondition({ name, type = "Exact", value }: DraftFields): string | undefined {
  const [header, text] = [textIn(name)?.toLowerCase(), textIn(value)];
  if (header === undefined || text === undefined) return undefined;
  const read =
    header === MODEL_HEADER
      ? "json(request.body).model"
      : `request.headers[${JSON.stringify(header)}]`;
  const subject = `default(${read}, "")`;
  if (type === "Exact") return `${subject} == ${JSON.stringify(text)}`;
  if (type !== "RegularExpression") return undefined;
  return `${subject}.matches(${JSON.stringify(`^(?:${text})$`)})`;
}

/** How a rule names the model that a body asks for. */
export const MODEL_HEADER = "x-ai-eg-model";
